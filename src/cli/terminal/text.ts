// What moves the cursor or colours text, and commands to the terminal up to their end.
// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern finds escape sequences
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)/g;
// What a screen does not show or shows elsewhere: controls, marks of the reading direction, and characters without a
// width. Scripts and emoji need some of these: joiners, combining marks, and tags after a flag.
const HIDDEN =
  /(?!\u200c|\u200d|\p{M})[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb](?<!\u{1f3f4}[\u{e0030}-\u{e007f}]{1,8})/gu;

/** Makes untrusted text safe to print: removes escape sequences and escapes other hidden characters, except tabs and newlines. */
export function stripControls(text: string): string {
  return escapeHidden(text.replace(SEQUENCES, ''));
}

/** Escapes as JSON does, so that a document stays equal. */
function escapeHidden(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === '\t' || character === '\n') return character;
    const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return units.map((unit) => `\\u${unit}`).join('');
  });
}

const FIELD_ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Formats one field of tab-separated output. */
export function formatField(text: string): string {
  return stripControls(text.replace(/[\\\t\n\r]/g, (character) => FIELD_ESCAPES[character] as string));
}

/** Formats one cell of CSV (RFC 4180). Spreadsheets run text that begins like a formula, so it gets an apostrophe. */
export function formatCsvCell(text: string): string {
  const safe = stripControls(text).replace(/^(?=[=+@\t\r-])(?!-?\d+(\.\d+)?$)/, "'");
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Joins text to one line of a table or a message. */
export function oneLine(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return stripControls(lines.join(' ').replace(/\t/g, ' '));
}

export function withoutPeriod(sentence: string): string {
  return sentence.endsWith('.') ? sentence.slice(0, -1) : sentence;
}

/** Formats JSON with its hidden characters escaped. */
export function toJson(value: unknown, indent?: number): string {
  return escapeHidden(JSON.stringify(value, null, indent) ?? 'null');
}

/** Quotes a word for a shell, if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

type Locale = Readonly<Record<string, string | undefined>>;

/** Whether the locale has characters beyond ASCII; most systems without a locale do. */
export function isUnicode({ LC_ALL, LC_CTYPE, LANG }: Locale): boolean {
  return !['C', 'POSIX'].includes(LC_ALL || LC_CTYPE || LANG || '');
}

/** Whether nothing on the screen may be drawn again: for screen readers, and on simple terminals. */
export function isPlain({ REGEN_ACCESSIBLE, TERM }: Locale): boolean {
  return isAccessible({ REGEN_ACCESSIBLE }) || TERM === 'dumb';
}

/** Whether a screen reader reads the screen. */
export function isAccessible({ REGEN_ACCESSIBLE = '' }: Locale): boolean {
  return !['', '0', 'false'].includes(REGEN_ACCESSIBLE);
}

/** Replaces the ellipsis of cut text where the locale has none. */
export function toLocale(env: Locale, text: string): string {
  return isUnicode(env) ? text : text.replaceAll('…', '~');
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Such as `1 task` or `2 tasks`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

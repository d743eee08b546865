import { stripVTControlCharacters } from 'node:util';

// Beyond escape sequences: C0 and C1 controls, and the marks that reorder text on a screen.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of others made harmless: escape sequences go, other controls are shown as escapes; tabs and newlines stay. */
export function stripControls(text: string): string {
  return stripVTControlCharacters(text).replace(controls, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** One field of tab-separated output. */
export function formatField(text: string): string {
  return stripControls(text.replace(/[\\\t\n\r]/g, (character) => escapes[character] as string));
}

/** One line of a table or a message. */
export function oneLine(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return stripControls(lines.join(' ').replace(/\t/g, ' '));
}

/** JSON that a terminal can show: what is not printable stands as an escape, so the document is the same. */
export function toJson(value: unknown, indent?: number): string {
  const written = JSON.stringify(value, null, indent) ?? 'null';
  return written.replace(/[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escapeCharacter);
}

/** Bytes for people: `1.4 MB`. */
export function formatBytes(count: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const step = count < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  return step === 0 ? `${count} bytes` : `${(count / 1000 ** step).toFixed(1)} ${units[step]}`;
}

/** A word of a command line as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

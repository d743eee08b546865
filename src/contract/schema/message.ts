/** A word that readers have different names for, or other text. */
export type Part =
  | string
  /** A field of a request or an answer; a nested one is dotted. */
  | { readonly field: string }
  /** One of the values that a field may have. */
  | { readonly value: string }
  /** A flag of the command line, without its dashes. */
  | { readonly flag: string }
  /** A positional of the command line, without its brackets. */
  | { readonly argument: string }
  /** A command of regen, such as `task wait`, what follows its words, and the folder, if not the one that was given. */
  | { readonly command: string; readonly rest: string; readonly dir?: string | undefined };

/** What is shown to people. Only a message has names that depend on the reader. */
export type Text = string | Message;

/** How a reader calls what messages mention. Without a function, it is called as in the contract. */
export interface Names {
  readonly field?: (path: string) => string;
  readonly value?: (value: string) => string | undefined;
  readonly flag?: (flag: string) => string | undefined;
  readonly argument?: (argument: string) => string;
  readonly command?: (command: string, rest: string, dir?: string) => string;
}

/** A text that keeps the names in it apart until it is shown. As a string, it has the names of the contract. */
export class Message {
  constructor(readonly parts: readonly Part[]) {}

  toString(): string {
    return render(this);
  }

  toJSON(): string {
    return render(this);
  }
}

/** Whether a text has parts. A message of the built service is of another copy of the class than those of the command line. */
export function isMessage(text: unknown): text is Message {
  return typeof text === 'object' && text !== null && 'parts' in text;
}

/** Writes a message: say`cannot be combined with ${{ field: 'image' }}` */
export function say(
  texts: readonly string[],
  ...parts: readonly (Part | Text | number | undefined)[]
): Message {
  return new Message(texts.flatMap((text, at) => [text, ...toParts(parts[at])]));
}

/** Puts a separator between texts. */
export function joinTexts(texts: readonly (Part | Text | number)[], separator: string): Message {
  return new Message(texts.flatMap((text, at) => [...(at > 0 ? [separator] : []), ...toParts(text)]));
}

function toParts(part: Part | Text | number | undefined = ''): readonly Part[] {
  if (isMessage(part)) return part.parts;
  return [typeof part === 'number' ? String(part) : part];
}

/** A command of regen in a message; what a reader gave on the command line is added after its words. */
export function regen(command: string, rest = '', dir?: string): Part {
  return { command, rest, dir };
}

/** Writes the parts that a reader has names for; the others are left for another reader. */
export function translate(text: Text, { field, value, flag, argument, command }: Names): Text {
  if (typeof text === 'string') return text;
  const parts = text.parts.map((part) => {
    if (typeof part === 'string') return part;
    if ('field' in part) return field?.(part.field) ?? part;
    if ('value' in part) return value?.(part.value) ?? part;
    if ('flag' in part) return flag?.(part.flag) ?? part;
    if ('argument' in part) return argument?.(part.argument) ?? part;
    return command?.(part.command, part.rest, part.dir) ?? part;
  });
  return new Message(parts);
}

const CONTRACT_NAMES: Names = {
  field: (path) => path,
  value: (value) => value,
  flag: (flag) => `--${flag}`,
  argument: (name) => `<${name}>`,
  command: (...words) => ['regen', ...words].filter(Boolean).join(' '),
};

/** Writes a text with the names of a reader, by default those of the contract. */
export function render(text: Text, names: Names = {}): string {
  const translated = translate(text, { ...CONTRACT_NAMES, ...names });
  return typeof translated === 'string' ? translated : translated.parts.join('');
}

/** One problem of a request: a path, and a predicate of it. */
export interface NamedProblem {
  readonly path: string;
  readonly message: Text;
}

/** Problems are counted only up to this number. */
export const MAX_PROBLEMS = 100;

const MAX_DESCRIBED = 3;

/** Describes problems of a request in one sentence, which names the first of them. */
export function describeProblems(problems: readonly NamedProblem[]): Message {
  const named = problems
    .slice(0, MAX_DESCRIBED)
    .map(({ path, message }) => say`${{ field: path }} ${message}`);
  const others = problems.length - named.length;
  const more = problems.length < MAX_PROBLEMS ? `; and ${others} more` : '; and many more';
  return say`${joinTexts(named, '; ')}${others > 0 ? more : ''}.`;
}

import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Finding the characters of a text takes longer the longer it is, so a long one is handled in pieces. */
const PIECE_LENGTH = 1000;
/** A character may consist of several code units, such as a letter and its marks. */
const MAX_UNITS_PER_COLUMN = 16;

/** Measures how many columns a text takes. Where pieces of a long text meet, it may be off by a column. */
export function measureWidth(text: string): number {
  return splitPieces(text).reduce((width, piece) => width + stringWidth(piece), 0);
}

function splitPieces(text: string): string[] {
  const count = Math.ceil(text.length / PIECE_LENGTH);
  return Array.from({ length: count }, (_, at) => text.slice(at * PIECE_LENGTH, (at + 1) * PIECE_LENGTH));
}

/** The spaces that fill the rest of a column. */
export function createPadding(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - measureWidth(text)));
}

/** Wraps text between words, and within words that are too long for a line. */
export function wrapText(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    return measureWidth(line) <= columns ? [line] : wrapLine(line, Math.max(columns, 1));
  });
}

function wrapLine(line: string, columns: number): string[] {
  const rows: string[] = [];
  let last = '';
  for (const piece of splitPieces(line)) {
    rows.push(...wrapAnsi(last + piece, columns, { hard: true, trim: true }).split('\n'));
    // It continues with the next piece, after the space that was trimmed.
    last = rows.pop() + (/\s$/.test(piece) ? ' ' : '');
  }
  return [...rows, last.trimEnd()];
}

/** Cuts text to a width, with an ellipsis. */
export function cutText(text: string, width: number): string {
  const seen = text.slice(0, width * MAX_UNITS_PER_COLUMN);
  if (seen === text && stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(seen)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** A line for people, and the command at its end. */
export interface Line {
  readonly prose: string;
  readonly command?: string;
}

/** A longer message is cut on a terminal, because wrapping it could take minutes. */
const MAX_MESSAGE_LENGTH = 10_000;

/** Wraps a message between words, below its indentation. A command at its end stays on one line, so that it can be copied. */
export function wrapMessage(message: string, line: Line, columns: number): string {
  const isLong = message.length > MAX_MESSAGE_LENGTH;
  const text = isLong ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
  if (measureWidth(text) <= columns) return text;
  const { prose, command } = isLong ? { prose: text, command: undefined } : line;
  const indent = ' '.repeat(prose.length - prose.trimStart().length);
  const rows = wrapAnsi(prose.trimStart(), Math.max(columns - indent.length, 1), { trim: true });
  const wrapped = rows.replaceAll(/^/gm, indent);
  return command === undefined ? wrapped : `${wrapped}\n  ${command}`;
}

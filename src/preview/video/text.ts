import type { Size } from '../image/picture.js';
import { LETTER, readColumns, toAscii } from './font.js';
import type { Frame } from './frame.js';

/** A letter with the space around it, in dots. */
const CELL = { width: LETTER.width + 1, height: LETTER.height + 2 };

/** In pixels, apart from the columns; letters have the same share of the short side in every resolution. */
export type TextGrid = ReturnType<typeof computeGrid>;

export function computeGrid({ width, height }: Size) {
  const scale = Math.max(1, Math.floor(Math.min(width, height) / 180));
  const columnWidth = CELL.width * scale;
  // One column is left free on both sides.
  return { scale, columns: Math.floor(width / columnWidth) - 2, columnWidth, rowHeight: CELL.height * scale };
}

export const INK = { bright: 235, plain: 200, dim: 150 } as const;

/** Writes lines of `wrapText` below each other, in one brightness. */
export function writeLines(
  frame: Frame,
  { scale, columnWidth, rowHeight }: TextGrid,
  lines: readonly string[],
  top: number,
  brightness: number,
): void {
  for (const [row, line] of lines.entries()) {
    for (const [column, letter] of [...line].entries()) {
      for (const [x, dots] of readColumns(letter).entries()) {
        for (let y = 0; y < LETTER.height * scale; y++) {
          if (((dots >> Math.floor(y / scale)) & 1) === 0) continue;
          const from = (column + 1) * columnWidth + x * scale;
          const start = (Math.round(top) + row * rowHeight + scale + y) * frame.width + from;
          frame.y.fill(brightness, start, start + scale);
        }
      }
    }
  }
}

/** Breaks text into lines between words, and ends it with dots where it does not fit. */
export function wrapText(text: string, columns: number, rows: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of toAscii(text).split(/ +/)) {
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(line);
    else if (line !== '') {
      line += ` ${word}`;
      continue;
    }
    for (line = word; line.length > columns; line = line.slice(columns)) lines.push(line.slice(0, columns));
  }
  if (line !== '') lines.push(line);
  if (lines.length <= rows) return lines;
  return [...lines.slice(0, rows - 1), `${lines[rows - 1]?.slice(0, columns - 3).trimEnd()}...`];
}

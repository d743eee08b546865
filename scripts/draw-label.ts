import sharp from 'sharp';
import { LETTER, readColumns } from '../src/preview/video/font.js';
import { wrapText } from '../src/preview/video/text.js';

const ROW = LETTER.height + 2;
const COLUMN = LETTER.width + 1;

/** Draws text in the letters of the preview, because there may be no font: bright on dark, as PNG. */
export function drawLabel(text: string, width: number, rows: number, scale = 1): Promise<Buffer> {
  const height = (rows * ROW + 4) * scale;
  const pixels = new Uint8Array(width * height).fill(22);
  const lines = wrapText(text, Math.floor(width / (COLUMN * scale)) - 1, rows);
  for (const [row, line] of lines.entries()) {
    for (const [column, letter] of [...line].entries()) {
      for (const [x, dots] of readColumns(letter).entries()) {
        for (let y = 0; y < LETTER.height * scale; y++) {
          if (((dots >> Math.floor(y / scale)) & 1) === 0) continue;
          const start = ((row * ROW + 2) * scale + y) * width + (column * COLUMN + x + 3) * scale;
          pixels.fill(225, start, start + scale);
        }
      }
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}

import type { Size } from '../image/planes.js';
import type { Frame } from './frame.js';

/** The distance between points of the grid; half of it for colour. */
const CELL_PIXELS = 16;

/** Where each point of a grid takes its pixel from, as an offset in pixels. */
export interface WarpField {
  readonly across: Float32Array;
  readonly down: Float32Array;
}

/** Counts the points of the grid over a frame, including its far edges. */
export function countCells({ width, height }: Size): { readonly columns: number; readonly rows: number } {
  return { columns: Math.ceil(width / CELL_PIXELS) + 1, rows: Math.ceil(height / CELL_PIXELS) + 1 };
}

/** Draws a frame displaced by a field, interpolated between the points of the grid. */
export function warpFrame(from: Frame, into: Frame, field: WarpField): void {
  const { columns } = countCells(from);
  const planes = [
    { source: from.y, target: into.y, part: 1 },
    { source: from.u, target: into.u, part: 2 },
    { source: from.v, target: into.v, part: 2 },
  ];
  for (const { source, target, part } of planes) {
    const size = { width: from.width / part, height: from.height / part };
    warpPlane(source, target, size, { ...field, columns, part });
  }
}

function warpPlane(
  source: Uint8Array,
  target: Uint8Array,
  { width, height }: Size,
  { across, down, columns, part }: WarpField & { readonly columns: number; readonly part: number },
): void {
  const step = CELL_PIXELS / part;
  const [lastX, lastY] = [width - 1.001, height - 1.001];
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / step);
    const between = y / step - row;
    const here = row * columns;
    const along = (values: Float32Array, column: number) => {
      const above = values[here + column] as number;
      return (above + ((values[here + columns + column] as number) - above) * between) / part;
    };
    for (let left = 0, column = 0; left < width; left += step, column++) {
      const end = Math.min(width, left + step);
      let [fromX, fromY] = [left + along(across, column), y + along(down, column)];
      const stepX = 1 + (along(across, column + 1) - along(across, column)) / step;
      const stepY = (along(down, column + 1) - along(down, column)) / step;
      for (let x = left; x < end; x++, at++) {
        const sampleX = fromX < 0 ? 0 : fromX > lastX ? lastX : fromX;
        const sampleY = fromY < 0 ? 0 : fromY > lastY ? lastY : fromY;
        const wholeX = sampleX | 0;
        const wholeY = sampleY | 0;
        const fx = sampleX - wholeX;
        const place = wholeY * width + wholeX;
        const a = source[place] as number;
        const b = source[place + 1] as number;
        const c = source[place + width] as number;
        const d = source[place + width + 1] as number;
        const upper = a + (b - a) * fx;
        target[at] = upper + (c + (d - c) * fx - upper) * (sampleY - wholeY) + 0.5;
        fromX += stepX;
        fromY += stepY;
      }
    }
  }
}

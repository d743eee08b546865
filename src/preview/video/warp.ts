import type { Size } from '../image/planes.js';
import { createRandom } from '../image/random.js';
import type { Frame } from './frame.js';
import type { Shot } from './shot.js';

/** The distance between points of the grid; half of it for colour. */
const CELL_PIXELS = 16;

/** Where each point of a grid takes its pixel from, as an offset in pixels. */
interface WarpField {
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

type Motion = (part: number, time: number) => WarpField;

/** The maximum enlargement of a picture. */
const MAX_ZOOM = 0.42;

/**
 * Creates the motion of a picture: the camera moves closer and sideways, near things move more than distant
 * ones, and everything sways a little. At part 0 nothing has moved; at 1 the motion is complete.
 */
export function createMotion(
  shot: Pick<Shot, 'model' | 'movement' | 'seconds'>,
  { near, shore = 1 }: { readonly near: Float32Array; readonly shore?: number },
  size: Size,
  seed: number,
): Motion {
  const { model, movement, seconds } = shot;
  const { columns, rows } = countCells(size);
  const next = createRandom(seed ^ 0x6d07);
  const turn = next() * 2 * Math.PI;
  const [aside, upwards] = [Math.cos(turn), Math.sin(turn) * 0.6];
  const closer = (0.07 + 0.12 * model.push) * model.pace * movement * Math.sqrt(seconds / 5);
  const most = Math.min(MAX_ZOOM, closer);
  const breath = Math.min(size.width, size.height) * 0.0035 * Math.min(2, movement) * (0.5 + model.sway);
  const phase = next() * 6;
  const field = { across: new Float32Array(columns * rows), down: new Float32Array(columns * rows) };
  return (part, time) => {
    const begun = part * part * (3 - 2 * part) * 0.35 + part * part * 0.65;
    const zoom = most * begun;
    const alive = breath * Math.min(1, part * 3);
    for (let row = 0, at = 0; row < rows; row++) {
      const y = Math.min(1, row / (rows - 1)) - 0.5;
      for (let column = 0; column < columns; column++, at++) {
        const x = Math.min(1, column / (columns - 1)) - 0.5;
        const closeness = near[at] as number;
        const kept = 1 / (1 + zoom * (0.65 + 0.7 * closeness));
        // The zoom cuts off the edges, which leaves room to move sideways.
        const room = (1 - 1 / (1 + 0.65 * zoom)) / 2;
        const sway = alive * (0.3 + closeness);
        const deep = Math.max(0, y + 0.5 - shore);
        const wave = size.width * 0.02 * movement * deep * Math.sin(time * 2.1 + 2 / (deep + 0.08));
        field.across[at] =
          (x * kept - x + room * 0.85 * aside * (1 + 0.15 * closeness)) * size.width +
          sway * Math.sin(time * 1.7 + y * 7 + phase) +
          wave;
        field.down[at] =
          (y * kept - y + room * 0.85 * upwards) * size.height +
          0.6 * sway * Math.sin(time * 1.3 + x * 6 + phase);
      }
    }
    return field;
  };
}

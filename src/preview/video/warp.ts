import { mix } from '../image/curves.js';
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
  const half = { width: from.width / 2, height: from.height / 2 };
  warpPlane(from.y, into.y, from, { ...field, columns, part: 1 });
  warpPlane(from.u, into.u, half, { ...field, columns, part: 2 });
  warpPlane(from.v, into.v, half, { ...field, columns, part: 2 });
}

/** Coordinates are added up along a cell, with rounding errors below this. */
const ROUNDING = 1e-6;

function warpPlane(
  source: Uint8Array,
  target: Uint8Array,
  { width, height }: Size,
  { across, down, columns, part }: WarpField & { readonly columns: number; readonly part: number },
): void {
  const step = CELL_PIXELS / part;
  const lastX = width - 1.001;
  const lastY = height - 1.001;
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / step);
    const between = y / step - row;
    // The points of the grid above and below.
    let above = row * columns;
    let below = above + columns;
    let moveX = mix(across[above] as number, across[below] as number, between) / part;
    let moveY = mix(down[above] as number, down[below] as number, between) / part;
    for (let left = 0; left < width; left += step) {
      above++;
      below++;
      const nextX = mix(across[above] as number, across[below] as number, between) / part;
      const nextY = mix(down[above] as number, down[below] as number, between) / part;
      let fromX = left + moveX;
      let fromY = y + moveY;
      const stepX = 1 + (nextX - moveX) / step;
      const stepY = (nextY - moveY) / step;
      moveX = nextX;
      moveY = nextY;
      const end = Math.min(width, left + step);
      const isWithin =
        spans(fromX, fromX + stepX * step, ROUNDING, lastX - ROUNDING) &&
        spans(fromY, fromY + stepY * step, ROUNDING, lastY - ROUNDING);
      for (let x = left; x < end; x++, at++) {
        // Most cells are within the frame and need no limits, which are a quarter of the work.
        const sampleX = isWithin || (fromX >= 0 && fromX <= lastX) ? fromX : fromX < 0 ? 0 : lastX;
        const sampleY = isWithin || (fromY >= 0 && fromY <= lastY) ? fromY : fromY < 0 ? 0 : lastY;
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

/** Whether two values and all between them are within a range. */
const spans = (one: number, other: number, least: number, most: number) =>
  Math.min(one, other) > least && Math.max(one, other) < most;

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

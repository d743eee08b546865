import type { Size } from '../image/planes.js';
import { createRandom } from '../image/random.js';
import type { Shot } from './shot.js';
import { countCells, type WarpField } from './warp.js';

export type Motion = (part: number, time: number) => WarpField;

/** The maximum enlargement of a picture. */
const MAX_ZOOM = 0.42;

/**
 * Creates the motion of a picture: the camera moves closer and sideways, near things move more than distant
 * ones, and everything sways a little. At part 0 nothing has moved; at 1 the motion is complete.
 */
export function createMotion(
  shot: Pick<Shot, 'model' | 'movement' | 'seconds'>,
  near: Float32Array,
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
        field.across[at] =
          (x * kept - x + room * 0.85 * aside * (1 + 0.15 * closeness)) * size.width +
          sway * Math.sin(time * 1.7 + y * 7 + phase);
        field.down[at] =
          (y * kept - y + room * 0.85 * upwards) * size.height +
          0.6 * sway * Math.sin(time * 1.3 + x * 6 + phase);
      }
    }
    return field;
  };
}

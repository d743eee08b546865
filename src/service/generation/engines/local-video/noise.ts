import { random } from '../local-image/random.js';

const points = 256;

/** Smooth numbers from 0 to 1 along a line or over a plane: the same for the same seed. */
export interface Noise {
  line(x: number): number;
  plane(x: number, y: number): number;
}

export function noise(seed: number): Noise {
  const next = random(seed);
  const values = Float32Array.from({ length: points }, next);
  const order = Uint8Array.from({ length: points }, () => next() * points);
  const at = (x: number, y: number) =>
    values[((order[y & (points - 1)] as number) + x) & (points - 1)] as number;
  const plane = (x: number, y: number) => {
    const left = Math.floor(x);
    const top = Math.floor(y);
    const across = eased(x - left);
    const upper = at(left, top) + (at(left + 1, top) - at(left, top)) * across;
    const lower = at(left, top + 1) + (at(left + 1, top + 1) - at(left, top + 1)) * across;
    return upper + (lower - upper) * eased(y - top);
  };
  return { line: (x) => plane(x, 0), plane };
}

/** Coarse and fine together, each octave half as strong. 0 to 1 */
export function octaves(count: number, value: (scale: number) => number): number {
  let sum = 0;
  let weight = 0.5;
  for (let octave = 0; octave < count; octave++, weight /= 2) sum += weight * value(2 ** octave);
  return sum / (1 - 2 * weight);
}

function eased(part: number): number {
  return part * part * (3 - 2 * part);
}

import { createRandom } from '../image/random.js';

const POINTS = 256;

/** Smooth noise from 0 to 1 along a line or over a plane, the same for the same seed. */
export interface Noise {
  line(x: number): number;
  plane(x: number, y: number): number;
}

export function createNoise(seed: number): Noise {
  const next = createRandom(seed);
  const values = Float32Array.from({ length: POINTS }, next);
  const order = Uint8Array.from({ length: POINTS }, () => next() * POINTS);
  const at = (x: number, y: number) =>
    values[((order[y & (POINTS - 1)] as number) + x) & (POINTS - 1)] as number;
  const plane = (x: number, y: number) => {
    const left = Math.floor(x);
    const top = Math.floor(y);
    const across = easeInOut(x - left);
    const upper = at(left, top) + (at(left + 1, top) - at(left, top)) * across;
    const lower = at(left, top + 1) + (at(left + 1, top + 1) - at(left, top + 1)) * across;
    return upper + (lower - upper) * easeInOut(y - top);
  };
  return { line: (x) => plane(x, 0), plane };
}

/** Sums octaves of noise, each half as strong as the one before. 0 to 1. */
export function sumOctaves(count: number, value: (scale: number) => number): number {
  let sum = 0;
  let weight = 0.5;
  for (let octave = 0; octave < count; octave++, weight /= 2) sum += weight * value(2 ** octave);
  return sum / (1 - 2 * weight);
}

function easeInOut(part: number): number {
  return part * part * (3 - 2 * part);
}

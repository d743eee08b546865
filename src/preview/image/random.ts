/** Generates pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Hashes text to a number (FNV-1a). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  return hash >>> 0;
}

export const GRAIN_SIZE = 256;

/** Creates a tile of film grain: around 0 with a deviation of 1, a little coarser than a pixel. */
export function createGrainTile(seed: number): Float32Array {
  const next = createRandom(seed);
  const points = new Float32Array(GRAIN_SIZE ** 2);
  for (let place = 0; place < points.length; place++) points[place] = next() + next() + next() + next() - 2;
  const at = (x: number, y: number) =>
    points[(y & (GRAIN_SIZE - 1)) * GRAIN_SIZE + (x & (GRAIN_SIZE - 1))] as number;
  const tile = new Float32Array(points.length);
  for (let y = 0; y < GRAIN_SIZE; y++) {
    for (let x = 0; x < GRAIN_SIZE; x++) {
      const coarse = at(x, y) + 0.5 * (at(x + 1, y) + at(x, y + 1)) + 0.25 * at(x + 1, y + 1);
      tile[y * GRAIN_SIZE + x] = 1.25 * coarse;
    }
  }
  return tile;
}

const POINTS = 256;

/** Smooth noise from 0 to 1 along a line or over a plane, the same for the same seed. */
export interface Noise {
  line(x: number): number;
  plane(x: number, y: number): number;
  /** The sum of octaves over a plane, each half as strong as the one before and moved sideways. */
  octaves(count: number, x: number, y: number, shift?: number): number;
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
  const octaves = (count: number, x: number, y: number, shift = 0) => {
    let sum = 0;
    let weight = 0.5;
    for (let octave = 0, scale = 1; octave < count; octave++, weight /= 2, scale *= 2)
      sum += weight * plane(x * scale + shift, y * scale);
    return sum / (1 - 2 * weight);
  };
  return { line: (x) => plane(x, 0), plane, octaves };
}

function easeInOut(part: number): number {
  return part * part * (3 - 2 * part);
}

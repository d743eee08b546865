/** Numbers from 0 to 1 that look random and are the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number for a text: the same for the same text (FNV-1a). */
export function textSeed(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  return hash >>> 0;
}

export const grainSize = 256;

/** A tile of film grain: normal around 0 with a deviation of 1, a little coarser than a pixel. */
export function grainTile(seed: number): Float32Array {
  const next = random(seed);
  const points = Float32Array.from({ length: grainSize ** 2 }, () => next() + next() + next() + next() - 2);
  const at = (x: number, y: number) =>
    points[(y & (grainSize - 1)) * grainSize + (x & (grainSize - 1))] as number;
  return points.map((value, place) => {
    const x = place % grainSize;
    const y = Math.floor(place / grainSize);
    return 1.25 * (value + 0.5 * (at(x + 1, y) + at(x, y + 1)) + 0.25 * at(x + 1, y + 1));
  });
}

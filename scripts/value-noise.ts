/** A number from 0 to 1 that looks random, the same for the same point. */
export function hashPoint(x: number, y: number): number {
  const value = Math.sin(x * 127.1 + y * 311.7) * 43758.5453;
  return value - Math.floor(value);
}

/** Smooth noise in four octaves, from 0 to 1. */
export function fractalNoise(x: number, y: number): number {
  let sum = 0;
  for (let octave = 0, size = 1; octave < 4; octave++, size *= 2)
    sum += interpolateNoise(x * size, y * size) / size;
  return sum / 1.875;
}

function interpolateNoise(x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const ease = (value: number) => value * value * (3 - 2 * value);
  const [across, down] = [ease(x - left), ease(y - top)];
  const upper = hashPoint(left, top) + (hashPoint(left + 1, top) - hashPoint(left, top)) * across;
  const lower = hashPoint(left, top + 1) + (hashPoint(left + 1, top + 1) - hashPoint(left, top + 1)) * across;
  return upper + (lower - upper) * down;
}

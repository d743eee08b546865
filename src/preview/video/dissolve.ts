import { smoothStep } from '../image/curves.js';
import type { Size } from '../image/planes.js';
import type { Frame } from './frame.js';
import { createNoise, sumOctaves } from './noise.js';

/** The softness of the border between both pictures. */
const SOFTNESS = 0.45;

/** Blends one frame into another in patches like drifting mist. Part 0 is the first frame, 1 the other. */
export function createDissolve(size: Size, seed: number): (frame: Frame, other: Frame, part: number) => void {
  const mist = createNoise(seed ^ 0xd155);
  const short = Math.min(size.width, size.height);
  const half = { width: size.width / 2, height: size.height / 2 };
  const turn = new Uint8Array(half.width * half.height);
  for (let y = 0, at = 0; y < half.height; y++) {
    for (let x = 0; x < half.width; x++, at++) {
      const value = sumOctaves(3, (scale) => mist.plane((x / short) * 5 * scale, (y / short) * 5 * scale));
      turn[at] = 255 * smoothStep(0.15, 0.85, value);
    }
  }
  return (frame, other, part) => {
    const along = smoothStep(0.12, 0.88, part) * (1 + SOFTNESS);
    const shares = Uint16Array.from(
      { length: 256 },
      (_, when) => 256 * smoothStep(0, SOFTNESS, along - when / 255),
    );
    mixPlane(frame.u, other.u, (at) => turn[at] as number, shares);
    mixPlane(frame.v, other.v, (at) => turn[at] as number, shares);
    const { width } = size;
    for (let y = 0, at = 0; y < size.height; y++) {
      const row = (y >> 1) * half.width;
      for (let x = 0; x < width; x++, at++) {
        const share = shares[turn[row + (x >> 1)] as number] as number;
        const value = frame.y[at] as number;
        frame.y[at] = value + ((((other.y[at] as number) - value) * share) >> 8);
      }
    }
  };
}

function mixPlane(
  plane: Uint8Array,
  other: Uint8Array,
  when: (at: number) => number,
  shares: Uint16Array,
): void {
  for (let at = 0; at < plane.length; at++) {
    const value = plane[at] as number;
    plane[at] = value + ((((other[at] as number) - value) * (shares[when(at)] as number)) >> 8);
  }
}

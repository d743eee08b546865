import type { Size } from '../local-image/planes.js';
import { smooth } from '../local-image/scene.js';
import type { Frame } from './frame.js';
import { noise, octaves } from './noise.js';

/** How soft the border between both pictures is. */
const softness = 0.45;

/** Turns one frame into another in patches that look like drifting mist. Part 0 is the first, 1 the other. */
export function dissolve(size: Size, seed: number): (frame: Frame, other: Frame, part: number) => void {
  const mist = noise(seed ^ 0xd155);
  const short = Math.min(size.width, size.height);
  const half = { width: size.width / 2, height: size.height / 2 };
  const turn = new Uint8Array(half.width * half.height);
  for (let y = 0, at = 0; y < half.height; y++) {
    for (let x = 0; x < half.width; x++, at++) {
      const value = octaves(3, (scale) => mist.plane((x / short) * 5 * scale, (y / short) * 5 * scale));
      turn[at] = 255 * smooth(0.15, 0.85, value);
    }
  }
  return (frame, other, part) => {
    const along = smooth(0.12, 0.88, part) * (1 + softness);
    const shares = Uint16Array.from(
      { length: 256 },
      (_, when) => 256 * smooth(0, softness, along - when / 255),
    );
    mix(frame.u, other.u, (at) => turn[at] as number, shares);
    mix(frame.v, other.v, (at) => turn[at] as number, shares);
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

function mix(plane: Uint8Array, other: Uint8Array, when: (at: number) => number, shares: Uint16Array): void {
  for (let at = 0; at < plane.length; at++) {
    const value = plane[at] as number;
    plane[at] = value + ((((other[at] as number) - value) * (shares[when(at)] as number)) >> 8);
  }
}

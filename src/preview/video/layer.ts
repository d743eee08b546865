import type { Size } from '../image/planes.js';
import { type Frame, toYuv } from './frame.js';

/** A picture to lay over others: bytes as in a frame, weighted by opacity. Width and height are even. */
export interface Layer extends Size {
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
  /** How much of the background stays, 0 to 255: of brightness and, at half the size, of colour. */
  readonly keep: Uint8Array;
  readonly keepHalf: Uint8Array;
  /** The first row that is not empty, and the first of the opaque rows at the bottom. Even. */
  readonly top: number;
  readonly solid: number;
}

/** Sets red, green and blue, 0 to 255, and the opacity, 0 to 1, of a pixel. */
export type Paint = (x: number, y: number, into: Float32Array) => void;

export function paintLayer({ width, height }: Size, paint: Paint): Layer {
  const half = width / 2;
  const y = new Uint8Array(width * height);
  const keep = new Uint8Array(width * height);
  const [u, v, keepHalf] = [0, 0, 0].map(() => new Uint8Array((width * height) / 4)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const sums = new Float32Array(half * 3);
  const here = new Float32Array(4);
  let top = height;
  let solid = height;
  for (let row = 0, at = 0; row < height; row++) {
    let most = 0;
    let least = 1;
    for (let x = 0; x < width; x++, at++) {
      here[3] = 0;
      paint(x, row, here);
      const opacity = here[3] as number;
      const [bright, blue, red] = toYuv(here[0] as number, here[1] as number, here[2] as number);
      y[at] = bright * opacity + 0.5;
      keep[at] = 255.5 - 255 * opacity;
      const place = (x >> 1) * 3;
      sums[place] = (sums[place] as number) + (blue * opacity) / 4;
      sums[place + 1] = (sums[place + 1] as number) + (red * opacity) / 4;
      sums[place + 2] = (sums[place + 2] as number) + opacity / 4;
      if (opacity > most) most = opacity;
      if (opacity < least) least = opacity;
    }
    if (most > 0) top = Math.min(top, row & ~1);
    if (least < 1) solid = height;
    else solid = Math.min(solid, (row + 1) & ~1);
    if (row % 2 === 0) continue;
    for (let x = 0, to = (row >> 1) * half; x < half; x++, to++) {
      u[to] = (sums[x * 3] as number) + 0.5;
      v[to] = (sums[x * 3 + 1] as number) + 0.5;
      keepHalf[to] = 255.5 - 255 * (sums[x * 3 + 2] as number);
    }
    sums.fill(0);
  }
  return { width, height, y, u, v, keep, keepHalf, top, solid };
}

/**
 * Lays a layer over a frame of its height.
 * @param shift how far right the frame is within the layer, in pixels and fractions of pixels
 * @param from the first row to draw, even
 */
export function layOver(frame: Frame, layer: Layer, shift: number, from: number, to = frame.height): void {
  const first = Math.max(layer.top, from);
  overlayPlane(frame.y, layer.y, layer.keep, [frame.width, layer.width], shift, [first, to]);
  const widths = [frame.width / 2, layer.width / 2] as const;
  overlayPlane(frame.u, layer.u, layer.keepHalf, widths, shift / 2, [first / 2, to / 2]);
  overlayPlane(frame.v, layer.v, layer.keepHalf, widths, shift / 2, [first / 2, to / 2]);
}

function overlayPlane(
  target: Uint8Array,
  source: Uint8Array,
  keep: Uint8Array,
  [width, sourceWidth]: readonly [number, number],
  shift: number,
  [first, end]: readonly [number, number],
): void {
  const whole = Math.max(0, Math.min(sourceWidth - width - 1, Math.floor(shift)));
  const part = Math.round(Math.max(0, Math.min(1, shift - whole)) * 256);
  for (let row = first; row < end; row++) {
    const to = row * width;
    const from = row * sourceWidth + whole;
    for (let x = 0; x < width; x++) {
      const kept = keep[from + x] as number;
      const stays = kept + ((((keep[from + x + 1] as number) - kept) * part) >> 8);
      if (stays === 255) continue;
      const value = source[from + x] as number;
      const added = value + ((((source[from + x + 1] as number) - value) * part) >> 8);
      target[to + x] = added + (((target[to + x] as number) * stays * 257 + 32768) >> 16);
    }
  }
}

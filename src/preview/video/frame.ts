import type { Adjustments } from '../image/adjustments.js';
import { adjustContrast, adjustLevels, clamp, posterize } from '../image/curves.js';
import type { Picture } from '../image/picture.js';
import type { Size } from '../image/planes.js';

/** Samples per second of all generated sound. */
export const SAMPLE_RATE = 48_000;

/** Two channels of the same length, with samples from -1 to 1. */
export interface Sound {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

export function createSilence(seconds: number): Sound {
  const samples = Math.round(seconds * SAMPLE_RATE);
  return { left: new Float32Array(samples), right: new Float32Array(samples) };
}

/** A picture of a video: 8-bit BT.709 of limited range, colour at half the size. Width and height are even. */
export interface Frame extends Size {
  /** All planes, one after the other. */
  readonly data: Uint8Array;
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
}

/** Frames per second of every generated video. */
export const FRAME_RATE = 24;

/** A sequence of frames. */
export interface Film {
  readonly size: Size;
  /** The exact number of frames. */
  readonly count: number;
  /** A frame is valid until the next one is requested. */
  frames(): AsyncIterable<Frame> | Iterable<Frame>;
  /** The sound of the source video, if it has one. */
  readonly sound?: Sound | undefined;
}

/** Brightness and colour as bytes. */
export type Yuv = readonly [y: number, u: number, v: number];

const BLACK = 16;
const WHITE = 235;
const GREY = 128;

export function newFrame({ width, height }: Size): Frame {
  const pixels = width * height;
  const data = new Uint8Array(pixels * 1.5);
  const part = (from: number, to: number) => data.subarray(from * pixels, to * pixels);
  return { width, height, data, y: part(0, 1), u: part(1, 1.25), v: part(1.25, 1.5) };
}

/** Converts displayed values from 0 to 255. */
export function toYuv(red: number, green: number, blue: number): Yuv {
  return [
    BLACK + 0.1826 * red + 0.6142 * green + 0.062 * blue,
    GREY - 0.1006 * red - 0.3386 * green + 0.4392 * blue,
    GREY + 0.4392 * red - 0.3989 * green - 0.0403 * blue,
  ];
}

/** Transparent pixels become white. */
export function toFrame({ data, channels, width, height }: Picture): Frame {
  const frame = newFrame({ width, height });
  const half = width / 2;
  const blues = new Float32Array(half);
  const reds = new Float32Array(half);
  for (let y = 0, at = 0, from = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++, from += channels) {
      const opacity = channels === 4 ? (data[from + 3] as number) / 255 : 1;
      const red = 255 + ((data[from] as number) - 255) * opacity;
      const green = 255 + ((data[from + 1] as number) - 255) * opacity;
      const blue = 255 + ((data[from + 2] as number) - 255) * opacity;
      // As in toYuv; inlined, because an array per pixel takes longer than everything else.
      frame.y[at] = BLACK + 0.1826 * red + 0.6142 * green + 0.062 * blue + 0.5;
      const column = x >> 1;
      blues[column] = (blues[column] as number) - 0.1006 * red - 0.3386 * green + 0.4392 * blue;
      reds[column] = (reds[column] as number) + 0.4392 * red - 0.3989 * green - 0.0403 * blue;
    }
    if (y % 2 === 0) continue;
    const row = (y >> 1) * half;
    for (let x = 0; x < half; x++) {
      frame.u[row + x] = GREY + (blues[x] as number) / 4 + 0.5;
      frame.v[row + x] = GREY + (reds[x] as number) / 4 + 0.5;
    }
    blues.fill(0);
    reds.fill(0);
  }
  return frame;
}

export function toPicture({ width, height, y, u, v }: Frame): Picture {
  const data = new Uint8ClampedArray(width * height * 3);
  for (let row = 0, at = 0; row < height; row++) {
    for (let x = 0; x < width; x++, at += 3) {
      const half = (row >> 1) * (width >> 1) + (x >> 1);
      const bright = ((y[row * width + x] as number) - BLACK) * 1.1644;
      const blue = (u[half] as number) - GREY;
      const red = (v[half] as number) - GREY;
      data[at] = bright + 1.7927 * red;
      data[at + 1] = bright - 0.2132 * blue - 0.5329 * red;
      data[at + 2] = bright + 2.1124 * blue;
    }
  }
  return { data: new Uint8Array(data.buffer), width, height, channels: 3 };
}

const RANGE = WHITE - BLACK;

/**
 * Changes brightness and colour in place.
 * @param share from 0, which changes nothing, to 1
 */
export function grade(frame: Frame, tone: Adjustments, share = 1): void {
  if (share <= 0) return;
  const bright = Uint8Array.from({ length: 256 }, (_, value) => {
    const shown = clamp((value - BLACK) / RANGE);
    return Math.round(BLACK + RANGE * (shown + (applyToneCurve(shown, tone) - shown) * share));
  });
  // Limited, so that many words for a colour do not turn the picture into it.
  const warmth = Math.tanh(tone.warmth) * 14;
  const tint = Math.tanh(tone.tint) * 13;
  const colour = (move: number) =>
    Uint8Array.from({ length: 256 }, (_, value) => {
      const moved = (value - GREY) * tone.saturation + move;
      return Math.round(clamp(value + (GREY + moved - value) * share, BLACK, 240));
    });
  applyTable(frame.y, bright);
  applyTable(frame.u, colour(tint * 0.5 - warmth));
  applyTable(frame.v, colour(tint + warmth * 0.8));
}

function applyToneCurve(
  value: number,
  { exposure, contrast, gamma, blacks, whites, steps }: Adjustments,
): number {
  const exposed = 1 - (1 - value) ** (2 ** exposure);
  const levelled = adjustLevels(exposed ** (1 / gamma), blacks, whites);
  const shown = levelled + (posterize(levelled, 7) - levelled) * Math.min(1, steps);
  return adjustContrast(shown, contrast);
}

function applyTable(plane: Uint8Array, table: Uint8Array): void {
  for (let at = 0; at < plane.length; at++) plane[at] = table[plane[at] as number] as number;
}

import type * as Mediabunny from 'mediabunny';
import type { Picture, Size } from '../image/picture.js';

/** Sound as it stands in a file. */
export interface EncodedSound {
  readonly codec: 'aac' | 'mp3' | 'opus';
  readonly packets: readonly {
    readonly packet: Mediabunny.EncodedPacket;
    readonly meta?: Parameters<Mediabunny.EncodedAudioPacketSource['add']>[1];
  }[];
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
  readonly count: number;
  /** A frame is valid until the next one is requested. */
  frames(): AsyncIterable<Frame> | Iterable<Frame>;
  /** The sound of the source video, if it has one. */
  readonly sound?: EncodedSound | undefined;
}

/** Brightness and colour as bytes. */
export type Yuv = readonly [y: number, u: number, v: number];

const BLACK = 16;
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

/** Transparent pixels become white. Of four pixels, one gives the colour. */
export function toFrame({ data, channels, width, height }: Picture): Frame {
  const frame = newFrame({ width, height });
  for (let at = 0, from = 0; at < width * height; at++, from += channels) {
    const opacity = channels === 4 ? (data[from + 3] as number) / 255 : 1;
    const red = 255 + ((data[from] as number) - 255) * opacity;
    const green = 255 + ((data[from + 1] as number) - 255) * opacity;
    const blue = 255 + ((data[from + 2] as number) - 255) * opacity;
    // As in toYuv; inlined, because an array per pixel takes longer than everything else.
    frame.y[at] = BLACK + 0.1826 * red + 0.6142 * green + 0.062 * blue + 0.5;
    const x = at % width;
    const y = (at - x) / width;
    if ((x | y) & 1) continue;
    const half = (y * width) / 4 + x / 2;
    frame.u[half] = GREY - 0.1006 * red - 0.3386 * green + 0.4392 * blue + 0.5;
    frame.v[half] = GREY + 0.4392 * red - 0.3989 * green - 0.0403 * blue + 0.5;
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

/** Left and top of a part of a frame, and its size; all are even. */
export interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

export function fillBox(frame: Frame, { left, top, width, height }: Box, colour: Yuv): void {
  for (const [at, plane] of [frame.y, frame.u, frame.v].entries()) {
    const part = at === 0 ? 1 : 2;
    for (let row = top / part; row < (top + height) / part; row++) {
      const from = (row * frame.width + left) / part;
      plane.fill(colour[at] as number, from, from + width / part);
    }
  }
}

/** Copies a frame into another one to an even place, which may lie partly outside. */
export function copyFrame(from: Frame, to: Frame, left: number, top: number): void {
  for (const name of ['y', 'u', 'v'] as const) {
    const part = name === 'y' ? 1 : 2;
    const [across, down] = [left / part, top / part];
    const [width, height] = [from.width / part, from.height / part];
    const first = Math.max(0, -across);
    const last = Math.min(width, to.width / part - across);
    for (
      let row = Math.max(0, -down);
      row < Math.min(height, to.height / part - down) && first < last;
      row++
    ) {
      const line = from[name].subarray(row * width + first, row * width + last);
      to[name].set(line, ((down + row) * to.width) / part + across + first);
    }
  }
}

export const toEven = (value: number) => 2 * Math.round(value / 2);

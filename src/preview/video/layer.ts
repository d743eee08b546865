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
  const rows = [first, to, layer.solid] as const;
  overlayPlane(frame.y, layer.y, layer.keep, [frame.width, layer.width], shift, rows);
  const widths = [frame.width / 2, layer.width / 2] as const;
  const half = [first / 2, to / 2, layer.solid / 2] as const;
  overlayPlane(frame.u, layer.u, layer.keepHalf, widths, shift / 2, half);
  overlayPlane(frame.v, layer.v, layer.keepHalf, widths, shift / 2, half);
}

function overlayPlane(
  target: Uint8Array,
  source: Uint8Array,
  keep: Uint8Array,
  [width, sourceWidth]: readonly [number, number],
  shift: number,
  [first, end, solid]: readonly [number, number, number],
): void {
  const whole = Math.max(0, Math.min(sourceWidth - width - 1, Math.floor(shift)));
  const part = Math.round(Math.max(0, Math.min(1, shift - whole)) * 256);
  for (let row = first; row < end; row++) {
    const to = row * width;
    const from = row * sourceWidth + whole;
    let value = source[from] as number;
    if (row >= solid) {
      for (let x = 0; x < width; x++) {
        const next = source[from + x + 1] as number;
        target[to + x] = value + (((next - value) * part) >> 8);
        value = next;
      }
      continue;
    }
    let kept = keep[from] as number;
    for (let x = 0; x < width; x++) {
      const nextKept = keep[from + x + 1] as number;
      const next = source[from + x + 1] as number;
      const stays = kept + (((nextKept - kept) * part) >> 8);
      if (stays !== 255) {
        const added = value + (((next - value) * part) >> 8);
        target[to + x] = added + (((target[to + x] as number) * stays * 257 + 32768) >> 16);
      }
      kept = nextKept;
      value = next;
    }
  }
}

export type Point = readonly [x: number, y: number];

const SUB_ROWS = 4;

/** Computes how much of each pixel is within a closed line, 0 to 1. Points are in pixels. */
export function computeCoverage(points: readonly Point[], width: number, height: number): Float32Array {
  const covered = new Float32Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let sub = 0; sub < SUB_ROWS; sub++) {
      const crossings = findCrossings(points, row + (sub + 0.5) / SUB_ROWS);
      for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
        fillSpan(covered, row * width, width, crossings[pair] as number, crossings[pair + 1] as number);
      }
    }
  }
  return covered;
}

function findCrossings(points: readonly Point[], y: number): number[] {
  const found: number[] = [];
  points.forEach(([x, top], at) => {
    const [nextX, bottom] = points[(at + 1) % points.length] as Point;
    if (top <= y !== bottom <= y) found.push(x + ((y - top) / (bottom - top)) * (nextX - x));
  });
  return found.sort((one, other) => one - other);
}

function fillSpan(covered: Float32Array, row: number, width: number, from: number, to: number): void {
  const start = Math.max(0, from);
  const end = Math.min(width, to);
  for (let x = Math.floor(start); x < end; x++) {
    const part = Math.min(end, x + 1) - Math.max(start, x);
    covered[row + x] = (covered[row + x] as number) + part / SUB_ROWS;
  }
}

/** Creates a smooth closed line through the points (Catmull-Rom). */
export function curve(points: readonly Point[], steps = 8): Point[] {
  const at = (index: number) => points[(index + points.length) % points.length] as Point;
  return points.flatMap((_, index) => {
    const corners = [at(index - 1), at(index), at(index + 1), at(index + 2)] as const;
    return Array.from({ length: steps }, (_, step): Point => {
      const t = step / steps;
      const along = (which: 0 | 1) => {
        const [a, b, c, d] = corners.map((point) => point[which]) as [number, number, number, number];
        return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
      };
      return [along(0), along(1)];
    });
  });
}

export function ellipse([x, y]: Point, across: number, down = across, from = 0, to = 1): Point[] {
  return Array.from({ length: 33 }, (_, step): Point => {
    const angle = 2 * Math.PI * (from + ((to - from) * step) / 32);
    return [x + across * Math.cos(angle), y + down * Math.sin(angle)];
  });
}

import { toneFrom, toneSteps } from './paint.js';
import type { Picture } from './picture.js';
import { blur, type Plane } from './planes.js';
import { clamp, opponents, type Scene } from './scene.js';

/** Moves colours towards those of a reference. */
export interface Palette {
  /** @param chroma blue and red difference, changed in place @param reach 0 to 1 */
  move(bright: number, chroma: Float32Array, reach: number): void;
}

/** Light and dark of a reference's surface, to be laid over a picture. */
export interface Texture {
  /** Stops to add at a pixel. */
  at(x: number, y: number): number;
}

interface Spread {
  readonly cb: number;
  readonly cr: number;
  /** Covariance: blue with blue, blue with red, red with red. */
  readonly covariance: readonly [number, number, number];
}

const bins = 12;

/**
 * The palette of a reference: the linear map that turns one spread of colours into the other with the least movement
 * (Monge-Kantorovich), around a middle that depends on brightness, because shadows and lights have colours of their own.
 */
export function paletteOf(image: Picture, reference: Picture, strength: number): Palette {
  const from = spreadOf(image);
  const to = spreadOf(reference);
  const [a, b, c] = movement(from.covariance, to.covariance);
  const middles = middlesOf(reference, to);
  return {
    move(bright, chroma, reach) {
      const part = strength * reach;
      const place = clamp(bright) * (bins - 1);
      const before = Math.min(bins - 2, Math.floor(place));
      const share = place - before;
      const middle = (which: number) => {
        const value = middles[before * 2 + which] as number;
        return value + ((middles[before * 2 + 2 + which] as number) - value) * share;
      };
      const cb = chroma[0] as number;
      const cr = chroma[1] as number;
      const farCb = cb - from.cb;
      const farCr = cr - from.cr;
      chroma[0] = cb + (a * farCb + b * farCr + middle(0) - cb) * part;
      chroma[1] = cr + (b * farCb + c * farCr + middle(1) - cr) * part;
    },
  };
}

function colours({ data }: Picture): { y: number; cb: number; cr: number }[] {
  const found: { y: number; cb: number; cr: number }[] = [];
  for (let at = 0; at < data.length; at += 9) {
    const byte = (which: number) => (data[at - (at % 3) + which] as number) / 255;
    const [y, cb, cr] = opponents(byte(0), byte(1), byte(2));
    found.push({ y, cb, cr });
  }
  return found;
}

function spreadOf(picture: Picture): Spread {
  const all = colours(picture);
  const average = (value: (one: (typeof all)[number]) => number) =>
    all.reduce((sum, one) => sum + value(one), 0) / all.length;
  const cb = average((one) => one.cb);
  const cr = average((one) => one.cr);
  // A little is added, so that a grey picture has a spread as well.
  const covariance = [
    average((one) => (one.cb - cb) ** 2) + 2e-4,
    average((one) => (one.cb - cb) * (one.cr - cr)),
    average((one) => (one.cr - cr) ** 2) + 2e-4,
  ] as const;
  return { cb, cr, covariance };
}

/** Mean colour by brightness, two numbers a bin; bins that hold little lean on the whole. */
function middlesOf(picture: Picture, { cb, cr }: Spread): Float32Array {
  const sums = new Float32Array(bins * 2);
  const counts = new Float32Array(bins);
  const all = colours(picture);
  for (const one of all) {
    const bin = Math.min(bins - 1, Math.floor(one.y * bins));
    sums[bin * 2] = (sums[bin * 2] as number) + one.cb;
    sums[bin * 2 + 1] = (sums[bin * 2 + 1] as number) + one.cr;
    counts[bin] = (counts[bin] as number) + 1;
  }
  const lean = all.length * 0.02;
  const found = sums.map(
    (sum, at) => (sum + (at % 2 === 0 ? cb : cr) * lean) / ((counts[at >> 1] as number) + lean),
  );
  const soft = (which: number) =>
    blur(
      found.filter((_, at) => at % 2 === which),
      { width: bins, height: 1 },
      1,
      1,
    );
  const [blues, reds] = [soft(0), soft(1)];
  return found.map((_, at) => (at % 2 === 0 ? blues : reds)[at >> 1] as number);
}

type Symmetric = readonly [number, number, number];

function movement(from: Symmetric, to: Symmetric): Symmetric {
  const half = root(from);
  const inverse = inverted(half);
  const whole = sandwich(inverse, root(sandwich(half, to)));
  return whole.map((value) => clamp(value, -1.7, 1.7)) as unknown as Symmetric;
}

/** The square root of a positive symmetric matrix of two rows. */
function root([a, b, c]: Symmetric): Symmetric {
  const s = Math.sqrt(Math.max(1e-12, a * c - b * b));
  const t = Math.sqrt(a + c + 2 * s);
  return [(a + s) / t, b / t, (c + s) / t];
}

function inverted([a, b, c]: Symmetric): Symmetric {
  const determinant = a * c - b * b;
  return [c / determinant, -b / determinant, a / determinant];
}

/** outer · inner · outer */
function sandwich([a, b, c]: Symmetric, [p, q, r]: Symmetric): Symmetric {
  const [ap, aq, bp, bq] = [a * p + b * q, a * q + b * r, b * p + c * q, b * q + c * r];
  return [ap * a + aq * b, ap * b + aq * c, bp * b + bq * c];
}

/** The brightness each of the image's becomes, so that as much of it is dark and light as in the reference. */
export function toneTo(image: Scene, reference: Scene, strength: number): Float32Array {
  const mine = image.base.slice().sort();
  const theirs = reference.base.slice().sort();
  const steps = Float32Array.from({ length: toneSteps }, (_, step) => {
    const stops = toneFrom * (1 - step / (toneSteps - 1));
    const rank = rankOf(mine, stops);
    const aim = theirs[Math.min(theirs.length - 1, Math.floor(rank * theirs.length))] as number;
    return clamp(aim - stops, -2, 2);
  });
  const soft = blur(steps, { width: toneSteps, height: 1 }, 8);
  return soft.map((move, step) => toneFrom * (1 - step / (toneSteps - 1)) + move * strength);
}

/** Which part of the sorted values lies below. */
function rankOf(sorted: Plane, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low / sorted.length;
}

/** @param scale pixels of the picture for one of the reference's small form */
export function textureOf({ stops, base, size }: Scene, scale: number, strength: number): Texture {
  const fine = stops.map((value, at) => clamp(value - (base[at] as number), -0.9, 0.9));
  const spread = Math.sqrt(fine.reduce((sum, value) => sum + value * value, 0) / fine.length);
  const gain = strength * Math.min(3, 0.16 / (spread + 0.02));
  return {
    at: (x, y) =>
      (fine[mirrored(y / scale, size.height) * size.width + mirrored(x / scale, size.width)] as number) *
      gain,
  };
}

/** Back and forth, so that no seam is seen. */
function mirrored(place: number, length: number): number {
  const whole = Math.floor(place) % (2 * length);
  return whole < length ? whole : 2 * length - 1 - whole;
}

import { clamp } from './curves.js';
import type { Picture } from './picture.js';
import { blur, type Plane, type Size } from './planes.js';
import { DARKNESS, readOpponents, type Scene } from './scene.js';

/** Shifts colours towards those of a reference. */
export interface Palette {
  readonly strength: number;
  readonly from: { readonly cb: number; readonly cr: number };
  readonly movement: SymmetricMatrix;
  /** The mean blue and red difference of the reference, by brightness. */
  readonly middles: Float32Array;
}

/** The surface texture of a reference, to be added to a picture. */
export interface Texture {
  /** Stops. */
  readonly fine: Plane;
  readonly size: Size;
  /** Pixels of the picture per pixel of the reduced reference. */
  readonly scale: number;
  readonly gain: number;
}

/** Where the values of a tone begin, in stops. */
export const TONE_FROM = Math.log2(DARKNESS);
export const TONE_STEPS = 128;

interface ColourSpread {
  readonly cb: number;
  readonly cr: number;
  /** Covariance of blue and blue, blue and red, red and red. */
  readonly covariance: readonly [number, number, number];
}

const BINS = 12;

/**
 * Creates the palette of a reference: the linear map that transforms one distribution of colours into the
 * other with the least movement (Monge-Kantorovich), around a mean that depends on brightness, because
 * shadows and lights have their own colours.
 */
export function createPalette(image: Picture, reference: Picture, strength: number): Palette {
  const from = measureSpread(image);
  const to = measureSpread(reference);
  return {
    strength,
    from: { cb: from.cb, cr: from.cr },
    movement: computeMovement(from.covariance, to.covariance),
    middles: measureMiddles(reference, to),
  };
}

/** @param chroma blue and red difference, changed in place @param reach 0 to 1 */
export function movePalette(palette: Palette, bright: number, chroma: Float32Array, reach: number): void {
  const { middles, from } = palette;
  const [a, b, c] = palette.movement;
  const part = palette.strength * reach;
  const place = clamp(bright) * (BINS - 1);
  const before = Math.min(BINS - 2, Math.floor(place));
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
}

/** Lists the colours of every third pixel. */
function listColours(picture: Picture): { y: number; cb: number; cr: number }[] {
  const opponents = readOpponents(picture);
  const found: { y: number; cb: number; cr: number }[] = [];
  for (let at = 0; at < opponents.length; at += 9) {
    const [y, cb, cr] = opponents.subarray(at) as unknown as [number, number, number];
    found.push({ y, cb, cr });
  }
  return found;
}

function measureSpread(picture: Picture): ColourSpread {
  const all = listColours(picture);
  const average = (value: (one: (typeof all)[number]) => number) =>
    all.reduce((sum, one) => sum + value(one), 0) / all.length;
  const cb = average((one) => one.cb);
  const cr = average((one) => one.cr);
  // The constant gives a grey picture a spread as well.
  const covariance = [
    average((one) => (one.cb - cb) ** 2) + 2e-4,
    average((one) => (one.cb - cb) * (one.cr - cr)),
    average((one) => (one.cr - cr) ** 2) + 2e-4,
  ] as const;
  return { cb, cr, covariance };
}

/** The mean colour by brightness, two numbers per bin; sparse bins lean towards the overall mean. */
function measureMiddles(picture: Picture, { cb, cr }: ColourSpread): Float32Array {
  const sums = new Float32Array(BINS * 2);
  const counts = new Float32Array(BINS);
  const all = listColours(picture);
  for (const one of all) {
    const bin = Math.min(BINS - 1, Math.floor(one.y * BINS));
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
      { width: BINS, height: 1 },
      1,
      1,
    );
  const [blues, reds] = [soft(0), soft(1)];
  return found.map((_, at) => (at % 2 === 0 ? blues : reds)[at >> 1] as number);
}

type SymmetricMatrix = readonly [number, number, number];

function computeMovement(from: SymmetricMatrix, to: SymmetricMatrix): SymmetricMatrix {
  const half = takeSquareRoot(from);
  const inverse = invertMatrix(half);
  const whole = multiplyAround(inverse, takeSquareRoot(multiplyAround(half, to)));
  return whole.map((value) => clamp(value, -1.7, 1.7)) as unknown as SymmetricMatrix;
}

/** The square root of a positive symmetric matrix of two rows. */
function takeSquareRoot([a, b, c]: SymmetricMatrix): SymmetricMatrix {
  const s = Math.sqrt(Math.max(1e-12, a * c - b * b));
  const t = Math.sqrt(a + c + 2 * s);
  return [(a + s) / t, b / t, (c + s) / t];
}

function invertMatrix([a, b, c]: SymmetricMatrix): SymmetricMatrix {
  const determinant = a * c - b * b;
  return [c / determinant, -b / determinant, a / determinant];
}

/** outer · inner · outer */
function multiplyAround([a, b, c]: SymmetricMatrix, [p, q, r]: SymmetricMatrix): SymmetricMatrix {
  const [ap, aq, bp, bq] = [a * p + b * q, a * q + b * r, b * p + c * q, b * q + c * r];
  return [ap * a + aq * b, ap * b + aq * c, bp * b + bq * c];
}

/** Maps the brightness of the image so that it has the same histogram as the reference. */
export function matchTone(image: Scene, reference: Scene, strength: number): Float32Array {
  const mine = image.base.slice().sort();
  const theirs = reference.base.slice().sort();
  const steps = Float32Array.from({ length: TONE_STEPS }, (_, step) => {
    const stops = TONE_FROM * (1 - step / (TONE_STEPS - 1));
    const rank = findRank(mine, stops);
    const aim = theirs[Math.min(theirs.length - 1, Math.floor(rank * theirs.length))] as number;
    return clamp(aim - stops, -2, 2);
  });
  const soft = blur(steps, { width: TONE_STEPS, height: 1 }, 8);
  return soft.map((move, step) => TONE_FROM * (1 - step / (TONE_STEPS - 1)) + move * strength);
}

/** The part of the sorted values that is below a value. */
function findRank(sorted: Plane, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low / sorted.length;
}

/** @param scale pixels of the picture per pixel of the reduced reference */
export function createTexture({ stops, base, size }: Scene, scale: number, strength: number): Texture {
  const fine = stops.map((value, at) => clamp(value - (base[at] as number), -0.9, 0.9));
  const spread = Math.sqrt(fine.reduce((sum, value) => sum + value * value, 0) / fine.length);
  return { fine, size, scale, gain: strength * Math.min(3, 0.16 / (spread + 0.02)) };
}

/** Stops to add at a pixel. */
export function readTexture({ fine, size, scale, gain }: Texture, x: number, y: number): number {
  const row = mirrorIndex(y / scale, size.height) * size.width;
  return (fine[row + mirrorIndex(x / scale, size.width)] as number) * gain;
}

/** Reads back and forth, so that no seam is visible. */
function mirrorIndex(place: number, length: number): number {
  const whole = Math.floor(place) % (2 * length);
  return whole < length ? whole : 2 * length - 1 - whole;
}

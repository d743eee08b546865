import { clamp, computeLength, smoothStep } from './curves.js';
import type { Picture } from './picture.js';
import { applyFilter, blur, filterGuided, newPlane, type Plane, prepareGuide, type Size } from './planes.js';

/** The analysis of a reduced picture. */
export interface Scene {
  readonly size: Size;
  /** Brightness in stops below white. */
  readonly stops: Plane;
  /** The light without details: `slope * stops + level`, at any resolution. */
  readonly slope: Plane;
  readonly level: Plane;
  readonly base: Plane;
  /** 1 on the subject, 0 on the background. */
  readonly subject: Plane;
  /** 1 on skin. */
  readonly skin: Plane;
  /** 1 on outlines. */
  readonly edges: Plane;
}

/** Added to light, so that black has a finite number of stops. */
export const DARKNESS = 1 / 256;

export const LINEAR_LIGHT = Float32Array.from({ length: 256 }, (_, byte) => {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

export const computeLuminance = (red: number, green: number, blue: number) =>
  0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** @param small three channels */
export function analyzeScene(small: Picture): Scene {
  const size = { width: small.width, height: small.height };
  const stops = measureStops(small);
  const reach = Math.max(size.width, size.height);
  const coarse = prepareGuide(stops, size, Math.max(1, Math.round(reach * 0.022)));
  const { slope, level } = filterGuided(coarse, stops, 0.35);
  const base = applyFilter({ slope, level }, stops);
  const fine = prepareGuide(stops, size, Math.max(1, Math.round(reach * 0.03)));
  const refine = (mask: Plane) => applyFilter(filterGuided(fine, mask, 0.08), stops, 0, 1);
  const opponents = readOpponents(small);
  const skin = refine(detectSkin(size, opponents));
  const subject = refine(detectSubject(size, opponents, skin));
  return { size, stops, slope, level, base, subject, skin, edges: detectEdges(base, size) };
}

function measureStops({ data, width, height }: Picture): Plane {
  const stops = new Float32Array(width * height);
  for (let at = 0, from = 0; at < stops.length; at++, from += 3) {
    const red = LINEAR_LIGHT[data[from] as number] as number;
    const green = LINEAR_LIGHT[data[from + 1] as number] as number;
    const blue = LINEAR_LIGHT[data[from + 2] as number] as number;
    stops[at] = Math.log2(computeLuminance(red, green, blue) + DARKNESS);
  }
  return stops;
}

/** Reads three numbers for each pixel: brightness from 0 to 1, blue difference and red difference of displayed values. */
export function readOpponents({ data }: Picture): Float64Array {
  const opponents = new Float64Array(data.length);
  for (let at = 0; at < data.length; at += 3) {
    const red = (data[at] as number) / 255;
    const green = (data[at + 1] as number) / 255;
    const blue = (data[at + 2] as number) / 255;
    const y = 0.299 * red + 0.587 * green + 0.114 * blue;
    opponents[at] = y;
    opponents[at + 1] = 0.564 * (blue - y);
    opponents[at + 2] = 0.713 * (red - y);
  }
  return opponents;
}

/** Skin of every tone is similar in colour, regardless of its brightness. */
function detectSkin(size: Size, opponents: Float64Array): Plane {
  const found = newPlane(size);
  for (let at = 0, from = 0; at < found.length; at++, from += 3) {
    const y = opponents[from] as number;
    const scale = 1 / (0.3 + 0.7 * y);
    const cb = (opponents[from + 1] as number) * scale + 0.115;
    const cr = (opponents[from + 2] as number) * scale - 0.125;
    const far = (cb / 0.075) ** 2 + (cr / 0.07) ** 2;
    found[at] = smoothStep(1.6, 0.5, far) * smoothStep(0.06, 0.2, y);
  }
  return blur(found, size, Math.max(size.width, size.height) * 0.006, 2);
}

/** Colours that are this near to one of the border are of the background. */
const NEAR = 0.002;

/** Detects what differs from the colours at the border, favouring the middle. */
function detectSubject(size: Size, opponents: Float64Array, skin: Plane): Plane {
  const { width, height } = size;
  const border = Float64Array.from({ length: 48 * 3 }, (_, at) => {
    const step = Math.floor(at / 3);
    const along = (step % 16) / 15;
    const x = step < 16 ? along * (width - 1) : step < 32 ? 0 : width - 1;
    const y = step < 16 ? 0 : along * 0.7 * (height - 1);
    return opponents[(Math.round(y) * width + Math.round(x)) * 3 + (at % 3)] as number;
  });
  const found = newPlane(size);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const nearest = findNearest(border, opponents, at * 3);
      const aside = ((x / width - 0.5) / 0.36) ** 2 + ((y / height - 0.58) / 0.55) ** 2;
      const middle = Math.exp(-0.5 * aside * aside);
      found[at] = clamp(
        smoothStep(NEAR, 0.03, nearest) * (0.25 + middle) + 0.45 * middle + 0.4 * (skin[at] as number),
      );
    }
  }
  return blur(found, size, Math.max(width, height) * 0.012, 2);
}

/** Finds how far the colour of a pixel is from those of the border. At most 1. */
function findNearest(border: Float64Array, opponents: Float64Array, from: number): number {
  const light = opponents[from] as number;
  const cb = opponents[from + 1] as number;
  const cr = opponents[from + 2] as number;
  let nearest = 1;
  // Anything nearer is background as well.
  for (let at = 0; at < border.length && nearest > NEAR; at += 3) {
    const far =
      (light - (border[at] as number)) ** 2 * 0.6 +
      ((cb - (border[at + 1] as number)) ** 2 + (cr - (border[at + 2] as number)) ** 2) * 6;
    if (far < nearest) nearest = far;
  }
  return nearest;
}

function detectEdges(base: Plane, size: Size): Plane {
  const { width, height } = size;
  const found = newPlane(size);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const right = base[x + 1 < width ? at + 1 : at] as number;
      const below = base[y + 1 < height ? at + width : at] as number;
      const here = base[at] as number;
      found[at] = smoothStep(0.22, 0.8, computeLength(right - here, below - here));
    }
  }
  return blur(found, size, 1, 1);
}

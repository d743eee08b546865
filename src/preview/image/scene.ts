import { clamp, smoothStep } from './curves.js';
import type { Picture } from './picture.js';
import { blur, createPlane, filterGuided, type Plane, type Size } from './planes.js';

/** The analysis of a reduced picture. */
export interface Scene {
  readonly size: Size;
  /** Linear light, 0 to 1. */
  readonly rgb: readonly [Plane, Plane, Plane];
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
  const channel = (which: number) =>
    createPlane(size, (at) => LINEAR_LIGHT[small.data[at * 3 + which] as number] as number);
  const rgb = [channel(0), channel(1), channel(2)] as const;
  const [red, green, blue] = rgb;
  const stops = createPlane(size, (at) =>
    Math.log2(computeLuminance(red[at] as number, green[at] as number, blue[at] as number) + DARKNESS),
  );
  const reach = Math.max(size.width, size.height);
  const { slope, level } = filterGuided(stops, stops, size, Math.max(1, Math.round(reach * 0.022)), 0.35);
  const base = createPlane(
    size,
    (at) => (slope[at] as number) * (stops[at] as number) + (level[at] as number),
  );
  const refine = (mask: Plane) => {
    const fine = filterGuided(stops, mask, size, Math.max(1, Math.round(reach * 0.03)), 0.08);
    return createPlane(size, (at) =>
      clamp((fine.slope[at] as number) * (stops[at] as number) + (fine.level[at] as number)),
    );
  };
  const skin = refine(detectSkin(small));
  const subject = refine(detectSubject(small, skin));
  return { size, rgb, stops, slope, level, base, subject, skin, edges: detectEdges(base, size) };
}

/** Brightness, blue difference and red difference of displayed values from 0 to 1. */
export function toOpponents(red: number, green: number, blue: number): [number, number, number] {
  const y = 0.299 * red + 0.587 * green + 0.114 * blue;
  return [y, 0.564 * (blue - y), 0.713 * (red - y)];
}

function readOpponents({ data }: Picture, at: number): [number, number, number] {
  const byte = (which: number) => (data[at * 3 + which] as number) / 255;
  return toOpponents(byte(0), byte(1), byte(2));
}

/** Skin of every tone is similar in colour, regardless of its brightness. */
function detectSkin(small: Picture): Plane {
  const found = createPlane(small, (at) => {
    const [y, cb, cr] = readOpponents(small, at);
    const scale = 1 / (0.3 + 0.7 * y);
    const far = ((cb * scale + 0.115) / 0.075) ** 2 + ((cr * scale - 0.125) / 0.07) ** 2;
    return smoothStep(1.6, 0.5, far) * smoothStep(0.06, 0.2, y);
  });
  return blur(found, small, Math.max(small.width, small.height) * 0.006, 2);
}

/** Colours that are this near to one of the border are of the background. */
const NEAR = 0.002;

/** Detects what differs from the colours at the border, favouring the middle. */
function detectSubject(small: Picture, skin: Plane): Plane {
  const { width, height } = small;
  const places = Array.from({ length: 48 }, (_, step) => {
    const along = (step % 16) / 15;
    const x = step < 16 ? along * (width - 1) : step < 32 ? 0 : width - 1;
    const y = step < 16 ? 0 : along * 0.7 * (height - 1);
    const [light, cb, cr] = readOpponents(small, Math.round(y) * width + Math.round(x));
    return { light, cb, cr };
  });
  const found = createPlane(small, (at, x, y) => {
    const [light, cb, cr] = readOpponents(small, at);
    let nearest = 1;
    for (const other of places) {
      const far = (light - other.light) ** 2 * 0.6 + ((cb - other.cb) ** 2 + (cr - other.cr) ** 2) * 6;
      if (far < nearest) nearest = far;
      // Anything nearer is background as well.
      if (nearest <= NEAR) break;
    }
    const aside = ((x / width - 0.5) / 0.36) ** 2 + ((y / height - 0.58) / 0.55) ** 2;
    const middle = Math.exp(-0.5 * aside * aside);
    return clamp(
      smoothStep(NEAR, 0.03, nearest) * (0.25 + middle) + 0.45 * middle + 0.4 * (skin[at] as number),
    );
  });
  return blur(found, small, Math.max(width, height) * 0.012, 2);
}

function detectEdges(base: Plane, size: Size): Plane {
  const { width, height } = size;
  const found = createPlane(size, (at, x, y) => {
    const right = base[x + 1 < width ? at + 1 : at] as number;
    const below = base[y + 1 < height ? at + width : at] as number;
    const here = base[at] as number;
    return smoothStep(0.22, 0.8, Math.hypot(right - here, below - here));
  });
  return blur(found, size, 1, 1);
}

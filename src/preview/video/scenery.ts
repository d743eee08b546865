import { clamp, smoothStep } from '../image/curves.js';
import { blur, type Size } from '../image/planes.js';
import { createNoise, createRandom, sumOctaves } from '../image/random.js';
import { type Layer, type Paint, paintLayer } from './layer.js';
import type { Hour, Place } from './setting.js';
import type { Rgb } from './shapes.js';

interface SkyOptions {
  readonly hour: Hour;
  /** Where the sky ends, in pixels from the top. */
  readonly horizon: number;
  readonly isAnime: boolean;
  readonly seed: number;
}

function mixColours(one: Rgb, other: Rgb, share: number): Rgb {
  const part = (which: 0 | 1 | 2) => one[which] + (other[which] - one[which]) * share;
  return [part(0), part(1), part(2)];
}

/** Locates the sun or the moon, in pixels. */
export function locateOrb(
  { width, height }: Size,
  { hour, horizon, seed }: SkyOptions,
): readonly [number, number] {
  const across = 0.22 + 0.56 * createRandom(seed ^ 0x51)();
  return [across * width, horizon - (hour.orb?.height ?? 0) * Math.min(horizon, height * 0.9)];
}

/** Paints the sky with its sun or moon and its stars. */
export function paintSky(size: Size, wish: SkyOptions): Layer {
  const { hour, horizon, isAnime, seed } = wish;
  const [zenith, middle, low] = hour.sky;
  const short = Math.min(size.width, size.height);
  const [orbX, orbY] = locateOrb(size, wish);
  const radius = short * (hour.orb && hour.orb.height < 0.3 ? 0.085 : 0.055);
  const stars = hour.stars > 0 ? createStarField(size, seed, hour.stars) : undefined;
  const steps = 14;
  const colours = Array.from({ length: size.height }, (_, y) => {
    const even = clamp(y / horizon);
    const down = isAnime ? (Math.floor(even * steps) + smoothStep(0.8, 1, (even * steps) % 1)) / steps : even;
    const upper = mixColours(zenith, middle, smoothStep(0, 0.55, down));
    return { down, colour: down < 0.55 ? upper : mixColours(middle, low, smoothStep(0.55, 1, down)) };
  });
  return paintLayer(size, (x, y, into) => {
    const { down, colour } = colours[y] as (typeof colours)[number];
    into.set(colour);
    into[3] = 1;
    const star = stars?.[y * size.width + x] ?? 0;
    if (star > 0) lightenPixel(into, [255, 255, 255], star * (1 - 0.8 * down));
    if (hour.orb) {
      const far = Math.hypot(x - orbX, y - orbY);
      lightenPixel(into, hour.orb.colour, 0.55 * Math.exp(-far / (radius * (isAnime ? 1.6 : 2.6))));
      lightenPixel(into, hour.orb.colour, smoothStep(radius + 1, radius - 1, far));
    }
  });
}

function lightenPixel(into: Float32Array, colour: Rgb, share: number): void {
  for (const channel of [0, 1, 2] as const) {
    const value = into[channel] as number;
    into[channel] = value + (colour[channel] - value) * share;
  }
}

function createStarField({ width, height }: Size, seed: number, amount: number): Float32Array {
  const next = createRandom(seed ^ 0x57a5);
  const field = new Float32Array(width * height);
  const size = Math.max(0.6, Math.min(width, height) / 900);
  for (let star = 0; star < 260 * amount; star++) {
    const x = next() * width;
    const y = next() ** 1.3 * height;
    const bright = 0.35 + 0.65 * next() ** 3;
    const radius = size * (0.7 + next());
    for (let row = Math.max(0, Math.floor(y - 3)); row < Math.min(height, y + 4); row++) {
      for (let column = Math.max(0, Math.floor(x - 3)); column < Math.min(width, x + 4); column++) {
        const at = row * width + column;
        const share = bright * clamp(radius + 0.6 - Math.hypot(column - x, row - y));
        field[at] = Math.max(field[at] as number, share);
      }
    }
  }
  return field;
}

/** Paints clouds; a grey sky has more of them. */
export function paintClouds(size: Size, { hour, horizon, isAnime, seed }: SkyOptions): Layer {
  const short = Math.min(size.width, size.height);
  const cloud = createNoise(seed ^ 0xc10d);
  const lit = mixColours(hour.sky[2], [255, 255, 255], 0.55);
  const shaded = mixColours(hour.sky[1], hour.sky[2], 0.35);
  const least = hour.orb ? 0.52 : 0.4;
  const density = (x: number, y: number) =>
    sumOctaves(5, (scale) => cloud.plane((x / short) * 2.2 * scale, (y / short) * 5 * scale));
  // Computed at a quarter of the size, because clouds are soft.
  const coarse = sampleCoarsely(size, density);
  const paint: Paint = (x, y, into) => {
    if (y >= horizon) return;
    const here = coarse(x, y);
    const below = coarse(x, y + short * 0.03);
    const edge = isAnime ? smoothStep(least, least + 0.025, here) : smoothStep(least, least + 0.28, here);
    if (edge <= 0) return;
    const light = clamp(0.62 + (below - here) * (isAnime ? 9 : 5) + (here - least) * 0.6);
    const [red, green, blue] = mixColours(shaded, lit, isAnime ? (light > 0.62 ? 1 : 0.45) : light);
    into[0] = red;
    into[1] = green;
    into[2] = blue;
    into[3] = edge * 0.92 * smoothStep(horizon, horizon * 0.6, y);
  };
  return paintLayer(size, paint);
}

const COARSENESS = 4;

function sampleCoarsely({ width, height }: Size, value: (x: number, y: number) => number) {
  const across = Math.ceil(width / COARSENESS) + 2;
  const down = Math.ceil(height / COARSENESS) + 16;
  const values = new Float32Array(across * down);
  for (let y = 0, at = 0; y < down; y++) {
    for (let x = 0; x < across; x++, at++) values[at] = value(x * COARSENESS, y * COARSENESS);
  }
  return (x: number, y: number) => {
    const left = Math.floor(x / COARSENESS);
    const top = Math.min(down - 2, Math.floor(y / COARSENESS));
    const [fx, fy] = [x / COARSENESS - left, Math.min(1, y / COARSENESS - top)];
    const at = top * across + left;
    const upper = (values[at] as number) + ((values[at + 1] as number) - (values[at] as number)) * fx;
    const low = at + across;
    const lower = (values[low] as number) + ((values[low + 1] as number) - (values[low] as number)) * fx;
    return upper + (lower - upper) * fy;
  };
}

interface RidgeOptions {
  readonly place: Place;
  readonly hour: Hour;
  readonly isAnime: boolean;
  /** 0 is the most distant, 1 the nearest. */
  readonly near: number;
  /** The short side of the frame in pixels. */
  readonly short: number;
  readonly seed: number;
}

/** The height above the ground at a place, both in short sides. */
type Outline = (x: number) => number;

/** Paints a row of hills, trees or houses, paler with distance. */
export function paintRidge(size: Size, { place, hour, isAnime, near, short, seed }: RidgeOptions): Layer {
  const outline = createOutline(place.ridge, near, seed);
  const ground = place.horizon * size.height;
  const heights = Float32Array.from(
    { length: size.width },
    (_, x) => ground - outline(x / short) * short * (1.15 - 0.85 * near),
  );
  const haze = 0.82 * (1 - near) ** 1.3;
  const [red, green, blue] = place.near;
  const [lightRed, lightGreen, lightBlue] = hour.light;
  const own = [red * lightRed, green * lightGreen, blue * lightBlue] as const;
  const soft = blur(heights, { width: size.width, height: 1 }, short * 0.03, 2);
  const colour = mixColours(own, hour.sky[2], haze);
  const line = Math.max(1, short * 0.003);
  const texture = createNoise(seed ^ 0x7e47);
  const windows = place.ridge === 'towers' ? createNoise(seed ^ 0x11d0) : undefined;
  const isNight = hour.light[0] < 0.7;
  return paintLayer(size, (x, y, into) => {
    const top = heights[x] as number;
    const inside = clamp(y + 1 - top);
    if (inside <= 0) return;
    const below = (y - top) / short;
    let shade = 1.06 - Math.min(0.26, below * 0.55);
    const fine = texture.plane((x / short) * 9, (y / short) * 46) - 0.5;
    shade += isAnime ? (fine > 0.12 ? 0.06 : 0) : fine * 0.08 * near;
    let [r, g, b] = [colour[0] * shade, colour[1] * shade, colour[2] * shade];
    if (place.ridge === 'peaks' && near < 0.8) {
      const depth = (y - (soft[x] as number)) / short;
      const snow = smoothStep(0.1, 0.05, depth + fine * 0.09) * (isAnime ? 1 : 0.85);
      const rise = (soft[Math.max(0, x - 2)] as number) - (soft[x] as number);
      const slope = 0.88 + 0.12 * Math.tanh(rise + fine * 2);
      const [sr, sg, sb] = mixColours(
        [244 * lightRed * slope, 246 * lightGreen * slope, 252 * lightBlue * slope],
        hour.sky[2],
        haze * 0.6,
      );
      [r, g, b] = [r + (sr - r) * snow, g + (sg - g) * snow, b + (sb - b) * snow];
    }
    if (windows && y < ground && isLit(windows, x, y, short, near) && below > 0.015) {
      const share = isNight ? 0.85 : 0.22;
      [r, g, b] = isNight
        ? [r + (255 - r) * share, g + (206 - g) * share, b + (120 - b) * share]
        : [r * 0.82, g * 0.86, b * 0.95];
    }
    if (isAnime && y - top < line) [r, g, b] = [r * 0.5, g * 0.5, b * 0.55];
    into[0] = clamp(r, 0, 255);
    into[1] = clamp(g, 0, 255);
    into[2] = clamp(b, 0, 255);
    into[3] = inside;
  });
}

function isLit(
  windows: { plane(x: number, y: number): number },
  x: number,
  y: number,
  short: number,
  near: number,
) {
  const cell = short * (0.012 + 0.012 * near);
  const [column, row] = [Math.floor(x / cell), Math.floor(y / (cell * 1.3))];
  const [across, down] = [(x / cell) % 1, (y / (cell * 1.3)) % 1];
  return across > 0.3 && across < 0.8 && down > 0.3 && down < 0.75 && windows.plane(column, row) > 0.58;
}

function createOutline(kind: Place['ridge'], near: number, seed: number): Outline {
  const shape = createNoise(seed);
  const shift = near * 37;
  const wave = (x: number, frequency: number, fine: number) =>
    sumOctaves(fine, (scale) => shape.line(x * frequency * scale + shift));
  const high = 0.1 + 0.34 * (1 - near);
  switch (kind) {
    case 'peaks':
      return (x) => high * 1.35 * (0.25 + toRidge(wave(x, 1.7, 6)));
    case 'trees':
      return (x) => {
        const hill = high * (0.35 + 0.6 * wave(x, 0.9, 2));
        const width = 0.035 + 0.05 * near;
        const tree = Math.floor(x / width);
        const tall = width * (1.6 + 1.6 * shape.line(tree * 3.7 + 0.5));
        return hill + tall * (1 - Math.abs(((x / width) % 1) - 0.5) * 2);
      };
    case 'towers':
      return (x) => {
        const width = 0.07 + 0.06 * near;
        const tower = Math.floor(x / width + shift);
        const tall = shape.line(tower * 5.31 + 0.5);
        return 0.05 + high * (0.2 + 1.5 * tall * tall) * (shape.line(tower * 2.17) > 0.15 ? 1 : 0.4);
      };
    case 'dunes':
      return (x) => high * 0.75 * (0.3 + wave(x, 0.8, 2));
    default:
      return (x) => high * (0.25 + 0.85 * wave(x, 1.1, 4));
  }
}

/** Creates a sharp ridge where the noise crosses its middle. */
function toRidge(value: number): number {
  return 1 - Math.abs(2 * value - 1) * 1.4;
}

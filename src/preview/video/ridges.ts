import { clamp, smoothStep } from '../image/curves.js';
import { blur, type Size } from '../image/planes.js';
import { type Layer, paintLayer } from './layer.js';
import { createNoise, sumOctaves } from './noise.js';
import type { Hour, Place } from './setting.js';
import { mixColours } from './sky.js';

export interface RidgeOptions {
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

import { clamp, computeLength, mix, smoothStep } from '../image/curves.js';
import { blur, type Size } from '../image/planes.js';
import { createNoise, createRandom, type Noise } from '../image/random.js';
import {
  type Canvas,
  mixColour,
  mixColours,
  multiplyColours,
  type PaintRow,
  paintOver,
  readColour,
  setColour,
} from './brush.js';
import { computeCoverage } from './outline.js';
import type { Hour, Place } from './setting.js';
import type { Rgb, Shape } from './shapes.js';

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
const CHANNELS = [0, 1, 2] as const;

/** What every part of a scene is painted with. */
export interface SceneOptions {
  readonly hour: Hour;
  readonly place: Place;
  readonly isAnime: boolean;
  readonly seed: number;
}

/** Where the sky ends, in pixels from the top. */
function locateHorizon({ height }: Size, { place }: SceneOptions): number {
  return Math.min(place.horizon, 1) * height;
}

/** Locates the sun or the moon, in pixels. */
function locateOrb(size: Size, options: SceneOptions): readonly [number, number] {
  const { width, height } = size;
  const horizon = locateHorizon(size, options);
  const across = 0.22 + 0.56 * createRandom(options.seed ^ 0x51)();
  return [across * width, horizon - (options.hour.orb?.height ?? 0) * Math.min(horizon, height * 0.9)];
}

/** Paints the sky with its sun or moon and its stars. */
export function paintSky(canvas: Canvas, options: SceneOptions): void {
  const { hour, isAnime, seed } = options;
  const { width, height } = canvas;
  const [zenith, middle, low] = hour.sky;
  const horizon = locateHorizon(canvas, options);
  const short = Math.min(width, height);
  const [orbX, orbY] = locateOrb(canvas, options);
  const radius = short * (hour.orb && hour.orb.height < 0.3 ? 0.085 : 0.055);
  const steps = 14;
  const colours = Array.from({ length: height }, (_, y) => {
    const even = clamp(y / horizon);
    const down = isAnime ? (Math.floor(even * steps) + smoothStep(0.8, 1, (even * steps) % 1)) / steps : even;
    const upper = mixColours(zenith, middle, smoothStep(0, 0.55, down));
    return down < 0.55 ? upper : mixColours(middle, low, smoothStep(0.55, 1, down));
  });
  paintOver(canvas, ({ colour, opacity }, y, left, right) => {
    for (let x = left; x < right; x++) setColour(colour, x * 3, colours[y] as Rgb);
    opacity.fill(1, left, right);
  });
  paintStars(canvas, seed, hour.stars, horizon);
  const { orb } = hour;
  if (!orb) return;
  const softness = radius * (isAnime ? 1.6 : 2.6);
  paintOver(canvas, ({ colour, opacity }, y, left, right) => {
    for (let x = left; x < right; x++) {
      const far = computeLength(x - orbX, y - orbY);
      const glow = 0.55 * Math.exp(-far / softness);
      setColour(colour, x * 3, orb.colour);
      opacity[x] = Math.max(glow, smoothStep(radius + 1, radius - 1, far));
    }
  });
}

function paintStars(canvas: Canvas, seed: number, amount: number, horizon: number): void {
  const next = createRandom(seed ^ 0x57a5);
  const { width, height } = canvas;
  const size = Math.max(0.6, Math.min(width, height) / 900);
  for (let star = 0; star < 260 * amount; star++) {
    const [starX, starY] = [next() * width, next() ** 1.3 * height];
    const bright = (0.35 + 0.65 * next() ** 3) * (1 - 0.8 * clamp(starY / horizon));
    const radius = size * (0.7 + next());
    const paint: PaintRow = ({ colour, opacity }, y, left, right) => {
      colour.fill(255, left * 3, right * 3);
      for (let x = left; x < right; x++)
        opacity[x] = bright * clamp(radius + 0.6 - computeLength(x - starX, y - starY));
    };
    paintOver(canvas, paint, {
      left: Math.floor(starX - 3),
      top: Math.floor(starY - 3),
      width: 7,
      height: 7,
    });
  }
}

/** Paints clouds; a grey sky has more of them. */
export function paintClouds(canvas: Canvas, options: SceneOptions): void {
  const { hour, isAnime, seed } = options;
  const horizon = locateHorizon(canvas, options);
  const short = Math.min(canvas.width, canvas.height);
  const cloud = createNoise(seed ^ 0xc10d);
  const lit = mixColours(hour.sky[2], WHITE, 0.55);
  const shaded = mixColours(hour.sky[1], hour.sky[2], 0.35);
  const least = hour.orb ? 0.52 : 0.4;
  const density = (x: number, y: number) => cloud.octaves(5, (x / short) * 2.2, (y / short) * 5);
  const paint: PaintRow = ({ colour, opacity }, y, left, right) => {
    const high = smoothStep(horizon, horizon * 0.6, y);
    for (let x = left; x < right; x++) {
      const here = density(x, y);
      const edge = smoothStep(least, least + (isAnime ? 0.025 : 0.28), here);
      opacity[x] = edge * 0.92 * high;
      if (edge <= 0) continue;
      const below = density(x, y + short * 0.03);
      const light = clamp(0.62 + (below - here) * (isAnime ? 9 : 5) + (here - least) * 0.6);
      const share = isAnime ? (light > 0.62 ? 1 : 0.45) : light;
      setColour(colour, x * 3, shaded);
      mixColour(colour, x * 3, lit, share);
    }
  };
  paintOver(canvas, paint, { left: 0, top: 0, width: canvas.width, height: Math.ceil(horizon) });
}

/**
 * Paints a row of hills, trees or houses, paler with distance.
 * @param near 0 is the most distant, 1 the nearest
 */
export function paintRidge(canvas: Canvas, { place, hour, isAnime, seed }: SceneOptions, near: number): void {
  const { width, height } = canvas;
  const short = Math.min(width, height);
  const outline = createOutline(place.ridge, near, seed);
  const ground = place.horizon * height;
  const heights = Float32Array.from(
    { length: width },
    (_, x) => ground - outline(x / short) * short * (1.15 - 0.85 * near),
  );
  const haze = 0.82 * (1 - near) ** 1.3;
  const snow = multiplyColours([244, 246, 252], hour.light);
  const soft = blur(heights, { width, height: 1 }, short * 0.03, 2);
  const base = mixColours(multiplyColours(place.near, hour.light), hour.sky[2], haze);
  const line = Math.max(1, short * 0.003);
  const texture = createNoise(seed ^ 0x7e47);
  const windows = place.ridge === 'towers' ? createNoise(seed ^ 0x11d0) : undefined;
  const isNight = hour.light[0] < 0.7;
  const shade = (colour: Float64Array, x: number, y: number) => {
    const at = x * 3;
    const top = heights[x] as number;
    const below = (y - top) / short;
    const fine = texture.plane((x / short) * 9, (y / short) * 46) - 0.5;
    const grain = isAnime ? (fine > 0.12 ? 0.06 : 0) : fine * 0.08 * near;
    setColour(colour, at, BLACK);
    mixColour(colour, at, base, 1.06 - Math.min(0.26, below * 0.55) + grain);
    if (place.ridge === 'peaks' && near < 0.8) {
      const depth = (y - (soft[x] as number)) / short;
      const rise = (soft[Math.max(0, x - 2)] as number) - (soft[x] as number);
      const slope = 0.88 + 0.12 * Math.tanh(rise + fine * 2);
      const share = smoothStep(0.1, 0.05, depth + fine * 0.09) * (isAnime ? 1 : 0.85);
      for (const channel of CHANNELS) {
        const seen = mix(snow[channel] * slope, hour.sky[2][channel], haze * 0.6);
        colour[at + channel] = mix(colour[at + channel] as number, seen, share);
      }
    }
    if (windows && y < ground && isLit(windows, x, y, short, near) && below > 0.015) {
      if (isNight) mixColour(colour, at, [255, 206, 120], 0.85);
      else
        setColour(
          colour,
          at,
          multiplyColours([...colour.subarray(at, at + 3)] as unknown as Rgb, [0.82, 0.86, 0.95]),
        );
    }
    if (isAnime && y - top < line) mixColour(colour, at, BLACK, 0.5);
  };
  const paint: PaintRow = ({ colour, opacity }, y, left, right) => {
    for (let x = left; x < right; x++) {
      opacity[x] = clamp(y + 1 - (heights[x] as number));
      if (opacity[x] !== 0) shade(colour, x, y);
    }
  };
  paintOver(canvas, paint);
}

function isLit(windows: Noise, x: number, y: number, short: number, near: number): boolean {
  const cell = short * (0.012 + 0.012 * near);
  const [column, row] = [Math.floor(x / cell), Math.floor(y / (cell * 1.3))];
  const [across, down] = [(x / cell) % 1, (y / (cell * 1.3)) % 1];
  return across > 0.3 && across < 0.8 && down > 0.3 && down < 0.75 && windows.plane(column, row) > 0.58;
}

/** Creates the height above the ground at a place, both in short sides. */
function createOutline(kind: Place['ridge'], near: number, seed: number): (x: number) => number {
  const shape = createNoise(seed);
  const shift = near * 37;
  const wave = (x: number, frequency: number, fine: number) => shape.octaves(fine, x * frequency, 0, shift);
  const high = 0.1 + 0.34 * (1 - near);
  switch (kind) {
    case 'peaks':
      return (x) => high * 1.35 * (1.25 - Math.abs(2 * wave(x, 1.7, 6) - 1) * 1.4);
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

/** Paints water below the horizon that mirrors what is above it, with waves and the glitter of the sun or the moon. */
export function paintWater(canvas: Canvas, water: Rgb, options: SceneOptions): void {
  const { data, width, height } = canvas;
  const shore = Math.round(locateHorizon(canvas, options));
  const own = multiplyColours(water, options.hour.light);
  const [orbX] = locateOrb(canvas, options);
  const paint: PaintRow = ({ colour, opacity }, y, left, right) => {
    const near = (y - shore + 0.5) / (height - shore);
    // Nearer waves look longer and higher.
    const phase = 9 / (near + 0.08);
    const wave = Math.sin(phase) + 0.6 * Math.sin(phase * 1.83);
    const row = clamp(Math.round(2 * shore - 1 - y - Math.abs(wave) * 0.03 * near * height), 0, shore - 1);
    const ripple = Math.sin(40 / (near + 0.1));
    for (let x = left; x < right; x++) {
      const column = clamp(Math.round(x + wave * width * (0.001 + 0.006 * near)), 0, width - 1);
      const at = (row * width + column) * 3;
      setColour(colour, x * 3, own);
      mixColour(colour, x * 3, readColour(data, at), 0.72 - 0.4 * near + 0.1 * wave * near);
      const far = (x - orbX) / (width * (0.035 + 0.1 * near));
      const crest = Math.sin(x / (width * (0.004 + 0.03 * near)) + 3 * ripple);
      const glitter = options.hour.orb ? smoothStep(0.3, 1, crest * ripple) : 0;
      mixColour(colour, x * 3, WHITE, 0.85 * glitter * Math.exp(-far * far));
    }
    opacity.fill(1, left, right);
  };
  paintOver(canvas, paint, { left: 0, top: shore, width, height });
}

const INK: Rgb = [36, 30, 46];

/**
 * Paints a shape.
 * @param x the middle of its lower edge, as `y`
 */
export function paintShape(
  canvas: Canvas,
  { parts, height }: Shape,
  x: number,
  y: number,
  options: SceneOptions,
): void {
  const { hour, place, isAnime } = options;
  const side = 2 * Math.ceil((height * Math.min(canvas.width, canvas.height)) / 2);
  const box = { left: Math.round(x - side / 2), top: Math.round(y - side), width: side, height: side };
  const at = (column: number, row: number) => (row - box.top) * side + column - box.left;
  const whole = new Float32Array(side * side);
  const light = mixColours([1, 1, 1], hour.light, 0.65);
  for (const { points, colour: own, glows } of parts) {
    const inside = computeCoverage(
      points.map(([left, top]) => [left * side, top * side] as const),
      side,
    );
    const shade = glows ? own : multiplyColours(own, light);
    const around = isAnime ? blur(inside, box, Math.max(1, side * 0.012), 1) : whole;
    const paint: PaintRow = ({ colour, opacity }, y, left, right) => {
      for (let x = left; x < right; x++) {
        const cell = at(x, y);
        const share = inside[cell] as number;
        whole[cell] = Math.max(whole[cell] as number, share);
        // Light comes from the upper left.
        const lit = isAnime ? 1 : 1.08 - (0.26 * (x - box.left + y - box.top)) / (2 * side);
        const line = isAnime ? clamp(4 * (around[cell] as number)) : share;
        setColour(colour, x * 3, INK);
        mixColour(colour, x * 3, [shade[0] * lit, shade[1] * lit, shade[2] * lit], share / (line || 1));
        opacity[x] = line;
      }
    };
    paintOver(canvas, paint, box);
  }
  if (!place.water || y < place.horizon * canvas.height) return;
  const { data, width } = canvas;
  const mirror: PaintRow = ({ colour, opacity }, row, left, right) => {
    const above = 2 * Math.round(y) - 1 - row;
    for (let column = left; column < right; column++) {
      const from = (above * width + column) * 3;
      setColour(colour, column * 3, readColour(data, from));
      opacity[column] = 0.32 * (whole[at(column, above)] as number);
    }
  };
  paintOver(canvas, mirror, { ...box, top: Math.round(y) });
}

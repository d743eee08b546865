import type { Adjustments } from './adjustments.js';
import { clamp } from './curves.js';
import type { Picture } from './picture.js';
import { blur, computeMean, createPlane, newPlane, type Plane, type Size } from './planes.js';
import { createRandom } from './random.js';
import { computeLuminance, LINEAR_LIGHT, type Scene } from './scene.js';

/** The distribution of light: in stops around its mean, and its colour. Planes have the size of the scene. */
export interface Light {
  readonly stops: Plane;
  readonly colour: readonly [Plane, Plane, Plane];
}

/** Stops from black to white. */
const STOPS_RANGE = 4.2;

/** Extracts the light of a light map or reference: its blurred brightness and colour. */
export function extractLight(map: Picture, spread: number): Light {
  const size = { width: map.width, height: map.height };
  const radius = Math.max(size.width, size.height) * 0.028 * spread;
  const soft = (value: (red: number, green: number, blue: number) => number) =>
    blur(
      createPlane(size, (at) => {
        const [red, green, blue] = [0, 1, 2].map((channel) => map.data[at * 3 + channel] as number);
        return value(red as number, green as number, blue as number);
      }),
      size,
      radius,
    );
  const shown = soft((red, green, blue) => (0.299 * red + 0.587 * green + 0.114 * blue) / 255);
  const middle = computeMean(shown);
  const stops = shown.map((value) => (value - middle) * STOPS_RANGE);
  const channels = [0, 1, 2].map((which) =>
    soft((...rgb) => LINEAR_LIGHT[rgb[which] as number] as number),
  ) as [Plane, Plane, Plane];
  const [red, green, blue] = channels;
  const all = createPlane(size, (at) =>
    computeLuminance(red[at] as number, green[at] as number, blue[at] as number),
  );
  const colour = channels.map((channel) =>
    createPlane(size, (at) =>
      clamp(Math.log2(((channel[at] as number) + 0.04) / ((all[at] as number) + 0.04)), -1.5, 1.5),
    ),
  ) as [Plane, Plane, Plane];
  return { stops, colour };
}

/** Creates a large soft lamp at one side, in place of a light map or reference. */
export function createLamp([x, y]: readonly [number, number], size: Size): Light {
  const long = Math.hypot(x, y) || 1;
  const stops = createPlane(size, (_, column, row) => {
    const across = (column / size.width) * 2 - 1;
    const down = (row / size.height) * 2 - 1;
    const along = (across * x + down * y) / long;
    return 1.5 * along - 0.35 * (across * across + down * down) + 0.2;
  });
  const none = new Float32Array(stops.length);
  return { stops, colour: [none, none, none] };
}

export interface CastLight {
  readonly light: Plane;
  readonly colour: readonly [Plane, Plane, Plane];
}

export interface CastOptions {
  readonly adjustments: Adjustments;
  /** 0 to 1 */
  readonly strength: number;
  /** How much of it reaches the background. */
  readonly background: number;
  readonly seed: number;
}

/** Casts light on a scene: it replaces part of the scene's own light and shades its shapes. */
export function castLight(
  scene: Scene,
  light: Light,
  { adjustments, strength, background, seed }: CastOptions,
): CastLight {
  const { size, base, subject, skin } = scene;
  const middle = computeMean(base);
  const shape = computeRelief(scene, light.stops);
  const drift = createDrift(seed, size);
  const weight = newPlane(size);
  const stops = newPlane(size);
  for (let at = 0; at < stops.length; at++) {
    const front = subject[at] as number;
    const far = (base[at] as number) - middle;
    const tones = Math.exp(-(far ** 2) / 4);
    weight[at] = Math.max(
      0,
      strength *
        (1 +
          adjustments.inside * front +
          adjustments.outside * (1 - front) +
          adjustments.midtones * (tones - 0.6)) *
        (1 + adjustments.skin * (skin[at] as number)) *
        (background + (1 - background) * front),
    );
    const own = far * -0.4 * clamp(0.35 + adjustments.flatten) * strength;
    const come =
      adjustments.light * (light.stops[at] as number) + (1.1 + adjustments.relief) * (shape[at] as number);
    stops[at] = own + (weight[at] as number) * clamp(come, -3.2, 3.2) * 0.85 + (drift[at] as number);
  }
  const colour = light.colour.map((channel) => {
    const cast = newPlane(size);
    for (let at = 0; at < cast.length; at++)
      cast[at] = (channel[at] as number) * (weight[at] as number) * 0.75 * adjustments.colour;
    return cast;
  }) as [Plane, Plane, Plane];
  return { light: stops, colour };
}

/** Takes brightness for height, and lights each slope the more it faces the light. */
function computeRelief({ base, size }: Scene, stops: Plane): Plane {
  const { width, height } = size;
  const radius = Math.max(width, height) * 0.012;
  const shape = blur(base, size, radius, 2);
  const across = Math.max(width, height) * 0.01;
  const lit = newPlane(size);
  for (let y = 0, at = 0; y < height; y++) {
    const down = y + 1 < height ? width : 0;
    const up = y > 0 ? width : 0;
    for (let x = 0; x < width; x++, at++) {
      const right = x + 1 < width ? 1 : 0;
      const left = x > 0 ? 1 : 0;
      const facing =
        computeSlope(shape, at + right, at - left) * computeSlope(stops, at + right, at - left) +
        computeSlope(shape, at + down, at - up) * computeSlope(stops, at + down, at - up);
      lit[at] = clamp(-facing * across * across * 1.6, -1, 1);
    }
  }
  return blur(lit, size, radius * 0.6, 2);
}

function computeSlope(values: Plane, after: number, before: number): number {
  return (values[after] as number) - (values[before] as number);
}

/** Faint clouds of a seed, so that two pictures of one request are similar but not the same. */
function createDrift(seed: number, size: Size): Plane {
  const next = createRandom(seed);
  const waves = Array.from({ length: 4 }, () => ({
    across: (next() * 2 - 1) * 7,
    down: (next() * 2 - 1) * 7,
    start: next() * 6.3,
  }));
  const drift = newPlane(size);
  for (let y = 0, at = 0; y < size.height; y++) {
    for (let x = 0; x < size.width; x++, at++) {
      let sum = 0;
      for (const { across, down, start } of waves)
        sum += Math.sin((across * x) / size.width + (down * y) / size.height + start);
      drift[at] = sum * 0.035;
    }
  }
  return drift;
}

import type { Knobs } from './knobs.js';
import type { Picture } from './picture.js';
import { blur, mean, type Plane, plane, type Size } from './planes.js';
import { random } from './random.js';
import { clamp, linear, luminance, type Scene } from './scene.js';

/** Where light is: how much, in stops around its mean, and of which colour. Planes of the scene's size. */
export interface Light {
  readonly stops: Plane;
  readonly colour: readonly [Plane, Plane, Plane];
}

/** From black to white, so many stops. */
const range = 4.2;

/** The light of a map or of a reference: what is coarse in its brightness and colour. */
export function lightOf(map: Picture, spread: number): Light {
  const size = { width: map.width, height: map.height };
  const radius = Math.max(size.width, size.height) * 0.028 * spread;
  const soft = (value: (red: number, green: number, blue: number) => number) =>
    blur(
      plane(size, (at) => {
        const [red, green, blue] = [0, 1, 2].map((channel) => map.data[at * 3 + channel] as number);
        return value(red as number, green as number, blue as number);
      }),
      size,
      radius,
    );
  const shown = soft((red, green, blue) => (0.299 * red + 0.587 * green + 0.114 * blue) / 255);
  const middle = mean(shown);
  const stops = shown.map((value) => (value - middle) * range);
  const channels = [0, 1, 2].map((which) => soft((...rgb) => linear[rgb[which] as number] as number)) as [
    Plane,
    Plane,
    Plane,
  ];
  const [red, green, blue] = channels;
  const all = plane(size, (at) => luminance(red[at] as number, green[at] as number, blue[at] as number));
  const colour = channels.map((channel) =>
    plane(size, (at) =>
      clamp(Math.log2(((channel[at] as number) + 0.04) / ((all[at] as number) + 0.04)), -1.5, 1.5),
    ),
  ) as [Plane, Plane, Plane];
  return { stops, colour };
}

/** A large soft lamp at one side, where neither a map nor a reference says otherwise. */
export function lampFrom([x, y]: readonly [number, number], size: Size): Light {
  const long = Math.hypot(x, y) || 1;
  const stops = plane(size, (_, column, row) => {
    const across = (column / size.width) * 2 - 1;
    const down = (row / size.height) * 2 - 1;
    const along = (across * x + down * y) / long;
    return 1.5 * along - 0.35 * (across * across + down * down) + 0.2;
  });
  const none = new Float32Array(stops.length);
  return { stops, colour: [none, none, none] };
}

export interface Relit {
  readonly light: Plane;
  readonly colour: readonly [Plane, Plane, Plane];
}

export interface Falling {
  readonly knobs: Knobs;
  /** 0 to 1 */
  readonly strength: number;
  /** How much of it reaches what is behind the subject. */
  readonly background: number;
  readonly seed: number;
}

/** How that light falls on a scene: in the place of part of its own light, turned by its shapes. */
export function fall(scene: Scene, light: Light, { knobs, strength, background, seed }: Falling): Relit {
  const { size, base, subject, skin } = scene;
  const middle = mean(base);
  const weight = plane(size, (at) => {
    const front = subject[at] as number;
    const tones = Math.exp(-(((base[at] as number) - middle) ** 2) / 4);
    return Math.max(
      0,
      strength *
        (1 + knobs.inside * front + knobs.outside * (1 - front) + knobs.midtones * (tones - 0.6)) *
        (1 + knobs.skin * (skin[at] as number)) *
        (background + (1 - background) * front),
    );
  });
  const shape = relief(scene, light.stops);
  const drift = drifting(seed, size);
  const stops = plane(size, (at) => {
    const own = ((base[at] as number) - middle) * -0.4 * clamp(0.35 + knobs.flatten) * strength;
    const come = knobs.light * (light.stops[at] as number) + (1.1 + knobs.relief) * (shape[at] as number);
    return own + (weight[at] as number) * clamp(come, -3.2, 3.2) * 0.85 + (drift[at] as number);
  });
  const colour = light.colour.map((channel) =>
    plane(size, (at) => (channel[at] as number) * (weight[at] as number) * 0.75 * knobs.colour),
  ) as [Plane, Plane, Plane];
  return { light: stops, colour };
}

/** Taking what is bright for what is near, each slope is lit the more it faces the light. */
function relief({ base, size }: Scene, stops: Plane): Plane {
  const { width, height } = size;
  const radius = Math.max(width, height) * 0.012;
  const shape = blur(base, size, radius, 2);
  const across = Math.max(width, height) * 0.01;
  const lit = plane(size, (at, x, y) => {
    const right = x + 1 < width ? 1 : 0;
    const left = x > 0 ? 1 : 0;
    const down = y + 1 < height ? width : 0;
    const up = y > 0 ? width : 0;
    const slope = (values: Plane, after: number, before: number) =>
      (values[at + after] as number) - (values[at - before] as number);
    const facing =
      slope(shape, right, left) * slope(stops, right, left) + slope(shape, down, up) * slope(stops, down, up);
    return clamp(-facing * across * across * 1.6, -1, 1);
  });
  return blur(lit, size, radius * 0.6, 2);
}

/** A seed's own faint clouds, so that two pictures of one request are alike but not the same. */
function drifting(seed: number, size: Size): Plane {
  const next = random(seed);
  const waves = Array.from({ length: 4 }, () => ({
    across: (next() * 2 - 1) * 7,
    down: (next() * 2 - 1) * 7,
    start: next() * 6.3,
  }));
  return plane(size, (_, x, y) => {
    let sum = 0;
    for (const { across, down, start } of waves) {
      sum += Math.sin((across * x) / size.width + (down * y) / size.height + start);
    }
    return sum * 0.035;
  });
}

import { random } from '../local-image/random.js';
import { clamp } from '../local-image/scene.js';
import { type Frame, type Yuv, yuv } from './frame.js';
import type { Weather } from './setting.js';

interface Kind {
  readonly count: number;
  readonly colour: Yuv;
  /** Of the short side: radius, and how far it goes each second, to the right and down. */
  readonly size: number;
  readonly speed: readonly [number, number];
  readonly sway: number;
  readonly opacity: number;
  /** Drawn as a line of so many radii. */
  readonly length: number;
  readonly blinks?: true;
}

const kinds: Readonly<Record<Exclude<Weather, 'clear'>, Kind>> = {
  rain: {
    count: 420,
    colour: yuv(214, 224, 236),
    size: 0.0013,
    speed: [0.12, 1.7],
    sway: 0,
    opacity: 0.34,
    length: 26,
  },
  snow: {
    count: 260,
    colour: yuv(255, 255, 255),
    size: 0.0042,
    speed: [0.03, 0.16],
    sway: 0.03,
    opacity: 0.85,
    length: 1,
  },
  petals: {
    count: 90,
    colour: yuv(255, 188, 204),
    size: 0.0062,
    speed: [0.09, 0.13],
    sway: 0.05,
    opacity: 0.9,
    length: 2,
  },
  fireflies: {
    count: 70,
    colour: yuv(255, 236, 140),
    size: 0.0042,
    speed: [0.015, -0.012],
    sway: 0.06,
    opacity: 0.95,
    length: 1,
    blinks: true,
  },
  dust: {
    count: 130,
    colour: yuv(246, 216, 170),
    size: 0.0026,
    speed: [0.16, 0.01],
    sway: 0.03,
    opacity: 0.4,
    length: 3,
  },
};

export type Falling = (frame: Frame, time: number, strength: number) => void;

/** What falls or flies through the air. Strength 0 is none, 1 all of it. */
export function falling(weather: Weather, seed: number): Falling | undefined {
  if (weather === 'clear') return undefined;
  const kind = kinds[weather];
  const next = random(seed ^ 0x3a1f);
  const things = Array.from({ length: kind.count }, () => [next(), next(), next(), next()] as const);
  return (frame, time, strength) => {
    const short = Math.min(frame.width, frame.height);
    const [wide, high] = [frame.width / short + 0.1, frame.height / short + 0.1];
    for (const [x, y, near, phase] of things) {
      const scale = 0.5 + near;
      const swing = kind.sway * Math.sin(time * (1 + phase) + phase * 6.28);
      const across = around(x * wide + time * kind.speed[0] * scale + swing, wide) - 0.05;
      const down = around(y * high + time * kind.speed[1] * scale, high) - 0.05;
      const blink = kind.blinks ? clamp(0.5 + 0.8 * Math.sin(time * (1.5 + phase) + phase * 40)) : 1;
      const radius = Math.max(0.7, kind.size * scale * short);
      draw(frame, [across * short, down * short], radius, kind, kind.opacity * blink * strength);
    }
  };
}

function around(value: number, most: number): number {
  return ((value % most) + most) % most;
}

/** A soft disc, drawn out along its way where it is long. */
function draw(frame: Frame, [x, y]: readonly [number, number], radius: number, kind: Kind, opacity: number) {
  const [vx, vy] = kind.speed;
  const speed = Math.hypot(vx, vy);
  const steps = Math.max(1, Math.round(kind.length));
  const share = kind.length > 4 ? 1 : 1 / Math.sqrt(steps);
  for (let step = 0; step < steps; step++) {
    const back = (step - steps / 2) * radius * 0.9;
    dot(frame, x - (vx / speed) * back, y - (vy / speed) * back, radius, kind.colour, opacity * share);
  }
}

function dot(frame: Frame, x: number, y: number, radius: number, colour: Yuv, opacity: number): void {
  const { width, height } = frame;
  const reach = Math.ceil(radius + 0.5);
  for (
    let row = Math.max(0, Math.round(y) - reach);
    row <= Math.min(height - 1, Math.round(y) + reach);
    row++
  ) {
    for (
      let column = Math.max(0, Math.round(x) - reach);
      column <= Math.min(width - 1, Math.round(x) + reach);
      column++
    ) {
      const share = opacity * clamp(radius + 0.5 - Math.hypot(column - x, row - y));
      if (share <= 0) continue;
      const at = row * width + column;
      frame.y[at] = (frame.y[at] as number) + (colour[0] - (frame.y[at] as number)) * share;
      if ((row | column) & 1) continue;
      const half = (row >> 1) * (width >> 1) + (column >> 1);
      frame.u[half] = (frame.u[half] as number) + (colour[1] - (frame.u[half] as number)) * share;
      frame.v[half] = (frame.v[half] as number) + (colour[2] - (frame.v[half] as number)) * share;
    }
  }
}

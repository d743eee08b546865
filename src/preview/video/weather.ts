import { clamp } from '../image/curves.js';
import { createRandom } from '../image/random.js';
import { type Frame, toYuv, type Yuv } from './frame.js';
import type { Weather } from './setting.js';

interface ParticleKind {
  readonly count: number;
  readonly colour: Yuv;
  /** As parts of the short side: the radius, and the speed per second to the right and down. */
  readonly size: number;
  readonly speed: readonly [number, number];
  readonly sway: number;
  readonly opacity: number;
  /** The length of its trace in radii. */
  readonly length: number;
  readonly blinks?: true;
}

const PARTICLES: Readonly<Record<Exclude<Weather, 'clear'>, ParticleKind>> = {
  rain: {
    count: 420,
    colour: toYuv(214, 224, 236),
    size: 0.0013,
    speed: [0.12, 1.7],
    sway: 0,
    opacity: 0.34,
    length: 26,
  },
  snow: {
    count: 260,
    colour: toYuv(255, 255, 255),
    size: 0.0042,
    speed: [0.03, 0.16],
    sway: 0.03,
    opacity: 0.85,
    length: 1,
  },
  petals: {
    count: 90,
    colour: toYuv(255, 188, 204),
    size: 0.0062,
    speed: [0.09, 0.13],
    sway: 0.05,
    opacity: 0.9,
    length: 2,
  },
  fireflies: {
    count: 70,
    colour: toYuv(255, 236, 140),
    size: 0.0042,
    speed: [0.015, -0.012],
    sway: 0.06,
    opacity: 0.95,
    length: 1,
    blinks: true,
  },
  dust: {
    count: 130,
    colour: toYuv(246, 216, 170),
    size: 0.0026,
    speed: [0.16, 0.01],
    sway: 0.03,
    opacity: 0.4,
    length: 3,
  },
};

export type DrawParticles = (frame: Frame, time: number, strength: number) => void;

/** Creates particles that fall or fly through the air. Their strength is from 0, none, to 1. */
export function createParticles(weather: Weather, seed: number): DrawParticles | undefined {
  if (weather === 'clear') return undefined;
  const kind = PARTICLES[weather];
  const next = createRandom(seed ^ 0x3a1f);
  const things = Array.from({ length: kind.count }, () => [next(), next(), next(), next()] as const);
  return (frame, time, strength) => {
    const short = Math.min(frame.width, frame.height);
    const [wide, high] = [frame.width / short + 0.1, frame.height / short + 0.1];
    for (const [x, y, near, phase] of things) {
      const scale = 0.5 + near;
      const swing = kind.sway * Math.sin(time * (1 + phase) + phase * 6.28);
      const across = wrapAround(x * wide + time * kind.speed[0] * scale + swing, wide) - 0.05;
      const down = wrapAround(y * high + time * kind.speed[1] * scale, high) - 0.05;
      const blink = kind.blinks ? clamp(0.5 + 0.8 * Math.sin(time * (1.5 + phase) + phase * 40)) : 1;
      const radius = Math.max(0.7, kind.size * scale * short);
      drawParticle(frame, [across * short, down * short], radius, kind, kind.opacity * blink * strength);
    }
  };
}

function wrapAround(value: number, most: number): number {
  return ((value % most) + most) % most;
}

/** Draws a soft disc, stretched along its path. */
function drawParticle(
  frame: Frame,
  [x, y]: readonly [number, number],
  radius: number,
  kind: ParticleKind,
  opacity: number,
) {
  const [vx, vy] = kind.speed;
  const speed = Math.hypot(vx, vy);
  const steps = Math.max(1, Math.round(kind.length));
  const share = kind.length > 4 ? 1 : 1 / Math.sqrt(steps);
  for (let step = 0; step < steps; step++) {
    const back = (step - steps / 2) * radius * 0.9;
    drawDot(frame, x - (vx / speed) * back, y - (vy / speed) * back, radius, kind.colour, opacity * share);
  }
}

function drawDot(frame: Frame, x: number, y: number, radius: number, colour: Yuv, opacity: number): void {
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

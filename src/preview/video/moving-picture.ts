import { combineAdjustments } from '../image/adjustments.js';
import { smoothStep } from '../image/curves.js';
import { type Picture, readPicture, shrinkPicture } from '../image/picture.js';
import type { Size } from '../image/planes.js';
import { createNoise } from '../image/random.js';
import { analyzeScene } from '../image/scene.js';
import { FRAME_RATE, type Frame, grade, newFrame, toFrame, toPicture } from './frame.js';
import { readSetting } from './setting.js';
import type { Shot } from './shot.js';
import { countCells, createMotion, warpFrame } from './warp.js';
import { createParticles } from './weather.js';

/** A picture to animate. */
export interface Still {
  readonly frame: Frame;
  /** The nearness of things, 0 to 1, at each point of the grid. */
  readonly near: Float32Array;
  /** Where water begins, as a part of the height; absent: there is none. */
  readonly shore?: number;
}

/**
 * Reads a picture, upright and cropped to the size.
 * @throws PreviewFailure if it cannot be decoded
 */
export async function readStill(path: string, size: Size): Promise<Still> {
  const picture = await readPicture(path, { size, fit: 'cover' });
  return { frame: toFrame(picture), near: await measureNearness(picture) };
}

/** Creates a still from a frame of a video, to continue from. */
export async function createStill(frame: Frame): Promise<Still> {
  return { frame, near: await measureNearness(toPicture(frame)) };
}

async function measureNearness(picture: Picture): Promise<Float32Array> {
  const { subject, size } = analyzeScene(await shrinkPicture(picture));
  const { columns, rows } = countCells(picture);
  const near = new Float32Array(columns * rows);
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, at++) {
      const x = Math.min(size.width - 1, Math.floor((column / (columns - 1)) * size.width));
      const y = Math.min(size.height - 1, Math.floor((row / (rows - 1)) * size.height));
      near[at] = subject[y * size.width + x] as number;
    }
  }
  return near;
}

interface AnimationOptions {
  readonly from: Still;
  /** Default: it may end anywhere. */
  readonly to?: Still | undefined;
  readonly count: number;
  /** Whether the first frame is the one after the picture instead of the picture itself. */
  readonly beginsAfter?: boolean;
  /** Whether it was painted for the shot, with its tone, and need not begin unchanged. */
  readonly isScene?: boolean;
}

/** Animates a picture, or turns one into another. At the ends the pictures are unchanged. */
export function* animatePicture(
  shot: Shot,
  { from, to, count, beginsAfter, isScene }: AnimationOptions,
): Iterable<Frame> {
  const { seed, isAnime } = shot;
  const frame = newFrame(from.frame);
  const other = to && newFrame(to.frame);
  const leave = createMotion(shot, from, from.frame, seed);
  const arrive = to && createMotion(shot, to, to.frame, seed + 1);
  const blend = to && createDissolve(to.frame, seed);
  const tone = combineAdjustments(shot.tone, isAnime ? { steps: 0.8 } : {});
  const weather = readSetting(shot.prompt, seed).weather;
  const fall = createParticles(weather, seed);
  const richness = shot.isRich
    ? createParticles(weather === 'clear' ? 'dust' : weather, seed + 1)
    : undefined;
  for (let index = 0; index < count; index++) {
    // As in hand-drawn films, each picture is held for two frames, except the last one, which must be exact.
    const held = isAnime && index < count - 1 ? index - (index % 2) : index;
    const part = beginsAfter ? (held + 1) / count : held / Math.max(1, count - 1);
    const time = held / FRAME_RATE;
    if (held === index) {
      warpFrame(from.frame, frame, leave(part, time));
      if (to && other && arrive && blend) {
        warpFrame(to.frame, other, arrive(1 - part, -time));
        blend(frame, other, part);
      }
      // Nothing at the ends, where the pictures are unchanged.
      const share = isScene ? 1 : smoothStep(0, 0.3, part) * (to ? smoothStep(0, 0.3, 1 - part) : 1);
      fall?.(frame, time, share);
      richness?.(frame, time, share);
      if (!isScene) grade(frame, tone, 0.75 * share);
    }
    yield frame;
  }
}

/** The softness of the border between both pictures. */
const SOFTNESS = 0.45;

/** Blends one frame into another in patches like drifting mist. Part 0 is the first frame, 1 the other. */
function createDissolve(size: Size, seed: number): (frame: Frame, other: Frame, part: number) => void {
  const mist = createNoise(seed ^ 0xd155);
  const short = Math.min(size.width, size.height);
  const half = { width: size.width / 2, height: size.height / 2 };
  const turn = new Uint8Array(half.width * half.height);
  for (let y = 0, at = 0; y < half.height; y++) {
    for (let x = 0; x < half.width; x++, at++) {
      const value = mist.octaves(3, (x / short) * 5, (y / short) * 5);
      turn[at] = 255 * smoothStep(0.15, 0.85, value);
    }
  }
  return (frame, other, part) => {
    const along = smoothStep(0.12, 0.88, part) * (1 + SOFTNESS);
    const shares = Uint16Array.from(
      { length: 256 },
      (_, when) => 256 * smoothStep(0, SOFTNESS, along - when / 255),
    );
    mixPlane(frame.u, other.u, (at) => turn[at] as number, shares);
    mixPlane(frame.v, other.v, (at) => turn[at] as number, shares);
    const { width } = size;
    for (let y = 0, at = 0; y < size.height; y++) {
      const row = (y >> 1) * half.width;
      for (let x = 0; x < width; x++, at++) {
        const share = shares[turn[row + (x >> 1)] as number] as number;
        const value = frame.y[at] as number;
        frame.y[at] = value + ((((other.y[at] as number) - value) * share) >> 8);
      }
    }
  };
}

function mixPlane(
  plane: Uint8Array,
  other: Uint8Array,
  when: (at: number) => number,
  shares: Uint16Array,
): void {
  for (let at = 0; at < plane.length; at++) {
    const value = plane[at] as number;
    plane[at] = value + ((((other[at] as number) - value) * (shares[when(at)] as number)) >> 8);
  }
}

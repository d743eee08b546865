import { combineAdjustments } from '../image/adjustments.js';
import { smoothStep } from '../image/curves.js';
import { createDissolve } from './dissolve.js';
import { FRAME_RATE, type Frame, newFrame } from './frame.js';
import { grade } from './grade.js';
import { createMotion } from './motion.js';
import { readSetting } from './setting.js';
import type { Shot } from './shot.js';
import type { Still } from './still.js';
import { warpFrame } from './warp.js';
import { createParticles } from './weather.js';

export interface AnimationOptions {
  readonly from: Still;
  /** Default: it may end anywhere. */
  readonly to?: Still | undefined;
  readonly count: number;
  /** Whether the first frame is the one after the picture instead of the picture itself. */
  readonly beginsAfter?: boolean;
}

/** Animates a picture, or turns one into another. At the ends the pictures are unchanged. */
export function* animatePicture(
  shot: Shot,
  { from, to, count, beginsAfter }: AnimationOptions,
): Iterable<Frame> {
  const { seed, isAnime } = shot;
  const frame = newFrame(from.frame);
  const other = to && newFrame(to.frame);
  const leave = createMotion(shot, from.near, from.frame, seed);
  const arrive = to && createMotion(shot, to.near, to.frame, seed + 1);
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
      const share = smoothStep(0, 0.3, part) * (to ? smoothStep(0, 0.3, 1 - part) : 1);
      fall?.(frame, time, share);
      richness?.(frame, time, share);
      grade(frame, tone, 0.75 * share);
    }
    yield frame;
  }
}

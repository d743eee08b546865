import { knobs } from '../local-image/knobs.js';
import { smooth } from '../local-image/scene.js';
import { dissolve } from './dissolve.js';
import { frameRate } from './film.js';
import { type Frame, newFrame } from './frame.js';
import { grade } from './grade.js';
import { motion } from './motion.js';
import { readSetting } from './setting.js';
import type { Shot } from './shot.js';
import type { Still } from './still.js';
import { warp } from './warp.js';
import { falling } from './weather.js';

export interface Way {
  readonly from: Still;
  /** Absent: it may end anywhere. */
  readonly to?: Still;
  readonly count: number;
  /** Whether the first frame is the picture itself, or already the one after it. */
  readonly beginsAfter?: boolean;
}

/** A picture comes alive, or one turns into another: at its ends each is as it was given. */
export function* movingPicture(shot: Shot, { from, to, count, beginsAfter }: Way): Iterable<Frame> {
  const { seed, isAnime } = shot;
  const frame = newFrame(from.frame);
  const other = to && newFrame(to.frame);
  const leave = motion(shot, from.near, from.frame, seed);
  const arrive = to && motion(shot, to.near, to.frame, seed + 1);
  const blend = to && dissolve(to.frame, seed);
  const tone = knobs(shot.tone, isAnime ? { steps: 0.8 } : {});
  const weather = readSetting(shot.prompt, seed).weather;
  const fall = falling(weather, seed);
  const richness = shot.isRich ? falling(weather === 'clear' ? 'dust' : weather, seed + 1) : undefined;
  for (let index = 0; index < count; index++) {
    // Drawn by hand, each picture is held for two frames; but the last is where it has to be.
    const held = isAnime && index < count - 1 ? index - (index % 2) : index;
    const part = beginsAfter ? (held + 1) / count : held / Math.max(1, count - 1);
    const time = held / frameRate;
    if (held === index) {
      warp(from.frame, frame, leave(part, time));
      if (to && other && arrive && blend) {
        warp(to.frame, other, arrive(1 - part, -time));
        blend(frame, other, part);
      }
      // Nothing of it at the ends, where pictures are as they were given.
      const share = smooth(0, 0.3, part) * (to ? smooth(0, 0.3, 1 - part) : 1);
      fall?.(frame, time, share);
      richness?.(frame, time, share);
      grade(frame, tone, 0.75 * share);
    }
    yield frame;
  }
}

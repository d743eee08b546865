import type { Size } from '../local-image/planes.js';
import type { Frame } from './frame.js';
import type { Sound } from './sound.js';

/** Frames a second of every video that is made here. */
export const frameRate = 24;

/** Pictures in the order they are shown. */
export interface Film {
  readonly size: Size;
  /** Exactly so many are given. */
  readonly count: number;
  /** Each is the consumer's until it asks for the next. */
  frames(): AsyncIterable<Frame> | Iterable<Frame>;
  /** What is heard with it, of a video that was given; absent: what is asked for. */
  readonly sound?: Sound;
}

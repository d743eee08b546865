import { type Picture, readPicture, shrink } from '../local-image/picture.js';
import type { Size } from '../local-image/planes.js';
import { scene } from '../local-image/scene.js';
import { type Frame, frameOf, pictureOf } from './frame.js';
import { cells } from './warp.js';

/** A picture that is to be moved. */
export interface Still {
  readonly frame: Frame;
  /** How near things are, 0 to 1, at each point of the grid. */
  readonly near: Float32Array;
}

/**
 * A picture upright and of exactly this size; what is too much of it is cut off.
 * @throws EngineFailure where it cannot be decoded
 */
export async function readStill(path: string, size: Size): Promise<Still> {
  const picture = await readPicture(path, { size, fit: 'cover' });
  return { frame: frameOf(picture), near: await nearness(picture) };
}

/** One frame of a video, to go on from. */
export async function stillOf(frame: Frame): Promise<Still> {
  return { frame, near: await nearness(pictureOf(frame)) };
}

async function nearness(picture: Picture): Promise<Float32Array> {
  const { subject, size } = scene(await shrink(picture));
  const { columns, rows } = cells(picture);
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

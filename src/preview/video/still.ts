import { type Picture, readPicture, shrinkPicture } from '../image/picture.js';
import type { Size } from '../image/planes.js';
import { analyzeScene } from '../image/scene.js';
import { type Frame, toFrame, toPicture } from './frame.js';
import { countCells } from './warp.js';

/** A picture to animate. */
export interface Still {
  readonly frame: Frame;
  /** The nearness of things, 0 to 1, at each point of the grid. */
  readonly near: Float32Array;
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

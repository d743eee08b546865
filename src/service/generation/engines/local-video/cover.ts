import { loadSharp } from '../../sharp.js';
import { type Frame, pictureOf } from './frame.js';

/** Writes a frame as a picture that says which engine made it. */
export async function writeCover(frame: Frame, path: string): Promise<void> {
  const sharp = await loadSharp();
  const { data, width, height, channels } = pictureOf(frame);
  await sharp(data, { raw: { width, height, channels } })
    .withExif({ IFD0: { Software: 'engine: local-preview' } })
    .jpeg({ quality: 90 })
    .toFile(path);
}

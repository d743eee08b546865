import { PreviewFailure, type PreviewJob } from '../job.js';
import { type Film, FRAME_RATE, newFrame } from './frame.js';
import { createLandscape } from './landscape.js';
import { animatePicture } from './moving-picture.js';
import { computeShotSize, type Shot } from './shot.js';
import { fadeSound } from './source-sound.js';
import { openSource } from './source-video.js';
import { createStill, readStill, type Still } from './still.js';

type InputImages = PreviewJob<'video'>['images'];

/**
 * Creates the film of a task.
 * @throws PreviewFailure if a picture or a video cannot be used
 */
export function createFilm(shot: Shot, images: InputImages): Promise<Film> {
  return shot.operation === 'video.extend' ? extendFilm(shot, images) : createNewFilm(shot, images);
}

async function createNewFilm(shot: Shot, images: InputImages): Promise<Film> {
  const [start, end] = [images['images.0'], images['images.1']];
  if (start === undefined) return createLandscape(shot);
  const size = computeShotSize(shot);
  const from = await readStill(start, size);
  const to = end === undefined ? undefined : await readStill(end, size);
  const count = shot.seconds * FRAME_RATE;
  return { size, count, frames: () => animatePicture(shot, { from, to, count }) };
}

// Decided: the result of extend is the whole: the source video, in the requested size, and the new seconds
// after it.
async function extendFilm(shot: Shot, images: InputImages): Promise<Film> {
  const path = images.video;
  if (path === undefined) throw new PreviewFailure('There is no video to extend.');
  const source = await openSource(path, shot.resolution);
  const { size } = source;
  const end = images['images.0'];
  const to = end === undefined ? undefined : await readStill(end, size);
  const added = shot.seconds * FRAME_RATE;
  async function* frames() {
    const last = newFrame(size);
    for await (const frame of source.frames()) {
      last.data.set(frame.data);
      yield frame;
    }
    const from: Still = await createStill(last);
    yield* animatePicture(shot, { from, to, count: added, beginsAfter: true });
  }
  const sound = source.sound && fadeSound(source.sound, shot.seconds);
  return { size, count: source.count + added, frames, sound };
}

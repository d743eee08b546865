import { EngineFailure, type EngineJob, type VideoOperation } from '../../engine.js';
import { type Film, frameRate } from './film.js';
import { newFrame } from './frame.js';
import { landscape } from './landscape.js';
import { movingPicture } from './moving-picture.js';
import { type Shot, sizeOfShot } from './shot.js';
import { faded } from './source-sound.js';
import { openSource } from './source-video.js';
import { readStill, type Still, stillOf } from './still.js';

type Images = EngineJob<VideoOperation>['images'];

/**
 * The film that a task asks for.
 * @throws EngineFailure where a picture or a video cannot be worked on
 */
export function filmOf(shot: Shot, images: Images): Promise<Film> {
  return shot.operation === 'video.extend' ? extended(shot, images) : made(shot, images);
}

async function made(shot: Shot, images: Images): Promise<Film> {
  const [start, end] = [images['images.0'], images['images.1']];
  if (start === undefined) return landscape(shot);
  const size = sizeOfShot(shot);
  const from = await readStill(start, size);
  const to = end === undefined ? undefined : await readStill(end, size);
  const count = shot.seconds * frameRate;
  return { size, count, frames: () => movingPicture(shot, { from, to, count }) };
}

// Decided: what extend makes is the whole: the video that was given, in the size asked for, and after it the new seconds.
async function extended(shot: Shot, images: Images): Promise<Film> {
  const path = images.video;
  if (path === undefined) throw new EngineFailure('There is no video to extend.');
  const source = await openSource(path, shot.resolution);
  const { size } = source;
  const end = images['images.0'];
  const to = end === undefined ? undefined : await readStill(end, size);
  const added = shot.seconds * frameRate;
  async function* frames() {
    const last = newFrame(size);
    for await (const frame of source.frames()) {
      last.data.set(frame.data);
      yield frame;
    }
    const from: Still = await stillOf(last);
    yield* movingPicture(shot, { from, to, count: added, beginsAfter: true });
  }
  const sound = source.sound && faded(source.sound, shot.seconds);
  return { size, count: source.count + added, frames, sound };
}

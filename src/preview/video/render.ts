import { join } from 'node:path';
import { openPixels } from '../image/picture.js';
import { ENGINE_NOTE, type OnProgress, PreviewFailure, type PreviewJob, type PreviewResult } from '../job.js';
import { createCard } from './card.js';
import { loadCodecs } from './codecs.js';
import { type Film, FRAME_RATE, type Frame, newFrame, toPicture } from './frame.js';
import { animatePicture, readStill } from './moving-picture.js';
import { computeShotSize, readShot, type Shot } from './shot.js';
import { createSilence } from './silence.js';
import { openSource } from './source-video.js';
import { addWatermark } from './watermark.js';
import { writeVideo } from './write-video.js';

/**
 * Runs a task and writes its video and cover into the folder of the task.
 * @throws PreviewFailure if a picture or a video cannot be used
 */
export async function render(job: PreviewJob<'video'>, onProgress: OnProgress): Promise<PreviewResult> {
  const shot = readShot(job);
  const plain = await createFilm(shot, job.images);
  const film = shot.watermark ? await addWatermark(plain, shot.watermark, job.images.wm_url) : plain;
  const { mediabunny } = loadCodecs();
  const sound = film.sound ?? (shot.sounds.length > 0 ? createSilence(mediabunny, shot.seconds) : undefined);
  const path = join(job.folder, 'video.mp4');
  const cover = join(job.folder, 'cover.jpg');
  await writeVideo(path, { film, sound, comment: shot.comment }, async (frame, index) => {
    if (index === 0) await writeCover(frame, cover);
    onProgress((index + 1) / film.count);
  });
  return {
    files: [
      { path, contentType: 'video/mp4', role: 'video' },
      { path: cover, contentType: 'image/jpeg', role: 'cover' },
    ],
  };
}

/** Writes a frame as a picture whose metadata names the engine. */
async function writeCover(frame: Frame, path: string): Promise<void> {
  await (await openPixels(toPicture(frame)))
    .withExif({ IFD0: { Software: ENGINE_NOTE } })
    .jpeg({ quality: 90 })
    .toFile(path);
}

type InputImages = PreviewJob<'video'>['images'];

/**
 * Creates the film of a task.
 * @throws PreviewFailure if a picture or a video cannot be used
 */
export async function createFilm(shot: Shot, images: InputImages): Promise<Film> {
  if (shot.continues) return extendFilm(shot, images);
  const [start, end] = [images['images.0'], images['images.1']];
  if (start === undefined) return createCard(shot);
  const size = computeShotSize(shot);
  const from = await readStill(start, size);
  const to = end === undefined ? undefined : await readStill(end, size);
  const count = shot.seconds * FRAME_RATE;
  return { size, count, frames: () => animatePicture(shot, from, to, count) };
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
    yield* animatePicture(shot, last, to, added, true);
  }
  return { size, count: source.count + added, frames, sound: source.sound };
}

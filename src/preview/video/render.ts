import { join } from 'node:path';
import { ENGINE_NOTE, type OnProgress, type PreviewJob, type PreviewResult } from '../job.js';
import { loadSharp } from '../sharp.js';
import { createFilm } from './create-film.js';
import { type Frame, toPicture } from './frame.js';
import { readShot } from './shot.js';
import { createSound } from './soundtrack.js';
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
  const path = join(job.folder, 'video.mp4');
  const cover = join(job.folder, 'cover.jpg');
  await writeVideo(
    path,
    { film, sound: film.sound ?? createSound(shot), comment: shot.comment },
    async (frame, index) => {
      if (index === 0) await writeCover(frame, cover);
      onProgress((index + 1) / film.count);
    },
  );
  return {
    files: [
      { path, contentType: 'video/mp4', role: 'video' },
      { path: cover, contentType: 'image/jpeg', role: 'cover' },
    ],
  };
}

/** Writes a frame as a picture whose metadata names the engine. */
async function writeCover(frame: Frame, path: string): Promise<void> {
  const sharp = await loadSharp();
  const { data, width, height, channels } = toPicture(frame);
  await sharp(data, { raw: { width, height, channels } })
    .withExif({ IFD0: { Software: ENGINE_NOTE } })
    .jpeg({ quality: 90 })
    .toFile(path);
}

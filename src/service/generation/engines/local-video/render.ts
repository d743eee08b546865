import { join } from 'node:path';
import type { EngineJob, EngineResult, VideoOperation } from '../../engine.js';
import { writeCover } from './cover.js';
import { filmOf } from './films.js';
import { readShot } from './shot.js';
import { soundOf } from './soundtrack.js';
import { watermarked } from './watermark.js';
import { writeVideo } from './write-video.js';

/** Called with the part that is done, 0 to 1. */
export type Watch = (part: number) => void;

/**
 * Does a task: writes its video and its cover into the task's folder.
 * @throws EngineFailure where a picture or a video cannot be worked on
 */
export async function render(job: EngineJob<VideoOperation>, watch: Watch): Promise<EngineResult> {
  const shot = readShot(job);
  const plain = await filmOf(shot, job.images);
  const film = shot.watermark ? await watermarked(plain, shot.watermark, job.images.wm_url) : plain;
  const path = join(job.folder, 'video.mp4');
  const cover = join(job.folder, 'cover.jpg');
  await writeVideo(
    path,
    { film, sound: film.sound ?? soundOf(shot), comment: shot.comment },
    async (frame, index) => {
      if (index === 0) await writeCover(frame, cover);
      watch((index + 1) / film.count);
    },
  );
  return {
    files: [
      { path, contentType: 'video/mp4', role: 'video' },
      { path: cover, contentType: 'image/jpeg', role: 'cover' },
    ],
  };
}

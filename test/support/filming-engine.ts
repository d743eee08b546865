import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine, EngineJob, EngineMemory, VideoOperation } from '../../src/service/operation/engine.js';
import { pixel } from './generation.js';

/** The beginning of a video file. */
export const film = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2film', 'latin1');

/** An engine that returns the same video and cover for every task, after what the test makes it do. */
export function createFilmingEngine(
  before: (
    job: EngineJob<VideoOperation>,
    signal: AbortSignal,
    memory: EngineMemory,
  ) => void | Promise<void> = () => {},
): Engine<VideoOperation> {
  return {
    name: 'filming',
    atOnce: 2,
    run: async (job, signal, progress, memory) => {
      await before(job, signal, memory);
      progress(0.5);
      const [video, cover] = [join(job.folder, 'film.mp4'), join(job.folder, 'cover.png')];
      await writeFile(video, film);
      await writeFile(cover, Buffer.from(pixel, 'base64'));
      return {
        files: [
          { path: video, contentType: 'video/mp4', role: 'video' },
          { path: cover, contentType: 'image/png', role: 'cover' },
        ],
      };
    },
  };
}

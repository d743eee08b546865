import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine, EngineJob } from '../../src/service/operation/engine.js';

/** An engine that returns the image it was given, once `before` is done. */
export function createCopyingEngine(
  before: (job: EngineJob, signal: AbortSignal) => void | Promise<void> = () => {},
): Engine {
  return {
    name: 'copying',
    atOnce: 2,
    run: async (job, signal, progress) => {
      await before(job, signal);
      progress(0.5);
      const path = join(job.folder, 'copy.png');
      await copyFile(job.images.image as string, path);
      return { files: [{ path, contentType: 'image/png' }] };
    },
  };
}

import { KeptChild } from '../../disk/kept-child.js';
import { type ChildOptions, LimitExceeded, LimitedChild } from '../../disk/limited-child.js';
import { PreviewFailure } from '../../preview/job.js';
import { createPreviewWork } from '../../preview/preview-work.js';
import { loadSharp } from '../../preview/sharp.js';
import { loadCodecs } from '../../preview/video/codecs.js';
import {
  type Engine,
  EngineFailure,
  type EngineJob,
  type EngineResult,
  type ImageOperation,
  type VideoOperation,
} from '../operation/engine.js';

const TOO_MUCH: Partial<Record<LimitExceeded['what'], string>> = {
  time: 'takes too long to read',
  memory: 'takes too much memory to read',
};

/** Limits of making any preview are several times what the largest takes. */
const SHARED_OPTIONS = { stalledMs: 15 * 60_000, outputBytes: 16 * 1024 ** 2, isWatched: true, heapMb: 512 };

export const IMAGE_PROCESS: ChildOptions = {
  ...SHARED_OPTIONS,
  program: 'image-worker.js',
  residentBytes: 3 * 1024 ** 3,
  taskCpuMs: 5 * 60_000,
  stepCpuMs: 60_000,
};

export const VIDEO_PROCESS: ChildOptions = {
  ...SHARED_OPTIONS,
  program: 'video-worker.js',
  flags: ['--expose-gc'],
  residentBytes: 900_000_000,
  taskCpuMs: 20 * 60_000,
  // A frame takes less than a second.
  stepCpuMs: 20_000,
  // The service takes precedence.
  yields: true,
};

/**
 * Creates the engine that makes image previews without a vendor and honours every parameter. It works in a process, which is
 * kept for the next task.
 */
export function createImagePreviewEngine(options = IMAGE_PROCESS) {
  const child = new KeptChild(options);
  return {
    name: 'local-image',
    // One image already uses all cores.
    atOnce: 1,
    run: (job, signal, progress) =>
      child
        .run(() => createPreviewWork<EngineResult>({ job }, { signal, progress }))
        .catch((error) => throwVerdict(error, job)),
    close: () => child.close(new Error('The service stops.')),
  } satisfies Engine<ImageOperation>;
}

/**
 * Creates the engine that makes video previews without a vendor and honours every parameter. Each task runs
 * in its own process, which frees all its memory when it ends.
 */
export function createVideoPreviewEngine(atOnce = 2, options = VIDEO_PROCESS) {
  return {
    name: 'local-video',
    atOnce,
    requireReady: async () => {
      loadCodecs();
      loadSharp();
    },
    async run(job, signal, progress) {
      signal.throwIfAborted();
      const child = new LimitedChild(options);
      try {
        return await child.run(createPreviewWork<EngineResult>(job, { signal, progress }));
      } catch (error) {
        return throwVerdict(error, job);
      } finally {
        // Its folder can be removed once it has ended.
        await child.end();
      }
    },
  } satisfies Engine<VideoOperation>;
}

/** What is too much for its process says something about the input; without any, it is trouble of the service. */
function throwVerdict(error: unknown, { images }: EngineJob): never {
  if (error instanceof PreviewFailure) throw new EngineFailure(error.message);
  if (!(error instanceof LimitExceeded) || Object.keys(images).length === 0) throw error;
  const what = images.video === undefined ? 'image' : 'video';
  const problem = TOO_MUCH[error.what] ?? 'cannot be decoded';
  throw new EngineFailure(`The ${what} ${problem}.`, { cause: error });
}

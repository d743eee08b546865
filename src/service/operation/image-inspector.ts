import { KeptChild } from '../../disk/kept-child.js';
import { ChildInterrupted, type ChildOptions, LimitExceeded } from '../../disk/limited-child.js';
import type { ImageInspection, ImageToInspect } from '../../preview/job.js';
import { createPreviewWork } from '../../preview/preview-work.js';
import { FairQueue } from '../queue/fair-queue.js';

/** What the largest image takes that the limits of requests accept, an AVIF of 100 megapixels, and some more. */
const INSPECTION_PROCESS: ChildOptions = {
  program: 'image-worker.js',
  heapMb: 128,
  residentBytes: 2.5 * 1024 ** 3,
  taskCpuMs: 20_000,
  stepCpuMs: 20_000,
  stalledMs: 2 * 60_000,
  outputBytes: 1024 ** 2,
  isWatched: true,
};

export interface InspectionRequest extends ImageToInspect {
  /** Whose image it is: users take turns. */
  readonly owner: string;
  readonly signal?: AbortSignal | undefined;
}

/** Decodes the images of requests, one at a time, because each may take much memory. */
export class ImageInspector {
  readonly #queue = new FairQueue(1, 1);
  readonly #child: KeptChild;

  constructor(options: Partial<ChildOptions> = {}) {
    this.#child = new KeptChild({ ...INSPECTION_PROCESS, ...options });
  }

  /** @throws PackageMissing; ChildInterrupted; the system's error; the reason of the signal */
  inspect({ owner, signal, ...inspect }: InspectionRequest): Promise<ImageInspection> {
    const create = () => createPreviewWork<ImageInspection>({ inspect }, { signal });
    const run = () =>
      this.#child.run(create).catch((error) => {
        if (error instanceof LimitExceeded) return { width: 0, height: 0, problem: 'effort' } as const;
        throw error;
      });
    return this.#queue.run(owner, run, signal);
  }

  close(): Promise<void> {
    return this.#child.close(new ChildInterrupted('The service stops.'));
  }
}

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import {
  type Engine,
  EngineFailure,
  type EngineJob,
  type EngineResult,
  type ImageOperation,
} from '../../engine.js';

type Job = EngineJob<ImageOperation>;

/** What a thread is started with. */
export interface Work {
  readonly job: Job;
  /** One number that all threads see: 1 asks for an end. */
  readonly stop: SharedArrayBuffer;
}

export type Message =
  | { readonly part: number }
  | { readonly result: EngineResult }
  | { readonly failure: string };

/**
 * Makes previews of what a vendor would make, with real pixels and without one: every parameter is honoured. Each task
 * has a thread of its own, so that the service stays lively and memory comes back.
 */
export function localImage() {
  return {
    name: 'local-image',
    // Each picture already takes every core, and memory of its size.
    atOnce: 1,
    run: inThread,
  } satisfies Engine<ImageOperation>;
}

function inThread(job: Job, signal: AbortSignal, progress: (part: number) => void): Promise<EngineResult> {
  signal.throwIfAborted();
  const stop = new SharedArrayBuffer(4);
  const end = () => void Atomics.store(new Int32Array(stop), 0, 1);
  return new Promise<EngineResult>((done, fail) => {
    // A thread inherits flags of its program, such as a loader, that are not for it.
    const worker = new Worker(program(), {
      workerData: { job, stop } satisfies Work,
      execArgv: [],
      // Pixels lie outside of it; what is left is small.
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    worker.on('message', (message: Message) => {
      if ('part' in message) progress(message.part);
      else if ('result' in message) done(message.result);
      else fail(new EngineFailure(message.failure));
    });
    worker.once('error', (error) => fail(signal.aborted ? signal.reason : error));
    worker.once('exit', () => fail(new Error('The thread ended without a result.')));
    // The thread looks at it between rows: cutting it off within the image library could bring the service down.
    signal.addEventListener('abort', end, { once: true });
  }).finally(() => signal.removeEventListener('abort', end));
}

/** The built worker: beside the bundle, one above where this code became a chunk, and in dist for the sources. */
function program(): string {
  const places = ['./image-worker.js', '../image-worker.js', '../../../../../dist/image-worker.js'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (!file) throw new Error('image-worker.js is not built; run npm run build.');
  return file;
}

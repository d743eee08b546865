import { type ChildProcess, fork } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { findBuiltProgram } from '../../disk/built-program.js';
import type { ImageWorkerData, PreviewMessage } from '../../preview/job.js';
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

type ImageJob = EngineJob<ImageOperation>;
/** @param part how much is done, 0 to 1 */
type Progress = (part: number) => void;

/** How long a thread waits for the next image. */
const SPARE_THREAD_MS = 30_000;

/**
 * Creates the engine that makes image previews without a vendor and honours every parameter. Each task runs
 * in its own thread, so that the service stays responsive and memory is freed. After a task, the thread for the next one is
 * started in advance, because starting it takes as long as a small image.
 */
export function createImagePreviewEngine(spareThreadMs = SPARE_THREAD_MS) {
  let spare: Worker | undefined;
  const prepareThread = () => {
    const worker = startThread();
    const forget = () => {
      if (spare === worker) spare = undefined;
    };
    worker.once('error', forget);
    worker.once('exit', forget);
    worker.unref();
    spare = worker;
    const end = () => {
      if (spare !== worker) return;
      forget();
      worker.postMessage(undefined);
    };
    setTimeout(end, spareThreadMs).unref();
  };
  return {
    name: 'local-image',
    // One image already uses all cores.
    atOnce: 1,
    async run(job, signal, progress) {
      await loadSharp();
      signal.throwIfAborted();
      const worker = spare ?? startThread();
      spare = undefined;
      worker.ref();
      const result = await runInThread(worker, job, signal, progress);
      try {
        if (!spare) prepareThread();
      } catch {
        // The next task tries to start its own.
      }
      return result;
    },
  } satisfies Engine<ImageOperation>;
}

function startThread(): Worker {
  // Without the flags of this process, such as a loader. Pixels are not on this heap.
  const resourceLimits = { maxOldGenerationSizeMb: 512 };
  return new Worker(findBuiltProgram('image-worker.js'), { execArgv: [], resourceLimits });
}

function runInThread(
  worker: Worker,
  job: ImageJob,
  signal: AbortSignal,
  progress: Progress,
): Promise<EngineResult> {
  const stop = new SharedArrayBuffer(4);
  const end = () => void Atomics.store(new Int32Array(stop), 0, 1);
  return new Promise<EngineResult>((done, fail) => {
    worker.on('message', (message) => settleByMessage(message, { progress, done, fail }));
    worker.once('error', (error) => fail(signal.aborted ? signal.reason : error));
    worker.once('exit', () => fail(new Error('The thread ended without a result.')));
    // The thread checks it between rows: terminating it inside the image library could crash the service.
    signal.addEventListener('abort', end, { once: true });
    worker.postMessage({ job, stop } satisfies ImageWorkerData);
  }).finally(() => signal.removeEventListener('abort', end));
}

type VideoJob = EngineJob<VideoOperation>;

/** Others come from outside, or from a machine without memory, and the task is tried again. */
const CRASH_SIGNALS: readonly NodeJS.Signals[] = ['SIGSEGV', 'SIGILL', 'SIGFPE'];

/**
 * Creates the engine that makes video previews without a vendor and honours every parameter. Each task runs
 * in its own process, which can be killed at any time and then frees all its memory.
 */
export function createVideoPreviewEngine(atOnce = 2) {
  return {
    name: 'local-video',
    atOnce,
    unavailable: () =>
      Promise.all([loadCodecs(), loadSharp()]).then(
        () => undefined,
        (error) => error.message,
      ),
    run: runInProcess,
  } satisfies Engine<VideoOperation>;
}

async function runInProcess(job: VideoJob, signal: AbortSignal, progress: Progress): Promise<EngineResult> {
  signal.throwIfAborted();
  const child = fork(findBuiltProgram('video-worker.js'), {
    // Without the flags of this process, such as a loader.
    execArgv: ['--max-old-space-size=512', '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const end = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  try {
    return await awaitChildResult(child, job, progress);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    await endChild(child);
  }
}

function awaitChildResult(child: ChildProcess, job: VideoJob, progress: Progress): Promise<EngineResult> {
  return new Promise((done, fail) => {
    child.on('message', (message: PreviewMessage) => settleByMessage(message, { progress, done, fail }));
    child.once('error', fail);
    child.once('exit', (code, signal) => {
      const isCrash = signal !== null && CRASH_SIGNALS.includes(signal);
      // A file that crashes the decoder would crash it again.
      if (isCrash && job.images.video !== undefined) fail(new EngineFailure('The video cannot be decoded.'));
      else fail(new Error(`The process ended with ${signal ?? code}.`));
    });
    child.send(job, (error) => error && fail(error));
  });
}

/** Waits until the process has ended, so that its folder can be removed. */
async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}

interface Settlement {
  readonly progress: Progress;
  readonly done: (result: EngineResult) => void;
  readonly fail: (error: Error) => void;
}

/** Passes a worker's message on to the promise of its task. */
function settleByMessage(message: PreviewMessage, { progress, done, fail }: Settlement): void {
  if ('part' in message) progress(message.part);
  else if ('result' in message) done(message.result);
  else if ('failure' in message) fail(new EngineFailure(message.failure));
  else fail(new Error(message.defect));
}

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Engine,
  EngineFailure,
  type EngineJob,
  type EngineResult,
  type VideoOperation,
} from '../../engine.js';
import { loadSharp } from '../../sharp.js';
import { loadCodecs } from './codecs.js';

type Job = EngineJob<VideoOperation>;

const crashes: readonly NodeJS.Signals[] = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE'];

/** What the process says. */
export type Message =
  | { readonly part: number }
  | { readonly result: EngineResult }
  | { readonly failure: { readonly message: string; readonly code: string } }
  | { readonly defect: string };

/**
 * Makes previews of what a vendor would make, with real pixels and without one: every parameter is honoured. Each task
 * has a process of its own, which can be ended at any time and gives all its memory back.
 */
export function localVideo(atOnce = 2) {
  return {
    name: 'local-video',
    atOnce,
    unavailable: () =>
      Promise.all([loadCodecs(), loadSharp()]).then(
        () => undefined,
        (error) => error.message,
      ),
    run: inProcess,
  } satisfies Engine<VideoOperation>;
}

async function inProcess(
  job: Job,
  signal: AbortSignal,
  progress: (part: number) => void,
): Promise<EngineResult> {
  signal.throwIfAborted();
  const child = fork(program(), {
    // A process inherits flags of its program, such as a loader, that are not for it.
    execArgv: ['--max-old-space-size=512', '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const end = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  try {
    return await answer(child, job, progress);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    await ended(child);
  }
}

function answer(child: ChildProcess, job: Job, progress: (part: number) => void): Promise<EngineResult> {
  return new Promise((done, fail) => {
    child.on('message', (message: Message) => {
      if ('part' in message) progress(message.part);
      else if ('result' in message) done(message.result);
      else if ('failure' in message) fail(new EngineFailure(message.failure.message, message.failure));
      else fail(new Error(message.defect));
    });
    child.once('error', fail);
    child.once('exit', (code, signal) => {
      const isCrash = signal !== null && crashes.includes(signal);
      // Whatever in a file brings its decoder down would do so again.
      if (isCrash && job.images.video !== undefined) fail(new EngineFailure('The video cannot be decoded.'));
      else fail(new Error(`The process ended with ${signal ?? code}.`));
    });
    child.send(job, (error) => error && fail(error));
  });
}

/** Nothing of the task is worked on any more, and its folder can go. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}

/** The built worker: beside the bundle, one above where this code became a chunk, and in dist for the sources. */
function program(): string {
  const places = ['./video-worker.js', '../video-worker.js', '../../../../../dist/video-worker.js'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (!file) throw new Error('video-worker.js is not built; run npm run build.');
  return file;
}

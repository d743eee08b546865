import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { CodeReport } from './code.js';
import type { PackFile } from './files.js';
import type { ArchiveLimits, Inspection } from './read-archive.js';

type CodeFile = Pick<PackFile, 'path' | 'absolute' | 'size'>;

export type Task =
  | { readonly kind: 'code'; readonly files: readonly CodeFile[] }
  | {
      readonly kind: 'archive';
      readonly path: string;
      readonly limits: ArchiveLimits;
      readonly withCode: boolean;
    };

/** What a sound archive's code says; absent where it could not be read. */
export type InspectionWithCode = Inspection & { readonly code?: CodeReport };

/** Memory one thread may fill; published packs stay far below. */
const mostMegabytes = 1024;

/**
 * `readCode` in a thread of its own, so that the program stays lively and gets all the memory back.
 * @throws the system's error where a file cannot be read
 */
export function readCodeApart(files: Iterable<CodeFile>): Promise<CodeReport> {
  // A plain copy: what crosses to the thread is cloned.
  const plain = Array.from(files, ({ path, absolute, size }) => ({ path, absolute, size }));
  return inThread({ kind: 'code', files: plain });
}

/**
 * `inspectArchive` with the definitions and findings of a sound archive, in a thread of its own. Code that takes more
 * memory to read than a thread may have is left unread.
 * @throws the system's error where the archive cannot be read
 */
export async function inspectApart(path: string, limits: ArchiveLimits): Promise<InspectionWithCode> {
  const task = { kind: 'archive', path, limits: { ...limits } } as const;
  try {
    return await inThread({ ...task, withCode: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    return inThread({ ...task, withCode: false });
  }
}

function inThread<Result>(task: Task): Promise<Result> {
  return new Promise((done, fail) => {
    const worker = new Worker(program(), {
      workerData: task,
      // A thread inherits flags of its program, such as a loader, that are not for it.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: mostMegabytes, maxYoungGenerationSizeMb: 8 },
    });
    worker.once('message', done);
    worker.once('error', fail);
    worker.once('exit', () => fail(new Error('The thread ended without a result.')));
  });
}

/** The built worker: beside the bundle, one above where this code became a chunk, and in dist for the sources. */
function program(): string {
  const places = ['./pack-worker.js', '../pack-worker.js', '../../dist/pack-worker.js'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (!file) throw new Error('pack-worker.js is not built; run npm run build.');
  return file;
}

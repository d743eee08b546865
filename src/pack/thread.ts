import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { CodeReport } from './code.js';
import type { PackFile } from './files.js';
import { notFollowed } from './not-followed.js';
import type { ArchiveLimits, Inspection } from './read-archive.js';
import { unreadCode } from './scan/finding.js';

type CodeFile = Pick<PackFile, 'path' | 'absolute' | 'size'>;

interface ThreadReading {
  readonly follow: boolean;
  readonly unread: Readonly<Record<string, string>>;
}

export type Task =
  | { readonly kind: 'code'; readonly files: readonly CodeFile[]; readonly reading: ThreadReading }
  | {
      readonly kind: 'archive';
      readonly path: string;
      readonly limits: ArchiveLimits;
      /** Absent where the code is not to be read. */
      readonly reading?: ThreadReading;
    };

/** What the thread says: the step it is at, or none; and once, at its end, the result. */
export type Message = { readonly at: string | undefined } | { readonly result: unknown };

/** What a sound archive's code says. */
export type InspectionWithCode = Inspection & { readonly code?: CodeReport };

/** Memory one thread may fill, besides its parser's; published packs stay far below. */
const mostMegabytes = 128;
/** For one file, or for all definitions; published packs take a second at most. */
const stepMs = 10_000;
/** For all steps of reading with definitions; once more for all that is tried without them. */
const readingMs = 20_000;
/** How often reading is tried again without the definitions, each time without the file that was too much. */
const scans = 3;

/**
 * `readCode` in a thread of its own, so that the program stays lively and gets all the memory back. What takes too much
 * memory or time is left out: the definitions first, then one file or another, and that is a finding.
 * @throws the system's error where a file cannot be read
 */
export async function readCodeApart(files: Iterable<CodeFile>): Promise<CodeReport> {
  // A plain copy: what crosses to the thread is cloned.
  const plain = Array.from(files, ({ path, absolute, size }) => ({ path, absolute, size }));
  const read = await withinBounds<CodeReport>((reading) => ({ kind: 'code', files: plain, reading }));
  return read instanceof TooMuch ? unreadReport(read) : read;
}

/**
 * `inspectArchive` with the definitions and findings of a sound archive, as `readCodeApart` reads them.
 * @throws the system's error where the archive cannot be read
 */
export async function inspectApart(path: string, limits: ArchiveLimits): Promise<InspectionWithCode> {
  const task = { kind: 'archive', path, limits: { ...limits } } as const;
  const read = await withinBounds<InspectionWithCode>((reading) => ({ ...task, reading }));
  if (!(read instanceof TooMuch)) return read;
  const inspection = await inThread<Inspection>(task, newBudget());
  return inspection.ok ? { ...inspection, code: unreadReport(read) } : inspection;
}

function unreadReport({ at, reason }: TooMuch): CodeReport {
  return { ...notFollowed, unreadable: [], findings: [unreadCode(at ?? '__init__.py', reason)] };
}

/** A thread that ended because of what it read. */
class TooMuch extends Error {
  constructor(
    readonly reason: string,
    /** The file, where it was one. */
    readonly at: string | undefined,
  ) {
    super(reason);
  }
}

async function withinBounds<Result>(taskFor: (reading: ThreadReading) => Task): Promise<Result | TooMuch> {
  const first = await attempt<Result>(taskFor({ follow: true, unread: {} }), newBudget());
  if (!(first instanceof TooMuch)) return first;
  const unread: Record<string, string> = {};
  const budget = newBudget();
  let last = first;
  for (let scan = 0; scan < scans; scan++) {
    const read = await attempt<Result>(taskFor({ follow: false, unread }), budget);
    if (!(read instanceof TooMuch)) return read;
    last = read;
    if (read.at === undefined) break;
    unread[read.at] = read.reason;
  }
  return last;
}

/** Milliseconds that steps may still take. */
interface Budget {
  left: number;
}

function newBudget(): Budget {
  return { left: readingMs };
}

function attempt<Result>(task: Task, budget: Budget): Promise<Result | TooMuch> {
  return inThread<Result>(task, budget).catch((error) => {
    if (error instanceof TooMuch) return error;
    throw error;
  });
}

function inThread<Result>(task: Task, budget: Budget): Promise<Result> {
  return new Promise((done, fail) => {
    const worker = new Worker(program(), {
      workerData: task,
      // A thread inherits flags of its program, such as a loader, that are not for it.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: mostMegabytes, maxYoungGenerationSizeMb: 8 },
    });
    let at: string | undefined;
    let begun = 0;
    let timer: NodeJS.Timeout | undefined;
    const file = () => (at === 'definitions' ? undefined : at);
    const stop = (ms: number) => {
      budget.left -= ms;
      const isWhole = budget.left <= 0;
      const reason = isWhole ? 'the pack takes too long to read' : 'it takes too long to read';
      fail(new TooMuch(reason, isWhole ? undefined : file()));
      void worker.terminate();
    };
    worker.on('message', (message: Message) => {
      clearTimeout(timer);
      if ('result' in message) return done(message.result as Result);
      if (at !== undefined) budget.left -= performance.now() - begun;
      at = message.at;
      begun = performance.now();
      const ms = Math.max(1, Math.min(stepMs, budget.left));
      if (at !== undefined) timer = setTimeout(stop, ms, ms);
    });
    worker.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY' || /Aborted\(/.test(error.message);
      const reason = isMemory ? 'it takes too much memory to read' : 'reading it fails';
      // Between two steps it is the disk's fault, or the program's.
      fail(isMemory || at !== undefined ? new TooMuch(reason, file()) : error);
    });
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

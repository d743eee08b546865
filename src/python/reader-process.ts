import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { builtProgram } from '../disk/built-program.js';
import type { PackFile } from '../pack/files.js';
import type { ArchiveLimits, Inspection } from '../pack/read-archive.js';
import { notFollowed } from './not-followed.js';
import type { CodeReport } from './read-code.js';
import { unreadCode } from './scan/finding.js';

type CodeFile = Pick<PackFile, 'path' | 'absolute' | 'size'>;

interface Reading {
  readonly follow: boolean;
  readonly unread: Readonly<Record<string, string>>;
}

export type ReaderTask =
  | { readonly kind: 'code'; readonly files: readonly CodeFile[]; readonly reading: Reading }
  | {
      readonly kind: 'archive';
      readonly path: string;
      readonly limits: ArchiveLimits;
      /** Absent where the code is not to be read. */
      readonly reading?: Reading;
    };

/** One line that the reader process writes to its standard output, as JSON. */
export type ReaderMessage =
  /** The file, or `definitions`, that is being read; null between two of them. */
  | { readonly at: string | null }
  /** Reading this step failed; the process ends. */
  | { readonly failed: 'memory' | 'other'; readonly message: string }
  /** Written by the watchdog, where the program cannot look at the process from outside. */
  | { readonly exceeded: 'time' | 'memory' }
  | { readonly result: unknown };

/** What a sound archive's code says. */
export type InspectionWithCode = Inspection & { readonly code?: CodeReport };

/** Limits of one reader process. Time is CPU time, so that a busy or paused machine changes no verdict. */
export interface ReaderLimits {
  /** JavaScript's heap, besides the parser's own memory; published packs stay far below. */
  readonly heapMb: number;
  /** Resident memory of the whole process. */
  readonly residentBytes: number;
  /** CPU time for one file, or for all definitions; published packs take a second at most. */
  readonly stepCpuMs: number;
  /** CPU time for all steps of reading with definitions; once more for all that is tried without them. */
  readonly totalCpuMs: number;
  /** Wall time without any sign of life, after which the process is ended and the reading tried again later. */
  readonly stalledMs: number;
}

const defaultLimits: ReaderLimits = {
  heapMb: 128,
  residentBytes: 512 * 1024 * 1024,
  stepCpuMs: 10_000,
  totalCpuMs: 20_000,
  stalledMs: 10 * 60_000,
};

/** How often reading is tried again without the definitions, each time without the file that was too much. */
const MAX_SCANS = 3;

/** How often the process is looked at from outside. Milliseconds. */
const WATCH_MS = 50;

/** The machine, not the pack, ended the reader: what was read says nothing, and can be read again. */
export class ReaderInterrupted extends Error {}

/**
 * `readCode` in a process of its own, which has limits for memory and CPU time. What exceeds them is left out: the
 * definitions first, then one file or another, and that is a finding.
 * @throws ReaderInterrupted where the process was ended from outside; the system's error where a file cannot be read
 */
export async function readCodeApart(
  files: Iterable<CodeFile>,
  limits: Partial<ReaderLimits> = {},
): Promise<CodeReport> {
  const plain = Array.from(files, ({ path, absolute, size }) => ({ path, absolute, size }));
  const task = (reading: Reading) => ({ kind: 'code', files: plain, reading }) as const;
  const read = await readWithinLimits<CodeReport>(task, { ...defaultLimits, ...limits });
  return read instanceof LimitExceeded ? reportUnread(read) : read;
}

/**
 * `inspectArchive` with the definitions and findings of a sound archive, as `readCodeApart` reads them.
 * @throws ReaderInterrupted where the process was ended from outside; the system's error where the archive cannot be read
 */
export async function inspectArchiveApart(
  path: string,
  archiveLimits: ArchiveLimits,
  limits: Partial<ReaderLimits> = {},
): Promise<InspectionWithCode> {
  const archive = { kind: 'archive', path, limits: { ...archiveLimits } } as const;
  const applied = { ...defaultLimits, ...limits };
  const read = await readWithinLimits<InspectionWithCode>((reading) => ({ ...archive, reading }), applied);
  return read instanceof LimitExceeded ? inspectWithoutCode(path, archiveLimits, read) : read;
}

/** The verdict on an archive whose code could not be read, for the given reason. */
export async function inspectWithoutCode(
  path: string,
  archiveLimits: ArchiveLimits,
  why: { readonly reason: string; readonly at?: string | undefined },
): Promise<InspectionWithCode> {
  const task = { kind: 'archive', path, limits: { ...archiveLimits } } as const;
  const inspection = await runReader<Inspection>(task, defaultLimits, { left: defaultLimits.totalCpuMs });
  return inspection.ok ? { ...inspection, code: reportUnread(why) } : inspection;
}

function reportUnread({
  at,
  reason,
}: {
  readonly reason: string;
  readonly at?: string | undefined;
}): CodeReport {
  return { ...notFollowed, unreadable: [], findings: [unreadCode(at ?? '__init__.py', reason)] };
}

/** What was read took more than a reader may have. */
class LimitExceeded extends Error {
  constructor(
    readonly reason: string,
    /** The file, where it was one. */
    readonly at: string | undefined,
  ) {
    super(reason);
  }
}

async function readWithinLimits<Result>(
  taskFor: (reading: Reading) => ReaderTask,
  limits: ReaderLimits,
): Promise<Result | LimitExceeded> {
  const attempt = (reading: Reading, budget: CpuBudget) =>
    runReader<Result>(taskFor(reading), limits, budget).catch((error) => {
      if (error instanceof LimitExceeded) return error;
      throw error;
    });
  const first = await attempt({ follow: true, unread: {} }, { left: limits.totalCpuMs });
  if (!(first instanceof LimitExceeded)) return first;
  const unread: Record<string, string> = {};
  const budget = { left: limits.totalCpuMs };
  let last = first;
  for (let scan = 0; scan < MAX_SCANS; scan++) {
    const read = await attempt({ follow: false, unread }, budget);
    if (!(read instanceof LimitExceeded)) return read;
    last = read;
    if (read.at === undefined) break;
    unread[read.at] = read.reason;
  }
  return last;
}

/** CPU milliseconds that steps may still take. */
interface CpuBudget {
  left: number;
}

async function runReader<Result>(task: ReaderTask, limits: ReaderLimits, budget: CpuBudget): Promise<Result> {
  const watched = process.platform === 'linux';
  const watchdog = watched ? [] : [String(limits.stepCpuMs), String(limits.residentBytes)];
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${limits.heapMb}`,
      '--max-semi-space-size=4',
      builtProgram('pack-reader.js'),
      ...watchdog,
    ],
    // Nothing of the environment: neither secrets nor flags that are not for it. V8's last words are of no use.
    { stdio: ['pipe', 'pipe', 'ignore'], env: {}, windowsHide: true },
  );
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => resolve()).once('error', () => resolve()),
  );
  try {
    return await followReader<Result>(child, task, limits, budget);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

function followReader<Result>(
  child: ChildProcess,
  task: ReaderTask,
  limits: ReaderLimits,
  budget: CpuBudget,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const { stdin, stdout } = child;
    if (!stdin || !stdout) throw new Error('The reader process has no pipes.');
    let at: string | undefined;
    let used = 0;
    let atBegin = 0;
    let stalled: NodeJS.Timeout;
    const file = () => (at === 'definitions' ? undefined : at);
    const exceed = (what: 'time' | 'memory') => {
      const isWhole = what === 'time' && budget.left - (used - atBegin) <= 0;
      const reason = isWhole
        ? 'the pack takes too long to read'
        : `it takes too ${what === 'time' ? 'long' : 'much memory'} to read`;
      reject(new LimitExceeded(reason, isWhole ? undefined : file()));
    };
    const watch = setInterval(() => {
      const usage = child.pid === undefined ? undefined : readUsage(child.pid);
      if (!usage) return;
      used = usage.cpuMs;
      if (usage.residentBytes > limits.residentBytes) exceed('memory');
      else if (at !== undefined && used - atBegin > Math.min(limits.stepCpuMs, budget.left)) exceed('time');
    }, WATCH_MS);
    const beAlive = () => {
      clearTimeout(stalled);
      stalled = setTimeout(
        () => reject(new ReaderInterrupted('Reading the pack made no progress.')),
        limits.stalledMs,
      );
    };
    beAlive();
    createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      beAlive();
      const message = JSON.parse(line) as ReaderMessage;
      if ('result' in message) return resolve(message.result as Result);
      if ('exceeded' in message) return exceed(message.exceeded);
      if ('failed' in message) {
        const reason = message.failed === 'memory' ? 'it takes too much memory to read' : 'reading it fails';
        // Between two steps it is the disk's fault, or the program's.
        const isPack = message.failed === 'memory' || at !== undefined;
        return reject(isPack ? new LimitExceeded(reason, file()) : new Error(message.message));
      }
      used = (child.pid === undefined ? undefined : readUsage(child.pid))?.cpuMs ?? used;
      if (at !== undefined) budget.left -= used - atBegin;
      atBegin = used;
      at = message.at ?? undefined;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearInterval(watch);
      clearTimeout(stalled);
      // Only the pack makes a reader crash; other signals come from outside, the kernel's out-of-memory killer included.
      const crashed = signal === null ? code !== 0 : CRASH_SIGNALS.has(signal);
      if (crashed) reject(new LimitExceeded('it takes too much memory to read', file()));
      else
        reject(
          new ReaderInterrupted(
            `The process that reads the pack was ended from outside (${signal ?? code}).`,
          ),
        );
    });
    stdin.on('error', () => undefined);
    stdin.end(`${JSON.stringify(task)}\n`);
  });
}

const CRASH_SIGNALS: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGTRAP',
  'SIGSEGV',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
]);

/** What a process has used so far, as Linux tells it; undefined where the process is gone, or on other systems. */
function readUsage(pid: number): { readonly cpuMs: number; readonly residentBytes: number } | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything; the fields after it are numbers, times in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return {
      cpuMs: (Number(fields[11]) + Number(fields[12])) * 10,
      residentBytes: Number(resident?.[1] ?? 0) * 1024,
    };
  } catch {
    return undefined;
  }
}

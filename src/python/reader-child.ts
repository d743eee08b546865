import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { findBuiltProgram } from '../disk/built-program.js';
import { lowerPriority } from '../disk/priority.js';
import type { PackFile } from '../pack/files.js';
import type { ArchiveLimits } from '../pack/read-archive.js';
import type { CodeSelection } from './code-report.js';

export type CodeFile = Pick<PackFile, 'path' | 'absolute' | 'size'>;

export type ReaderTask =
  | { readonly kind: 'code'; readonly files: readonly CodeFile[]; readonly reading: CodeSelection }
  | {
      readonly kind: 'archive';
      readonly path: string;
      readonly limits: ArchiveLimits;
      /** Absent where the code is not read. */
      readonly reading?: CodeSelection;
    };

/** One line that the reader process writes to its standard output, as JSON. */
export type ReaderMessage =
  /** The file, or `definitions`, that is being read; null between two of them. */
  | { readonly at: string | null }
  /** Reading this step failed; the process ends. */
  | { readonly failed: 'memory' | 'other'; readonly message: string }
  /** Written by the watchdog, on systems where the parent cannot read the usage of the process. */
  | { readonly exceeded: 'time' | 'memory' }
  /** The end of one task; the process waits for the next. */
  | { readonly result: unknown; readonly residentBytes: number };

/** Limits of reading one pack. Time is CPU time, so that a busy or paused machine changes no verdict. */
export interface ReaderLimits {
  /** JavaScript's heap, besides the parser's own memory; published packs stay far below. */
  readonly heapMb: number;
  /** Resident memory of the whole process. */
  readonly residentBytes: number;
  /** CPU time for one file, or for all definitions; published packs take a second at most. */
  readonly stepCpuMs: number;
  /** CPU time for all steps of reading with definitions; once more for all that is tried without them. */
  readonly totalCpuMs: number;
  /** CPU time of the process for one pack, with unpacking; absent: unpacking has the limits of archives alone. */
  readonly packCpuMs?: number;
  /** Whether this process and others go first. */
  readonly yields?: boolean;
  /** Wall time without any sign of life, after which the process is ended and the reading tried again later. */
  readonly stalledMs: number;
}

/** CPU milliseconds that steps may still take. */
export interface CpuBudget {
  left: number;
}

/** How often the usage of the process is read. */
const WATCH_MS = 50;

/** The machine, not the pack, ended the reader: what was read says nothing, and can be read again. */
export class ReaderInterrupted extends Error {}

/** What was read took more than a reader may have. */
export class LimitExceeded extends Error {
  constructor(
    readonly what: 'time' | 'memory' | 'other',
    readonly reason: string,
    /** The file, where it was one. */
    readonly at: string | undefined,
  ) {
    super(reason);
  }
}

/** A process that reads one pack after another. Once a reading fails, it must be ended. */
export class ReaderChild {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #limits: ReaderLimits;
  #isAlive = true;
  #onMessage: (message: ReaderMessage) => void = () => undefined;
  #onEnd: (code: number | null, signal: NodeJS.Signals | null) => void = () => undefined;
  #onError: (error: Error) => void = () => undefined;
  /** Packs it has read. */
  readings = 0;
  /** Its resident memory after the latest of them. */
  residentBytes = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
    const { stepCpuMs, residentBytes, packCpuMs = 2 * stepCpuMs, yields } = limits;
    const watchdog = process.platform === 'linux' ? [] : [packCpuMs, residentBytes].map(String);
    const heap = [`--max-old-space-size=${limits.heapMb}`, '--max-semi-space-size=4'];
    // The parser is WebAssembly, and optimizing it takes longer than reading a pack of less than a megabyte.
    const flags = [...heap, '--wasm-tiering-budget=100000000'];
    this.#child = spawn(
      process.execPath,
      [...flags, findBuiltProgram('pack-reader.cjs'), ...watchdog],
      // Nothing of the environment: neither secrets nor flags that are not for it. V8's last words are of no use.
      { stdio: ['pipe', 'pipe', 'ignore'], env: {}, windowsHide: true },
    );
    if (yields && this.#child.pid !== undefined) lowerPriority(this.#child.pid);
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#isAlive = false;
        this.#onError(error);
        resolve();
      });
      this.#child.once('close', (code, signal) => {
        this.#isAlive = false;
        this.#onEnd(code, signal);
        resolve();
      });
    });
    this.#child.stdin?.on('error', () => undefined);
    if (this.#child.stdout)
      createInterface({ input: this.#child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) =>
        this.#onMessage(JSON.parse(line) as ReaderMessage),
      );
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Lets the program end, or not, while this process only waits for the next task. */
  keepAwake(isAwake: boolean): void {
    const handles = [this.#child, this.#child.stdin as Socket | null, this.#child.stdout as Socket | null];
    for (const handle of handles) isAwake ? handle?.ref() : handle?.unref();
  }

  async end(): Promise<void> {
    this.keepAwake(true);
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** @throws LimitExceeded; ReaderInterrupted; the reason of `signal`; the system's error where a file cannot be read */
  async run<Result>(task: ReaderTask, budget: CpuBudget, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    this.readings++;
    this.keepAwake(true);
    let stop = () => {};
    try {
      return await new Promise<Result>((resolve, reject) => {
        stop = this.#follow(task, budget, (result) => resolve(result as Result), reject);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    } finally {
      stop();
    }
  }

  #follow(
    task: ReaderTask,
    budget: CpuBudget,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
  ): () => void {
    const limits = this.#limits;
    const { packCpuMs = Number.POSITIVE_INFINITY } = limits;
    const usage = () => (this.#child.pid === undefined ? undefined : readUsage(this.#child.pid));
    let at: string | undefined;
    let used = 0;
    let atBegin = 0;
    // A process that has read other packs has used time for them.
    const { cpuMs: before = 0 } = usage() ?? {};
    let stalled: NodeJS.Timeout | undefined;
    let hasBegun = false;
    const file = () => (at === 'definitions' ? undefined : at);
    const exceed = (what: 'time' | 'memory') => {
      const isWhole = what === 'time' && budget.left - (used - atBegin) <= 0;
      const reason = isWhole
        ? 'the pack takes too long to read'
        : `it takes too ${what === 'time' ? 'long' : 'much memory'} to read`;
      reject(new LimitExceeded(what, reason, isWhole ? undefined : file()));
    };
    const watch = setInterval(() => {
      const now = usage();
      if (!now) return;
      used = now.cpuMs;
      if (now.residentBytes > limits.residentBytes) exceed('memory');
      else if (used - before > packCpuMs) exceed('time');
      else if (at !== undefined && used - atBegin > Math.min(limits.stepCpuMs, budget.left)) exceed('time');
    }, WATCH_MS);
    const beAlive = () => {
      clearTimeout(stalled);
      const error = new ReaderInterrupted('Reading the pack made no progress.');
      stalled = setTimeout(() => reject(error), limits.stalledMs);
    };
    beAlive();
    this.#onMessage = (message) => {
      beAlive();
      hasBegun = true;
      if ('result' in message) {
        this.residentBytes = message.residentBytes;
        return resolve(message.result);
      }
      if ('exceeded' in message) return exceed(message.exceeded);
      if ('failed' in message) {
        const reason = message.failed === 'memory' ? 'it takes too much memory to read' : 'reading it fails';
        // Between two steps it is the disk's fault, or the program's.
        const isPack = message.failed === 'memory' || at !== undefined;
        return reject(
          isPack ? new LimitExceeded(message.failed, reason, file()) : new Error(message.message),
        );
      }
      // A process that has read other packs has used time for them; only what this one takes counts.
      used = usage()?.cpuMs ?? used;
      if (at !== undefined) budget.left -= used - atBegin;
      atBegin = used;
      at = message.at ?? undefined;
    };
    this.#onError = reject;
    this.#onEnd = (code, signal) => {
      // Only the pack makes a reader crash that has begun; other signals come from outside, the kernel's out-of-memory killer included.
      const hasCrashed = hasBegun && (signal === null ? code !== 0 : CRASH_SIGNALS.has(signal));
      const outside = `The process that reads the pack was ended from outside (${signal ?? code}).`;
      reject(
        hasCrashed
          ? new LimitExceeded('memory', 'it takes too much memory to read', file())
          : new ReaderInterrupted(outside),
      );
    };
    this.#child.stdin?.write(`${JSON.stringify(task)}\n`);
    return () => {
      clearInterval(watch);
      clearTimeout(stalled);
      this.#onMessage = () => undefined;
      this.#onError = () => undefined;
      this.#onEnd = () => undefined;
    };
  }
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

import { type ChildOptions, type ChildWork, LimitExceeded } from '../disk/limited-child.js';
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

export type ReaderMessage =
  /** The file, or `definitions`, that is being read; null between two of them. */
  | { readonly at: string | null }
  /** Reading this step failed; the process ends. */
  | { readonly failed: 'memory' | 'other'; readonly message: string }
  /** The end of one task; the process waits for the next. */
  | { readonly result: unknown };

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

/** More than any report of a pack that is read within the other limits. */
const OUTPUT_BYTES = 128 * 1024 * 1024;

export function toChildOptions({ packCpuMs, stepCpuMs, ...limits }: ReaderLimits): ChildOptions {
  // Where the process holds its limits itself, it does not know which step it is at.
  const isMeasured = process.platform === 'linux';
  return {
    ...limits,
    program: 'pack-reader.cjs',
    // The parser is WebAssembly, and optimizing it takes longer than reading a pack of less than a megabyte.
    flags: ['--max-semi-space-size=4', '--wasm-tiering-budget=100000000'],
    outputBytes: OUTPUT_BYTES,
    taskCpuMs: packCpuMs ?? (isMeasured ? Number.POSITIVE_INFINITY : 2 * stepCpuMs),
    // Unpacking says nothing, and has limits of its own.
    stepCpuMs: Number.POSITIVE_INFINITY,
  };
}

/** What was read took more than a reader may have. */
export class PackTooMuch extends LimitExceeded {
  override readonly name = 'PackTooMuch';

  constructor(
    what: LimitExceeded['what'],
    readonly reason: string,
    /** The file, where it was one. */
    readonly at: string | undefined,
  ) {
    super(what);
  }
}

/** Follows the reading of one pack, from step to step. */
export class Reading<Result> implements ChildWork<Result> {
  readonly task: ReaderTask;
  readonly signal: AbortSignal | undefined;
  readonly #limits: ReaderLimits;
  readonly #budget: CpuBudget;
  #at: string | undefined;
  /** CPU time of the task, now and when the step began. */
  #used = 0;
  #atBegin = 0;

  constructor(
    task: ReaderTask,
    { limits, budget, signal }: { limits: ReaderLimits; budget: CpuBudget; signal: AbortSignal | undefined },
  ) {
    this.task = task;
    this.signal = signal;
    this.#limits = limits;
    this.#budget = budget;
  }

  receive(received: object, readCpuMs: () => number): { readonly result: Result } | undefined {
    const message = received as ReaderMessage;
    if ('result' in message) return { result: message.result as Result };
    if ('failed' in message) {
      if (message.failed === 'memory') throw new LimitExceeded('memory');
      // Between two steps it is the disk's fault, or the program's.
      throw this.#at === undefined ? new Error(message.message) : new LimitExceeded('failure');
    }
    this.#used = readCpuMs();
    if (this.#at !== undefined) this.#budget.left -= this.#used - this.#atBegin;
    this.#atBegin = this.#used;
    this.#at = message.at ?? undefined;
    return undefined;
  }

  isTooLong(cpuMs: number): boolean {
    this.#used = cpuMs;
    const { stepCpuMs } = this.#limits;
    return this.#at !== undefined && cpuMs - this.#atBegin > Math.min(stepCpuMs, this.#budget.left);
  }

  /** Says which file was too much, and why. */
  explain({ what }: LimitExceeded): PackTooMuch {
    const file = this.#at === 'definitions' ? undefined : this.#at;
    if (what === 'failure') return new PackTooMuch(what, 'reading it fails', file);
    if (what !== 'time') return new PackTooMuch(what, 'it takes too much memory to read', file);
    const isWhole = this.#budget.left - (this.#used - this.#atBegin) <= 0;
    return isWhole
      ? new PackTooMuch(what, 'the pack takes too long to read', undefined)
      : new PackTooMuch(what, 'it takes too long to read', file);
  }
}

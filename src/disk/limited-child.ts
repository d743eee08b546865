import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { findBuiltProgram } from './built-program.js';

/** A program that reads untrusted files, and the limits of its process. Its other half is `child-program.ts`. */
export interface ChildOptions {
  /** Its file in dist. */
  readonly program: string;
  readonly flags?: readonly string[];
  /** JavaScript's heap. */
  readonly heapMb: number;
  /** Resident memory of the whole process. */
  readonly residentBytes: number;
  /** Wall time without a message, after which the process is ended and the task tried again later. */
  readonly stalledMs: number;
  /** What the process may say about one task. */
  readonly outputBytes: number;
  /** CPU time for one task. Not wall time: a busy or paused machine changes no verdict. */
  readonly taskCpuMs: number;
  /** CPU time without a message. */
  readonly stepCpuMs: number;
  /** Whether a thread of the process holds its limits too, so that it ends even if this process is killed. */
  readonly isWatched?: boolean;
  /** Whether this process and others go first. */
  readonly yields?: boolean | undefined;
}

/** A task of a process, and how its messages become a result. */
export interface ChildWork<Result> {
  readonly task: object;
  /**
   * Called with each message and a function that reads the CPU milliseconds that the task has taken.
   * @returns what the work returns, once it is done
   * @throws what the work fails with
   */
  receive(message: object, readCpuMs: () => number): { readonly result: Result } | undefined;
  /** Whether the task has taken too much CPU time by another measure. Called several times a second. */
  isTooLong?(cpuMs: number): boolean;
  /** Says more about what was too much. */
  explain?(error: LimitExceeded): LimitExceeded;
  readonly signal?: AbortSignal | undefined;
}

/** How often the usage of the process is read. */
const WATCH_MS = 50;

/** The machine, not the task, ended the process: it says nothing about the task, which can be tried again. */
export class ChildInterrupted extends Error {
  override readonly name = 'ChildInterrupted';
}

/** The task took more than its process may have, or made it fail: it would do so again. */
export class LimitExceeded extends Error {
  override readonly name: string = 'LimitExceeded';

  constructor(readonly what: 'time' | 'memory' | 'output' | 'crash' | 'failure') {
    super(`A task was too much for its process: ${what}.`);
  }
}

/** Ended by its own fault; other signals come from outside, as from an operator or a machine without memory. */
const CRASH_SIGNALS: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGTRAP',
  'SIGSEGV',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
]);

/**
 * A process for one task after another, whose limits this process holds, because a decoder or parser that is busy cannot.
 * Once a task fails, the process must be ended.
 */
export class LimitedChild {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #options: ChildOptions;
  #isAlive = true;
  #onOutput: (output: Buffer) => void = () => undefined;
  #onEnd: (why: { code: number | null; signal: NodeJS.Signals | null } | Error) => void = () => undefined;
  tasks = 0;

  constructor(options: ChildOptions) {
    this.#options = options;
    const { program, flags = [], heapMb, residentBytes, taskCpuMs, stepCpuMs, isWatched, yields } = options;
    // On other systems this process cannot read what the process uses.
    const needsWatchdog = isWatched || process.platform !== 'linux';
    const watchdog = needsWatchdog ? [taskCpuMs, stepCpuMs, residentBytes].map(String) : [];
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${heapMb}`, ...flags, findBuiltProgram(program), ...watchdog],
      // Nothing of the environment: neither secrets nor flags that are not for it. What libraries print is of no use.
      { stdio: ['pipe', 'pipe', 'ignore'], env: {}, windowsHide: true },
    );
    if (yields && this.#child.pid !== undefined) lowerPriority(this.#child.pid);
    this.#ended = new Promise((resolve) => {
      const end = (why: { code: number | null; signal: NodeJS.Signals | null } | Error) => {
        this.#isAlive = false;
        this.#onEnd(why);
        resolve();
      };
      this.#child.once('error', end);
      this.#child.once('close', (code, signal) => end({ code, signal }));
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdout?.on('data', (output: Buffer) => this.#onOutput(output));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** What it holds now; 0 where that cannot be read. */
  get residentBytes(): number {
    return this.#readUsage()?.residentBytes ?? 0;
  }

  /** Lets the program end, or not, while this process only waits for the next task. */
  keepAwake(isAwake: boolean): void {
    const handles = [this.#child, this.#child.stdin as Socket | null, this.#child.stdout as Socket | null];
    for (const handle of handles) isAwake ? handle?.ref() : handle?.unref();
  }

  /** Ends the process. A signal that it could ignore would not. */
  async end(): Promise<void> {
    this.keepAwake(true);
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** @throws LimitExceeded; ChildInterrupted; what `receive` throws; the reason of the signal */
  async run<Result>(work: ChildWork<Result>, signal = work.signal): Promise<Result> {
    signal?.throwIfAborted();
    this.tasks++;
    this.keepAwake(true);
    let stop = () => {};
    let abort = () => {};
    try {
      return await new Promise<Result>((resolve, reject) => {
        stop = this.#follow(work, resolve, reject);
        abort = () => reject(signal?.reason);
        signal?.addEventListener('abort', abort);
      });
    } finally {
      stop();
      signal?.removeEventListener('abort', abort);
    }
  }

  #follow<Result>(
    work: ChildWork<Result>,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ): () => void {
    const { residentBytes, stalledMs, outputBytes, taskCpuMs, stepCpuMs } = this.#options;
    // A process that has done other tasks has used time for them.
    const before = this.#readUsage()?.cpuMs ?? 0;
    const readCpuMs = () => (this.#readUsage()?.cpuMs ?? before) - before;
    let stepBegan: number | undefined;
    const watch = setInterval(() => {
      const usage = this.#readUsage();
      if (!usage) return;
      const cpuMs = usage.cpuMs - before;
      stepBegan ??= cpuMs;
      if (usage.residentBytes > residentBytes) reject(new LimitExceeded('memory'));
      else if (cpuMs > taskCpuMs || cpuMs - stepBegan > stepCpuMs || work.isTooLong?.(cpuMs))
        reject(new LimitExceeded('time'));
    }, WATCH_MS);
    const stalled = setTimeout(
      () => reject(new ChildInterrupted('The process made no progress.')),
      stalledMs,
    );
    let left = outputBytes;
    let hasBegun = false;
    const lines = new LineReader((line) => {
      hasBegun = true;
      stalled.refresh();
      const message = parseMessage(line);
      if (!message) return;
      if ('exceeded' in message) throw new LimitExceeded(message.exceeded as 'time' | 'memory');
      // It is read with the next look, because a process may say much.
      stepBegan = undefined;
      const done = work.receive(message, readCpuMs);
      if (done) resolve(done.result);
    });
    this.#onOutput = (output) => {
      left -= output.length;
      try {
        if (left < 0) throw new LimitExceeded('output');
        lines.read(output);
      } catch (error) {
        this.#onOutput = () => undefined;
        reject(error);
      }
    };
    this.#onEnd = (why) => {
      if (why instanceof Error) return reject(why);
      const { code, signal } = why;
      // Before its first message, nothing of the task was looked at.
      const hasCrashed = hasBegun && (signal === null ? code !== 0 : CRASH_SIGNALS.has(signal));
      if (hasCrashed) reject(new LimitExceeded('crash'));
      else reject(new ChildInterrupted(`The process was ended from outside (${signal ?? code}).`));
    };
    this.#child.stdin?.write(`${JSON.stringify(work.task)}\n`);
    return () => {
      clearInterval(watch);
      clearTimeout(stalled);
      this.#onOutput = () => undefined;
      this.#onEnd = () => undefined;
    };
  }

  /** What the process has used so far, as Linux tells it; undefined where the process is gone, or on other systems. */
  #readUsage(): { readonly cpuMs: number; readonly residentBytes: number } | undefined {
    const { pid } = this.#child;
    if (process.platform !== 'linux' || pid === undefined || !this.#isAlive) return undefined;
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
}

/** @returns undefined for what a library printed */
function parseMessage(line: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const message: unknown = JSON.parse(line.toString());
    return typeof message === 'object' && message !== null ? { ...message } : undefined;
  } catch {
    return undefined;
  }
}

const LINE_END = 0x0a;

/** Passes on whole lines. */
class LineReader {
  readonly #onLine: (line: Buffer) => void;
  #begun: Buffer[] = [];

  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine;
  }

  read(output: Buffer): void {
    let start = 0;
    for (let end = output.indexOf(LINE_END); end >= 0; end = output.indexOf(LINE_END, start)) {
      const line = Buffer.concat([...this.#begun, output.subarray(start, end)]);
      this.#begun = [];
      start = end + 1;
      this.#onLine(line);
    }
    if (start < output.length) this.#begun.push(output.subarray(start));
  }
}

/** Lets other processes take precedence over a child, also those of its own priority. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + 10, constants.priority.PRIORITY_LOW));
  } catch {
    // It has ended, or the system does not let it. It does the same work.
  }
}

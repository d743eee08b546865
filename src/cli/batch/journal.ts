import { closeSync, fdatasyncSync, fstatSync, openSync, truncateSync, writeSync } from 'node:fs';
import { readPrivateFile } from '../../disk/private-file.js';
import { usage } from '../terminal/failure.js';

/** What is known of one job from this run and those before. */
export interface JobState {
  /** Local id of its entry in the ledger, known before its request is sent. */
  readonly entry?: string;
  /** The operation it starts, such as `image.relight`. */
  readonly operation?: string;
  readonly task_id?: string;
  /** What it costs: its price before it is sent, what the service says at its end. */
  readonly credits?: number;
  /** Absent while there is something left to do. */
  readonly end?: 'done' | 'failed';
  /** Why it failed. */
  readonly reason?: string;
}

/**
 * The state beside a jobs file, by which the same command goes on where it stopped: one JSON object a line, only ever
 * added to, its owner's alone. The first line says which service it is about.
 */
export class Journal {
  readonly #jobs = new Map<string, JobState>();
  #file: number | undefined;

  /** @throws Failure where the file is something else, or of another service */
  constructor(
    readonly path: string,
    readonly service: string,
  ) {
    const text = readPrivateFile(path) ?? '';
    // A line without its end is what a kill or a power cut left of a write; nobody acted on it.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
    const [first, ...rest] = whole.split('\n').filter((line) => line !== '');
    if (first === undefined) return;
    const { batch, service: known } = this.#read(first) as { batch?: number; service?: string };
    if (batch !== 1) throw this.#foreign();
    if (known !== service) {
      throw usage(
        `${path} is about ${known}, and this command goes to ${service}.`,
        'Go there with --base-url or --profile, or begin anew with another --state.',
      );
    }
    for (const line of rest) {
      const { job, ...change } = this.#read(line) as { job: string } & JobState;
      this.#apply(job, change);
    }
  }

  get(job: string): JobState {
    return this.#jobs.get(job) ?? {};
  }

  /** Every job that was ever sent, by key. */
  entries(): IterableIterator<[key: string, state: JobState]> {
    return this.#jobs.entries();
  }

  /** Writes what became known of a job; on disk when this returns, where it must not be forgotten. */
  change(job: string, change: JobState, { durable = false } = {}): void {
    this.#apply(job, change);
    this.#append({ job, ...change });
    if (durable) fdatasyncSync(this.#file as number);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** A new entry is a new beginning: what an earlier try came to is over. */
  #apply(job: string, change: JobState): void {
    const before = change.entry === undefined ? this.get(job) : {};
    this.#jobs.set(job, { ...before, ...change });
  }

  #append(line: object): void {
    if (this.#file === undefined) {
      this.#file = openSync(this.path, 'a', 0o600);
      if (fstatSync(this.#file).size === 0)
        writeSync(this.#file, `${JSON.stringify({ batch: 1, service: this.service })}\n`);
    }
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  #read(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch {
      throw this.#foreign();
    }
  }

  #foreign(): Error {
    return usage(`${this.path} is not the state of a batch.`, 'Name another file with --state.');
  }
}

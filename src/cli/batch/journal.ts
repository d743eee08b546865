import { createHash } from 'node:crypto';
import { closeSync, fdatasyncSync, fstatSync, openSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, LockTimeout, takeLock } from '../../disk/lock.js';
import { appendWhole, readPrivateFile } from '../../disk/private-file.js';
import { serviceKey, type Target } from '../../flows/tasks/task.js';
import { Failure, usage } from '../terminal/failure.js';

/** What this run and earlier ones recorded about a job. */
export interface JobState {
  /** The local id of its ledger entry, recorded before its request is sent. */
  readonly entry?: string;
  /** The operation it starts, such as `image.relight`. */
  readonly operation?: string;
  readonly task_id?: string;
  /** Its price before it is sent; its cost, as reported by the service, when it has ended. */
  readonly credits?: number;
  /** Absent until the job has ended. */
  readonly end?: 'done' | 'failed';
  readonly reason?: string;
}

interface FirstLine {
  readonly batch: number;
  readonly service: string;
  readonly profile?: string | undefined;
}

/**
 * The state file of a batch, with which the same command continues where it stopped. It has one JSON object per
 * line, is only appended to, and is private. The first line names the service, and the profile if one was used.
 */
export class Journal {
  readonly #jobs = new Map<string, JobState>();
  #file: number | undefined;

  /** @throws Failure if the file is not a state file, or belongs to another service or profile */
  constructor(
    readonly path: string,
    readonly target: Target,
  ) {
    const text = readPrivateFile(path) ?? '';
    // An incomplete line is left by a kill or a power cut; nothing has been done because of it.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
    const [first, ...rest] = whole.split('\n').filter((line) => line !== '');
    if (first === undefined) return;
    const { batch, service, profile } = this.#read(first) as FirstLine;
    if (batch !== 1) throw this.#foreign();
    // Those of earlier releases, and of commands that used an address, name no profile.
    if (service !== serviceKey(target) || (profile !== undefined && profile !== target.profile)) {
      throw usage(
        `${path} belongs to ${describeOwner(service, profile)}, but this command uses ${describeOwner(serviceKey(target), target.profile)}.`,
        `Use that ${profile === undefined ? 'service with --base-url or --profile' : `account with --profile ${profile}`}, or start over with another --state.`,
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

  entries(): IterableIterator<[key: string, state: JobState]> {
    return this.#jobs.entries();
  }

  /** Records a change of a job. `durable`: it is on disk when this returns. */
  change(job: string, change: JobState, { durable = false } = {}): void {
    this.#append({ job, ...change });
    this.#apply(job, change);
    if (durable) fdatasyncSync(this.#file as number);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** A new ledger entry replaces what is known from an earlier attempt. */
  #apply(job: string, change: JobState): void {
    const before = change.entry === undefined ? this.get(job) : {};
    this.#jobs.set(job, { ...before, ...change });
  }

  #append(line: object): void {
    if (this.#file === undefined) {
      this.#file = openSync(this.path, 'a', 0o600);
      const { profile } = this.target;
      const first: FirstLine = { batch: 1, service: serviceKey(this.target), profile };
      if (fstatSync(this.#file).size === 0) appendWhole(this.#file, `${JSON.stringify(first)}\n`);
    }
    appendWhole(this.#file, `${JSON.stringify(line)}\n`);
  }

  #read(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch {
      throw this.#foreign();
    }
  }

  #foreign(): Error {
    return usage(`${this.path} is not the state of a batch.`, 'Choose another file with --state.');
  }
}

/**
 * Calls `use` with the state of a batch, locked against other processes.
 * @throws Failure if another process is running the batch
 */
export async function withJournal<Result>(
  stateFolder: string,
  path: string,
  target: Target,
  use: (journal: Journal) => Promise<Result>,
): Promise<Result> {
  const lock = lockState(stateFolder, path);
  try {
    const journal = new Journal(path, target);
    try {
      return await use(journal);
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}

/** The lock is beside the ledger, so that the folder of the user gets nothing but the state file. */
function lockState(stateFolder: string, path: string): Lock {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  try {
    return takeLock(join(stateFolder, 'batches', `${name}.lock`), 0);
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    throw new Failure('Another process is already running this batch.', {
      code: 'batch_running',
      hint: 'Wait for it or stop it; then run the same command again to continue.',
    });
  }
}

function describeOwner(service: string, profile: string | undefined): string {
  return profile === undefined ? service : `the profile ${profile} (${service})`;
}

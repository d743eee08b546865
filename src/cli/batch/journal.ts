import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
} from 'node:fs';
import { join } from 'node:path';
import { readFolderFile } from '../../disk/folder-file.js';
import { type Lock, LockTimeout, takeLock } from '../../disk/lock.js';
import { appendWhole } from '../../disk/private-file.js';
import { serviceKey } from '../../flows/tasks/ledger.js';
import type { Target } from '../../flows/tasks/task.js';
import { Failure, usage } from '../terminal/failure.js';

/** What this run and earlier ones recorded about a job. */
export interface JobState {
  /** The local id of its ledger entry, recorded before its request is sent. */
  readonly entry?: string;
  /** A digest of its line without what only saves or waits; only if it has an id. */
  readonly digest?: string | undefined;
  /** The operation it starts, such as `image.relight`. */
  readonly operation?: string;
  readonly task_id?: string;
  /** Its price before it is sent; its cost, as reported by the service, when it has ended. */
  readonly credits?: number;
  /** Absent until the job has ended. */
  readonly end?: 'done' | 'failed';
  readonly reason?: string | undefined;
  /** The error code of a job that failed; absent in files of earlier releases, as are the next ones. */
  readonly code?: string;
  readonly exit?: number;
  /** The URLs of its results, or the paths where they were saved. */
  readonly outputs?: readonly string[];
  readonly saved?: readonly string[];
  /** The output path that was given, as it was written. */
  readonly output?: string | undefined;
}

/** Almost the longest text that Node.js can hold. */
const MAX_STATE_BYTES = 500 * 1024 ** 2;

/** How every state file begins. */
const FIRST_LINE = '{"batch":1,';

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
  #wholeBytes: number;
  /** What tasks have cost whose job was sent again. */
  replacedCredits = 0;

  /** Changes nothing on disk. @throws Failure if the file is not a state file, or belongs to another service or profile */
  constructor(
    readonly path: string,
    readonly target: Target,
  ) {
    const text = readExisting(path);
    // An incomplete line is left by a kill or a power cut; nothing has been done because of it.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    this.#wholeBytes = Buffer.byteLength(whole);
    const [first, ...rest] = whole.split('\n').filter((line) => line !== '');
    if (first === undefined) {
      if (!FIRST_LINE.startsWith(text.slice(0, FIRST_LINE.length))) throw this.#foreign();
      return;
    }
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
    const before = this.get(job);
    const isNew = change.entry !== undefined;
    if (isNew && before.task_id !== undefined) this.replacedCredits += before.credits ?? 0;
    this.#jobs.set(job, { ...(!isNew && before), ...change });
  }

  #append(line: object): void {
    if (this.#file === undefined) {
      this.#file = this.#open();
      const { profile } = this.target;
      const first: FirstLine = { batch: 1, service: serviceKey(this.target), profile };
      if (fstatSync(this.#file).size === 0) appendWhole(this.#file, `${JSON.stringify(first)}\n`);
    }
    appendWhole(this.#file, `${JSON.stringify(line)}\n`);
  }

  /** Opens the file that was read, and removes an incomplete line. Nothing but a state file is ever changed. */
  #open(): number {
    const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const file = openSync(this.path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0o600);
    // It may have been replaced since it was read.
    const start = Buffer.alloc(FIRST_LINE.length);
    const isFile = fstatSync(file).isFile();
    const length = isFile ? readSync(file, start, 0, start.length, 0) : 0;
    if (!isFile || !FIRST_LINE.startsWith(start.toString('utf8', 0, length))) {
      closeSync(file);
      throw this.#foreign();
    }
    if (process.platform !== 'win32') fchmodSync(file, 0o600);
    ftruncateSync(file, this.#wholeBytes);
    return file;
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

/** Reads a state file. A link is refused, because it may lead to a file that is none. @throws Failure */
function readExisting(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return '';
  if (!stats.isSymbolicLink()) return readFolderFile(path, MAX_STATE_BYTES).toString();
  throw usage(`${path} is a link.`, 'Name the file itself with --state.');
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
  let journal: Journal | undefined;
  try {
    journal = new Journal(path, target);
    return await use(journal);
  } finally {
    journal?.close();
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

import type { Tx } from '../database/database.js';

export interface NewJob {
  readonly kind: string;
  /** One job per kind and key, usually the id of its subject. Enqueuing it again replaces its time. */
  readonly key: string;
  /** The user or publisher that it is for. The owners of due jobs of a kind take turns. */
  readonly owner: string;
  /** It runs after all others of its kind. */
  readonly last?: boolean;
  /** Milliseconds since the epoch; absent: immediately. */
  readonly runAt?: number;
}

export interface Job {
  readonly kind: string;
  readonly key: string;
  readonly owner: string;
  /** How often it failed before. */
  readonly attempts: number;
}

export interface RunningJob extends Job {
  /**
   * Writes what the job did, in a transaction that fails if another worker has taken the job: its lease may have ended
   * without this process noticing.
   * @throws LeaseLost
   */
  commit<Result>(write: (tx: Tx) => Promise<Result>): Promise<Result>;
}

/** Another worker runs the job now, so this one's outcome does not count. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * Runs one job. It may be called again after a crash at any point, so repeating it must have the same result.
 * If it throws, the job is retried with growing pauses, without limit.
 */
export type JobHandler = (job: RunningJob, signal: AbortSignal) => Promise<void>;

/** Thrown by a job that is not done: it runs again at a time, and the attempt does not count as failed. */
export class RunAgain extends Error {
  /** @param at milliseconds since the epoch */
  constructor(readonly at: number) {
    super('The job runs again later.');
  }
}

/** A job that ended the process this often, while no other job ran, is not run again. */
export const MAX_CRASHES = 5;

export interface JobKind {
  readonly run: JobHandler;
  /** How many of this kind run in parallel in this process: no kind waits for another. */
  readonly atOnce: number;
  /** `atOnce` holds for all processes together, and the jobs of this kind, whether they run or wait, count too. */
  readonly sharesWith?: string | undefined;
  /** Aborted at once when the service stops, because it continues where it was. */
  readonly resumes?: boolean | undefined;
  /** Tells the user about a job that ended the process too often. Absent: only the log has it. */
  readonly quarantine?: (job: RunningJob) => Promise<void>;
}

/**
 * Durable jobs: a job enqueued in a committed transaction runs at least once after that, in one worker at a
 * time. A job that is enqueued again while it runs, runs once more.
 */
export interface Queue {
  enqueue(tx: Tx, job: NewJob): Promise<void>;
  /** Makes a job due now, if there is one; if it runs, it runs once more. */
  bringForward(tx: Tx, job: Pick<NewJob, 'kind' | 'key'>): Promise<void>;
  /** Starts to run jobs; called once. */
  start(kinds: Readonly<Record<string, JobKind>>): void;
  /** Takes no more jobs and waits at most `graceMs` for running ones; those that resume are aborted. */
  stop(graceMs: number): Promise<void>;
  /** Whether a job is running or due by `time` (milliseconds since the epoch). */
  hasWorkBy(time: number): Promise<boolean>;
}

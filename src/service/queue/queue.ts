import type { Tx } from '../database/database.js';

export interface NewJob {
  readonly kind: string;
  /** One job per kind and key, usually the id of its subject. Enqueuing it again replaces its time. */
  readonly key: string;
  /** Milliseconds since the epoch; absent: immediately. */
  readonly runAt?: number;
}

export interface Job {
  readonly kind: string;
  readonly key: string;
  /** How often it was started before; 0 the first time. */
  readonly attempts: number;
}

/**
 * Runs one job. It may be called again after a crash at any point, so repeating it must have the same result.
 * If it throws, the job is retried with growing pauses, without limit.
 */
export type JobHandler = (job: Job, signal: AbortSignal) => Promise<void>;

/** How the jobs of one kind are run. */
export interface JobKind {
  readonly run: JobHandler;
  /** How many of this kind run in parallel in this process: no kind waits for another. */
  readonly atOnce: number;
  /** Aborted at once when the service stops, because it continues where it was. */
  readonly resumes?: boolean | undefined;
}

/**
 * Durable jobs: a job enqueued in a committed transaction runs at least once after that, in one worker at a
 * time. A job that is enqueued again while it runs, runs once more.
 */
export interface Queue {
  enqueue(tx: Tx, job: NewJob): Promise<void>;
  /** Starts to run jobs; called once. */
  start(kinds: Readonly<Record<string, JobKind>>): void;
  /** Takes no more jobs and waits at most `graceMs` for running ones; those that resume are aborted. */
  stop(graceMs: number): Promise<void>;
  /** Whether a job is running or due by `time` (milliseconds since the epoch). */
  hasWorkBy(time: number): Promise<boolean>;
}

import type { Tx } from '../context.js';

export interface NewJob {
  readonly kind: string;
  /** One job of a kind for each key, usually the id of what it is about; enqueuing it again gives it the new time. */
  readonly key: string;
  /** Milliseconds since the epoch; absent: at once. */
  readonly runAt?: number;
}

export interface Job {
  readonly kind: string;
  readonly key: string;
  /** How often it was begun before, 0 the first time. */
  readonly attempts: number;
}

/**
 * Does one job. It may be called again after a crash at any point, so it must end the same however often it runs.
 * A throw is the service's own failure: the job is tried again later, forever, with growing pauses.
 */
export type Work = (job: Job, signal: AbortSignal) => Promise<void>;

/** What is done with the jobs of one kind. */
export interface Kind {
  readonly run: Work;
  /** So many of this kind at once in this process: no kind waits for another. */
  readonly atOnce: number;
  /** Cut off at once when the service stops, because it goes on where it was. */
  readonly resumes?: boolean | undefined;
}

/**
 * Durable jobs: what is enqueued in a committed transaction is begun at least once after that, by one worker at a
 * time. A job that is enqueued again while it runs runs once more.
 */
export interface Queue {
  enqueue(tx: Tx, job: NewJob): Promise<void>;
  /** Begins to work; called once. */
  start(kinds: Readonly<Record<string, Kind>>): void;
  /** Takes no more jobs, and waits for the running ones at most so long; those that resume are cut off. */
  stop(graceMs: number): Promise<void>;
  /** Whether a job is running or due by `time` (milliseconds since the epoch). */
  busyBy(time: number): Promise<boolean>;
}

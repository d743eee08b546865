import { setTimeout as pause } from 'node:timers/promises';
import type { Count, Log } from '../configuration/log.js';
import type { Database, Tx } from '../database/database.js';
import { type Notices, sendNotice } from '../database/notices.js';
import { isPostgres } from '../database/postgres.js';
import { bringJobForward, insertJob } from './enqueue.js';
import {
  claimJobs,
  completeJob,
  extendLease,
  failJob,
  type LeasedJob,
  limitDelays,
  MAX_CLAIMED,
  recoverLeases,
  releaseJob,
  requireLease,
  type SharedLimit,
} from './leases.js';
import {
  type JobKind,
  LeaseLost,
  MAX_CRASHES,
  type NewJob,
  type Queue,
  RunAgain,
  type RunningJob,
} from './queue.js';

export interface LeasedTableOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly log: Log;
  readonly count?: Count | undefined;
  /** Identifies this process in its leases. */
  readonly instance: string;
  /** No other process uses this table, so leases found at start belong to a dead process. */
  readonly alone: boolean;
  /** Tells that jobs are due; an embedded database needs none. */
  readonly notices?: Notices | undefined;
  /** How long a lease lasts without renewal. Milliseconds; default: a minute. */
  readonly leaseMs?: number;
  /** How far ahead a job may be scheduled. Milliseconds; default: a day. */
  readonly maxDelayMs?: number;
  /** How often the table is polled. Milliseconds; default: a second. */
  readonly pollMs?: number;
  /** How long a suspected job that can be interrupted keeps the others waiting. Milliseconds; default: ten seconds. */
  readonly suspicionMs?: number;
}

const POLL_MS = 1_000;

/** Creates a queue in a table of the database: a worker leases a job and renews the lease while it runs. */
export function createLeasedTable(options: LeasedTableOptions): Queue {
  return new LeasedTable(options);
}

class LeasedTable implements Queue {
  readonly #options: LeasedTableOptions;
  readonly #running = new Map<string, Run>();
  #kinds: Readonly<Record<string, JobKind>> = {};
  #timer: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  #woken = false;
  /** The next look needs a transaction, to wait for the commit of a job that is being enqueued. */
  #looksInTransaction = false;
  #isRecoveryDue = false;
  #stopped = true;
  #unsubscribe: (() => void) | undefined;

  constructor(options: LeasedTableOptions) {
    this.#options = options;
  }

  /**
   * Wakes the worker at once: its claim is a transaction too, and transactions of the embedded database are
   * serialized, so it runs right after this commit. PostgreSQL wakes all services with the commit.
   */
  async enqueue(tx: Tx, job: NewJob): Promise<void> {
    const now = this.#options.now();
    await insertJob(tx, job, now);
    if (job.runAt !== undefined && job.runAt > now) this.#wakeAt(job.runAt);
    else await this.#wakeAll(tx);
  }

  async bringForward(tx: Tx, job: Pick<NewJob, 'kind' | 'key'>): Promise<void> {
    if (await bringJobForward(tx, job)) await this.#wakeAll(tx);
  }

  async #wakeAll(tx: Tx): Promise<void> {
    if (isPostgres(tx)) await sendNotice(tx, 'jobs');
    else {
      this.#looksInTransaction = true;
      this.#wake();
    }
  }

  /** A job that is due before the next poll does not wait for it. */
  #wakeAt(time: number): void {
    const ms = time - this.#options.now();
    if (ms < (this.#options.pollMs ?? POLL_MS)) setTimeout(() => this.#wake(), ms).unref();
  }

  start(kinds: Readonly<Record<string, JobKind>>): void {
    this.#kinds = kinds;
    this.#stopped = false;
    this.#poll(async () => {
      await this.#recover();
      await this.#claimAll();
    });
    this.#unsubscribe = this.#options.notices?.on('jobs', () => this.#wake());
    this.#timer = setInterval(() => {
      this.#isRecoveryDue ||= !this.#options.alone;
      // It fails, and is logged, when a newer release has upgraded the data.
      this.#looksInTransaction = true;
      this.#wake();
    }, this.#options.pollMs ?? POLL_MS);
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#unsubscribe?.();
    await this.#claiming;
    const running = [...this.#running.values()];
    const ended = Promise.all(running.map((run) => run.ended));
    for (const { job, abort } of running) if (this.#kinds[job.kind]?.resumes) abort.abort();
    if (await endsInTime(ended, graceMs)) return;
    for (const { abort } of this.#running.values()) abort.abort();
    if (await endsInTime(ended, 1_000)) return;
    // They end with the process. Their leases would look as if it had crashed.
    for (const { job } of this.#running.values()) await releaseJob(this.#options, job);
  }

  async hasWorkBy(time: number): Promise<boolean> {
    if (this.#running.size > 0) return true;
    const due = await this.#options.database
      .selectFrom('jobs')
      .select('id')
      .where('run_at', '<=', new Date(time).toISOString())
      .limit(1)
      .executeTakeFirst();
    return due !== undefined;
  }

  async #recover(): Promise<void> {
    try {
      await recoverLeases(this.#options, { running: [], alone: this.#options.alone });
      await limitDelays(this.#options, this.#options.maxDelayMs ?? 24 * 60 * 60_000);
    } catch (error) {
      this.#isRecoveryDue = true;
      this.#options.log('error', 'Could not recover jobs that were left running.', {
        error: String(error),
      });
    }
  }

  /** One poll at a time; a wake-up during it makes it poll again. */
  #wake(): void {
    this.#woken = true;
    if (!this.#stopped && !this.#claiming) this.#poll(() => this.#claimAll());
  }

  #poll(action: () => Promise<void>): void {
    this.#claiming = action().finally(() => {
      this.#claiming = undefined;
      if (this.#woken) this.#wake();
    });
  }

  async #claimAll(): Promise<void> {
    try {
      this.#woken = false;
      const looksFirst = !this.#looksInTransaction;
      this.#looksInTransaction = false;
      if (this.#isRecoveryDue) {
        const { alone } = this.#options;
        await recoverLeases(this.#options, { running: [...this.#running.keys()], alone });
        this.#isRecoveryDue = false;
      }
      while (!this.#stopped && !this.#mayRunSuspects()) {
        const jobs = await claimJobs(this.#options, {
          kinds: Object.keys(this.#kinds),
          free: this.#countFree(),
          shared: this.#listShared(),
          running: [...this.#running.keys()],
          looksFirst,
        });
        for (const job of jobs) this.#start(job);
        if (jobs.length < MAX_CLAIMED) break;
      }
    } catch (error) {
      this.#woken = false;
      this.#options.log('error', 'Could not read the queue; retrying.', { error: String(error) });
    }
  }

  /** A suspected job runs alone: if the process ends during it, the job is the reason. */
  #mayRunSuspects(): boolean {
    return [...this.#running.values()].some(({ job }) => job.isSuspected);
  }

  /** How many more jobs of each kind may start; without kinds that may not. */
  #countFree(): Record<string, number> {
    const running = [...this.#running.values()];
    const free = Object.entries(this.#kinds).map(
      ([kind, { atOnce }]) => [kind, atOnce - running.filter(({ job }) => job.kind === kind).length] as const,
    );
    return Object.fromEntries(free.filter(([, places]) => places > 0));
  }

  #listShared(): Record<string, SharedLimit> {
    const shared = Object.entries(this.#kinds).flatMap(([kind, { atOnce, sharesWith }]) =>
      sharesWith ? [[kind, { atOnce, sharesWith }] as const] : [],
    );
    return Object.fromEntries(shared);
  }

  #start(job: LeasedJob): void {
    const abort = new AbortController();
    const ended = this.#runLeased(job, abort).finally(() => {
      this.#running.delete(job.id);
      this.#wake();
    });
    this.#running.set(job.id, { job, ended, abort });
  }

  async #runLeased(job: LeasedJob, abort: AbortController): Promise<void> {
    const renewal = setInterval(() => this.#renewLease(job, abort), (this.#options.leaseMs ?? 60_000) / 3);
    const isBrief = job.isSuspected && this.#kinds[job.kind]?.resumes;
    const interruption = isBrief
      ? setTimeout(() => abort.abort(), this.#options.suspicionMs ?? 10_000)
      : undefined;
    try {
      const outcome = await this.#execute(job, abort.signal);
      clearTimeout(interruption);
      await this.#recordUntilDone(job, outcome, abort.signal);
    } finally {
      clearInterval(renewal);
    }
  }

  /** A job whose end is not recorded would keep its lease as long as this process lasts. */
  async #recordUntilDone(job: LeasedJob, outcome: JobOutcome, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#recordOutcome(job, outcome, signal);
      } catch (error) {
        const fields = { key: job.key, error: String(error) };
        if (attempt === 1) this.#options.log('error', `Could not record the end of job ${job.kind}.`, fields);
        if (this.#stopped) return;
        // A job that was aborted as suspected is recorded too.
        const interruption = signal.aborted ? {} : { signal };
        await pause(this.#options.pollMs ?? POLL_MS, undefined, interruption).catch(() => {});
      }
    }
  }

  async #execute(job: LeasedJob, signal: AbortSignal): Promise<JobOutcome> {
    try {
      const kind = this.#kinds[job.kind];
      const running = this.#toRunning(job);
      if (job.crashes < MAX_CRASHES) await kind?.run(running, signal);
      else await this.#quarantine(running, job.crashes);
      return { ok: true };
    } catch (error) {
      return { ok: false, error };
    }
  }

  /** Ends a job without running it. */
  async #quarantine(job: RunningJob, crashes: number): Promise<void> {
    const message = `Job ${job.kind} ended the process ${crashes} times; it is not run again.`;
    this.#options.log('error', message, { key: job.key });
    await this.#kinds[job.kind]?.quarantine?.(job);
  }

  #toRunning(job: LeasedJob): RunningJob {
    const { kind, key, owner, attempts } = job;
    return {
      ...{ kind, key, owner, attempts },
      commit: (write) =>
        this.#options.database.transaction().execute(async (tx) => {
          await requireLease(tx, this.#options, job);
          return write(tx);
        }),
    };
  }

  async #recordOutcome(job: LeasedJob, outcome: JobOutcome, signal: AbortSignal): Promise<void> {
    if (outcome.ok) return completeJob(this.#options, job);
    const { error } = outcome;
    if (error instanceof RunAgain) {
      await completeJob(this.#options, job, error.at);
      return this.#wakeAt(error.at);
    }
    if (signal.aborted) return releaseJob(this.#options, job);
    if (error instanceof LeaseLost) return this.#options.count?.('leases_lost', { kind: job.kind });
    this.#options.log('warn', `Job ${job.kind} failed; retrying.`, {
      key: job.key,
      error: String(error),
    });
    await failJob(this.#options, job, String(error));
  }

  #renewLease(job: LeasedJob, abort: AbortController): void {
    extendLease(this.#options, job).then(
      (kept) => {
        if (kept || abort.signal.aborted) return;
        this.#options.count?.('leases_lost', { kind: job.kind });
        abort.abort();
      },
      // The lease lasts for two more attempts; if they fail too, another worker takes the job.
      (error) => this.#options.log('warn', 'Could not renew the lease of a job.', { error: String(error) }),
    );
  }
}

interface Run {
  readonly job: LeasedJob;
  readonly ended: Promise<void>;
  readonly abort: AbortController;
}

type JobOutcome = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

async function endsInTime(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

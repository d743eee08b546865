import { randomUUID } from 'node:crypto';
import type { Context, Database, Tx } from '../context.js';
import {
  bringForward,
  claim,
  complete,
  extend,
  fail,
  type Leased,
  release,
  releaseOthers,
} from './leases.js';
import type { Job, Kind, NewJob, Queue } from './queue.js';

export interface LeasedTableParts {
  readonly database: Database;
  readonly now: Context['now'];
  readonly log: Context['log'];
  /** Names this process in the leases it holds. */
  readonly instance: string;
  /** No other process works on this table: leases found at the start are a dead one's. */
  readonly alone: boolean;
  /** How long a silent worker keeps its job. Milliseconds; a minute where absent. */
  readonly leaseMs?: number;
  /** How far ahead a job may be enqueued; milliseconds, a day where absent. */
  readonly longestDelayMs?: number;
  /** How often the table is looked at unasked. Milliseconds; a second where absent. */
  readonly pollMs?: number;
}

/** Jobs in a table of the database: a worker takes one by a lease, which it renews while it works. */
export function leasedTable(parts: LeasedTableParts): Queue {
  return new LeasedTable(parts);
}

class LeasedTable implements Queue {
  readonly #running = new Map<string, Run>();
  #kinds: Readonly<Record<string, Kind>> = {};
  #poll: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  #woken = false;
  #stopped = true;

  constructor(readonly parts: LeasedTableParts) {}

  /**
   * The worker is woken at once: its claim is a transaction too, and transactions of the embedded database take turns,
   * so that it looks just after this one is committed. A database that runs them side by side is polled.
   */
  async enqueue(tx: Tx, job: NewJob): Promise<void> {
    const now = this.parts.now();
    await tx
      .insertInto('jobs')
      .values({
        id: randomUUID(),
        kind: job.kind,
        key: job.key,
        // What is due at once is due whatever becomes of the clock.
        run_at: new Date(job.runAt ?? 0).toISOString(),
        attempts: 0,
        leased_until: null,
        leased_by: null,
        last_error: null,
        created_at: new Date(now).toISOString(),
      })
      .onConflict((conflict) =>
        conflict.columns(['kind', 'key']).doUpdateSet((row) => ({
          run_at: row.ref('excluded.run_at'),
          // By this a worker sees at its end that the job was enqueued again.
          attempts: 0,
        })),
      )
      .execute();
    this.#wake();
  }

  start(kinds: Readonly<Record<string, Kind>>): void {
    this.#kinds = kinds;
    this.#stopped = false;
    this.#look(() => this.#begin());
    this.#poll = setInterval(() => this.#wake(), this.parts.pollMs ?? 1_000);
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    await this.#claiming;
    const running = [...this.#running.values()];
    const ended = Promise.all(running.map((run) => run.ended));
    for (const { kind, abort } of running) if (this.#kinds[kind]?.resumes) abort.abort();
    if (await inTime(ended, graceMs)) return;
    for (const { abort } of this.#running.values()) abort.abort();
    await inTime(ended, 1_000);
  }

  async busyBy(time: number): Promise<boolean> {
    if (this.#running.size > 0) return true;
    const due = await this.parts.database
      .selectFrom('jobs')
      .select('id')
      .where('run_at', '<=', new Date(time).toISOString())
      .limit(1)
      .executeTakeFirst();
    return due !== undefined;
  }

  async #begin(): Promise<void> {
    try {
      if (this.parts.alone) await releaseOthers(this.parts);
      await bringForward(this.parts, this.parts.longestDelayMs ?? 24 * 60 * 60_000);
    } catch (error) {
      this.parts.log('error', 'Jobs of an earlier process were not put right.', { error: String(error) });
    }
    await this.#claimAll();
  }

  /** One look at a time; a wake-up during it makes it look again. */
  #wake(): void {
    this.#woken = true;
    if (!this.#stopped && !this.#claiming) this.#look(() => this.#claimAll());
  }

  #look(action: () => Promise<void>): void {
    this.#claiming = action().finally(() => {
      this.#claiming = undefined;
      if (this.#woken) this.#wake();
    });
  }

  async #claimAll(): Promise<void> {
    try {
      this.#woken = false;
      while (!this.#stopped) {
        const job = await claim(this.parts, this.#free(), [...this.#running.keys()]);
        if (!job) break;
        this.#run(job);
      }
    } catch (error) {
      this.#woken = false;
      this.parts.log('error', 'The queue could not be read; it is tried again.', { error: String(error) });
    }
  }

  /** The kinds that may begin one more job. */
  #free(): string[] {
    const running = [...this.#running.values()];
    const isFree = ([kind, { atOnce }]: [string, Kind]) =>
      running.filter((run) => run.kind === kind).length < atOnce;
    return Object.entries(this.#kinds)
      .filter(isFree)
      .map(([kind]) => kind);
  }

  #run(job: Leased): void {
    const abort = new AbortController();
    const ended = this.#runLeased(job, abort).finally(() => {
      this.#running.delete(job.id);
      this.#wake();
    });
    this.#running.set(job.id, { kind: job.kind, ended, abort });
  }

  async #runLeased(job: Leased, abort: AbortController): Promise<void> {
    const renewal = setInterval(() => this.#renew(job, abort), (this.parts.leaseMs ?? 60_000) / 3);
    try {
      const outcome = await this.#outcome(job, abort.signal);
      clearInterval(renewal);
      await this.#record(job, outcome, abort.signal);
    } catch (error) {
      this.parts.log('error', `The end of job ${job.kind} was not recorded; it will run again.`, {
        key: job.key,
        error: String(error),
      });
    } finally {
      clearInterval(renewal);
    }
  }

  async #outcome(job: Job, signal: AbortSignal): Promise<Outcome> {
    try {
      await this.#kinds[job.kind]?.run(job, signal);
      return { ok: true };
    } catch (error) {
      return { ok: false, error };
    }
  }

  async #record(job: Leased, outcome: Outcome, signal: AbortSignal): Promise<void> {
    if (outcome.ok) return complete(this.parts, job);
    const { error } = outcome;
    if (signal.aborted) return release(this.parts, job);
    this.parts.log('warn', `Job ${job.kind} failed; it is tried again.`, {
      key: job.key,
      error: String(error),
    });
    await fail(this.parts, job, String(error));
  }

  #renew(job: Leased, abort: AbortController): void {
    extend(this.parts, job).then(
      (kept) => kept || abort.abort(),
      // The lease outlasts two more tries; another worker takes the job where they fail too.
      (error) => this.parts.log('warn', 'A lease was not renewed.', { error: String(error) }),
    );
  }
}

interface Run {
  readonly kind: string;
  readonly ended: Promise<void>;
  readonly abort: AbortController;
}

type Outcome = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

async function inTime(promise: Promise<unknown>, ms: number): Promise<boolean> {
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

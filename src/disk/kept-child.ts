import {
  ChildInterrupted,
  type ChildOptions,
  type ChildWork,
  LimitExceeded,
  LimitedChild,
} from './limited-child.js';

/** Tasks that one process does before another takes its place. */
const MAX_TASKS = 100;
const IDLE_MS = 30_000;

/**
 * A process for one task at a time, which is kept for the next one, because starting it takes longer than most tasks. A task
 * that exceeds its limits takes the process down, and no other task with it.
 */
export class KeptChild {
  readonly #options: ChildOptions;
  readonly #idleMs: number;
  #child: LimitedChild | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();

  /** @param idleMs how long the process waits for the next task */
  constructor(options: ChildOptions, idleMs = IDLE_MS) {
    this.#options = options;
    this.#idleMs = idleMs;
  }

  /**
   * Does a task; the one before must have ended.
   * @param create makes the work, once more where it is tried once more
   * @throws LimitExceeded, as the work explains it; ChildInterrupted; what its `receive` throws; the reason of its signal
   */
  async run<Result>(create: () => ChildWork<Result>): Promise<Result> {
    const isUsed = this.#child?.isAlive === true;
    try {
      return await this.#runOnce(create());
    } catch (error) {
      // Memory that tasks before this one took says nothing about this one, nor does an end while the process waited.
      const isOwn =
        error instanceof LimitExceeded ? error.what === 'time' : !(error instanceof ChildInterrupted);
      if (!isUsed || isOwn) throw error;
      return await this.#runOnce(create());
    }
  }

  async #runOnce<Result>(work: ChildWork<Result>): Promise<Result> {
    clearTimeout(this.#idle);
    const { signal: closing } = this.#closing;
    const signal = work.signal ? AbortSignal.any([work.signal, closing]) : closing;
    signal.throwIfAborted();
    if (!this.#child?.isAlive) this.#child = new LimitedChild(this.#options);
    const child = this.#child;
    try {
      const result = await child.run(work, signal);
      const isSpent = child.tasks >= MAX_TASKS || child.residentBytes > this.#options.residentBytes / 2;
      if (isSpent) await this.#end();
      else this.#rest(child);
      return result;
    } catch (error) {
      await this.#end();
      throw error instanceof LimitExceeded && work.explain ? work.explain(error) : error;
    }
  }

  #rest(child: LimitedChild): void {
    child.keepAwake(false);
    this.#idle = setTimeout(() => void this.#end(), this.#idleMs);
    this.#idle.unref();
  }

  /**
   * Ends the process, and with it what it does; no other takes its place.
   * @param reason what tasks fail with from now on
   */
  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason);
    await this.#end();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    this.#child = undefined;
    await child?.end();
  }
}

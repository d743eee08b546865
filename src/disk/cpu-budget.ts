import { createContext, Script } from 'node:vm';

/** Work that took all the CPU time it may take. */
export class CpuBudgetSpent extends Error {
  override readonly name = 'CpuBudgetSpent';
}

/**
 * CPU time for work that an untrusted pattern could make endless. It stops a single call of a regular expression, too.
 */
export class CpuBudget {
  readonly #context = createContext({ work: undefined as unknown });
  #leftMs: number;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /**
   * Runs synchronous work, which must not leave anything half done.
   * @param extraMs added to the budget
   * @throws CpuBudgetSpent
   */
  run<Result>(work: () => Result, extraMs = 0): Result {
    this.#leftMs += extraMs;
    this.#context.work = work;
    // It measures wall time: on a busy machine, the work is run once more.
    while (this.#leftMs >= 1) {
      const before = process.cpuUsage();
      try {
        return RUN_WORK.runInContext(this.#context, { timeout: Math.ceil(this.#leftMs) });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      } finally {
        this.#leftMs -= process.cpuUsage(before).user / 1000;
      }
    }
    throw new CpuBudgetSpent('The CPU time is spent.');
  }
}

const RUN_WORK = new Script('work()');

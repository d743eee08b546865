import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../wire/backoff.js';
import { exitCodes, type Failure } from '../terminal/failure.js';

const mostTries = 6;
const mostMissed = 3;

/** How long a batch goes on with a service that is away. */
export class Patience {
  /** The service answered in this run: where it is silent now, it may come back. */
  #wasThere = false;
  /** Jobs in a row that did not reach it. */
  #missed = 0;
  #over = false;

  constructor(readonly signal: AbortSignal) {}

  /** Whether no more jobs are to be sent. */
  get isOver(): boolean {
    return this.#over;
  }

  end(): void {
    this.#over = true;
  }

  /** Does what asks the service, again for half a minute where it fails in a way that passes. */
  async outlast<Result>(ask: () => Promise<Result>, passes: (error: unknown) => boolean): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await ask();
        this.#wasThere = true;
        this.#missed = 0;
        return result;
      } catch (error) {
        this.signal.throwIfAborted();
        if (!this.#wasThere || attempt === mostTries || !passes(error)) throw error;
      }
      await pause(backoffMs(attempt, { firstMs: 1_000, maxMs: 16_000 }), undefined, { signal: this.signal });
    }
  }

  /** A job failed: what would hinder all others as well ends the batch. */
  heard({ facts }: Failure): void {
    if (facts.exit === exitCodes.notAllowed) this.#over = true;
    if (facts.exit !== exitCodes.unreachable) return;
    this.#missed += 1;
    if (this.#missed >= mostMissed) this.#over = true;
  }
}

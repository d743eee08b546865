import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../../client/errors.js';
import { backoffMs } from '../../wire/backoff.js';
import { exitCodes, type Failure } from '../terminal/failure.js';

const MAX_ATTEMPTS = 6;
const MAX_PAUSE_MS = 16_000;
const MAX_UNREACHED_JOBS = 3;

/** Decides how long a batch continues while its service is unreachable. */
export class CircuitBreaker {
  /** The service answered in this run, so that it may come back. */
  #hasAnswered = false;
  /** Jobs in a row that did not reach the service. */
  #unreached = 0;
  #isOpen = false;

  constructor(readonly signal: AbortSignal) {}

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Calls the service, and retries temporary failures for half a minute; the client has waited for longer pauses. */
  async retry<Result>(
    call: () => Promise<Result>,
    isTemporary: (error: unknown) => boolean,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await call();
        this.#hasAnswered = true;
        this.#unreached = 0;
        return result;
      } catch (error) {
        this.signal.throwIfAborted();
        const askedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
        const isLast = attempt === MAX_ATTEMPTS || askedMs > MAX_PAUSE_MS;
        if (!this.#hasAnswered || isLast || !isTemporary(error)) throw error;
        const pauseMs = Math.max(askedMs, backoffMs(attempt, { firstMs: 1_000, maxMs: MAX_PAUSE_MS }));
        await pause(pauseMs, undefined, { signal: this.signal });
      }
    }
  }

  /** Records a failed job. A failure that all other jobs would share ends the batch. */
  record({ facts }: Failure): void {
    if (facts.exit === exitCodes.notAllowed) this.#isOpen = true;
    if (facts.exit !== exitCodes.unreachable) return;
    this.#unreached += 1;
    if (this.#unreached >= MAX_UNREACHED_JOBS) this.#isOpen = true;
  }
}

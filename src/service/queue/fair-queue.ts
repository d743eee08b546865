interface Waiting {
  readonly owner: string;
  readonly turn: number;
  start(): void;
}

/**
 * Runs work in turns: however much waits, the next work of an owner waits for at most one of every other owner. The queue of
 * jobs does the same for what is in the database.
 */
export class FairQueue {
  readonly #atOnce: number;
  readonly #atOnceForOwner: number;
  readonly #running = new Map<string, number>();
  readonly #lastTurns = new Map<string, number>();
  #waiting: Waiting[] = [];
  #turn = 0;
  #total = 0;

  /** @param atOnce how much runs in parallel, in all and for one owner */
  constructor(atOnce: number, atOnceForOwner: number) {
    this.#atOnce = atOnce;
    this.#atOnceForOwner = atOnceForOwner;
  }

  /** @throws the reason of the signal, if it is aborted before the work begins; what the work throws */
  async run<Result>(owner: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.#wait(owner, signal);
    try {
      return await work();
    } finally {
      this.#change(owner, -1);
      this.#startNext();
    }
  }

  /** Whether the next work of an owner would begin at once, as far as its own goes. */
  hasPlace(owner: string): boolean {
    return (this.#running.get(owner) ?? 0) < this.#atOnceForOwner;
  }

  async #wait(owner: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const turn = Math.max(this.#turn, (this.#lastTurns.get(owner) ?? -1) + 1);
    this.#lastTurns.set(owner, turn);
    let leave = () => {};
    try {
      await new Promise<void>((start, reject) => {
        const waiting = { owner, turn, start };
        leave = () => {
          this.#waiting = this.#waiting.filter((other) => other !== waiting);
          this.#change(owner, 0);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', leave);
        this.#waiting.push(waiting);
        this.#startNext();
      });
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  #startNext(): void {
    while (this.#total < this.#atOnce) {
      const [next] = this.#waiting
        .filter(({ owner }) => (this.#running.get(owner) ?? 0) < this.#atOnceForOwner)
        // Of one turn, the first to come.
        .sort((one, other) => one.turn - other.turn);
      if (!next) return;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.#turn = Math.max(this.#turn, next.turn);
      this.#change(next.owner, 1);
      next.start();
    }
  }

  /** Counts what runs, and forgets an owner of whom nothing runs or waits. */
  #change(owner: string, difference: number): void {
    const running = (this.#running.get(owner) ?? 0) + difference;
    this.#total += difference;
    if (running > 0) this.#running.set(owner, running);
    else this.#running.delete(owner);
    const isKnown = running > 0 || this.#waiting.some((one) => one.owner === owner);
    if (!isKnown) this.#lastTurns.delete(owner);
  }
}

/** How often a pause grows, to 15 times the first. */
const growth = 1.5;
const longest = 15;
/** Decided: a vendor that asks for a longer pause gets this one. Milliseconds. */
const longestAskedMs = 60 * 60_000;

/**
 * The pauses between looks at one task: growing, and jittered so that many tasks do not look at once.
 * @param firstMs milliseconds
 */
export class Pauses {
  #grown: number;

  constructor(
    private readonly firstMs: number,
    private readonly random: () => number = Math.random,
  ) {
    this.#grown = firstMs;
  }

  /** The next pause, at least as long as was asked for. Milliseconds. */
  next(askedMs = 0): number {
    const pause = this.#grown * (0.75 + this.random() / 4);
    this.#grown = Math.min(this.#grown * growth, this.firstMs * longest);
    return Math.max(pause, Math.min(askedMs, longestAskedMs));
  }
}

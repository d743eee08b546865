/** Keeps what jobs cost, together, within a number of credits: each is reserved at its price before it is sent. */
export class Budget {
  /** Reserved or spent. */
  #held: number;
  /** What is reserved for jobs under way, by key; it may yet be given back. */
  readonly #reserved = new Map<string, number>();
  #waiting: (() => void)[] = [];

  /** @param held for jobs of earlier runs, spent or under way */
  constructor(
    readonly most: number,
    held: number,
  ) {
    this.#held = held;
  }

  /** Credits that are neither reserved nor spent. */
  get left(): number {
    return Math.max(0, this.most - this.#held);
  }

  /**
   * Reserves what a job costs; waits while one under way may yet give credits back.
   * @returns whether there was room
   */
  async reserve(key: string, price: number): Promise<boolean> {
    while (this.#held + price > this.most) {
      if (this.#reserved.size === 0) return false;
      await new Promise<void>((changed) => this.#waiting.push(changed));
    }
    this.#held += price;
    this.#reserved.set(key, price);
    return true;
  }

  /** A job for which an earlier run reserved its price is under way again. */
  resume(key: string, price: number): void {
    this.#reserved.set(key, price);
  }

  /** A job is under way no more. What it costs takes the place of what was reserved; unknown, that stays. */
  settle(key: string, cost?: number): void {
    const reserved = this.#reserved.get(key);
    if (reserved === undefined) return;
    this.#reserved.delete(key);
    this.#held += (cost ?? reserved) - reserved;
    for (const changed of this.#waiting.splice(0)) changed();
  }
}

import type { Output } from '../terminal/output.js';
import { Progress } from '../terminal/progress.js';

/** Tells a person what the tasks of a command are at: a spinner with states and elapsed time. */
export class Watch {
  readonly #progress: Progress;
  readonly #states = new Map<string, string>();
  readonly #begun: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly output: Output) {
    this.#progress = new Progress(output);
    this.#begun = output.system.now();
  }

  async stage(text: string): Promise<void> {
    await this.#progress.stage(text);
    this.#timer ??= setInterval(() => this.#tick(), 1000).unref();
    this.#tick();
  }

  /** What a task was last seen to be. */
  state(id: string, state: string): void {
    this.#states.set(id, state);
    this.#tick();
  }

  /** A line that stays. */
  say(text: string): Promise<void> {
    return this.output.note(text);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#progress.end();
  }

  #tick(): void {
    const seconds = Math.round((this.output.system.now() - this.#begun) / 1000);
    this.#progress.update(`(${[...this.#counted(), elapsed(seconds)].join(', ')})`);
  }

  #counted(): string[] {
    const counts = new Map<string, number>();
    for (const state of this.#states.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return [...counts].map(([state, count]) => (this.#states.size === 1 ? state : `${count} ${state}`));
  }
}

function elapsed(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

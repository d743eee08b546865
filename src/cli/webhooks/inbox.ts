import type { Event } from './event.js';
import type { Handled } from './handled.js';

/** How a webhook is answered. */
export interface Reply {
  readonly status: number;
  /** Passed on where the one it was forwarded to asks for a pause. */
  readonly retryAfter?: string | undefined;
}

export const done: Reply = { status: 204 };

export function isDone({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

interface Parts {
  readonly handled: Handled;
  /** Comes once for each event. */
  readonly show: (event: Event) => Promise<void>;
  /** What is to be done with an event; called again for a repeat of one that failed. */
  readonly act: (event: Event) => Promise<Reply>;
}

// Decided: events are dealt with one after the other, in the order they came.
/** Deals with each event once, however often it comes and on whatever way. */
export class Inbox {
  readonly #underWay = new Map<string, Promise<Reply>>();
  readonly #shown = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly parts: Parts) {}

  /** A repeat of what is under way has the same end. */
  take(event: Event): Promise<Reply> {
    const begun = this.#underWay.get(event.id);
    if (begun) return begun;
    const reply = this.#last.then(() => this.#deal(event)).finally(() => this.#underWay.delete(event.id));
    this.#last = reply.catch(() => {});
    this.#underWay.set(event.id, reply);
    return reply;
  }

  /** Resolves once all that came is dealt with. */
  async settled(): Promise<void> {
    await this.#last;
  }

  async #deal(event: Event): Promise<Reply> {
    const { handled, show, act } = this.parts;
    const state = `${event.taskId} ${event.seen?.state}`;
    // What was caught up with has the state of its task, which comes but once, for a name.
    if (handled.has(event.id) || handled.has(state)) return done;
    if (!this.#shown.has(event.id)) await show(event);
    this.#shown.add(event.id);
    const reply = await act(event);
    if (!isDone(reply)) return reply;
    this.#shown.delete(event.id);
    handled.add(event.id, ...(event.replaces ?? []), ...(event.caughtUp ? [state] : []));
    return reply;
  }
}

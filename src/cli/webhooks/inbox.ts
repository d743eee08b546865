import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { appendWhole, readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import type { Event } from './event.js';

export interface Reply {
  readonly status: number;
  /** The Retry-After header of the address that it was forwarded to. */
  readonly retryAfter?: string | undefined;
}

export const DONE: Reply = { status: 204 };

export function isDone({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

interface InboxOptions {
  readonly handled: Handled;
  /** Called once for each event. */
  readonly show: (event: Event) => Promise<void>;
  /** Handles an event. Called again when an event that failed is repeated. */
  readonly act: (event: Event) => Promise<Reply>;
  /**
   * Called for an event that arrives after it was handled.
   * @param as `replaced`: a newer state of its task was handled in its place; `expected`: it was caught up with, and this
   * is the service's own attempt
   * @returns whether it is handled nevertheless
   */
  readonly repeat: (event: Event, as: 'handled' | 'replaced' | 'expected') => Promise<boolean>;
}

// Decided: events are handled one after the other, in the order of arrival.
/** Handles each event once, however often it arrives. */
export class Inbox {
  readonly #underWay = new Map<string, Promise<Reply>>();
  readonly #shown = new Set<string>();
  /** Ids of what was caught up with and has not arrived yet. */
  readonly #expected = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly options: InboxOptions) {}

  /** A repeat of an event that is being handled gets the same reply. */
  take(event: Event): Promise<Reply> {
    const begun = this.#underWay.get(event.id);
    if (begun) return begun;
    const reply = this.#last.then(() => this.#handle(event)).finally(() => this.#underWay.delete(event.id));
    this.#last = reply.catch(() => {});
    this.#underWay.set(event.id, reply);
    return reply;
  }

  async #handle(event: Event): Promise<Reply> {
    const { handled, show, act, repeat } = this.options;
    const state = `${event.taskId} ${event.seen?.state}`;
    // An event that was caught up with is identified by the state of its task, which occurs once.
    const isHandled = handled.has(event.id) || handled.has(state);
    const isReplaced = !isHandled && handled.has(toReplacedName(event.id));
    if (isHandled || isReplaced) {
      const as = isReplaced ? 'replaced' : this.#expected.delete(event.id) ? 'expected' : 'handled';
      if (event.caughtUp || !(await repeat(event, as))) return DONE;
    }
    if (!this.#shown.has(event.id)) await show(event);
    this.#shown.add(event.id);
    const reply = await act(event);
    if (!isDone(reply)) return reply;
    this.#shown.delete(event.id);
    if (event.caughtUp) this.#expected.add(event.id);
    const replaced = (event.replaces ?? []).map(toReplacedName);
    handled.add(event.id, ...replaced, ...(event.caughtUp ? [state] : []));
    return reply;
  }
}

function toReplacedName(id: string): string {
  return `replaced ${id}`;
}

const MAX_KEPT = 10_000;

/**
 * The webhooks that were handled, so that neither this listener nor the next one handles them again. They are kept in a
 * file of the user, one per line.
 */
export class Handled {
  readonly #path: string;
  readonly #names: Set<string>;

  constructor(stateFolder: string) {
    this.#path = join(stateFolder, 'webhooks', 'handled');
    const lines = (readPrivateFile(this.#path) ?? '').split('\n').filter(Boolean);
    this.#names = new Set(lines.slice(-MAX_KEPT));
    // Also creates the file, so that `add` can append to it.
    if (lines.length > 2 * MAX_KEPT || lines.length === 0) {
      writePrivateFile(this.#path, [...this.#names].map((name) => `${name}\n`).join(''));
    }
  }

  has(name: string): boolean {
    return this.#names.has(encodeURI(name));
  }

  add(...names: readonly string[]): void {
    // Encoded, because a name with a line break would become two names.
    const fresh = names.map((name) => encodeURI(name)).filter((name) => !this.#names.has(name));
    if (fresh.length === 0) return;
    for (const name of fresh) this.#names.add(name);
    const file = openSync(this.#path, 'a', 0o600);
    try {
      appendWhole(file, fresh.map((name) => `${name}\n`).join(''));
    } finally {
      closeSync(file);
    }
  }
}

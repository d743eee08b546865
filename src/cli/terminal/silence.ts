import type { Trace } from '../../client/trace.js';

/** So long without an answer is worth a word. Milliseconds. */
const patienceMs = 5_000;

/** Says that a service has not answered yet, once for each time it falls silent. */
export class Silence {
  #timer: NodeJS.Timeout | undefined;
  #said = false;

  constructor(
    readonly host: string,
    readonly say: (sentence: string) => void,
  ) {}

  heard(event: Trace): void {
    // The answer to an upload comes when all of it is there, which its own progress shows.
    if (event.kind === 'request' && event.method !== 'PUT')
      this.#timer ??= setTimeout(() => this.#speak(), patienceMs).unref();
    if (event.kind === 'response') this.#end();
  }

  #speak(): void {
    if (!this.#said) this.say(`${this.host} has not answered yet; still waiting. Ctrl-C ends it.`);
    this.#said = true;
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#said = false;
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

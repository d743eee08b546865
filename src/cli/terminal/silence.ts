import type { Trace } from '../../client/trace.js';

/** How long a service may be silent before the user sees a note. */
const SILENCE_MS = 5_000;

/** Tells the user that a service has not responded yet, once per silence. */
export class Silence {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly host: string,
    readonly say: (sentence: string) => void,
  ) {}

  observe(event: Trace): void {
    const sentence = `Still waiting for a response from ${this.host}. Press Ctrl-C to stop.`;
    // An upload is answered only at its end, and has its own progress.
    if (event.kind === 'request' && event.method !== 'PUT')
      this.#timer ??= setTimeout(() => this.say(sentence), SILENCE_MS).unref();
    if (event.kind === 'response' || event.kind === 'retry') this.close();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

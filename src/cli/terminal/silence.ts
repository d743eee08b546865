import type { Trace } from '../../client/trace.js';
import { formatDuration } from './duration.js';

/** How long a service may be silent, or a request pause, before the user sees a note. */
const SILENCE_MS = 5_000;

/** Tells the user that a service has not responded yet, or is busy, once per silence or pause. */
export class Silence {
  #timer: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(
    readonly host: string,
    readonly say: (sentence: string) => void,
  ) {}

  observe(event: Trace): void {
    const sentence = `Still waiting for a response from ${this.host}. Press Ctrl-C to stop.`;
    // An upload is answered only at its end, and has its own progress.
    if (event.kind === 'request' && event.method !== 'PUT')
      this.#timer ??= setTimeout(() => this.say(sentence), SILENCE_MS).unref();
    if (event.kind !== 'response' && event.kind !== 'retry') return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (event.kind === 'retry' && event.pauseMs >= SILENCE_MS) this.#reportPause(event.pauseMs);
  }

  /** Of several requests that pause at the same time, the first is reported. */
  #reportPause(pauseMs: number): void {
    if (this.#pause) return;
    this.say(`${this.host} is busy; trying again in ${formatDuration(pauseMs)}. Press Ctrl-C to stop.`);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
    }, pauseMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#pause);
  }
}

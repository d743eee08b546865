import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { textWithin } from '../../../text-within.js';
import type { VendorSettings } from './settings.js';

/** More than any answer needs, the payload that comes back with it included. Bytes. */
const longestAnswer = 16 * 1024 ** 2;

export interface Asking {
  readonly method: 'GET' | 'POST';
  /** Below the vendor's base address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable;
  readonly signal: AbortSignal;
}

export interface VendorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where it is not JSON. */
  readonly body: unknown;
}

/** Nothing was answered, or not to its end. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(
    message: string,
    /** Whether the vendor may have got the request. */
    readonly sent: boolean,
  ) {
    super(message);
  }
}

/** One vendor over HTTP: its address, its key, and what was seen of its ways. */
export class Vendor {
  readonly #agent = new Agent();
  readonly #settings: VendorSettings;
  readonly #key: string;
  #seenToHonourKeys = false;

  constructor(settings: VendorSettings, key: string) {
    this.#settings = settings;
    this.#key = key;
  }

  get baseUrl(): string {
    return this.#settings.baseUrl.replace(/\/+$/, '');
  }

  /** Whether a repeated request to start a task is answered with the task of the first one. */
  get honoursKeys(): boolean {
    return this.#settings.honoursKeys ?? this.#seenToHonourKeys;
  }

  /**
   * One request, one answer, whatever its status. Redirects are not followed, since the key would go along.
   * @throws NoAnswer; the signal's reason
   */
  async ask(asking: Asking): Promise<VendorAnswer> {
    const timeout = AbortSignal.timeout(this.#settings.answerMs);
    let sent = false;
    const started = () => {
      sent = true;
    };
    try {
      const answer = await this.#exchange(asking, AbortSignal.any([asking.signal, timeout]), started);
      const key = asking.headers?.['idempotency-key'];
      if (key !== undefined && answer.headers['idempotency-key'] === key) this.#seenToHonourKeys = true;
      return answer;
    } catch (error) {
      asking.signal.throwIfAborted();
      const why = timeout.aborted
        ? 'no answer in time'
        : ((error as NodeJS.ErrnoException).code ?? String(error));
      throw new NoAnswer(why, sent);
    } finally {
      asking.body?.destroy();
    }
  }

  async #exchange(asking: Asking, signal: AbortSignal, started: () => void): Promise<VendorAnswer> {
    const { statusCode, headers, body } = await request(this.baseUrl + asking.path, {
      method: asking.method,
      dispatcher: this.#agent.compose(whenStarted(started)),
      signal,
      headers: {
        ...asking.headers,
        ...this.#credential(),
        accept: 'application/json',
        'user-agent': 'regen',
      },
      body: asking.body ?? null,
    });
    const joined = Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]);
    return { status: statusCode, headers: Object.fromEntries(joined), body: await json(body) };
  }

  #credential(): Record<string, string> {
    const { keyHeader } = this.#settings;
    return { [keyHeader]: keyHeader.toLowerCase() === 'authorization' ? `Bearer ${this.#key}` : this.#key };
  }

  /** What the vendor wrote, fit for those who use this service: one short line without key, addresses or control characters. */
  wordsFrom(text: string): string {
    const line = text
      .slice(0, 10_000)
      .replaceAll(this.#key, '…')
      .replace(/\bhttps?:\/\/\S+/gi, '…')
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim();
    return line.length > 300 ? `${line.slice(0, 299)}…` : line;
  }
}

/** Calls back when a request is about to be written to a connection: before, surely nothing was sent. */
function whenStarted(started: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const { onRequestStart } = handler;
    handler.onRequestStart = (...given) => {
      started();
      onRequestStart?.apply(handler, given);
    };
    return dispatch(options, handler);
  };
}

async function json(body: Readable): Promise<unknown> {
  const text = await textWithin(body, longestAnswer);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

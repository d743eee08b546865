import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { parseJson } from '../../../contract/json.js';
import { notifyOnStart } from '../../../wire/notify-on-start.js';
import { readBody } from '../../../wire/read-body.js';
import type { VendorSettings } from '../../configuration/generation-settings.js';
import type { VendorProfile } from '../../configuration/vendor-profile.js';
import { createOperatorAgent } from '../../network/guarded-agent.js';
import { runWithin, TimedOut } from '../../network/run-within.js';

/** More than any answer needs, including the echoed payload. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

export interface VendorRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the vendor's base URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string;
  readonly signal: AbortSignal;
}

export interface VendorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

/** There was no answer or an incomplete one. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(
    message: string,
    /** Whether the vendor may have received the request. */
    readonly sent: boolean,
  ) {
    super(message);
  }
}

const RESULT_ANSWER_MS = 5 * 60_000;

/** A minute, and what the way to the vendor takes. */
const WINDOW_MS = 61_000;

/** The share of a vendor's requests that are looks. Starts are requests, too. */
export const LOOKS_SHARE = 0.6;

/** One vendor: its profile, its base URL, its key, and whether it honours Idempotency-Key. */
export class Vendor {
  readonly profile: VendorProfile;
  readonly #settings: VendorSettings;
  readonly #key: string;
  #agent: Agent | undefined;
  #seenToHonourKeys = false;
  /** When the requests of the last minute were taken. Milliseconds since the epoch. */
  #taken: { readonly at: number; readonly isLook: boolean }[] = [];
  readonly #now: () => number;
  /** Whether the last task that ended was reported by a callback. */
  callsBack = false;

  constructor(profile: VendorProfile, settings: VendorSettings, key: string, now: () => number) {
    this.profile = profile;
    this.#settings = settings;
    this.#key = key;
    this.#now = now;
  }

  /**
   * Takes one of the requests that the vendor allows per minute; looks leave some for starts. Those that are rare, such as
   * cancels, are not counted.
   * @returns how long to wait if none is left, in milliseconds
   */
  takeRequest(isLook: boolean): number {
    const { requestsPerMinute } = this.profile.limits;
    if (requestsPerMinute === undefined) return 0;
    const now = this.#now();
    this.#taken = this.#taken.filter(({ at }) => now - at < WINDOW_MS);
    const looks = this.#taken.filter((one) => one.isLook);
    const mostLooks = Math.ceil(requestsPerMinute * LOOKS_SHARE);
    const full = isLook && looks.length >= mostLooks ? looks : this.#taken;
    if (full.length >= (full === looks ? mostLooks : requestsPerMinute))
      return (full[0]?.at ?? now) + WINDOW_MS - now;
    this.#taken.push({ at: now, isLook });
    return 0;
  }

  get baseUrl(): string {
    return (this.#settings.baseUrl ?? (this.profile.baseUrl as string)).replace(/\/+$/, '');
  }

  /** Whether a repeated request to start a task is answered with the first task. */
  get honoursKeys(): boolean {
    return this.#settings.honoursKeys ?? this.#seenToHonourKeys;
  }

  /**
   * Sends one request and reads the answer of any status. Redirects would leak the key and are not followed.
   * @throws NoAnswer; the signal's reason
   */
  async send(message: VendorRequest): Promise<VendorAnswer> {
    let sent = false;
    const onStart = () => {
      sent = true;
    };
    try {
      const answer = await runWithin(this.#getAnswerMs(message), message.signal, (signal) =>
        this.#exchange(message, signal, onStart),
      );
      const key = message.headers?.['idempotency-key'];
      if (key !== undefined && answer.headers['idempotency-key'] === key) this.#seenToHonourKeys = true;
      return answer;
    } catch (error) {
      message.signal.throwIfAborted();
      const why =
        error instanceof TimedOut
          ? 'it did not answer in time'
          : ((error as NodeJS.ErrnoException).code ?? String(error));
      throw new NoAnswer(why, sent);
    } finally {
      if (typeof message.body !== 'string') message.body?.destroy();
    }
  }

  /** An answer that has the results takes as long as they do. */
  #getAnswerMs({ method }: VendorRequest): number {
    const { answerMs } = this.#settings;
    return method === 'POST' && this.profile.task.isAnswer ? Math.max(answerMs, RESULT_ANSWER_MS) : answerMs;
  }

  async #exchange(message: VendorRequest, signal: AbortSignal, onStart: () => void): Promise<VendorAnswer> {
    const { request } = await import('../../../wire/undici.js');
    this.#agent ??= await createOperatorAgent(new URL(this.baseUrl));
    const { statusCode, headers, body } = await request(
      this.#agent.compose(notifyOnStart(onStart)),
      new URL(this.baseUrl + message.path),
      {
        method: message.method,
        signal,
        headers: {
          ...message.headers,
          ...this.#credential(),
          accept: 'application/json',
          'user-agent': 'regen',
        },
        body: message.body ?? null,
      },
    );
    const joined = Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]);
    return { status: statusCode, headers: Object.fromEntries(joined), body: await readJson(body) };
  }

  #credential(): Record<string, string> {
    const { keyHeader } = this.#settings;
    const bearer = keyHeader?.toLowerCase() === 'authorization' ? 'Bearer {key}' : '{key}';
    const headers = keyHeader === undefined ? this.profile.headers : { [keyHeader]: bearer };
    const filled = Object.entries(headers).map(([name, value]) => [
      name,
      value.replaceAll('{key}', this.#key),
    ]);
    return Object.fromEntries(filled);
  }

  /** Makes a text of the vendor fit for users: one short line without key, URLs and control characters. */
  cleanText(text: string): string {
    const line = text
      .slice(0, 10_000)
      .replaceAll(this.#key, '…')
      .replace(/\bhttps?:\/\/\S+/gi, '…')
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim();
    return line.length > 300 ? `${line.slice(0, 299)}…` : line;
  }
}

async function readJson(body: Readable): Promise<unknown> {
  return parseJson((await readBody(body, MAX_ANSWER_BYTES)).toString());
}

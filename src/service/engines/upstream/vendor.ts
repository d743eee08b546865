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

/** One vendor: its profile, its base URL, its key, and whether it honours Idempotency-Key. */
export class Vendor {
  readonly profile: VendorProfile;
  readonly #settings: VendorSettings;
  readonly #key: string;
  #agent: Agent | undefined;
  #seenToHonourKeys = false;
  /** Whether the last task that ended was reported by a callback. */
  callsBack = false;

  constructor(profile: VendorProfile, settings: VendorSettings, key: string) {
    this.profile = profile;
    this.#settings = settings;
    this.#key = key;
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

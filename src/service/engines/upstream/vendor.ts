import type { VendorSettings } from '../../configuration/generation-settings.js';
import type { VendorProfile } from '../../configuration/vendor-profile.js';
import { type RemoteAnswer, type RemoteRequest, RemoteServer } from '../remote/remote-server.js';

/** More than any answer needs, including the echoed payload. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

const RESULT_ANSWER_MS = 5 * 60_000;

/** One vendor: its profile, its base URL, its key, and whether it honours Idempotency-Key. */
export class Vendor extends RemoteServer {
  readonly profile: VendorProfile;
  readonly #settings: VendorSettings;
  readonly #key: string;
  #seenToHonourKeys = false;
  /** Whether the last task that ended was reported by a callback. */
  callsBack = false;

  constructor(profile: VendorProfile, settings: VendorSettings, key: string) {
    super(settings.baseUrl ?? (profile.baseUrl as string), MAX_ANSWER_BYTES);
    this.profile = profile;
    this.#settings = settings;
    this.#key = key;
  }

  /** Whether a repeated request to start a task is answered with the first task. */
  get honoursKeys(): boolean {
    return this.#settings.honoursKeys ?? this.#seenToHonourKeys;
  }

  /**
   * Sends one request and reads the answer of any status.
   * @throws NoAnswer; the signal's reason
   */
  async send(message: RemoteRequest): Promise<RemoteAnswer> {
    const { answerMs } = this.#settings;
    // An answer that has the results takes as long as they do.
    const hasResults = message.method === 'POST' && this.profile.task.isAnswer;
    const answer = await this.exchange(
      { ...message, headers: { ...message.headers, ...this.#credential() } },
      hasResults ? Math.max(answerMs, RESULT_ANSWER_MS) : answerMs,
    );
    const key = message.headers?.['idempotency-key'];
    if (key !== undefined && answer.headers['idempotency-key'] === key) this.#seenToHonourKeys = true;
    return answer;
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

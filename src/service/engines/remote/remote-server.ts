import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { parseJson } from '../../../contract/json.js';
import { notifyOnStart } from '../../../wire/notify-on-start.js';
import { BodyTooLong, readBody } from '../../../wire/read-body.js';
import { createOperatorAgent } from '../../network/guarded-agent.js';
import { runWithin, TimedOut } from '../../network/run-within.js';

export interface RemoteRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base URL of the server. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string;
  readonly signal: AbortSignal;
  /** Called when it is sent, after the connection was made. */
  readonly onStart?: (() => void) | undefined;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if it is not JSON, or longer than any answer needs. */
  readonly body: unknown;
}

/** There was no answer or an incomplete one. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** Whether the server may have received the request. */
    readonly isSent: boolean,
  ) {
    super(message);
  }
}

const SILENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'its host name was not found',
  EAI_AGAIN: 'its host name was not found',
  ECONNRESET: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
};

function describeSilence(error: NodeJS.ErrnoException): string {
  if (error instanceof TimedOut) return 'it did not answer in time';
  return SILENCES[error.code ?? ''] ?? error.code ?? error.message;
}

/** A server of the operator or of a vendor that makes results. Redirects could leak a key and are not followed. */
export class RemoteServer {
  readonly baseUrl: string;
  readonly #maxAnswerBytes: number;
  #agent: Agent | undefined;

  constructor(baseUrl: string, maxAnswerBytes: number) {
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.#maxAnswerBytes = maxAnswerBytes;
  }

  /**
   * Sends one request and reads the answer of any status.
   * @throws NoAnswer; the signal's reason
   */
  async exchange(
    { path, signal, onStart: onSent, ...message }: RemoteRequest,
    answerMs: number,
  ): Promise<RemoteAnswer> {
    let isSent = false;
    const onStart = () => {
      isSent = true;
      onSent?.();
    };
    try {
      return await runWithin(answerMs, signal, async (signal) => {
        const { request } = await import('../../../wire/undici.js');
        const url = new URL(this.baseUrl + path);
        this.#agent ??= await createOperatorAgent(url);
        const headers = { ...message.headers, accept: 'application/json', 'user-agent': 'regen' };
        const agent = this.#agent.compose(notifyOnStart(onStart));
        const answer = await request(agent, url, { ...message, headers, signal });
        const joined = Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')]);
        const bytes = await readBody(answer.body, this.#maxAnswerBytes).catch((error) => {
          if (error instanceof BodyTooLong) return undefined;
          throw error;
        });
        return {
          status: answer.statusCode,
          headers: Object.fromEntries(joined),
          body: bytes && parseJson(bytes.toString()),
        };
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new NoAnswer(describeSilence(error as NodeJS.ErrnoException), isSent);
    } finally {
      if (typeof message.body !== 'string') message.body?.destroy();
    }
  }
}

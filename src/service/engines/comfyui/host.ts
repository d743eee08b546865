import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { parseJson } from '../../../contract/json.js';
import { readFileType } from '../../../disk/file-type.js';
import { notifyOnStart } from '../../../wire/notify-on-start.js';
import { readBody } from '../../../wire/read-body.js';
import { createOperatorAgent } from '../../network/guarded-agent.js';
import { runWithin, TimedOut } from '../../network/run-within.js';
import { EngineFailure } from '../../operation/engine.js';

/** Its queue has the whole graphs of all that wait. */
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

/** Uploads lie in this folder of ComfyUI's input folder, so that an operator can remove old ones. */
const UPLOAD_FOLDER = 'regen';

/** ComfyUI did not answer as it does. */
export class NoComfyUi extends Error {
  override readonly name = 'NoComfyUi';

  constructor(
    message: string,
    /** Whether it may have received the request. */
    readonly isSent: boolean,
    /** Whether something else than ComfyUI seems to answer there. */
    readonly isStrange = false,
  ) {
    super(message);
  }
}

interface HostAnswer {
  readonly status: number;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

interface HostRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string;
  readonly signal: AbortSignal;
}

/** A ComfyUI server. No request has an Origin, which it would compare with its own. */
export class ComfyUiHost {
  readonly baseUrl: string;
  readonly #answerMs: number;
  #agent: Agent | undefined;

  constructor({ baseUrl, answerMs }: { readonly baseUrl: string; readonly answerMs: number }) {
    this.baseUrl = baseUrl.replace(/\/$/, '');
    this.#answerMs = answerMs;
  }

  /** @throws NoComfyUi unless it answers 200 with JSON; the signal's reason */
  async read(path: string, signal: AbortSignal): Promise<unknown> {
    const { status, body } = await this.send(path, { signal });
    if (status === 200 && body !== undefined) return body;
    throw new NoComfyUi(
      status === 200 ? 'its answer is not that of ComfyUI' : `it answered ${status}`,
      true,
      true,
    );
  }

  post(path: string, body: object, signal: AbortSignal): Promise<HostAnswer> {
    const headers = { 'content-type': 'application/json' };
    return this.send(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
  }

  /**
   * Uploads a file. The same one again has the same name.
   * @returns its name in the input of a node
   * @throws NoComfyUi; the signal's reason
   */
  async upload(path: string, name: string, signal: AbortSignal): Promise<string> {
    const { ext, mediaType } = (await readFileType(path)) ?? {
      ext: 'bin',
      mediaType: 'application/octet-stream',
    };
    const boundary = randomUUID();
    const part = (field: string, more = '') =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"${more}\r\n`;
    const start = `${part('image', `; filename="${name}.${ext}"`)}Content-Type: ${mediaType}\r\n\r\n`;
    const end = `\r\n${part('subfolder')}\r\n${UPLOAD_FOLDER}\r\n--${boundary}--\r\n`;
    const { size } = await stat(path);
    const { status, body } = await this.send('/upload/image', {
      method: 'POST',
      headers: {
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': String(Buffer.byteLength(start) + size + Buffer.byteLength(end)),
      },
      body: Readable.from(joinParts(start, path, end), { objectMode: false }),
      signal,
    });
    const given = body as { name?: unknown; subfolder?: unknown } | undefined;
    // Of the name, only what no other folder has: nodes of older releases would read any file.
    if (status === 200 && typeof given?.name === 'string' && given.name === basename(given.name))
      return given.subfolder === UPLOAD_FOLDER ? `${UPLOAD_FOLDER}/${given.name}` : given.name;
    if (status === 413)
      throw new EngineFailure('An image is larger than ComfyUI accepts.', { code: 'workflow_refused' });
    throw new NoComfyUi(`it answered ${status} to an upload`, true, true);
  }

  /** @throws NoComfyUi if there is no answer; the signal's reason */
  async send(path: string, { signal, ...message }: HostRequest): Promise<HostAnswer> {
    let isSent = false;
    const onStart = () => {
      isSent = true;
    };
    try {
      return await runWithin(this.#answerMs, signal, async (signal) => {
        const { request } = await import('../../../wire/undici.js');
        const url = new URL(this.baseUrl + path);
        this.#agent ??= await createOperatorAgent(url);
        const agent = this.#agent.compose(notifyOnStart(onStart));
        const headers = { ...message.headers, accept: 'application/json', 'user-agent': 'regen' };
        const { statusCode, body } = await request(agent, url, { ...message, headers, signal });
        return { status: statusCode, body: parseJson((await readBody(body, MAX_ANSWER_BYTES)).toString()) };
      });
    } catch (error) {
      signal.throwIfAborted();
      const { code, message: text } = error as NodeJS.ErrnoException;
      throw new NoComfyUi(error instanceof TimedOut ? 'it did not answer in time' : (code ?? text), isSent);
    } finally {
      if (typeof message.body !== 'string') message.body?.destroy();
    }
  }
}

async function* joinParts(start: string, path: string, end: string): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  yield* createReadStream(path);
  yield Buffer.from(end);
}

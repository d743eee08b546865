import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { readFileType } from '../../../disk/file-type.js';
import { EngineFailure } from '../../operation/engine.js';
import { NoAnswer, type RemoteAnswer, RemoteServer } from '../remote/remote-server.js';

/** Its queue has the whole graphs of all that wait. */
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

/** Uploads lie in this folder of ComfyUI's input folder, so that an operator can remove old ones. */
const UPLOAD_FOLDER = 'regen';

/** Something else than ComfyUI seems to answer. */
export class NotComfyUi extends NoAnswer {
  constructor(message: string) {
    super(message, true);
  }
}

/** A ComfyUI server. No request has an Origin, which it would compare with its own. */
export class ComfyUiHost extends RemoteServer {
  readonly #answerMs: number;

  constructor({ baseUrl, answerMs }: { readonly baseUrl: string; readonly answerMs: number }) {
    super(baseUrl, MAX_ANSWER_BYTES);
    this.#answerMs = answerMs;
  }

  /** @throws NoAnswer; NotComfyUi unless it answers 200 with JSON; the signal's reason */
  async read(path: string, signal: AbortSignal): Promise<unknown> {
    const { status, body } = await this.exchange({ path, signal }, this.#answerMs);
    if (status === 200 && body !== undefined) return body;
    throw new NotComfyUi(status === 200 ? 'its answer is not that of ComfyUI' : `it answered ${status}`);
  }

  /** @throws NoAnswer; the signal's reason */
  post(path: string, body: object, signal: AbortSignal): Promise<RemoteAnswer> {
    const headers = { 'content-type': 'application/json' };
    const message = { path, method: 'POST', headers, body: JSON.stringify(body), signal } as const;
    return this.exchange(message, this.#answerMs);
  }

  /**
   * Uploads a file. The same one again has the same name.
   * @returns its name in the input of a node
   * @throws NoAnswer; the signal's reason
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
    const headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(Buffer.byteLength(start) + size + Buffer.byteLength(end)),
    };
    const content = Readable.from(joinParts(start, path, end), { objectMode: false });
    const message = { path: '/upload/image', method: 'POST', headers, body: content, signal } as const;
    const { status, body } = await this.exchange(message, this.#answerMs);
    const given = body as { name?: unknown; subfolder?: unknown } | undefined;
    // Of the name, only what no other folder has: nodes of older releases would read any file.
    if (status === 200 && typeof given?.name === 'string' && given.name === basename(given.name))
      return given.subfolder === UPLOAD_FOLDER ? `${UPLOAD_FOLDER}/${given.name}` : given.name;
    if (status === 413)
      throw new EngineFailure('An image is larger than ComfyUI accepts.', { code: 'workflow_refused' });
    throw new NotComfyUi(`it answered ${status} to an upload`);
  }
}

async function* joinParts(start: string, path: string, end: string): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  yield* createReadStream(path);
  yield Buffer.from(end);
}

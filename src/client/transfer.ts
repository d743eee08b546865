import { Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { InvalidRequestError, NetworkError, ResponseError } from './errors.js';
import type { Http } from './http.js';
import type { Answer, Headers } from './transport.js';

const stallMs = 60_000;

interface TransferOptions {
  /** Bytes done and, where known, of how many. After a broken upload it starts again from 0. */
  readonly onProgress?: ((done: number, total: number | undefined) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long nothing may move before the connection counts as broken. Default 60 s. */
  readonly stallMs?: number | undefined;
  readonly retries?: number | undefined;
}

export interface UploadOptions extends TransferOptions {
  /** A fresh stream from the first byte, once for each attempt. */
  readonly openStream: () => Readable | Promise<Readable>;
  /** In bytes, exactly. */
  readonly size: number;
  /** Default `application/zip`. */
  readonly contentType?: string;
}

/**
 * Sends one file to a signed URL with one PUT, streamed and without any credential.
 * @throws ServiceError where the URL is expired or refused, NetworkError where the connection broke for good
 */
export async function upload(http: Http, url: string, options: UploadOptions): Promise<void> {
  const { openStream, size, contentType = 'application/zip', onProgress, ...limits } = options;
  await http.send(
    {
      ...common(url, limits),
      method: 'PUT',
      headers: { 'content-type': contentType, 'content-length': String(size) },
      body: async (moved) => {
        const parts = counted(await openStream(), (done) => {
          moved();
          onProgress?.(done, size);
        });
        return Readable.from(parts, { objectMode: false });
      },
      credential: false,
    },
    (answer) => answer.discard(),
  );
}

async function* counted(stream: Readable, taken: (done: number) => void) {
  let done = 0;
  for await (const part of stream as AsyncIterable<Uint8Array>) {
    yield part;
    done += part.byteLength;
    taken(done);
  }
}

export interface DownloadOptions extends TransferOptions {
  /** Ended when all is there, destroyed when it fails. */
  readonly to: Writable;
  /** Send the client's credential where the URL lies on the service's own origin. Default false. */
  readonly credential?: boolean;
}

export interface Downloaded {
  readonly bytes: number;
  /** Of the first answer. */
  readonly headers: Headers;
}

/**
 * Fetches one file into a stream. A connection that breaks on the way is taken up where it broke.
 * @throws ServiceError, NetworkError, ResponseError `changed` where the file became another in between
 */
export async function download(http: Http, url: string, options: DownloadOptions): Promise<Downloaded> {
  const { to, onProgress, credential = false, ...limits } = options;
  const progress = new Progress();
  const ended = finished(to, { readable: false });
  // Looked at below; until then a failure of the target must not count as unhandled.
  ended.catch(() => undefined);
  const request = {
    ...common(url, limits),
    method: 'GET',
    credential,
    get headers() {
      return progress.headers();
    },
  };
  try {
    await whileItMoves(progress, () =>
      http.send(request, async (answer) => {
        for await (const part of progress.unseen(answer)) {
          await write(to, part);
          progress.bytes += part.byteLength;
          onProgress?.(progress.bytes, progress.total);
        }
      }),
    );
    to.end();
    await ended;
  } catch (error) {
    to.destroy();
    // A target that cannot be opened fails the next write with a word that explains nothing.
    throw to.errored ?? error;
  }
  return { bytes: progress.bytes, headers: progress.first?.headers ?? {} };
}

/** Repeats count anew once something came: a long download over a poor line may break many times. */
async function whileItMoves(progress: Progress, run: () => Promise<void>): Promise<void> {
  for (;;) {
    const before = progress.bytes;
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof NetworkError) || progress.bytes === before) throw error;
    }
  }
}

/** What of a file has come, and how to ask for the rest. */
class Progress {
  bytes = 0;
  first: Answer | undefined;
  total: number | undefined;

  headers(): Record<string, string> {
    // The bytes themselves, not a compressed form of them, which could not be taken up in the middle.
    const plain = { accept: '*/*', 'accept-encoding': 'identity' };
    if (this.bytes === 0) return plain;
    const { etag, 'last-modified': modified } = this.first?.headers ?? {};
    const same = etag !== undefined && !etag.startsWith('W/') ? etag : modified;
    return { ...plain, range: `bytes=${this.bytes}-`, ...(same ? { 'if-range': same } : {}) };
  }

  /** The parts of an answer that have not come yet. */
  async *unseen(answer: Answer): AsyncGenerator<Uint8Array> {
    let skip = this.bytes;
    if (answer.status === 206) {
      if (Number(/^bytes (\d+)-/.exec(answer.headers['content-range'] ?? '')?.[1]) !== this.bytes) {
        await answer.discard();
        throw changed(answer, 'answered with another part than the one asked for');
      }
      skip = 0;
    }
    const total = totalOf(answer);
    this.first ??= answer;
    this.total ??= total;
    if (total !== this.total || answer.headers.etag !== this.first.headers.etag) {
      await answer.discard();
      throw changed(answer, 'has another file there now than when the download began');
    }
    for await (const part of answer.body) {
      const rest = part.subarray(Math.min(skip, part.byteLength));
      skip -= part.byteLength - rest.byteLength;
      if (rest.byteLength > 0) yield rest;
    }
  }
}

function totalOf({ status, headers }: Answer): number | undefined {
  const text =
    status === 206 ? /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1] : headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

function changed(answer: Answer, what: string): ResponseError {
  return new ResponseError(
    'changed',
    `${answer.url.origin} ${what}. Start the download again.`,
    answer.status,
  );
}

function common(url: string, { stallMs: idleMs = stallMs, signal, retries }: TransferOptions) {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') {
    throw new InvalidRequestError([{ path: ['url'], message: 'must be an http or https URL' }]);
  }
  return { url: parsed as URL, idleMs, signal, retries };
}

function write(to: Writable, part: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(part, (error) => (error ? reject(error) : resolve()));
  });
}

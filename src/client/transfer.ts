import { Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { InvalidRequestError, NetworkError, ResponseError } from './errors.js';
import type { Http } from './http.js';
import type { Answer, Headers } from './transport.js';

interface TransferOptions {
  /** Called with the number of bytes done and, if known, in total. A repeated upload starts again from 0. */
  readonly onProgress?: ((done: number, total: number | undefined) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the transfer may make no progress, or hardly any. Default: that of the client. */
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

export interface UploadOptions extends TransferOptions {
  /** Opens a new stream from the first byte, for each attempt. */
  readonly openStream: () => Readable | Promise<Readable>;
  /** The exact size in bytes. */
  readonly size: number;
  /** Default `application/zip`. */
  readonly contentType?: string;
}

/**
 * Sends a file to a signed URL with one PUT, streamed and without a credential.
 * @throws ServiceError if the URL has expired or is refused, NetworkError if the connection keeps breaking
 */
export async function uploadFile(http: Http, url: string, options: UploadOptions): Promise<void> {
  const { openStream, size, contentType = 'application/zip', onProgress, ...limits } = options;
  await http.send(
    {
      ...toTransferRequest(url, limits),
      method: 'PUT',
      headers: { 'content-type': contentType, 'content-length': String(size) },
      body: async (moved) => {
        let done = 0;
        const stream = await openStream();
        const parts = notifyOfParts(stream, (bytes) => {
          done += bytes;
          moved(bytes);
          onProgress?.(done, size);
        });
        // A generator that was not started does not close what it reads.
        return Readable.from(parts, { objectMode: false }).once('close', () => stream.destroy());
      },
      credential: false,
    },
    (answer) => answer.discard(),
  );
}

async function* notifyOfParts(stream: Readable, onPart: (bytes: number) => void) {
  for await (const part of stream as AsyncIterable<Uint8Array>) {
    yield part;
    onPart(part.byteLength);
  }
}

/** Reads the status, whichever it is, and the headers of a file. */
export function inspectFile(
  http: Http,
  url: string,
  limits: TransferOptions = {},
): Promise<Pick<Answer, 'status' | 'headers'>> {
  return http.send(
    { ...toTransferRequest(url, limits), method: 'HEAD', credential: true, anyStatus: true },
    async (answer) => {
      await answer.discard();
      return answer;
    },
  );
}

export interface DownloadOptions extends TransferOptions {
  /** Ended when the file is complete, destroyed on failure. */
  readonly to: Writable;
  /** Whether to send the credential if the URL is on the origin of the service. Default false. */
  readonly credential?: boolean;
}

export interface Downloaded {
  readonly bytes: number;
  /** Of the first response. */
  readonly headers: Headers;
}

/**
 * Downloads a file into a stream. After a broken connection the download continues where it stopped.
 * @throws ServiceError, NetworkError, ResponseError `changed` if the file changed in between
 */
export async function downloadFile(http: Http, url: string, options: DownloadOptions): Promise<Downloaded> {
  const { to, onProgress, credential = false, ...limits } = options;
  const progress = new DownloadProgress();
  const ended = finished(to, { readable: false });
  // Awaited below; until then a failure of the target must not count as unhandled.
  ended.catch(() => undefined);
  try {
    const request = {
      ...toTransferRequest(url, limits),
      method: 'GET',
      credential,
      get headers() {
        return progress.headers();
      },
    };
    await retryWhileMoving(progress, () =>
      http.send(request, async (answer) => {
        for await (const part of progress.readNew(answer)) {
          await writePart(to, part);
          progress.bytes += part.byteLength;
          onProgress?.(progress.bytes, progress.total);
        }
      }),
    );
    to.end();
    await ended;
  } catch (error) {
    to.destroy();
    // If the target cannot be opened, the error of the next write explains nothing.
    throw to.errored ?? error;
  }
  return { bytes: progress.bytes, headers: progress.first?.headers ?? {} };
}

/** Retries are counted from zero after progress: a long download over a poor line may break many times. */
async function retryWhileMoving(progress: DownloadProgress, run: () => Promise<void>): Promise<void> {
  for (;;) {
    const before = progress.bytes;
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof NetworkError) || progress.bytes === before) throw error;
    }
  }
}

/** The part of a file that has arrived, and the headers that request the rest. */
class DownloadProgress {
  bytes = 0;
  first: Answer | undefined;
  total: number | undefined;

  headers(): Record<string, string> {
    // Not compressed: a compressed response cannot be continued in the middle.
    const plain = { accept: '*/*', 'accept-encoding': 'identity' };
    if (this.bytes === 0) return plain;
    const { etag, 'last-modified': modified } = this.first?.headers ?? {};
    const same = etag !== undefined && !etag.startsWith('W/') ? etag : modified;
    return { ...plain, range: `bytes=${this.bytes}-`, ...(same ? { 'if-range': same } : {}) };
  }

  /** Reads the parts of a response that have not arrived before. */
  async *readNew(answer: Answer): AsyncGenerator<Uint8Array> {
    let skip = this.bytes;
    if (answer.status !== 200 && answer.status !== 206) {
      await answer.discard();
      const message = `${answer.url.origin} answered ${answer.status} instead of a file. Is the address right?`;
      throw new ResponseError('unexpected', message, answer.status);
    }
    if (answer.status === 206) {
      if (Number(/^bytes (\d+)-/.exec(answer.headers['content-range'] ?? '')?.[1]) !== this.bytes) {
        await answer.discard();
        throw createChangedError(answer, 'answered with a different part than requested');
      }
      skip = 0;
    }
    const total = readTotal(answer);
    this.first ??= answer;
    this.total ??= total;
    if (total !== this.total || answer.headers.etag !== this.first.headers.etag) {
      await answer.discard();
      throw createChangedError(answer, 'has a different file there than when the download began');
    }
    for await (const part of answer.body) {
      const rest = part.subarray(Math.min(skip, part.byteLength));
      skip -= part.byteLength - rest.byteLength;
      if (rest.byteLength > 0) yield rest;
    }
    if (answer.status === 206 && total !== undefined && this.bytes !== total) {
      throw createChangedError(answer, 'answered with less than the whole file');
    }
  }
}

function readTotal({ status, headers }: Answer): number | undefined {
  const text =
    status === 206 ? /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1] : headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

function createChangedError(answer: Answer, what: string): ResponseError {
  return new ResponseError(
    'changed',
    `${answer.url.origin} ${what}. Start the download again.`,
    answer.status,
  );
}

function toTransferRequest(url: string, { timeoutMs, signal, retries }: TransferOptions) {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') {
    throw new InvalidRequestError([{ path: ['url'], message: 'must be an http or https URL' }]);
  }
  return { url: parsed as URL, timeoutMs, signal, retries };
}

function writePart(to: Writable, part: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(part, (error) => (error ? reject(error) : resolve()));
  });
}

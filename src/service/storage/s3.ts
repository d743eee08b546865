import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { AwsClient } from 'aws4fetch';
import type { Agent, Dispatcher } from 'undici';
import { hasCode } from '../../contract/has-code.js';
import { createFile } from '../../disk/part-file.js';
import type * as Http from '../../wire/undici.js';
import { ObjectMissing, type Range, type Storage, StorageAway, TooLarge } from './storage.js';

export interface S3Options {
  readonly bucket: string;
  /** Between the bucket and the keys, without slashes at its ends; empty for none. */
  readonly prefix: string;
  /** Absent: Amazon's, of the region. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A folder for objects that are borrowed. */
  readonly scratch: string;
  /** Whether clients fetch files from the bucket. */
  readonly redirect: boolean;
}

/** Larger objects are sent in parts. S3 requires at least 5 MiB, and at most 10,000 parts. */
const PART_BYTES = 8 * 1024 ** 2;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;
/** How long a client may take to begin the download that it is redirected to. */
const DOWNLOAD_SECONDS = 300;

/** Stores objects in a bucket of Amazon S3 or of a server that speaks its protocol (API version 2006-03-01). */
export async function createS3Storage(options: S3Options): Promise<Storage> {
  const [{ AwsClient }, http] = await Promise.all([import('aws4fetch'), import('../../wire/undici.js')]);
  const { accessKeyId, secretAccessKey, region, bucket, prefix } = options;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
  const s3 = new Bucket(client, http, getBucketUrl(options), bucket);
  const toPath = (key: string) => [prefix, key].filter(Boolean).join('/');

  const read = async (key: string, range?: Range) => {
    const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
    return (await s3.request('GET', toPath(key), { headers })).body;
  };
  return {
    write: (key, source, maxBytes) => writeObject(s3, { key, path: toPath(key), source, maxBytes }),
    read,
    readWhole: async (key) => Buffer.from(await (await s3.request('GET', toPath(key))).body.arrayBuffer()),
    borrow: async (key) => {
      const path = join(options.scratch, randomUUID());
      const release = () => rm(path, { force: true });
      try {
        const content = async function* () {
          yield* await read(key);
        };
        await pipeline(content, await createFile(path, { mode: 0o600 }));
      } catch (error) {
        await release();
        throw error;
      }
      return { path, release };
    },
    remove: async (key) => {
      try {
        await (await s3.request('DELETE', toPath(key))).body.dump();
      } catch (error) {
        // Amazon answers that it is removed.
        if (!hasCode(error, 'object_missing')) throw error;
      }
    },
    requireReady: async () => {
      // A key may be allowed to list only below the prefix.
      const query = { 'list-type': '2', 'max-keys': '1', prefix: prefix && `${prefix}/` };
      await (await s3.request('GET', '', { query })).body.dump();
    },
    list: (folder) => listKeys(s3, prefix, folder),
    toName: (key) => key,
    ...(options.redirect && {
      signDownload: (key, { type, disposition }) =>
        s3.sign(toPath(key), {
          'X-Amz-Expires': String(DOWNLOAD_SECONDS),
          'response-content-type': type,
          'response-content-disposition': disposition,
        }),
    }),
  };
}

function getBucketUrl({ endpoint, region, bucket }: S3Options): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  // A certificate of Amazon does not cover the names of buckets with dots.
  if (bucket.includes('.')) return `https://s3.${region}.amazonaws.com/${bucket}`;
  return `https://${bucket}.s3.${region}.amazonaws.com`;
}

interface S3Request {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Sends signed requests to a bucket. */
class Bucket {
  readonly #client: AwsClient;
  readonly #send: typeof Http.request;
  readonly #agent: Agent;
  readonly #url: string;
  readonly #name: string;

  constructor(client: AwsClient, { Agent, request }: typeof Http, url: string, name: string) {
    this.#client = client;
    this.#send = request;
    this.#agent = new Agent();
    this.#url = url;
    this.#name = name;
  }

  /**
   * Sends a request, and again if the server is busy or away. The body of the answer must be read or dumped.
   * @throws ObjectMissing if there is nothing at the path; StorageAway for any other answer than a success
   */
  async request(
    method: Dispatcher.HttpMethod,
    path: string,
    { query = {}, headers = {}, body }: S3Request = {},
  ): Promise<Dispatcher.ResponseData> {
    const url = this.#toUrl(path, query);
    // The bucket refuses a body that differs from this digest.
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    for (let attempt = 1; ; attempt += 1) {
      const signed = await this.#client.sign(url, {
        method,
        headers: { ...headers, 'x-amz-content-sha256': digest },
        ...(body && { body }),
      });
      const answer = await this.#send(this.#agent, new URL(signed.url), {
        method,
        headers: Object.fromEntries(signed.headers),
        body: body ?? null,
      }).catch((error: Error) => error);
      const status = answer instanceof Error ? undefined : answer.statusCode;
      if (!(answer instanceof Error) && answer.statusCode < 300) return answer;
      const isBusy = status === undefined || status >= 500 || status === 429;
      if (isBusy && attempt < ATTEMPTS) {
        if (!(answer instanceof Error)) await answer.body.dump().catch(() => undefined);
        await pause(FIRST_PAUSE_MS * 4 ** (attempt - 1) * (0.5 + Math.random()));
        continue;
      }
      throw await this.#toError(answer, path);
    }
  }

  async sign(path: string, query: Readonly<Record<string, string>>): Promise<string> {
    return (await this.#client.sign(this.#toUrl(path, query), { aws: { signQuery: true } })).url;
  }

  #toUrl(path: string, query: Readonly<Record<string, string>>): string {
    const search = new URLSearchParams(query).toString();
    const segments = path === '' ? [] : path.split('/').map(encodeURIComponent);
    return [this.#url, ...segments].join('/') + (search && `?${search}`);
  }

  async #toError(answer: Dispatcher.ResponseData | Error, path: string): Promise<Error> {
    const what = `The bucket ${this.#name}`;
    if (answer instanceof Error) {
      const { code, message } = answer as NodeJS.ErrnoException;
      return new StorageAway(`${what} cannot be reached (${message || code}).`);
    }
    const { statusCode, body } = answer;
    const [code] = readTexts(await body.text().catch(() => ''), 'Code');
    if (statusCode === 404 && code !== 'NoSuchBucket')
      return new ObjectMissing(`There is no object ${path}.`);
    return new StorageAway(`${what} refused a request (${[statusCode, code].filter(Boolean).join(' ')}).`);
  }
}

interface ObjectWrite {
  readonly key: string;
  readonly path: string;
  readonly source: Readable | Buffer;
  readonly maxBytes: number;
}

async function writeObject(s3: Bucket, { key, path, source, maxBytes }: ObjectWrite) {
  const hash = createHash('sha256');
  let [size, upload] = [0, undefined as MultipartUpload | undefined];
  try {
    let last: Buffer = Buffer.alloc(0);
    for await (const part of splitParts(source, maxBytes)) {
      size += part.length;
      hash.update(part);
      // The first part is held back, because an object of one part needs no upload in parts.
      if (size > part.length) {
        upload ??= await beginUpload(s3, path);
        await upload.send(last);
      }
      last = part;
    }
    if (upload) await upload.send(last);
    if (upload) await upload.complete();
    else await (await s3.request('PUT', path, { body: last })).body.dump();
  } catch (error) {
    await upload?.abort();
    throw error;
  }
  return { key, size, sha256: hash.digest('hex') };
}

/** Collects a stream into parts of `PART_BYTES`; the last one may be shorter. */
async function* splitParts(source: Readable | Buffer, maxBytes: number): AsyncGenerator<Buffer> {
  let [chunks, length, size] = [[] as Buffer[], 0, 0];
  for await (const chunk of Buffer.isBuffer(source) ? [source] : (source as AsyncIterable<Buffer>)) {
    size += chunk.length;
    if (size > maxBytes) throw new TooLarge(`The object is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
    length += chunk.length;
    if (length < PART_BYTES) continue;
    const bytes = Buffer.concat(chunks);
    let at = 0;
    for (; bytes.length - at >= PART_BYTES; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
    [chunks, length] = [[bytes.subarray(at)], bytes.length - at];
  }
  if (length > 0) yield Buffer.concat(chunks);
}

interface MultipartUpload {
  send(part: Buffer): Promise<void>;
  complete(): Promise<void>;
  abort(): Promise<void>;
}

async function beginUpload(s3: Bucket, path: string): Promise<MultipartUpload> {
  const begun = await s3.request('POST', path, { query: { uploads: '' } });
  const [uploadId] = readTexts(await begun.body.text(), 'UploadId');
  if (uploadId === undefined) throw new StorageAway('The bucket accepts no upload in parts.');
  const tags: string[] = [];
  return {
    send: async (part) => {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const { headers, body } = await s3.request('PUT', path, { query, body: part });
      await body.dump();
      tags.push(String(headers.etag ?? ''));
    },
    complete: async () => {
      const parts = tags.map(
        (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
      );
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
      const answer = await s3.request('POST', path, { query: { uploadId }, body }).catch((error) => {
        // The upload is gone if an earlier attempt completed it, and its answer was lost.
        if (hasCode(error, 'object_missing')) return s3.request('HEAD', path);
        throw error;
      });
      // S3 answers 200 before it has put the parts together.
      const [code] = readTexts(await answer.body.text(), 'Code');
      if (code !== undefined) throw new StorageAway(`The bucket could not complete an upload (${code}).`);
    },
    // What cannot be removed is left to a lifecycle rule of the bucket.
    abort: async () => {
      const removing = s3.request('DELETE', path, { query: { uploadId } });
      await removing.then(({ body }) => body.dump()).catch(() => undefined);
    },
  };
}

async function* listKeys(s3: Bucket, prefix: string, folder: string | undefined): AsyncGenerator<string> {
  const within = [prefix, folder]
    .filter(Boolean)
    .map((part) => `${part}/`)
    .join('');
  for (let after = ''; ; ) {
    const page = { 'list-type': '2', 'encoding-type': 'url', prefix: within };
    const query = after === '' ? page : { ...page, 'start-after': after };
    const text = await (await s3.request('GET', '', { query })).body.text();
    for (const name of readTexts(text, 'Key')) {
      // No key has a space, which Amazon would write as a plus sign.
      after = decodeURIComponent(name);
      yield after.slice(prefix === '' ? 0 : prefix.length + 1);
    }
    if (readTexts(text, 'IsTruncated')[0] !== 'true') return;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The texts of all elements of a name, in an XML document of S3, which has no nested elements of one name. */
function readTexts(xml: string, name: string): string[] {
  return Array.from(xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g')), ([, text]) =>
    (text as string).replace(/&(\w+);/g, (whole, entity) => ENTITIES[entity] ?? whole),
  );
}

import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Agent } from 'undici';
import { isRecord, parseJson } from '../../contract/json.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { isMachineTrouble } from '../../disk/machine-trouble.js';
import { createFile } from '../../disk/part-file.js';
import { readBody } from '../../wire/read-body.js';
import { AddressRefused, createGuardedAgent, type OwnOrigin } from './guarded-agent.js';
import { repeatEvery, runWithin, TimedOut } from './run-within.js';

/** Decided: the timeout and the number of redirects when fetching an image. */
export const FETCH_LIMITS = { seconds: 30, redirects: 3 } as const;

export interface FetchMediaOptions extends OwnOrigin {
  readonly bytes: number;
  readonly seconds: number;
  /** Requires https, except for the service's own origin, and loopback if that is allowed. */
  readonly httpsOnly: boolean;
  /** The expected content. */
  readonly media: keyof typeof MEDIA;
  /** Sent as the body of a POST. */
  readonly json?: string | undefined;
  /** Refuses a server that sends less than this, on average over each window. */
  readonly minSpeed?: MinSpeed;
  readonly signal?: AbortSignal | undefined;
  /** Called before bytes are stored, with how many; it throws if there is no space for them. */
  readonly admit?: ((bytes: number) => Promise<void>) | undefined;
}

interface MinSpeed {
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}
/** Bytes of a body without a length that are admitted at once. */
const ADMITTED_BYTES = 4 * 1024 ** 2;

/** What is asked for, and the content types with which it may come; none is accepted as well. */
const MEDIA = {
  image: { noun: 'an image', accept: 'image/*', types: /^image\// },
  video: { noun: 'a video', accept: 'video/*', types: /^video\// },
  archive: { noun: 'a zip archive', accept: 'application/zip', types: /^application\/(?:x-)?zip/ },
  json: { noun: 'JSON', accept: 'application/json', types: /^application\/json$/ },
};

/** Why a file cannot be fetched; the message continues `could not be fetched: …`. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  /**
   * @param status of the server, if it answered
   * @param code what its answer in JSON says is wrong
   */
  constructor(
    message: string,
    readonly status?: number,
    readonly code?: string,
  ) {
    super(message);
  }
}

/** Fetching it again would find the same. */
export class FileTooLarge extends FetchFailed {
  constructor(bytes: number) {
    super(`it is larger than ${Math.floor(bytes / 1024 ** 2)} MB`, 200);
  }
}

/**
 * Fetches a URL into a new file. At every redirect the resolved address is checked, and no other is used.
 * @throws FetchFailed; the signal's reason if the caller aborted; the system's error if the machine is short of something
 */
export async function fetchMedia(url: URL, path: string, options: FetchMediaOptions): Promise<void> {
  const agents: Agent[] = [];
  const speed = limitSpeed(options.minSpeed);
  let refusal: unknown;
  const admit = async (bytes: number) => {
    await options.admit?.(bytes).catch((error) => {
      refusal = error;
      throw error;
    });
  };
  try {
    await runWithin(options.seconds * 1000, options.signal, async (withinTime) => {
      const signal = AbortSignal.any([withinTime, speed.signal]);
      let target = url;
      for (let hop = 0; hop <= FETCH_LIMITS.redirects; hop++) {
        const next = await fetchOnce(
          target,
          path,
          { ...options, admit, signal, onBytes: speed.count },
          agents,
        );
        if (next === undefined) return;
        target = next;
      }
      throw new FetchFailed(`it was redirected more than ${FETCH_LIMITS.redirects} times`);
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    if (refusal !== undefined) throw refusal;
    speed.signal.throwIfAborted();
    if (error instanceof TimedOut) throw new FetchFailed(`it took longer than ${options.seconds} s`);
    const isOwn = (error as NodeJS.ErrnoException).path === path || isMachineTrouble(error);
    if (isOwn || error instanceof FetchFailed) throw error;
    throw new FetchFailed(error instanceof AddressRefused ? error.message : describeUnreachable(error));
  } finally {
    speed.end();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }
}

/** Aborts with FetchFailed what is too slow. */
function limitSpeed(limit: MinSpeed | undefined) {
  const slow = new AbortController();
  let received = 0;
  const check = ({ bytesPerSecond, windowMs }: MinSpeed) => {
    if (received < (bytesPerSecond * windowMs) / 1000)
      slow.abort(new FetchFailed('it sent its file too slowly'));
    received = 0;
  };
  const end = limit ? repeatEvery(limit.windowMs, () => check(limit)) : () => {};
  const count = (bytes: number) => {
    received += bytes;
  };
  return { signal: slow.signal, count, end };
}

interface OneFetch extends FetchMediaOptions {
  readonly onBytes: (bytes: number) => void;
}

/** Why a request got no answer, as a clause that continues the name of what was requested. */
export function describeUnreachable(error: unknown): string {
  // Node tries all addresses of a name and reports them together.
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  return UNREACHABLE_REASONS[code ?? errors?.[0]?.code ?? ''] ?? message;
}

const UNREACHABLE_REASONS: Record<string, string> = {
  ENOTFOUND: 'its host was not found',
  EAI_AGAIN: 'its host was not found',
  ECONNREFUSED: 'its host refused the connection',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
};

/** @returns the URL of a redirect; undefined once the file is written */
async function fetchOnce(
  url: URL,
  path: string,
  options: OneFetch,
  agents: Agent[],
): Promise<URL | undefined> {
  const { serviceOrigin, loopbackAllowed, allowedNetworks } = options;
  const isOwn = url.origin === new URL(serviceOrigin).origin;
  checkScheme(url, options.httpsOnly && !isOwn && !(loopbackAllowed && isLoopbackHost(url.hostname)));
  const agent = await createGuardedAgent(url, {
    ...{ serviceOrigin, loopbackAllowed, allowedNetworks },
    allowOwn: true,
  });
  agents.push(agent);
  const { request } = await import('../../wire/undici.js');
  const { statusCode, headers, body } = await request(agent, url, {
    signal: options.signal,
    headers: {
      accept: MEDIA[options.media].accept,
      'accept-encoding': 'identity',
      'user-agent': 'regen',
      ...(options.json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(options.json !== undefined && { method: 'POST', body: options.json }),
  });
  // Destroying the body emits an error.
  body.on('error', () => {});
  if (statusCode >= 300 && statusCode < 400 && headers.location) {
    body.destroy();
    const next = String(headers.location);
    if (!URL.canParse(next, url.href))
      throw new FetchFailed('it was redirected to an invalid URL', statusCode);
    return new URL(next, url);
  }
  try {
    if (statusCode !== 200) {
      const { error, message } = options.media === 'json' ? await readError(body) : {};
      const reason = typeof message === 'string' ? message : '';
      const shown = reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}…` : reason;
      const code = typeof error === 'string' ? error : undefined;
      throw new FetchFailed(`the server answered ${statusCode}${shown && `: ${shown}`}`, statusCode, code);
    }
    checkHeaders(headers, options);
  } catch (error) {
    body.destroy();
    throw error;
  }
  await writeBody(body, path, { ...options, announced: Number(headers['content-length'] ?? 0) });
  return undefined;
}

function checkScheme({ protocol, username, password }: URL, secure: boolean): void {
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new FetchFailed('its URL must begin with http or https');
  if (secure && protocol !== 'https:') throw new FetchFailed('its URL must begin with https');
  if (username || password) throw new FetchFailed('its URL must not contain a user name or password');
}

const MAX_ERROR_BYTES = 16 * 1024;
const MAX_REASON = 200;

/** What cannot be read has no fields. */
async function readError(body: Readable): Promise<Readonly<Record<string, unknown>>> {
  const answer = parseJson(String(await readBody(body, MAX_ERROR_BYTES).catch(() => '')));
  return isRecord(answer) ? answer : {};
}

function checkHeaders(headers: Record<string, unknown>, { bytes, media }: FetchMediaOptions): void {
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  const { noun, types } = MEDIA[media];
  if (type && !types.test(type) && !/^(application|binary)\/octet-stream$/.test(type))
    throw new FetchFailed(`its content type is ${type.slice(0, 60)}, not ${noun}`, 200);
  if (Number(headers['content-length']) > bytes) throw new FileTooLarge(bytes);
}

async function writeBody(
  body: Readable,
  path: string,
  { bytes, signal, onBytes, admit, announced }: OneFetch & { readonly announced: number },
): Promise<void> {
  let size = 0;
  let admitted = 0;
  const admitUpTo = async (most: number) => {
    await admit?.(most - admitted);
    admitted = most;
  };
  if (announced > 0) await admitUpTo(announced);
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      onBytes(chunk.length);
      if (size > bytes) done(new FileTooLarge(bytes));
      else if (size <= admitted) done(null, chunk);
      else admitUpTo(Math.min(bytes, size + ADMITTED_BYTES)).then(() => done(null, chunk), done);
    },
  });
  await pipeline(body, measure, await createFile(path, { mode: 0o600 }), { signal });
}

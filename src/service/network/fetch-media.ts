import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Agent } from 'undici';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { isMachineTrouble } from '../../disk/machine-trouble.js';
import { AddressRefused, createGuardedAgent, type OwnOrigin } from './guarded-agent.js';
import { runWithin, TimedOut } from './run-within.js';

/** Decided: the timeout and the number of redirects when fetching an image. */
export const FETCH_LIMITS = { seconds: 30, redirects: 3 } as const;

export interface FetchMediaOptions extends OwnOrigin {
  readonly bytes: number;
  readonly seconds: number;
  /** Requires https, except for the service's own origin, and loopback if that is allowed. */
  readonly httpsOnly: boolean;
  /** The expected content. */
  readonly media: keyof typeof MEDIA;
  readonly signal?: AbortSignal | undefined;
}

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
  /** @param status of the server, if it answered with another than 200 */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

/**
 * Fetches a URL into a new file. At every redirect the resolved address is checked, and no other is used.
 * @throws FetchFailed; the signal's reason if the caller aborted; the system's error if the machine is short of something
 */
export async function fetchMedia(url: URL, path: string, options: FetchMediaOptions): Promise<void> {
  const agents: Agent[] = [];
  try {
    await runWithin(options.seconds * 1000, options.signal, async (signal) => {
      let target = url;
      for (let hop = 0; hop <= FETCH_LIMITS.redirects; hop++) {
        const next = await fetchOnce(target, path, { ...options, signal }, agents);
        if (next === undefined) return;
        target = next;
      }
      throw new FetchFailed(`it was redirected more than ${FETCH_LIMITS.redirects} times`);
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof TimedOut) throw new FetchFailed(`it took longer than ${options.seconds} s`);
    const isOwn = (error as NodeJS.ErrnoException).path === path || isMachineTrouble(error);
    if (isOwn || error instanceof FetchFailed) throw error;
    throw new FetchFailed(error instanceof AddressRefused ? error.message : describeUnreachable(error));
  } finally {
    await Promise.all(agents.map((agent) => agent.destroy()));
  }
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
  options: FetchMediaOptions,
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
    headers: { accept: MEDIA[options.media].accept, 'accept-encoding': 'identity', 'user-agent': 'regen' },
  });
  // Destroying the body emits an error.
  body.on('error', () => {});
  if (statusCode >= 300 && statusCode < 400 && headers.location) {
    body.destroy();
    const next = String(headers.location);
    if (!URL.canParse(next, url.href)) throw new FetchFailed('it was redirected to an invalid URL');
    return new URL(next, url);
  }
  try {
    checkHeaders(statusCode, headers, options);
  } catch (error) {
    body.destroy();
    throw error;
  }
  await writeBody(body, path, options);
  return undefined;
}

function checkScheme({ protocol, username, password }: URL, secure: boolean): void {
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new FetchFailed('its URL must begin with http or https');
  if (secure && protocol !== 'https:') throw new FetchFailed('its URL must begin with https');
  if (username || password) throw new FetchFailed('its URL must not contain a user name or password');
}

function checkHeaders(
  status: number,
  headers: Record<string, unknown>,
  { bytes, media }: FetchMediaOptions,
): void {
  if (status !== 200) throw new FetchFailed(`the server answered ${status}`, status);
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  const { noun, types } = MEDIA[media];
  if (type && !types.test(type) && !/^(application|binary)\/octet-stream$/.test(type))
    throw new FetchFailed(`its content type is ${type.slice(0, 60)}, not ${noun}`);
  if (Number(headers['content-length']) > bytes) throw fileTooLarge(bytes);
}

async function writeBody(body: Readable, path: string, { bytes, signal }: FetchMediaOptions): Promise<void> {
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > bytes) done(fileTooLarge(bytes));
      else done(null, chunk);
    },
  });
  await pipeline(body, measure, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
}

function fileTooLarge(bytes: number): FetchFailed {
  return new FetchFailed(`it is larger than ${Math.floor(bytes / 1024 ** 2)} MB`);
}

import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { createWriteStream } from 'node:fs';
import { isIP, type LookupFunction } from 'node:net';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';
import { isLoopbackAddress, isLoopbackHost, isPublicAddress } from './addresses.js';

/** Decided: how long and over how many redirects an image is fetched. */
export const fetchLimits = { seconds: 30, redirects: 3 } as const;

export interface FetchRules {
  readonly bytes: number;
  readonly seconds: number;
  /** The service's own base address: always allowed; loopback is allowed where it is on loopback itself. */
  readonly serviceOrigin: string;
  /** Only https, but for the service's own origin and what is loopback as it is. */
  readonly httpsOnly: boolean;
  /** What it has to be. */
  readonly media: 'image' | 'video';
  readonly signal?: AbortSignal;
}

/** Why an image cannot be fetched, to follow the name of its field: `could not be fetched: …`. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched';
}

/**
 * Fetches a URL into a new file. Every address is checked after its name is resolved, at every redirect, and the
 * checked address is the one that is used.
 * @throws NotFetched; the signal's reason where the caller gave up
 */
export async function fetchImage(url: URL, path: string, rules: FetchRules): Promise<void> {
  const timeout = AbortSignal.timeout(rules.seconds * 1000);
  const signal = rules.signal ? AbortSignal.any([rules.signal, timeout]) : timeout;
  const agents: Agent[] = [];
  try {
    let at = url;
    for (let hop = 0; hop <= fetchLimits.redirects; hop++) {
      const next = await fetchOnce(at, path, { ...rules, signal }, agents);
      if (next === undefined) return;
      at = next;
    }
    throw new NotFetched(`it was redirected more than ${fetchLimits.redirects} times`);
  } catch (error) {
    rules.signal?.throwIfAborted();
    if (timeout.aborted) throw new NotFetched(`it did not come within ${rules.seconds} s`);
    if (error instanceof NotFetched) throw error;
    throw new NotFetched(whyUnreachable(error));
  } finally {
    await Promise.all(agents.map((agent) => agent.destroy()));
  }
}

/** Why a request got no answer, in words that follow the name of what was asked. */
export function whyUnreachable(error: unknown): string {
  // Node tries all addresses of a name and reports them together.
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  return sentences[code ?? errors?.[0]?.code ?? ''] ?? message;
}

const sentences: Record<string, string> = {
  ENOTFOUND: 'its host cannot be found',
  EAI_AGAIN: 'its host cannot be found',
  ECONNREFUSED: 'nothing listens at its address',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
};

/** @returns where it was redirected to; undefined once the file is written */
async function fetchOnce(
  url: URL,
  path: string,
  rules: FetchRules,
  agents: Agent[],
): Promise<URL | undefined> {
  const own = new URL(rules.serviceOrigin);
  const isOwn = url.origin === own.origin;
  const loopbackAllowed = isLoopbackHost(own.hostname);
  checkScheme(url, rules.httpsOnly && !isOwn && !(loopbackAllowed && isLoopbackHost(url.hostname)));
  const allowed = (address: string) =>
    isOwn || isPublicAddress(address) || (loopbackAllowed && isLoopbackAddress(address));
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  // A literal is never looked up, so it is checked here.
  if (isIP(literal) && !allowed(literal)) throw new NotFetched('its address is not public');
  const agent = new Agent({ connect: { lookup: checkedLookup(allowed) }, connections: 1 });
  agents.push(agent);
  const { statusCode, headers, body } = await request(url, {
    dispatcher: agent,
    signal: rules.signal,
    headers: { accept: `${rules.media}/*`, 'accept-encoding': 'identity', 'user-agent': 'regen' },
  });
  // A body that is thrown away says so with an error.
  body.on('error', () => {});
  if (statusCode >= 300 && statusCode < 400 && headers.location) {
    body.destroy();
    const next = String(headers.location);
    if (!URL.canParse(next, url.href)) throw new NotFetched('it was redirected to what is no URL');
    return new URL(next, url);
  }
  try {
    checkHead(statusCode, headers, rules);
  } catch (error) {
    body.destroy();
    throw error;
  }
  await write(body, path, rules);
  return undefined;
}

function checkScheme({ protocol, username, password }: URL, secure: boolean): void {
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new NotFetched('its URL is neither http nor https');
  if (secure && protocol !== 'https:') throw new NotFetched('its URL must begin with https');
  if (username || password) throw new NotFetched('its URL must not hold a name or password');
}

function checkHead(status: number, headers: Record<string, unknown>, { bytes, media }: FetchRules): void {
  if (status !== 200) throw new NotFetched(`the answer was ${status}`);
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  if (type && !type.startsWith(`${media}/`) && !/^(application|binary)\/octet-stream$/.test(type)) {
    throw new NotFetched(
      `the answer is ${type.slice(0, 60)}, not ${media === 'image' ? 'an image' : 'a video'}`,
    );
  }
  if (Number(headers['content-length']) > bytes) throw tooLarge(bytes);
}

/** What resolves a name to all of its addresses, as node's own `lookup` does. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/** A resolver, the system's where none is given, whose unfit answers never reach a socket. */
export function checkedLookup(
  allowed: (address: string) => boolean,
  resolve: Lookup = lookup,
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const fit = error ? [] : found.filter(({ address }) => allowed(address));
      const [first] = fit;
      if (error) done(error, '', 0);
      else if (!first) done(new NotFetched('its address is not public'), '', 0);
      else if (options.all) done(null, fit);
      else done(null, first.address, first.family);
    });
  };
}

async function write(body: Readable, path: string, { bytes, signal }: FetchRules): Promise<void> {
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > bytes) done(tooLarge(bytes));
      else done(null, chunk);
    },
  });
  await pipeline(body, measure, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
}

function tooLarge(bytes: number): NotFetched {
  return new NotFetched(`it is larger than ${Math.floor(bytes / 1024 ** 2)} MB`);
}

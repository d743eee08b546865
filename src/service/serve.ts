import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { check } from '../contract/problems.js';
import { loadKeys, rotateSigningKey } from './auth/keys.js';
import { signerOf, signToken, type TokenSubject } from './auth/tokens.js';
import { verifiersOf } from './auth/verifiers.js';
import { Configuration, type ConfigurationInput } from './configuration.js';
import type { Context } from './context.js';
import { openSqlite } from './database/sqlite.js';
import { type DataFolder, emptyFolder, openFolder } from './folder.js';
import type { Engines } from './generation/engine.js';
import { configuredEngines } from './generation/engines/configured.js';
import { VendorCallbacks } from './generation/engines/upstream/callbacks.js';
import { createApp } from './http/app.js';
import { routeDownloads } from './http/downloads.js';
import { routeOwner } from './http/owner-proof.js';
import { routeResults } from './http/results.js';
import { routeUploads } from './http/uploads.js';
import { routeVendorCallbacks } from './http/vendor-callbacks.js';
import { watchIdle } from './idle.js';
import { kinds } from './jobs/work.js';
import { leasedTable } from './queue/leased-table.js';
import { InvalidConfiguration, PortTaken } from './start-failures.js';
import { diskStorage } from './storage/disk.js';

/** What a caller may put in the place of the real thing. */
export interface ServiceParts {
  /** Milliseconds since the epoch. */
  readonly now?: Context['now'];
  /** Where warnings and errors go; a JSON line each on stderr where absent. */
  readonly log?: Context['log'];
  /** Resolves the names of webhooks' hosts; the system's own where absent. */
  readonly lookup?: Context['lookup'];
  /** What makes images and videos; the local ones where absent. */
  readonly engines?: Partial<Engines>;
}

export interface RunningService {
  /** Where clients reach it, without a trailing slash. */
  readonly url: string;
  /** Where this machine reaches it; the same unless the configuration names a public address. */
  readonly localUrl: string;
  /** The bearer token of the embedded owner. */
  readonly ownerToken: string;
  /** Random, new at each start. */
  readonly instance: string;
  readonly context: Context;
  /** Makes a bearer token of the service itself. */
  signFor(subject: TokenSubject): Promise<string>;
  /** Ends gracefully: running requests and jobs have `graceMs`. Harmless when called again. */
  stop(): Promise<void>;
  /** Resolves once the service has ended, by `stop`, the owner's request or idleness. */
  readonly ended: Promise<void>;
}

/**
 * Starts the whole service; it is ready when this returns.
 * @throws InvalidConfiguration, FolderInUse, OwnerTokenInvalid, PortTaken
 */
export async function startService(
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService> {
  const configuration = check(Configuration, input);
  if (!configuration.ok) throw new InvalidConfiguration(configuration.problems);
  const folder = openFolder(configuration.value.data);
  try {
    return await startIn(folder, configuration.value, parts);
  } catch (error) {
    folder.release();
    throw error;
  }
}

async function startIn(
  folder: DataFolder,
  configuration: Configuration,
  { now = Date.now, log = logToStderr, lookup, engines: given }: ServiceParts,
): Promise<RunningService> {
  const instance = randomUUID();
  const database = await openSqlite({ file: join(folder.path, 'regen.db'), durable: folder.durable });
  try {
    const { uploadAbandonedSeconds, offPeakSeconds } = configuration.limits;
    const longestDelayMs = Math.max(uploadAbandonedSeconds, offPeakSeconds) * 1000;
    const queue = leasedTable({ database, now, log, instance, alone: true, longestDelayMs });
    const keys = await loadKeys(database, now, folder.ownerToken);
    const storage = diskStorage(join(folder.path, 'objects'));
    const scratch = emptyFolder(join(folder.path, 'scratch'));
    let local = '';
    const baseUrl = () => configuration.publicUrl?.replace(/\/+$/, '') ?? local;
    const callbacks = new VendorCallbacks({ configuration, database, keys, baseUrl });
    const shared = { env: process.env, database, callbacks, now, log };
    const engines = { ...configuredEngines(configuration.generation, shared), ...given };
    const verifiers = verifiersOf({ configuration, now, log });
    const parts = { configuration, database, storage, queue, engines, scratch, keys, verifiers };
    const context: Context = { ...parts, now, baseUrl, lookup, log };

    const state = { ready: false };
    const app = createApp(context, () => state.ready);
    const { version } = configuration;
    const door = { ownerToken: folder.ownerToken, instance, version, url: () => local };
    await routeUploads(app, context);
    routeDownloads(app, context);
    routeResults(app, context);
    routeVendorCallbacks(app, context, callbacks);
    const rotateKey = async () => {
      keys.token = await rotateSigningKey(database, now);
      return signerOf(keys.token).kid;
    };
    routeOwner(app, { ...door, stop: () => endSoon(), rotateKey });
    local = await listen(app, configuration);

    const running = { folder, context, app, state };
    const { stop, ended } = ending(running, () => stopWatch());
    const endSoon = () =>
      void stop().catch((error) => log('error', 'The end was not clean.', { error: `${error}` }));
    const stopWatch = configuration.idleMs
      ? watchIdle({ server: app.server, queue, now, idleMs: configuration.idleMs, end: endSoon })
      : () => {};
    queue.start(kinds(context));
    folder.announce({ url: local, pid: process.pid, version, instance });
    state.ready = true;
    const signFor = (subject: TokenSubject) => signToken(context, subject);
    return {
      url: baseUrl(),
      localUrl: local,
      ownerToken: folder.ownerToken,
      instance,
      context,
      signFor,
      stop,
      ended,
    };
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

interface Running {
  readonly folder: DataFolder;
  readonly context: Context;
  readonly app: FastifyInstance;
  readonly state: { ready: boolean };
}

/** The end, which comes once however often it is asked for. */
function ending(running: Running, before: () => void): Pick<RunningService, 'stop' | 'ended'> {
  let stopping: Promise<void> | undefined;
  let resolve = () => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  const stop = () => {
    before();
    stopping ??= end(running).finally(resolve);
    return stopping;
  };
  return { stop, ended };
}

async function end({ folder, context, app, state }: Running): Promise<void> {
  const { graceMs } = context.configuration;
  state.ready = false;
  const cutting = setTimeout(() => app.server.closeAllConnections(), graceMs);
  // A connection that falls idle only now would be kept open for its client's next request.
  const leaving = setInterval(() => app.server.closeIdleConnections(), 20);
  try {
    await Promise.all([app.close(), context.queue.stop(graceMs)]);
  } finally {
    clearTimeout(cutting);
    clearInterval(leaving);
    await context.database.destroy();
    folder.release();
  }
}

/** @returns where this machine reaches the service */
async function listen(app: FastifyInstance, { host, port }: Configuration): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortTaken(host, port);
    throw error;
  }
  const listening = (app.server.address() as AddressInfo).port;
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const name = everywhere[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${listening}`;
}

const logToStderr: Context['log'] = (level, message, fields) => {
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), level, message, ...fields })}\n`);
};

import { randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { isLoopbackHost } from '../contract/schema/loopback.js';
import { PackReader } from '../python/reader-process.js';
import { createVerifier } from './auth/issuer.js';
import { loadKeys, rotateSigningKey } from './auth/keys.js';
import { getSigningKey, signToken, type TokenSubject, verifyOwnToken } from './auth/tokens.js';
import {
  type Configuration,
  type ConfigurationInput,
  getLogLevel,
  isExposed,
  parseConfiguration,
} from './configuration/configuration.js';
import { createLineLog, limitLog } from './configuration/log.js';
import { explainStartError, PortTaken } from './configuration/start-errors.js';
import { openSqlite } from './database/sqlite.js';
import { createEngines } from './engines/create-engines.js';
import { VendorCallbacks } from './engines/upstream/callbacks.js';
import { createApp } from './http/app.js';
import { routeDownloads } from './http/downloads.js';
import { routeOwner } from './http/owner-routes.js';
import { routeCallbacks, routeResults } from './http/task-routes.js';
import { routeUploads } from './http/uploads.js';
import { createJobKinds } from './jobs/job-kinds.js';
import type { Context } from './operation/context.js';
import type { Engines } from './operation/engine.js';
import { watchIdle } from './queue/idle.js';
import { createLeasedTable } from './queue/leased-table.js';
import { InstallCounts } from './registry/install-counts.js';
import { type DataFolder, emptyFolder, openDataFolder } from './storage/data-folder.js';
import { createDiskStorage } from './storage/disk.js';

/** Parts of the service that a caller may replace. */
export interface ServiceParts {
  /** Milliseconds since the epoch. */
  readonly now?: Context['now'];
  /** Receives what the log would say. Default: writes one line of JSON each to stderr. */
  readonly log?: Context['log'];
  /** Resolves the host names of webhooks. Default: the system's resolver. */
  readonly lookup?: Context['lookup'];
  /** Replaces the configured engines. */
  readonly engines?: Partial<Engines>;
}

export interface RunningService {
  /** Where clients reach it, without a trailing slash. */
  readonly url: string;
  /** Where this machine reaches it; the same unless the configuration has a public URL. */
  readonly localUrl: string;
  /** The bearer token of the embedded owner. */
  readonly ownerToken: string;
  /** Random, new at each start. */
  readonly instance: string;
  readonly context: Context;
  /** Issues a bearer token of the service. */
  signFor(subject: TokenSubject): Promise<string>;
  /**
   * Stops gracefully: requests are served for `drainMs`, then those that run and jobs have `graceMs` to end. A second
   * call ends the first of these times.
   */
  stop(): Promise<void>;
  /** Resolves once the service has stopped, by `stop`, the owner's request or idleness. */
  readonly ended: Promise<void>;
}

/**
 * Starts the service; it is ready when this returns.
 * @throws InvalidConfiguration, FolderInUse, OwnerTokenInvalid, DataUnusable, ResourceExhausted, PortTaken
 */
export async function startService(
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService> {
  const configuration = parseConfiguration(input, process.env);
  let folder: DataFolder | undefined;
  try {
    folder = openDataFolder(configuration.data);
    return await startInFolder(folder, configuration, parts);
  } catch (error) {
    folder?.release();
    throw explainStartError(error);
  }
}

async function startInFolder(
  folder: DataFolder,
  configuration: Configuration,
  { now = Date.now, log: givenLog, lookup, engines: given }: ServiceParts,
): Promise<RunningService> {
  const instance = randomUUID();
  const lines = createLineLog(now, (line) => void process.stderr.write(line));
  const log = limitLog(getLogLevel(configuration), givenLog ?? lines);
  const database = await openSqlite({
    file: join(folder.path, 'regen.db'),
    durable: folder.durable,
    verify: folder.endedUncleanly,
  });
  try {
    const { uploadAbandonedSeconds, offPeakSeconds } = configuration.limits;
    const maxDelayMs = Math.max(uploadAbandonedSeconds, offPeakSeconds) * 1000;
    const queue = createLeasedTable({ database, now, log, instance, alone: true, maxDelayMs });
    const keys = await loadKeys(database, now, folder.ownerToken);
    const storage = createDiskStorage(join(folder.path, 'objects'));
    const scratch = emptyFolder(join(folder.path, 'scratch'));
    let local = '';
    const baseUrl = () => configuration.publicUrl?.replace(/\/+$/, '') ?? local;
    const callbacks = new VendorCallbacks({ configuration, database, keys, baseUrl });
    const engineOptions = { env: process.env, database, callbacks, now, log };
    const engines = { ...createEngines(configuration.generation, engineOptions), ...given };
    const issuers = configuration.issuers.map((settings) => createVerifier(settings, { now, log }));
    const verifiers = [verifyOwnToken, ...issuers];
    const packReader = new PackReader();
    const installs = new InstallCounts({ database, now, log });
    const shared = { configuration, database, storage, queue, installs, engines, packReader };
    const context: Context = { ...shared, scratch, keys, verifiers, now, baseUrl, lookup, log };

    const state = { ready: false };
    const app = createApp(context, () => state.ready);
    const { version } = configuration;
    await routeUploads(app, context);
    routeDownloads(app, context);
    routeResults(app, context);
    routeCallbacks(app, context, callbacks);
    const rotateKey = async () => {
      keys.token = await rotateSigningKey(database, now);
      return getSigningKey(keys.token).kid;
    };
    const rotateToken = () => {
      keys.owner = folder.rotateOwnerToken();
    };
    routeOwner(app, { keys, instance, version, stop: () => endSoon(), rotateKey, rotateToken });
    local = await listenOn(app, configuration);
    const socketServer = await listenOnSocket(app, folder.socketPath);
    if (configuration.publicUrl === undefined && !isLoopbackHost(configuration.host)) {
      log('warn', `URLs in answers begin with ${local}; set publicUrl to the address that clients use.`);
    }

    const running = { folder, context, app, socketServer, state };
    const { stop, ended } = createStop(running, () => stopWatch());
    const endSoon = () =>
      void stop().catch((error) => log('error', 'The service did not stop cleanly.', { error: `${error}` }));
    const stopWatch = configuration.idleMs
      ? watchIdle({ server: app.server, queue, now, idleMs: configuration.idleMs, end: endSoon })
      : () => {};
    queue.start(createJobKinds(context));
    folder.announce({ url: local, socket: folder.socketPath, pid: process.pid, version, instance });
    state.ready = true;
    log('info', 'The service is ready.', { url: baseUrl(), data: folder.path, version, instance });
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

/** Long enough for a load balancer that asks `/ready` every second or two. */
const DEFAULT_DRAIN_MS = 5_000;

interface EndServiceOptions {
  readonly folder: DataFolder;
  readonly context: Context;
  readonly app: FastifyInstance;
  readonly socketServer: Server;
  readonly state: { ready: boolean };
}

/** Creates `stop`, which stops the service once; called again, it serves no further requests. */
function createStop(running: EndServiceOptions, before: () => void): Pick<RunningService, 'stop' | 'ended'> {
  let stopping: Promise<void> | undefined;
  let resolve = () => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  const draining = new AbortController();
  const stop = () => {
    before();
    if (stopping) draining.abort();
    stopping ??= endService(running, draining.signal).finally(resolve);
    return stopping;
  };
  return { stop, ended };
}

async function endService(
  { folder, context, app, socketServer, state }: EndServiceOptions,
  draining: AbortSignal,
): Promise<void> {
  const { graceMs, drainMs } = context.configuration;
  state.ready = false;
  context.log('info', 'The service is stopping.');
  const stoppingQueue = context.queue.stop(graceMs);
  const drain = drainMs ?? (isExposed(context.configuration) ? DEFAULT_DRAIN_MS : 0);
  await pause(drain, undefined, { signal: draining }).catch(() => {});
  const cutting = setTimeout(() => app.server.closeAllConnections(), graceMs);
  // Connections that become idle later would stay open for the client's next request.
  const leaving = setInterval(() => app.server.closeIdleConnections(), 20);
  try {
    socketServer.close();
    await Promise.all([app.close(), stoppingQueue]);
    await context.installs.write();
  } finally {
    clearTimeout(cutting);
    clearInterval(leaving);
    await context.packReader.close();
    await context.database.destroy();
    folder.release();
    context.log('info', 'The service has stopped.');
  }
}

/** @returns where this machine reaches the service */
async function listenOn(app: FastifyInstance, { host, port }: Configuration): Promise<string> {
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

/**
 * Accepts connections to the same server on a socket of the file system. The embedded owner's credential only
 * travels there, because another program may take the port once the service has ended.
 */
async function listenOnSocket(app: FastifyInstance, path: string): Promise<Server> {
  const server = createServer((connection) => void app.server.emit('connection', connection));
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    if (process.platform !== 'win32') chmodSync(path, 0o600);
  } catch (error) {
    await app.close();
    throw error;
  }
  return server;
}

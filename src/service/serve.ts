import { randomUUID } from 'node:crypto';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { PackReader, QUICK_LIMITS } from '../python/reader-process.js';
import type { Lookup } from '../wire/checked-lookup.js';
import { createVerifier } from './auth/issuer.js';
import { loadKeys, rotateSigningKey } from './auth/keys.js';
import { getSigningKey, signToken, verifyOwnToken } from './auth/tokens.js';
import {
  type Configuration,
  type ConfigurationInput,
  getLogLevel,
  isExposed,
  parseConfiguration,
} from './configuration/configuration.js';
import { createLineLog, type Log, limitLog } from './configuration/log.js';
import { loadNames, type Names } from './configuration/names.js';
import { readSecret } from './configuration/secret-source.js';
import { explainStartError } from './configuration/start-errors.js';
import { openDatabase } from './database/open-database.js';
import { maskPassword } from './database/postgres.js';
import { createEngines, listPreviews } from './engines/create-engines.js';
import { VendorCallbacks } from './engines/upstream/callbacks.js';
import { createApp } from './http/app.js';
import { closeServers, formatUrl, LAST_IDLE_MS, listenOn, listenOnSocket } from './http/listen.js';
import { loadScenario } from './http/load-scenario.js';
import { routeOwner } from './http/owner-routes.js';
import type { ScenarioInput } from './http/scenario.js';
import { routeCallbacks, routeResults } from './http/task-routes.js';
import { routeUploads } from './http/uploads.js';
import { createJobKinds } from './jobs/job-kinds.js';
import { schedulePruning } from './jobs/prune.js';
import { awaitWithin, TimedOut } from './network/run-within.js';
import type { Context } from './operation/context.js';
import { DiskSpace } from './operation/disk-space.js';
import type { Engines } from './operation/engine.js';
import type { TokenSubject } from './operation/identity.js';
import { ImageInspector } from './operation/image-inspector.js';
import { Reservations } from './operation/reservations.js';
import { FairQueue } from './queue/fair-queue.js';
import { watchIdle } from './queue/idle.js';
import { LeasedTable } from './queue/leased-table.js';
import { InstallCounts } from './registry/install-counts.js';
import { bindStorage } from './storage/bind-storage.js';
import { type DataFolder, emptyFolder, openDataFolder } from './storage/data-folder.js';
import { openStorage } from './storage/open-storage.js';

/** Parts of the service that a caller may replace. */
export interface ServiceParts {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Receives what the log would say. Default: writes one line of JSON each to stderr. */
  readonly log?: Log;
  /** Resolves the host names of webhooks. Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  /** Replaces the configured engines. */
  readonly engines?: Partial<Engines>;
  /** Makes requests and tasks fail, to test what uses the service. */
  readonly scenario?: ScenarioInput | undefined;
}

export interface RunningService {
  /** Where clients reach it, without a trailing slash. */
  readonly url: string;
  /** Where this machine reaches it; the same unless the configuration has a public URL. */
  readonly localUrl: string;
  /** Where metrics are read, if they have a port of their own. */
  readonly metricsUrl: string | undefined;
  /** The bearer token of the embedded owner. */
  readonly ownerToken: string;
  /** Random, new at each start. */
  readonly instance: string;
  /** @internal */
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
  const names = await loadNames(configuration);
  let folder: DataFolder | undefined;
  try {
    folder = openDataFolder(configuration.data, configuration.database === undefined);
    return await startInFolder(folder, { configuration, names }, parts);
  } catch (error) {
    folder?.release();
    throw explainStartError(error);
  }
}

const PREPARATIONS_OF_USER = 8;

/** prom-client is loaded only where metrics are read. */
async function createMetrics({ metrics: { port, token } }: Configuration) {
  if (port === undefined && token === undefined) return undefined;
  const { Metrics } = await import('./http/metrics.js');
  return new Metrics();
}

async function startInFolder(
  folder: DataFolder,
  { configuration, names }: { readonly configuration: Configuration; readonly names: Names },
  { now: givenNow = Date.now, log: givenLog, lookup, engines: given, scenario: played }: ServiceParts,
): Promise<RunningService> {
  const instance = randomUUID();
  const lines = createLineLog(givenNow, (line) => void process.stderr.write(line));
  const log = limitLog(getLogLevel(configuration), givenLog ?? lines);
  const scenario = played && (await loadScenario(played, configuration));
  const metrics = await createMetrics(configuration);
  const count = metrics?.count ?? (() => {});
  const { path, durable, endedUncleanly: verify } = folder;
  const opened = await openDatabase({
    url: configuration.database,
    embedded: { file: join(path, 'regen.db'), durable, verify },
    now: givenNow,
    onError: (error) => log('warn', 'A connection to the database was lost.', { error: `${error}` }),
    onQuery: metrics?.observeQuery,
  });
  const { database, notices, now } = opened;
  try {
    const { uploadAbandonedSeconds, offPeakSeconds } = configuration.limits;
    const maxDelayMs = Math.max(uploadAbandonedSeconds, offPeakSeconds) * 1000;
    const alone = notices === undefined;
    const queue = new LeasedTable({ database, now, log, count, instance, alone, notices, maxDelayMs });
    const keys = await loadKeys(database, now, folder, !alone);
    notices?.on(
      'keys',
      () => void keys.reload().catch((error) => log('warn', `Keys were not read: ${error}`)),
    );
    const scratch = emptyFolder(join(folder.path, 'scratch'));
    const objects = join(folder.path, 'objects');
    const storage = await openStorage(configuration, {
      objects,
      before: alone ? undefined : now() - 24 * 60 * 60_000,
      scratch,
      env: process.env,
    });
    await bindStorage(database, storage, { setting: configuration.storage, folder: objects, alone });
    let local = '';
    const baseUrl = () => configuration.publicUrl?.replace(/\/+$/, '') ?? local;
    const callbacks = new VendorCallbacks({ configuration, database, queue, keys, baseUrl });
    const { limits } = configuration;
    const engineOptions = { env: process.env, database, callbacks, limits, now, log, count };
    const making = { ...createEngines(configuration.generation, engineOptions), ...given };
    const engines = scenario?.disturbEngines(making) ?? making;
    const issuers = configuration.issuers.map((settings) => createVerifier(settings, { now, log }));
    const verifiers = [verifyOwnToken, ...issuers];
    const packReaders = {
      quick: new PackReader({ limits: QUICK_LIMITS }),
      thorough: new PackReader({ limits: { yields: true } }),
    };
    const installs = new InstallCounts({ database, now, log });
    const inspector = new ImageInspector();
    const reservations = new Reservations({ database, now });
    // No other service uses the database, so they are those of one that was killed.
    if (alone) await reservations.removeAll();
    const shared = { configuration, ...names, database, storage, queue, installs, engines, packReaders };
    const context: Context = {
      ...{ ...shared, inspector, scratch, keys, verifiers, now, baseUrl, lookup, log, count },
      reservations,
      disk: new DiskSpace({ folder: path, minFreeBytes: configuration.minFreeDiskBytes }),
      preparations: new FairQueue(Number.POSITIVE_INFINITY, PREPARATIONS_OF_USER),
    };

    const state = { ready: false };
    const app = createApp(context, () => state.ready, scenario);
    const { version } = configuration;
    await routeUploads(app, context);
    routeResults(app, context);
    routeCallbacks(app, context, callbacks);
    const rotateKey = async () => {
      keys.token = await rotateSigningKey(database, now);
      return getSigningKey(keys.token).kid;
    };
    routeOwner(app, { keys, instance, version, stop: () => endSoon(), rotateKey });
    const kinds = createJobKinds(context);
    const { token } = configuration.metrics;
    const metricsServer = await metrics?.route(app, {
      store: { database, now, scratch, instance, kinds: Object.keys(kinds) },
      configuration,
      token: token && readSecret(token, process.env),
    });
    local = await listenOn(app, configuration);
    const socketServer = await listenOnSocket(app, folder.socketPath);
    if (configuration.publicUrl === undefined && isExposed(configuration)) {
      log('warn', `URLs in answers begin with ${local}; set publicUrl to the address that clients use.`);
    }
    if (!alone && configuration.storage === undefined)
      log(
        'warn',
        'Files are in the data folder; services that share the database need storage to be a place they share.',
      );

    const running = { folder, context, app, socketServer, state, closeDatabase: opened.close };
    const { stop, ended } = createStop(running, () => stopWatch());
    const endSoon = () =>
      void stop().catch((error) => log('error', 'The service did not stop cleanly.', { error: `${error}` }));
    const stopWatch = configuration.idleMs
      ? watchIdle({ server: app.server, queue, now, idleMs: configuration.idleMs, end: endSoon })
      : () => {};
    queue.start(kinds);
    await schedulePruning(context);
    const service = { url: local, socket: folder.socketPath, pid: process.pid, version, instance };
    const elsewhere = {
      ...(configuration.database && { database: maskPassword(configuration.database) }),
      ...(configuration.storage && { storage: configuration.storage }),
    };
    folder.announce({ ...service, ...elsewhere, previews: listPreviews(configuration) });
    state.ready = true;
    log('info', 'The service is ready.', { url: baseUrl(), data: folder.path, version, instance });
    const signFor = (subject: TokenSubject) => signToken(context, subject);
    return {
      url: baseUrl(),
      localUrl: local,
      metricsUrl: metricsServer && `${formatUrl(metricsServer, configuration.metrics.host)}/metrics`,
      ownerToken: folder.ownerToken,
      instance,
      context,
      signFor,
      stop,
      ended,
    };
  } catch (error) {
    await opened.close();
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
  readonly closeDatabase: () => Promise<void>;
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

/** How long queries may take that began within `graceMs`. */
const LAST_QUERIES_MS = 10_000;

async function endService(
  { folder, context, app, socketServer, state, closeDatabase }: EndServiceOptions,
  draining: AbortSignal,
): Promise<void> {
  const { database, graceMs, drainMs } = context.configuration;
  state.ready = false;
  app.server.keepAliveTimeout = LAST_IDLE_MS;
  context.log('info', 'The service is stopping.');
  const stoppingQueue = context.queue.stop(graceMs);
  const drain = drainMs ?? (isExposed(context.configuration) ? DEFAULT_DRAIN_MS : 0);
  await pause(drain, undefined, { signal: draining }).catch(() => {});
  const cutting = setTimeout(() => app.server.closeAllConnections(), graceMs);
  const endWork = async () => {
    await closeServers(app.server, socketServer, drain && LAST_IDLE_MS);
    await Promise.all([app.close(), stoppingQueue]);
    await context.installs.write();
  };
  try {
    // Queries to a database that does not answer cannot be cut off.
    if (database) await awaitWithin(graceMs + LAST_QUERIES_MS, endWork());
    else await endWork();
  } catch (error) {
    if (!(error instanceof TimedOut)) throw error;
    context.log('warn', 'The database does not answer; the service stops without it.');
  } finally {
    clearTimeout(cutting);
    const { engines, packReaders, inspector } = context;
    const parts = [...Object.values(packReaders), ...Object.values(engines), inspector];
    await Promise.all(parts.map((part) => part.close?.()));
    await closeDatabase();
    folder.release();
    context.log('info', 'The service has stopped.');
  }
}

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { PackReader, QUICK_LIMITS } from '../python/reader-process.js';
import type { Lookup } from '../wire/checked-lookup.js';
import { createCiVerifier } from './auth/ci-identity.js';
import { createVerifier } from './auth/issuer.js';
import { loadKeys, rotateSigningKey } from './auth/keys.js';
import { getSigningKey, signToken, verifyOwnToken } from './auth/tokens.js';
import { type Compatibility, loadCompatibility } from './configuration/compatibility.js';
import {
  type Configuration,
  type ConfigurationInput,
  getLogLevel,
  isExposed,
  parseConfiguration,
} from './configuration/configuration.js';
import { createLineLog, type Log, limitLog } from './configuration/log.js';
import { completeIssuer } from './configuration/publish-issuer.js';
import { readSecret } from './configuration/secret-source.js';
import { explainStartError } from './configuration/start-errors.js';
import { openDatabase } from './database/open-database.js';
import { maskPassword } from './database/postgres.js';
import { createEngines } from './engines/create-engines.js';
import { describeEngines, listPreviews } from './engines/describe-engines.js';
import { EngineTroubles } from './engines/remote/troubles.js';
import { VendorCallbacks } from './engines/upstream/callbacks.js';
import { createApp } from './http/app.js';
import { createStop } from './http/end-service.js';
import { listenOn, listenOnSocket } from './http/listen.js';
import { loadScenario } from './http/load-scenario.js';
import { routeOwner } from './http/owner-routes.js';
import type { Scenario, ScenarioInput } from './http/scenario.js';
import { routeCallbacks, routeInputs, routeResults } from './http/task-routes.js';
import { routeUploads } from './http/uploads.js';
import { createJobKinds, moveTasks } from './jobs/job-kinds.js';
import { schedulePruning } from './jobs/prune.js';
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
import { inspectUplink } from './registry/uplink-lists.js';
import { bindStorage } from './storage/bind-storage.js';
import { DATABASE, type DataFolder, emptyFolder, openDataFolder } from './storage/data-folder.js';
import { openStorage } from './storage/open-storage.js';

export interface ServiceParts {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Receives what the log would say. Default: writes one line of JSON each to stderr. */
  readonly log?: Log;
  /** Resolves the host names of webhooks. Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  readonly engines?: Partial<Engines>;
  /** Makes requests and tasks fail, to test what uses the service. */
  readonly scenario?: ScenarioInput | undefined;
  /** Whether commands on this machine find it without its address. Default: false. */
  readonly isEmbedded?: boolean;
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
  /** Resolves once the service has stopped: by `stop`, the owner's request or idleness, or to what it ended for. */
  readonly ended: Promise<Error | undefined>;
}

/**
 * Starts the service; it is ready when this returns.
 * @throws InvalidConfiguration, FolderInUse, OwnerTokenInvalid, DataUnusable, ResourceExhausted, PortTaken
 */
export async function startService(
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService> {
  const configuration = await parseConfiguration(input, process.env);
  const compatibility = await loadCompatibility(configuration);
  let folder: DataFolder | undefined;
  try {
    folder = openDataFolder(configuration.data, configuration.database === undefined);
    return await startInFolder(folder, { configuration, compatibility }, parts);
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

/**
 * Starts in this order: the database, the parts that work with it, routes, servers, jobs; and last the announcement in
 * the folder, which clients look for. `createStop` ends them.
 */
async function startInFolder(
  folder: DataFolder,
  { configuration, compatibility }: Pick<StartedParts, 'configuration' | 'compatibility'>,
  parts: ServiceParts,
): Promise<RunningService> {
  const { now: givenNow = Date.now, scenario: played } = parts;
  const instance = randomUUID();
  const lines = createLineLog(givenNow, (line) => void process.stderr.write(line));
  const log = limitLog(getLogLevel(configuration), parts.log ?? lines);
  const scenario = played && (await loadScenario(played, configuration));
  const metrics = await createMetrics(configuration);
  const { path, durable, endedUncleanly: verify } = folder;
  const opened = await openDatabase({
    url: configuration.database,
    ...{ file: join(path, DATABASE), durable, verify },
    now: givenNow,
    onError: (error) => log('warn', 'A connection to the database was lost.', { error: `${error}` }),
    onQuery: metrics?.observeQuery,
  });
  try {
    const listening = { url: '' };
    const count = metrics?.count ?? (() => {});
    const given = { ...{ folder, configuration, compatibility, opened, instance, listening }, log, count };
    const { context, callbacks, troubles } = await createContext(given, parts, scenario);

    const state = { ready: false };
    const app = createApp(context, () => state.ready, scenario);
    const { database, queue, keys, now, scratch, baseUrl } = context;
    await routeUploads(app, context);
    routeResults(app, context);
    routeInputs(app, context);
    routeCallbacks(app, context, callbacks);
    const { version } = configuration;
    const rotateKey = async () => {
      await rotateSigningKey(database, now);
      await keys.reload();
      return getSigningKey(keys.token).kid;
    };
    const engines = await describeEngines(configuration);
    routeOwner(app, {
      ...{ keys, instance, version, engines, troubles, now, rotateKey },
      inspectUplink: () => inspectUplink(context),
      stop: () => endSoon(),
    });
    const kinds = createJobKinds(context);
    const { token } = configuration.metrics;
    const metricsAddress = await metrics?.route(app, {
      store: { database, now, scratch, instance, kinds: Object.keys(kinds) },
      configuration,
      token: token && readSecret(token, process.env),
    });

    listening.url = await listenOn(app, configuration);
    const socketServer = await listenOnSocket(app, folder.socketPath);
    warnAboutPlaces(context, listening.url);
    const running = { folder, context, app, socketServer, state, closeDatabase: opened.close };
    const { stop, ended } = createStop(running, () => stopWatch());
    const endSoon = (trouble?: Error) =>
      void stop(trouble).catch((error) =>
        log('error', 'The service did not stop cleanly.', { error: `${error}` }),
      );
    const stopWatch = configuration.idleMs
      ? watchIdle({ server: app.server, queue, now, idleMs: configuration.idleMs, end: () => endSoon() })
      : () => {};
    await moveTasks(context);
    queue.start(kinds);
    await schedulePruning(context);

    const service = { url: listening.url, socket: folder.socketPath, pid: process.pid, version, instance };
    const announced = {
      ...service,
      ...(configuration.database && { database: maskPassword(configuration.database) }),
      ...(configuration.storage && { storage: configuration.storage }),
      previews: listPreviews(configuration),
    };
    folder.announce(announced, (error) => {
      log('error', error.message);
      endSoon(error);
    });
    state.ready = true;
    log('info', 'The service is ready.', { url: baseUrl(), data: path, version, instance });
    return {
      url: baseUrl(),
      localUrl: listening.url,
      metricsUrl: metricsAddress && `${metricsAddress}/metrics`,
      ownerToken: folder.ownerToken,
      instance,
      context,
      signFor: (subject) => signToken(context, subject),
      stop: () => stop(),
      ended,
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface StartedParts extends Pick<Context, 'configuration' | 'log' | 'count'> {
  readonly folder: DataFolder;
  readonly compatibility: Compatibility;
  readonly opened: Awaited<ReturnType<typeof openDatabase>>;
  readonly instance: string;
  /** Where the service listens, once it does. */
  readonly listening: { readonly url: string };
}

/** Creates what requests and jobs use. */
async function createContext(
  { folder, configuration, compatibility, opened, instance, listening, log, count }: StartedParts,
  { lookup, engines: given, isEmbedded = false }: ServiceParts,
  scenario: Scenario | undefined,
) {
  const { database, notices, now } = opened;
  const { limits, publicUrl, minFreeDiskBytes: minFreeBytes } = configuration;
  const alone = notices === undefined;
  const maxDelayMs = Math.max(limits.uploadAbandonedSeconds, limits.offPeakSeconds) * 1000;
  const queue = new LeasedTable({ database, now, log, count, instance, alone, notices, maxDelayMs });
  const keys = await loadKeys(database, now, folder, !alone);
  const reloadKeys = () => keys.reload().catch((error) => log('warn', `Keys were not read: ${error}`));
  notices?.on('keys', () => void reloadKeys());
  const scratch = emptyFolder(join(folder.path, 'scratch'));
  const objects = join(folder.path, 'objects');
  const before = alone ? undefined : now() - 24 * 60 * 60_000;
  const storage = await openStorage(configuration, { objects, before, scratch, env: process.env });
  await bindStorage(database, storage, { setting: configuration.storage, folder: objects, alone });
  const baseUrl = () => publicUrl?.replace(/\/+$/, '') ?? listening.url;
  const callbacks = new VendorCallbacks({ configuration, database, queue, keys, now, baseUrl });
  const troubles = new EngineTroubles();
  const engineOptions = { env: process.env, database, callbacks, troubles, limits, now, log, count };
  const engines = { ...(await createEngines(configuration.generation, engineOptions)), ...given };
  const issuers = configuration.issuers.map((settings) => createVerifier(settings, { now, log }));
  const reservations = new Reservations({ database, now });
  // No other service uses the database, so they are those of one that was killed.
  if (alone) await reservations.removeAll();
  const context: Context = {
    ...{ configuration, compatibility, database, storage, queue, keys, reservations, scratch },
    ...{ now, baseUrl, isEmbedded, lookup, log, count },
    engines: scenario?.disturbEngines(engines) ?? engines,
    verifiers: [verifyOwnToken, ...issuers],
    verifyJob: createCiVerifier(configuration.publish.issuers.map(completeIssuer), { now, log }),
    packReaders: {
      quick: new PackReader({ limits: QUICK_LIMITS }),
      thorough: new PackReader({ limits: { yields: true } }),
    },
    installs: new InstallCounts({ database, now, log }),
    inspector: new ImageInspector(),
    disk: new DiskSpace({ folder: folder.path, minFreeBytes }),
    preparations: new FairQueue(Number.POSITIVE_INFINITY, PREPARATIONS_OF_USER),
  };
  return { context, callbacks, troubles };
}

/** Warns about places that only this machine knows, in a service that others use. */
function warnAboutPlaces({ configuration, log }: Context, url: string): void {
  const { publicUrl, database, storage } = configuration;
  if (publicUrl === undefined && isExposed(configuration))
    log('warn', `URLs in answers begin with ${url}; set publicUrl to the address that clients use.`);
  if (database !== undefined && storage === undefined)
    log(
      'warn',
      'Files are in the data folder; services that share the database need storage to be a place they share.',
    );
}

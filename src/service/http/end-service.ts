import type { Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { isExposed } from '../configuration/configuration.js';
import { awaitWithin, TimedOut } from '../network/run-within.js';
import type { Context } from '../operation/context.js';
import type { DataFolder } from '../storage/data-folder.js';
import { closeServers, LAST_IDLE_MS } from './listen.js';

/** Long enough for a load balancer that asks `/ready` every second or two. */
const DEFAULT_DRAIN_MS = 5_000;

export interface RunningParts {
  readonly folder: DataFolder;
  readonly context: Context;
  readonly app: FastifyInstance;
  readonly socketServer: Server;
  readonly state: { ready: boolean };
  readonly closeDatabase: () => Promise<void>;
}

/**
 * Creates `stop`, which stops the service once; called again, it serves no further requests. `ended` resolves to what the
 * service ended for, unless it was asked to stop.
 */
export function createStop(running: RunningParts, before: () => void) {
  let stopping: Promise<void> | undefined;
  let resolve = (_?: Error) => {};
  const ended = new Promise<Error | undefined>((done) => {
    resolve = done;
  });
  const draining = new AbortController();
  const stop = (trouble?: Error) => {
    before();
    if (stopping) draining.abort();
    stopping ??= endService(running, draining.signal).finally(() => resolve(trouble));
    return stopping;
  };
  return { stop, ended };
}

/** How long queries may take that began within `graceMs`. */
const LAST_QUERIES_MS = 10_000;

async function endService(
  { folder, context, app, socketServer, state, closeDatabase }: RunningParts,
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
    const { operations = {}, ...ofKinds } = engines;
    const makers = [...Object.values(ofKinds), ...Object.values(operations)];
    const parts = [...Object.values(packReaders), ...makers, inspector];
    await Promise.all(parts.map((part) => part.close?.()));
    await closeDatabase();
    folder.release();
    context.log('info', 'The service has stopped.');
  }
}

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUrl } from '../../contract/schema/values.js';
import { inspectArchive } from '../../pack/read-archive.js';
import { findRow } from '../database/database.js';
import { FetchFailed } from '../network/fetch-media.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { createScratchFolder } from '../operation/scratch-folder.js';
import { fetchFromUplink, mayAsk, readForArchive } from '../registry/uplink.js';
import { findPinned } from '../registry/uplink-kept.js';
import { VersionRules } from '../registry/uplink-rules.js';
import { nameCaller } from './rate-limit.js';
import { type ArchiveFile, sendArchiveFile } from './send-file.js';

interface ArchiveOfUplink {
  readonly nodeId: string;
  readonly version: string;
}

/** Adds GET and HEAD of the archives of the registry behind this one. Each is fetched once, and then kept. */
export function routeUplinkArchives(
  app: FastifyInstance,
  context: Context,
  admit: (request: FastifyRequest) => Promise<Caller>,
): void {
  if (!context.configuration.uplink) return;
  const fetches = new ArchiveFetches(context);
  app.route<{ Params: ArchiveOfUplink }>({
    method: ['GET', 'HEAD'],
    exposeHeadRoute: false,
    url: '/uplink/:nodeId/:version/node.zip',
    config: { countsCallers: true },
    handler: async (request, reply) => {
      const who = nameCaller({ caller: await admit(request), ip: request.ip });
      return sendArchive(context, fetches, who, request, reply);
    },
  });
}

/** Fetches that run at the same time; each holds a file. */
const MAX_FETCHES = 8;
/** Decided: how many of them are of one user or network. */
const MAX_FETCHES_EACH = 2;
/** How long a fetch runs before it gives way to another one, if there are too many. */
const TURN_MS = 30_000;
/** Decided: a slower server is given up. */
const MIN_SPEED = { bytesPerSecond: 64 * 1024, windowMs: 20_000 };

interface ArchiveFetch {
  readonly who: string;
  readonly startedAt: number;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** The fetches that are running, by archive. A slow server must not keep everybody from the archives of others. */
class ArchiveFetches {
  readonly #context: Context;
  readonly #running = new Map<string, ArchiveFetch>();

  constructor(context: Context) {
    this.#context = context;
  }

  /**
   * Fetches an archive, or waits for the fetch of it that is running, and for those of the same user.
   * @throws Refused not_found, unavailable
   */
  async run(name: ArchiveOfUplink, who: string): Promise<void> {
    const key = `${name.nodeId}@${name.version}`;
    for (;;) {
      const running = this.#running.get(key);
      if (running) return running.done;
      const own = [...this.#running.values()].filter((one) => one.who === who);
      if (own.length < MAX_FETCHES_EACH) break;
      await Promise.race(own.map(({ done }) => done.catch(() => undefined)));
    }
    if (this.#running.size >= MAX_FETCHES) this.#endOldest();
    const controller = new AbortController();
    const done = keepArchive(this.#context, name, controller.signal).finally(() => this.#running.delete(key));
    this.#running.set(key, { who, startedAt: this.#context.now(), controller, done });
    await done;
  }

  /** @throws Refused unavailable if all of them may still run */
  #endOldest(): void {
    // The order is that of their beginning.
    const oldest = [...this.#running.values()].find(({ controller }) => !controller.signal.aborted);
    if (!oldest || this.#context.now() - oldest.startedAt < TURN_MS)
      throw new Refused('unavailable', 'The service is fetching other archives; try again soon.');
    oldest.controller.abort(new FetchFailed('other archives waited for it'));
  }
}

/** Other registries have versions such as `1.0`. What is written otherwise cannot be the name of a file. */
const VERSION_NAME = /^[\w.+-]{1,128}$/;

async function sendArchive(
  context: Context,
  fetches: ArchiveFetches,
  who: string,
  request: FastifyRequest<{ Params: ArchiveOfUplink }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { nodeId } = request.params;
  if (!VERSION_NAME.test(request.params.version) || !(await mayAsk(context, nodeId)))
    throw new Refused('not_found', 'Archive not found.');
  const pinned = await findPinned(context.database, nodeId, request.params.version);
  if (pinned) new VersionRules(context, nodeId).require(pinned);
  else await fetches.run(request.params, who);
  const archive = await findArchive(context, request.params);
  if (!archive) throw new Refused('not_found', 'Archive not found.');
  return sendArchiveFile(context, request, reply, archive);
}

async function findArchive(
  { database }: Pick<Context, 'database'>,
  { nodeId, version }: ArchiveOfUplink,
): Promise<ArchiveFile | undefined> {
  const row = await findRow(database, 'uplink_versions', { node_id: nodeId, version });
  if (!row) return undefined;
  const { archive_key: key, archive_size: size, archive_sha256: sha256, archive_tree: tree } = row;
  return { key, size, sha256, tree };
}

/**
 * Fetches an archive and records its bytes, which are those of this version from now on.
 * @throws Refused not_found, unavailable
 */
async function keepArchive(context: Context, name: ArchiveOfUplink, signal: AbortSignal): Promise<void> {
  const { database, storage, now, log, disk } = context;
  const { limits } = context.configuration;
  // Strangers choose what is kept.
  const space = await disk.reserve('uplink');
  const admit = (bytes: number) => space.grow(2 * bytes);
  const folder = createScratchFolder(context);
  try {
    const { node, version } = await readForArchive(context, name.nodeId, name.version);
    if (version.version !== name.version || version.downloadUrl === undefined) return;
    new VersionRules(context, name.nodeId).require(version);
    if (!isUrl(version.downloadUrl)) throw new FetchFailed('its archive has no valid URL');
    const path = join(folder.path, 'node.zip');
    const url = new URL(version.downloadUrl);
    const limited = { bytes: limits.archive, seconds: 600, minSpeed: MIN_SPEED, signal, admit };
    await fetchFromUplink(context, url, path, { ...limited, media: 'archive' });
    const inspection = await inspectArchive(path, limits);
    if (!inspection.ok) throw new FetchFailed('its archive cannot be read');
    const key = `uplink/${name.nodeId}/${randomUUID()}.zip`;
    const stored = await storage.write(key, createReadStream(path), limits.archive);
    const { downloadUrl: _, archive_sha256: promised = stored.sha256, ...details } = version;
    if (promised !== stored.sha256) {
      await storage.remove(key);
      throw new FetchFailed('its archive has another digest than it says');
    }
    const row = {
      node_id: name.nodeId,
      version: name.version,
      node: JSON.stringify(node),
      details: JSON.stringify({ ...details, archive_sha256: stored.sha256 }),
      archive_key: key,
      archive_size: stored.size,
      archive_sha256: stored.sha256,
      archive_tree: inspection.tree,
      fetched_at: new Date(now()).toISOString(),
    };
    const { numInsertedOrUpdatedRows } = await database.transaction().execute((tx) =>
      tx
        .insertInto('uplink_versions')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst(),
    );
    // Another service on the same database was first.
    if (numInsertedOrUpdatedRows === 0n) await storage.remove(key);
    log('info', 'An archive of the uplink is kept.', { node: name.nodeId, version: name.version });
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error;
    if (error.status === 404) throw new Refused('not_found', 'Archive not found.');
    log('warn', 'An archive of the uplink could not be fetched.', { ...name, error: error.message });
    throw new Refused(
      'unavailable',
      'The registry behind this one does not give the archive; try again soon.',
    );
  } finally {
    await folder.remove();
    space.release();
  }
}

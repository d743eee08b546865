import { sql } from 'kysely';
import { LEAST_DAYS, type RetentionSettings } from '../configuration/retention-settings.js';
import { deleteRows, findRow, type Tx, updateRows } from '../database/database.js';
import { parseResults } from '../generation/results.js';
import { ACTIVE_STATUSES } from '../generation/task-states.js';
import type { Context } from '../operation/context.js';
import type { JobHandler, NewJob } from '../queue/queue.js';

type PruneContext = Pick<Context, 'configuration' | 'database' | 'queue' | 'now'>;

/** What was removed of one kind of data, or would be. */
export interface PrunedKind {
  readonly kind: keyof RetentionSettings;
  /** Null if it is kept for ever. */
  readonly days: number | null;
  readonly count: number;
  /** Of files. */
  readonly bytes: number;
}

export interface PruneOptions {
  /** Only counts. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Told of the jobs that remove the files, which are enqueued. */
  readonly onFiles?: (job: NewJob) => void;
}

/** A row that is old enough. */
interface OldRow {
  readonly id: string | number;
  /** Of its files. */
  readonly bytes: number;
  /** Removes its files once the row is gone. */
  readonly job?: NewJob;
}

/** One kind of data: its rows in the order of their ids, a page at a time, and how they are removed. */
interface Kind {
  readonly first: string | number;
  /** Days beyond the setting, in which links that were given out expire. */
  readonly grace?: number;
  list(tx: Tx, before: string, after: string | number): Promise<readonly OldRow[]>;
  remove(tx: Tx, ids: readonly (string | number)[]): Promise<void>;
}

const PAGE = 200;
const DAY_MS = 24 * 60 * 60_000;

/** Removes what is older than the configuration keeps, a page of rows per transaction. */
export async function prune(context: PruneContext, options: PruneOptions = {}): Promise<PrunedKind[]> {
  const { retention } = context.configuration;
  const pruned: PrunedKind[] = [];
  for (const [kind, { first, grace = 0, list, remove }] of Object.entries(KINDS) as [
    keyof RetentionSettings,
    Kind,
  ][]) {
    const days = retention[kind];
    let [count, bytes, after] = [0, 0, first];
    while (days !== false) {
      options.signal?.throwIfAborted();
      const before = new Date(context.now() - (days + grace) * DAY_MS).toISOString();
      const rows = await context.database.transaction().execute(async (tx) => {
        const found = await list(tx, before, after);
        if (options.dryRun || found.length === 0) return found;
        await remove(
          tx,
          found.map(({ id }) => id),
        );
        for (const { job } of found) if (job) await context.queue.enqueue(tx, job);
        return found;
      });
      for (const { bytes: size, job } of rows) {
        bytes += size;
        if (job) options.onFiles?.(job);
      }
      count += rows.length;
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.id as string | number;
    }
    pruned.push({ kind, days: days === false ? null : days, count, bytes });
  }
  return pruned;
}

// Decided: links of a task's files are valid for a week, so the files outlast the last link.
const results: Kind = {
  first: '',
  grace: LEAST_DAYS,
  list: async (tx, before, after) => {
    const rows = await tx
      .selectFrom('tasks')
      .select(['id', 'creator', 'results'])
      .where('id', '>', after as string)
      .where('created_at', '<', before)
      .where('status', 'not in', ACTIVE_STATUSES)
      .where('results', 'is not', null)
      .where('results', '<>', '[]')
      .orderBy('id')
      .limit(PAGE)
      .execute();
    return rows.map(({ id, creator, results: files }) => ({
      id,
      bytes: parseResults(files).reduce((sum, { size }) => sum + size, 0),
      job: { kind: 'forget-inputs', key: id, owner: creator },
    }));
  },
  remove: async (tx, ids) => {
    await updateRows(tx, 'tasks', { id: ids as string[] }, { results: '[]' });
  },
};

const tasks: Kind = {
  first: '',
  list: async (tx, before, after) => {
    const rows = await tx
      .selectFrom('tasks')
      .select(['id', 'creator'])
      .where('id', '>', after as string)
      .where('created_at', '<', before)
      .where('status', 'not in', ACTIVE_STATUSES)
      .where((where) => where.or([where('results', 'is', null), where('results', '=', '[]')]))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('webhook_deliveries')
              .select('number')
              .whereRef('webhook_deliveries.task_id', '=', 'tasks.id')
              .where('webhook_deliveries.status', '=', 'pending'),
          ),
        ),
      )
      .orderBy('id')
      .limit(PAGE)
      .execute();
    return rows.map(({ id, creator }) => ({
      id,
      bytes: 0,
      job: { kind: 'forget-inputs', key: id, owner: creator },
    }));
  },
  remove: async (tx, given) => {
    const ids = given as string[];
    await deleteRows(tx, 'webhook_deliveries', { task_id: ids });
    await deleteRows(tx, 'events', { subject_kind: 'task', subject_id: ids });
    await deleteRows(tx, 'tasks', { id: ids });
  },
};

const deliveries: Kind = {
  first: 0,
  list: async (tx, before, after) => {
    const rows = await tx
      .selectFrom('webhook_deliveries')
      .select('number as id')
      .where('number', '>', after as number)
      .where('created_at', '<', before)
      .where('status', '<>', 'pending')
      .orderBy('number')
      .limit(PAGE)
      .execute();
    return rows.map(({ id }) => ({ id, bytes: 0 }));
  },
  remove: async (tx, ids) => {
    await deleteRows(tx, 'webhook_deliveries', { number: ids as number[] });
  },
};

// Decided: what happened to a version stays with it: it says why its number cannot be used again.
const events: Kind = {
  first: 0,
  list: async (tx, before, after) => {
    const rows = await tx
      .selectFrom('events')
      .select('id')
      .where('id', '>', after as number)
      .where('at', '<', before)
      .where('subject_kind', '<>', 'version')
      .orderBy('id')
      .limit(PAGE)
      .execute();
    return rows.map(({ id }) => ({ id, bytes: 0 }));
  },
  remove: async (tx, ids) => {
    await deleteRows(tx, 'events', { id: ids as number[] });
  },
};

/** Archives of versions that have a status, or whose node has one, since a time. */
function createArchiveKind(status: 'Deleted' | 'Banned'): Kind {
  const since = (kind: string, id: string, name: string) => sql<string>`(select max(events.at) from events
    where events.subject_kind = ${kind} and events.subject_id = ${sql.ref(id)} and events.status = ${name})`;
  const version = `NodeVersionStatus${status}`;
  return {
    first: '',
    list: async (tx, before, after) => {
      const rows = await tx
        .selectFrom('versions')
        .innerJoin('nodes', 'nodes.id', 'versions.node_id')
        .select(['versions.id', 'versions.archive_size', 'nodes.publisher_id'])
        .where('versions.id', '>', after as string)
        .where('versions.archive_key', 'is not', null)
        .where((where) =>
          where.or([
            where.and([
              where('versions.status', '=', version),
              where(since('version', 'versions.id', version), '<', before),
            ]),
            // A ban of a node may be lifted; its deletion may not.
            ...(status === 'Deleted'
              ? [
                  where.and([
                    where('nodes.status', '=', 'NodeStatusDeleted'),
                    where(since('node', 'nodes.id', 'NodeStatusDeleted'), '<', before),
                  ]),
                ]
              : []),
          ]),
        )
        .orderBy('versions.id')
        .limit(PAGE)
        .execute();
      return rows.map(({ id, archive_size, publisher_id: owner }) => ({
        id,
        bytes: Number(archive_size),
        job: { kind: 'abandon-version', key: id, owner },
      }));
    },
    remove: async (tx, ids) => {
      await updateRows(tx, 'versions', { id: ids as string[] }, { archive_key: null });
    },
  };
}

const KINDS: Readonly<Record<keyof RetentionSettings, Kind>> = {
  results,
  tasks,
  deliveries,
  events,
  deletedArchives: createArchiveKind('Deleted'),
  bannedArchives: createArchiveKind('Banned'),
};

const DAILY = { kind: 'prune', key: 'daily', owner: '' } as const;

/** Schedules the daily pruning, unless it is scheduled already. */
export async function schedulePruning({ database, queue, now }: PruneContext): Promise<void> {
  await database.transaction().execute(async (tx) => {
    const scheduled = await findRow(tx, 'jobs', { kind: DAILY.kind, key: DAILY.key });
    if (!scheduled) await queue.enqueue(tx, { ...DAILY, runAt: now() + DAY_MS });
  });
}

/** Prunes, and schedules the next time. */
export function pruneDaily(context: Context): JobHandler {
  return async ({ commit }, signal) => {
    const pruned = await prune(context, { signal });
    for (const { kind, count, bytes } of pruned)
      if (count > 0) context.log('info', 'pruned', { kind, count, bytes });
    const next = { ...DAILY, runAt: context.now() + DAY_MS };
    await commit((tx) => context.queue.enqueue(tx, next));
  };
}

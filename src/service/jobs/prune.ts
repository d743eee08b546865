import { type RawBuilder, sql } from 'kysely';
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
  /** The owner of the job that removes its files. */
  readonly owner?: string;
  /** Of its files, unless `files` lists them. */
  readonly bytes?: number;
  /** As the column `results` of a task. */
  readonly files?: string;
}

/** One kind of data: its rows in the order of their ids, a page at a time, and how they are removed. */
interface Kind {
  readonly first: string | number;
  /** Days beyond the setting, in which links that were given out expire. */
  readonly grace?: number;
  /** The kind of job that removes the files of a row once the row is gone. */
  readonly job?: string;
  list(before: string, after: string | number): RawBuilder<OldRow>;
  remove(tx: Tx, ids: readonly (string | number)[]): Promise<unknown>;
}

const PAGE = 200;
const DAY_MS = 24 * 60 * 60_000;

/** Removes what is older than the configuration keeps, a page of rows per transaction. */
export async function prune(context: PruneContext, options: PruneOptions = {}): Promise<PrunedKind[]> {
  const { configuration, database, queue, now } = context;
  const pruned: PrunedKind[] = [];
  for (const [kind, { first, grace = 0, job, list, remove }] of Object.entries(KINDS) as [
    keyof RetentionSettings,
    Kind,
  ][]) {
    const days = configuration.retention[kind];
    let [count, bytes, after] = [0, 0, first];
    while (days !== false) {
      options.signal?.throwIfAborted();
      const before = new Date(now() - (days + grace) * DAY_MS).toISOString();
      const jobs: NewJob[] = [];
      const rows = await database.transaction().execute(async (tx) => {
        const found = (await list(before, after).execute(tx)).rows;
        jobs.length = 0;
        if (job) jobs.push(...found.map(({ id, owner = '' }) => ({ kind: job, key: String(id), owner })));
        if (options.dryRun || found.length === 0) return found;
        await remove(
          tx,
          found.map(({ id }) => id),
        );
        for (const one of jobs) await queue.enqueue(tx, one);
        return found;
      });
      bytes += rows.reduce((sum, row) => sum + countBytes(row), 0);
      for (const one of jobs) options.onFiles?.(one);
      count += rows.length;
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.id as string | number;
    }
    pruned.push({ kind, days: days === false ? null : days, count, bytes });
  }
  return pruned;
}

function countBytes({ bytes = 0, files = '[]' }: OldRow): number {
  return parseResults(files).reduce((sum, { size }) => sum + size, Number(bytes));
}

const isEnded = sql`status not in (${sql.join(ACTIVE_STATUSES.map((status) => sql.lit(status)))})`;

// Decided: links of a task's files are valid for a week, so the files outlast the last link.
const results: Kind = {
  first: '',
  grace: LEAST_DAYS,
  job: 'forget-inputs',
  list: (before, after) => sql`select id, creator as owner, results as files from tasks
    where id > ${after} and created_at < ${before} and ${isEnded} and results is not null and results <> '[]'
    order by id limit ${PAGE}`,
  remove: (tx, ids) => updateRows(tx, 'tasks', { id: ids as string[] }, { results: '[]' }),
};

const tasks: Kind = {
  first: '',
  job: 'forget-inputs',
  list: (before, after) => sql`select id, creator as owner from tasks
    where id > ${after} and created_at < ${before} and ${isEnded} and (results is null or results = '[]')
      and not exists (select 1 from webhook_deliveries where task_id = tasks.id and status = 'pending')
    order by id limit ${PAGE}`,
  remove: async (tx, given) => {
    const ids = given as string[];
    await deleteRows(tx, 'webhook_deliveries', { task_id: ids });
    await deleteRows(tx, 'events', { subject_kind: 'task', subject_id: ids });
    await deleteRows(tx, 'tasks', { id: ids });
  },
};

const deliveries: Kind = {
  first: 0,
  list: (before, after) => sql`select number as id from webhook_deliveries
    where number > ${after} and created_at < ${before} and status <> 'pending' order by number limit ${PAGE}`,
  remove: (tx, ids) => deleteRows(tx, 'webhook_deliveries', { number: ids as number[] }),
};

// Decided: what happened to a version stays with it: it says why its number cannot be used again.
const events: Kind = {
  first: 0,
  list: (before, after) => sql`select id from events
    where id > ${after} and at < ${before} and subject_kind <> 'version' order by id limit ${PAGE}`,
  remove: (tx, ids) => deleteRows(tx, 'events', { id: ids as number[] }),
};

/** Archives of versions that have a status, or whose node has one, since a time. */
function createArchiveKind(status: 'Deleted' | 'Banned'): Kind {
  const since = (kind: string, id: string, name: string) => sql`(select max(events.at) from events
    where events.subject_kind = ${kind} and events.subject_id = ${sql.ref(id)} and events.status = ${name})`;
  const version = `NodeVersionStatus${status}`;
  // A ban of a node may be lifted; its deletion may not.
  const ofNode = (before: string) =>
    status === 'Banned'
      ? sql``
      : sql`or (nodes.status = 'NodeStatusDeleted' and ${since('node', 'nodes.id', 'NodeStatusDeleted')} < ${before})`;
  return {
    first: '',
    job: 'abandon-version',
    list: (before, after) => sql`select versions.id, archive_size as bytes, nodes.publisher_id as owner
      from versions join nodes on nodes.id = versions.node_id
      where versions.id > ${after} and archive_key is not null and (
        (versions.status = ${version} and ${since('version', 'versions.id', version)} < ${before}) ${ofNode(before)})
      order by versions.id limit ${PAGE}`,
    remove: (tx, ids) => updateRows(tx, 'versions', { id: ids as string[] }, { archive_key: null }),
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

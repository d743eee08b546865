import { type RawBuilder, sql } from 'kysely';
import { LEAST_DAYS, type RetentionSettings } from '../configuration/retention-settings.js';
import { deleteRows, findRow, type Tx, updateRows } from '../database/database.js';
import { PUBLIC_EVENTS } from '../database/migration.js';
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
  /** Called with each job that removes files, which is enqueued. */
  readonly onFiles?: (job: NewJob) => void;
}

interface OldRow {
  readonly id: string | number;
  /** The owner of the job that removes its files. */
  readonly owner?: string;
  /** Of its files, unless `files` lists them. */
  readonly bytes?: number;
  /** As the column `results` of a task. */
  readonly files?: string;
}

interface Kind {
  /** Columns of an `OldRow`, and their tables. */
  readonly rows: string;
  /** The column of `id`, in whose order rows are removed. */
  readonly order: string;
  isOld(before: string): RawBuilder<unknown>;
  /** Days beyond the setting, in which links that were given out expire. */
  readonly grace?: number;
  /** The kind of job that removes the files of a row once the row is gone. */
  readonly job?: 'forget-inputs' | 'abandon-version';
  remove(tx: Tx, ids: never[]): Promise<unknown>;
}

const isEnded = sql`status not in (${sql.join(ACTIVE_STATUSES.map((status) => sql.lit(status)))})`;

/** When a row got a status. */
const since = (kind: string, id: string, status: string) => sql`(select max(events.at) from events
  where events.subject_kind = ${kind} and events.subject_id = ${sql.ref(id)} and events.status = ${status})`;

const isVersionSince = (status: string, before: string) =>
  sql`(versions.status = ${status} and ${since('version', 'versions.id', status)} < ${before})`;

const ARCHIVES = {
  rows: `versions.id, archive_size as bytes, nodes.publisher_id as owner
    from versions join nodes on nodes.id = versions.node_id`,
  order: 'versions.id',
  job: 'abandon-version',
  remove: async (tx: Tx, ids: string[]) => {
    await deleteRows(tx, 'readmes', { version_id: ids });
    await updateRows(tx, 'versions', { id: ids }, { archive_key: null });
  },
} as const;

const KINDS: Readonly<Record<keyof RetentionSettings, Kind>> = {
  results: {
    rows: 'id, creator as owner, results as files from tasks',
    order: 'id',
    isOld: (before) => sql`created_at < ${before} and ${isEnded} and results is not null and results <> '[]'`,
    // Decided: links of a task's files are valid for a week, so the files outlast the last link.
    grace: LEAST_DAYS,
    job: 'forget-inputs',
    remove: (tx, ids) => updateRows(tx, 'tasks', { id: ids }, { results: '[]' }),
  },
  tasks: {
    rows: 'id, creator as owner from tasks',
    order: 'id',
    isOld: (before) => sql`created_at < ${before} and ${isEnded} and (results is null or results = '[]')
      and not exists (select 1 from webhook_deliveries where task_id = tasks.id and status = 'pending')`,
    job: 'forget-inputs',
    remove: async (tx, ids) => {
      await deleteRows(tx, 'webhook_deliveries', { task_id: ids });
      await deleteRows(tx, 'events', { subject_kind: 'task', subject_id: ids });
      await deleteRows(tx, 'tasks', { id: ids });
    },
  },
  deliveries: {
    rows: 'number as id from webhook_deliveries',
    order: 'number',
    isOld: (before) => sql`created_at < ${before} and status <> 'pending'`,
    remove: (tx, ids) => deleteRows(tx, 'webhook_deliveries', { number: ids }),
  },
  // Decided: what happened to a version stays with it: it says why its number cannot be used again. The feed of changes
  // stays whole, too, so that a new mirror can begin with it.
  events: {
    rows: 'id from events',
    order: 'id',
    isOld: (before) => sql`at < ${before} and subject_kind <> 'version' and not (${sql.raw(PUBLIC_EVENTS)})`,
    remove: (tx, ids) => deleteRows(tx, 'events', { id: ids }),
  },
  deletedArchives: {
    ...ARCHIVES,
    isOld: (before) => sql`archive_key is not null and (${isVersionSince('NodeVersionStatusDeleted', before)}
      or (nodes.status = 'NodeStatusDeleted' and ${since('node', 'nodes.id', 'NodeStatusDeleted')} < ${before}))`,
  },
  // A ban of a node may be lifted; its deletion may not.
  bannedArchives: {
    ...ARCHIVES,
    isOld: (before) => sql`archive_key is not null and ${isVersionSince('NodeVersionStatusBanned', before)}`,
  },
};

const PAGE = 200;
const DAY_MS = 24 * 60 * 60_000;

/** Removes what is older than the configuration keeps, a page of rows per transaction. */
export async function prune(
  { configuration, database, queue, now }: PruneContext,
  { dryRun = false, signal, onFiles = () => {} }: PruneOptions = {},
): Promise<PrunedKind[]> {
  const pruned: PrunedKind[] = [];
  for (const [name, kind] of Object.entries(KINDS) as [keyof RetentionSettings, Kind][]) {
    const days = configuration.retention[name];
    let [count, bytes, after] = [0, 0, sql`true`];
    while (days !== false) {
      signal?.throwIfAborted();
      const before = new Date(now() - (days + (kind.grace ?? 0)) * DAY_MS).toISOString();
      const rows = await database.transaction().execute(async (tx) => {
        const found = await sql<OldRow>`select ${sql.raw(kind.rows)} where ${after} and ${kind.isOld(before)}
          order by ${sql.ref(kind.order)} limit ${PAGE}`.execute(tx);
        if (dryRun || found.rows.length === 0) return found.rows;
        await kind.remove(tx, found.rows.map(({ id }) => id) as never[]);
        for (const job of listJobs(kind, found.rows)) await queue.enqueue(tx, job);
        return found.rows;
      });
      listJobs(kind, rows).forEach(onFiles);
      count += rows.length;
      bytes += rows.reduce((sum, row) => sum + countBytes(row), 0);
      if (rows.length < PAGE) break;
      after = sql`${sql.ref(kind.order)} > ${rows.at(-1)?.id}`;
    }
    pruned.push({ kind: name, days: days || null, count, bytes });
  }
  return pruned;
}

/** The jobs that remove the files of rows. */
function listJobs({ job }: Kind, rows: readonly OldRow[]): NewJob[] {
  return job ? rows.map(({ id, owner = '' }) => ({ kind: job, key: String(id), owner })) : [];
}

function countBytes({ bytes = 0, files = '[]' }: OldRow): number {
  return parseResults(files).reduce((sum, { size }) => sum + size, Number(bytes));
}

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

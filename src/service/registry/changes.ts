import { type SqlBool, sql } from 'kysely';
import { removeNulls } from '../../contract/json.js';
import { shortenStatus } from '../../contract/status-names.js';
import type { Database } from '../database/database.js';
import { PUBLIC_EVENTS } from '../database/migration.js';
import type { Handlers, OperationAnswer, Read } from '../operation/call.js';
import { invalidField, Refused } from '../operation/refused.js';
import { readTotal } from './totals.js';

type Change = OperationAnswer<'registry.changes'>['changes'][number];

/** Before the first change. */
const BEGIN = '0';

/** Events that get their places at once. */
const MAX_PLACED = 1000;

// Decided: the order of the feed is given when it is read, to events that are committed: an event that is committed later
// comes later, although its transaction may have taken a lower id before. So a mirror that goes on after the last change
// that it read misses none, with any number of services and transactions of any length.
/** Gives the new events their places, one batch after the other: the counter is locked until they are committed. */
async function placeEvents(database: Database): Promise<void> {
  const isNew = sql<SqlBool>`place is null and ${sql.raw(PUBLIC_EVENTS)}`;
  if (!(await database.selectFrom('events').select('id').where(isNew).limit(1).executeTakeFirst())) return;
  await database.transaction().execute(async (tx) => {
    await sql`update totals set value = value where name = 'changes.place'`.execute(tx);
    const { numAffectedRows = 0n } = await sql`update events
      set place = ordered.number + (select value from totals where name = 'changes.place')
      from (select id, row_number() over (order by id) as number
        from (select id from events where ${isNew} order by id limit ${sql.lit(MAX_PLACED)}) as found) as ordered
      where ordered.id = events.id`.execute(tx);
    await sql`update totals set value = value + ${Number(numAffectedRows)}
      where name = 'changes.place'`.execute(tx);
  });
}

const listChanges: Read<'registry.changes'> = async ({ query }, database) => {
  const { since, last, node_id: nodeId, limit } = query;
  if (since !== undefined && last !== undefined)
    throw invalidField('last', 'cannot be given together with since');
  await placeEvents(database);
  const after = since === undefined ? 0 : await findPlace(database, since);
  const rows = await selectChanges(database, nodeId)
    .where('events.place', '>', after)
    .orderBy('events.place', last === undefined ? 'asc' : 'desc')
    .limit(last ?? limit + 1)
    .execute();
  const changes = rows.slice(0, last ?? limit).map(toChange);
  if (last !== undefined) changes.reverse();
  const cursor = changes.at(-1)?.cursor ?? since ?? (last === undefined ? BEGIN : await findEnd(database));
  return { changes, cursor, more: last === undefined && rows.length > limit };
};

/** Selects what is or was public: a version, only since it became Active for the first time. */
function selectChanges(database: Database, nodeId: string | undefined) {
  const changes = database
    .selectFrom('events')
    .leftJoin('versions', (on) =>
      on.on('events.subject_kind', '=', 'version').onRef('versions.id', '=', 'events.subject_id'),
    )
    .select(['events.place', 'events.at', 'events.action', 'events.status', 'events.publisher_id'])
    .select(['events.subject_kind', 'events.subject_id', 'versions.node_id', 'versions.version'])
    .where(
      sql<SqlBool>`(events.subject_kind <> 'version' or exists (select 1 from events as earlier
        where earlier.subject_kind = 'version' and earlier.subject_id = events.subject_id
          and earlier.id <= events.id and earlier.status = 'NodeVersionStatusActive'))`,
    );
  if (nodeId === undefined) return changes;
  // Found by their subjects first: the whole feed may be long.
  return changes.where(
    sql<SqlBool>`events.id in (select id from events where subject_kind = 'node' and subject_id = ${nodeId}
      union all select events.id from versions join events on subject_kind = 'version' and subject_id = versions.id
        where versions.node_id = ${nodeId})`,
  );
}

interface ChangeRow {
  readonly place: number | null;
  readonly at: string;
  readonly action: string;
  readonly status: string | null;
  readonly publisher_id: string | null;
  readonly subject_kind: string;
  readonly subject_id: string;
  readonly node_id: string | null;
  readonly version: string | null;
}

/** What the feed calls actions that are not a change of a status. */
const NAMES: Readonly<Record<string, string>> = {
  'node.create': 'node.created',
  'version.deprecate': 'version.deprecated',
  'version.undeprecate': 'version.undeprecated',
};

function toChange({ subject_kind: kind, subject_id: id, ...row }: ChangeRow): Change {
  return removeNulls({
    cursor: toCursor(row),
    at: row.at,
    change: NAMES[row.action] ?? `${kind}.${shortenStatus(row.status ?? '')}`,
    publisher_id: row.publisher_id,
    node_id: kind === 'node' ? id : row.node_id,
    version: row.version,
  }) as Change;
}

/** With the time of the change, because a service that was restored from a backup gives its places again. */
function toCursor({ place, at }: Pick<ChangeRow, 'place' | 'at'>): string {
  return `${place}-${Date.parse(at).toString(36)}`;
}

// Decided: a cursor that this feed did not give, or gave before the service was restored, is 410: what came after it is not
// known.
async function findPlace(database: Database, cursor: string): Promise<number> {
  if (cursor === BEGIN) return 0;
  const place = /^\d{1,15}(?=-)/.exec(cursor)?.[0];
  const row =
    place &&
    (await database
      .selectFrom('events')
      .select(['place', 'at'])
      .where('place', '=', Number(place))
      .executeTakeFirst());
  if (row && toCursor(row) === cursor) return Number(place);
  throw new Refused(
    'unknown_cursor',
    'The feed has no change with this cursor, perhaps because the service was restored from a backup; start again without since.',
  );
}

/** @returns the cursor of the last change */
async function findEnd(database: Database): Promise<string> {
  const place = await readTotal(database, 'changes.place');
  const found = database.selectFrom('events').select(['place', 'at']).where('place', '=', place);
  const row = await found.executeTakeFirst();
  return row ? toCursor(row) : BEGIN;
}

export const changeHandlers = { 'registry.changes': { read: listChanges } } satisfies Partial<Handlers>;

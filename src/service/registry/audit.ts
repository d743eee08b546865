import { removeNulls } from '../../contract/json.js';
import { countRows, type Database } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall, Read } from '../operation/call.js';
import { countPages, getOffset } from '../operation/paging.js';
import { getOwnVersion } from './access.js';

type AuditPage = OperationAnswer<'admin.audit'>;

// Decided: the audit log has every event, newest first. Owners read the events of their publisher; they see the
// email addresses of its members only, so that those of admins stay private.
/** @param publisherId absent: the events of all publishers and of none */
async function queryAuditPage(
  database: Database,
  query: OperationCall<'admin.audit'>['query'],
  publisherId?: string,
): Promise<AuditPage> {
  let events = database.selectFrom('events');
  if (publisherId !== undefined) {
    const begin = await findBegin(database, publisherId);
    events = events.where('events.publisher_id', '=', publisherId).where('events.id', '>', begin);
  }
  if (query.kind !== undefined) events = events.where('events.subject_kind', '=', query.kind);
  if (query.by !== undefined) events = events.where('events.actor', '=', query.by);
  const total = await countRows(events);
  const rows = await events
    .leftJoin('users', 'users.id', 'events.actor')
    .leftJoin('members', (on) =>
      on.onRef('members.user_id', '=', 'events.actor').on('members.publisher_id', '=', publisherId ?? ''),
    )
    .leftJoin('versions', (on) =>
      on.on('events.subject_kind', '=', 'version').onRef('versions.id', '=', 'events.subject_id'),
    )
    .select([
      'events.at',
      'events.actor as by',
      'events.token_id',
      'users.email',
      'members.role',
      'events.action',
    ])
    .select(['events.subject_kind as kind', 'events.subject_id as id', 'events.status', 'events.reason'])
    .select(['versions.node_id', 'versions.version'])
    .orderBy('events.id', 'desc')
    .limit(query.limit)
    .offset(getOffset(query))
    .execute();
  return {
    limit: query.limit,
    events: rows.map(({ email, role, ...event }) => {
      const by_email = publisherId === undefined || role !== null ? email : null;
      return removeNulls({ ...event, by_email }) as AuditPage['events'][number];
    }),
    page: query.page,
    total,
    totalPages: countPages(total, query.limit),
  };
}

/** The event with which an earlier publisher of this id was deleted, whose events are not for the next owners; or 0. */
async function findBegin(database: Database, publisherId: string): Promise<number> {
  const deleted = await database
    .selectFrom('events')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('subject_kind', '=', 'publisher')
    .where('subject_id', '=', publisherId)
    .where('action', '=', 'publisher.delete')
    .executeTakeFirst();
  return Number(deleted?.id ?? 0);
}

const getVersionHistory: Read<'version.history'> = async ({ params }, database) => {
  const { version } = await getOwnVersion(database, params);
  const events = await database
    .selectFrom('events')
    .select(['at', 'actor as by', 'status', 'reason'])
    .where('subject_kind', '=', 'version')
    .where('subject_id', '=', version.id)
    .where('status', 'is not', null)
    .orderBy('id')
    .execute();
  return events.map((event) => ({
    ...event,
    status: event.status as string,
    reason: event.reason ?? undefined,
  }));
};

export const auditHandlers = {
  'version.history': { read: getVersionHistory },
  'publisher.audit': {
    read: ({ params, query }, database) => queryAuditPage(database, query, params.publisherId),
  },
  'admin.audit': { read: ({ query }, database) => queryAuditPage(database, query) },
} satisfies Partial<Handlers>;

import type { Database } from '../../database/database.js';
import type { OperationAnswer, OperationCall } from '../../operation/call.js';
import { countPages, getOffset } from '../paging.js';

// Decided: the audit log has every event, newest first.
export async function listAuditEvents(
  { query }: OperationCall<'admin.audit'>,
  database: Database,
): Promise<OperationAnswer<'admin.audit'>> {
  const { total } = await database
    .selectFrom('events')
    .select((column) => column.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await database
    .selectFrom('events')
    .leftJoin('users', 'users.id', 'events.actor')
    .leftJoin('versions', (on) =>
      on.on('events.subject_kind', '=', 'version').onRef('versions.id', '=', 'events.subject_id'),
    )
    .select(['events.at', 'events.actor as by', 'users.email as by_email', 'events.action'])
    .select(['events.subject_kind as kind', 'events.subject_id as id', 'events.status', 'events.reason'])
    .select(['versions.node_id', 'versions.version'])
    .orderBy('events.id', 'desc')
    .limit(query.limit)
    .offset(getOffset(query))
    .execute();
  return {
    limit: query.limit,
    events: rows.map((row) => ({
      at: row.at,
      by: row.by,
      by_email: row.by_email ?? undefined,
      action: row.action,
      kind: row.kind,
      id: row.id,
      node_id: row.node_id ?? undefined,
      version: row.version ?? undefined,
      status: row.status ?? undefined,
      reason: row.reason ?? undefined,
    })),
    page: query.page,
    total: Number(total),
    totalPages: countPages(Number(total), query.limit),
  };
}

import type { Database } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import { loadViewer } from './access.js';
import { countPages, requireReachablePage } from './paging.js';
import { viewVersion } from './version-view.js';

/** Lists versions of all nodes by their status, the oldest first: those that wait longest. */
async function listForReview(
  { query, caller, context }: OperationCall<'admin.review'>,
  database: Database,
): Promise<OperationAnswer<'admin.review'>> {
  const { page, pageSize, statuses, nodeId } = query;
  const offset = requireReachablePage({ page, limit: pageSize });
  const viewer = await loadViewer(database, caller);
  const waiting = database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .where('versions.status', 'in', statuses)
    .$if(nodeId !== undefined, (all) => all.where('versions.node_id', '=', nodeId as string));
  const rows = await waiting
    .selectAll('versions')
    .select('nodes.publisher_id')
    .orderBy('versions.created_at')
    .orderBy('versions.id')
    .limit(pageSize)
    .offset(offset)
    .execute();
  const { total } = await waiting
    .select((column) => column.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return {
    versions: rows.map(({ publisher_id, ...row }) => viewVersion(context, viewer, row, publisher_id)),
    total: Number(total),
    page,
    pageSize,
    totalPages: countPages(Number(total), pageSize),
  };
}

export const reviewHandlers = {
  'admin.review': { read: listForReview },
} satisfies Partial<Handlers>;

import { type ExpressionBuilder, sql } from 'kysely';
import type { Database } from '../database/database.js';
import type { Schema } from '../database/schema.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import { getVisiblePublisher, isInsider, loadViewer, type Viewer } from './access.js';
import { viewNodes } from './node-view.js';
import { countPages, getOffset } from './paging.js';

type NodePage = OperationAnswer<'node.list'>;
type PageCall = Pick<OperationCall<'node.list'>, 'context' | 'query'>;

async function listNodes(call: OperationCall<'node.list'>, database: Database): Promise<NodePage> {
  const { publisherId } = call.params;
  const viewer = await loadViewer(database, call.caller);
  await getVisiblePublisher(database, viewer, publisherId);
  return queryNodePage(call, database, viewer, 'id', (column) => {
    const own = column('nodes.publisher_id', '=', publisherId);
    // Decided: others than insiders see only Active nodes.
    const active = column('nodes.status', '=', 'NodeStatusActive');
    return column.and(isInsider(viewer, publisherId) ? [own] : [own, active]);
  });
}

/** Finds public nodes only; `listNodes` shows members their banned and deleted nodes too. */
async function searchNodes(call: OperationCall<'node.search'>, database: Database): Promise<NodePage> {
  const words = new Set((call.query.search ?? '').toLowerCase().split(/\s+/).filter(Boolean));
  return queryNodePage(call, database, await loadViewer(database, call.caller), 'ranking', (column) =>
    column.and([
      column('nodes.status', '=', 'NodeStatusActive'),
      column('publishers.status', '=', 'PublisherStatusActive'),
      ...Array.from(words, (word) => sql<boolean>`nodes.search_text like ${toLikePattern(word)} escape '\\'`),
    ]),
  );
}

function toLikePattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`;
}

type NodeColumns = ExpressionBuilder<Schema, 'nodes' | 'publishers'>;

// Decided: lists are ordered by id; search results by search_ranking, which is 0 by default, then by id.
async function queryNodePage(
  { context, query }: PageCall,
  database: Database,
  viewer: Viewer,
  order: 'id' | 'ranking',
  wanted: (column: NodeColumns) => ReturnType<NodeColumns['and']>,
): Promise<NodePage> {
  const nodes = database
    .selectFrom('nodes')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .where(wanted);
  const { total } = await nodes
    .select((column) => column.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const ordered = order === 'ranking' ? nodes.orderBy('nodes.search_ranking', 'desc') : nodes;
  const rows = await ordered
    .selectAll('nodes')
    .orderBy('nodes.id')
    .limit(query.limit)
    .offset(getOffset(query))
    .execute();
  return {
    limit: query.limit,
    nodes: await viewNodes({ context, database, viewer }, rows),
    page: query.page,
    total: Number(total),
    totalPages: countPages(Number(total), query.limit),
  };
}

export const nodePageHandlers = {
  'node.list': { read: listNodes },
  'node.search': { read: searchNodes },
} satisfies Partial<Handlers>;

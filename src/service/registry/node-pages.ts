import type { Database } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall } from '../operation/call.js';
import { Refused } from '../operation/refused.js';
import { getVisiblePublisher, isInsider, loadViewer } from './access.js';
import { filterNodes, isUnfiltered } from './node-filters.js';
import { findNodeRecords, listNodeRecords, searchNodeRecords } from './node-records.js';
import { viewNodes } from './node-view.js';
import { countPages, requireReachablePage } from './paging.js';
import { countFound, parseSearch } from './search-index.js';

type NodePage = OperationAnswer<'node.list'>;

// Decided: lists are ordered by id; search results by search_ranking, which is 0 by default, then oldest first.
async function listNodes(call: OperationCall<'node.list'>, database: Database): Promise<NodePage> {
  const { params, query, caller, context } = call;
  const { publisherId } = params;
  const slice = { limit: query.limit, offset: requireReachablePage(query) };
  const viewer = await loadViewer(database, caller);
  await getVisiblePublisher(database, viewer, publisherId);
  // Decided: others than insiders see only Active nodes.
  const wanted = { publisherId, onlyActive: !isInsider(viewer, publisherId) };
  const records = await listNodeRecords(database, wanted, slice);
  const nodes = await viewNodes({ context, database, viewer }, records);
  return toPage(query, nodes, await countNodes(database, wanted));
}

async function countNodes(
  database: Database,
  { publisherId, onlyActive }: { readonly publisherId: string; readonly onlyActive: boolean },
): Promise<number> {
  const { total } = await database
    .selectFrom('nodes')
    .select((column) => column.fn.countAll<number>().as('total'))
    .where('publisher_id', '=', publisherId)
    .$if(onlyActive, (all) => all.where('status', '=', 'NodeStatusActive'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Finds public nodes only; `listNodes` shows members their banned and deleted nodes too. */
async function searchNodes(call: OperationCall<'node.search'>, database: Database): Promise<NodePage> {
  const { query, caller, context } = call;
  const slice = { limit: query.limit, offset: requireReachablePage(query) };
  const match = parseSearch(database, query.search ?? '');
  const viewer = await loadViewer(database, caller);
  if (query.include_banned && !viewer.admin)
    throw new Refused('admin_required', 'Only an admin may list banned nodes; leave out include_banned.');
  const { page, limit, search: _, ...filters } = query;
  if (!isUnfiltered(filters)) {
    const { ids, total } = await filterNodes(database, match, filters, slice);
    const found = await findNodeRecords(database, ids);
    return toPage({ page, limit }, await viewNodes({ context, database, viewer }, found), total);
  }
  const records = await searchNodeRecords(database, match, slice);
  const nodes = await viewNodes({ context, database, viewer }, records);
  return toPage(query, nodes, await countFound(database, match));
}

function toPage(
  { page, limit }: { readonly page: number; readonly limit: number },
  nodes: NodePage['nodes'],
  total: number,
): NodePage {
  return { limit, nodes, page, total, totalPages: countPages(total, limit) };
}

export const nodePageHandlers = {
  'node.list': { read: listNodes },
  'node.search': { read: searchNodes },
} satisfies Partial<Handlers>;

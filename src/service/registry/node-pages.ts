import { sql } from 'kysely';
import { countRows, type Database } from '../database/database.js';
import { isPostgres } from '../database/postgres.js';
import type { Handlers, OperationAnswer, OperationCall, Read } from '../operation/call.js';
import { countPages, MAX_LISTED_ROWS, type PageQuery, requireReachablePage } from '../operation/paging.js';
import { Refused } from '../operation/refused.js';
import { foldNodeId, getVisiblePublisher, isInsider, openAccess } from './access.js';
import { findNodeRecords, listNodeRecords, type Slice, searchNodeRecords } from './node-records.js';
import { countFound, MAX_FOUND, parseSearch, selectMatches } from './search-index.js';
import { viewNodes } from './views.js';

type NodePage = OperationAnswer<'node.list'>;

// Decided: lists are ordered by id; search results by search_ranking, which is 0 by default, then oldest first.
const listNodes: Read<'node.list'> = async (call, database) => {
  const { query } = call;
  const { publisherId } = call.params;
  const slice = { limit: query.limit, offset: requireReachablePage(query) };
  const access = await openAccess(call, database);
  await getVisiblePublisher(access, publisherId);
  // Decided: others than insiders see only Active nodes.
  const onlyActive = !isInsider(access.viewer, publisherId);
  const records = await listNodeRecords(database, { publisherId, onlyActive }, slice);
  const nodes = await viewNodes(access, records);
  const counted = database
    .selectFrom('nodes')
    .where('publisher_id', '=', publisherId)
    .$if(onlyActive, (all) => all.where('status', '=', 'NodeStatusActive'));
  return toPage(query, nodes, await countRows(counted));
};

/** Finds public nodes only; `listNodes` shows members their banned and deleted nodes too. */
const searchNodes: Read<'node.search'> = async (call, database) => {
  const { query } = call;
  const slice = { limit: query.limit, offset: requireReachablePage(query) };
  const match = parseSearch(database, query.search ?? '');
  const access = await openAccess(call, database);
  if (query.include_banned && !access.viewer.admin)
    throw new Refused('admin_required', 'Only an admin may list banned nodes; leave out include_banned.');
  const { page: _, limit: __, search: ___, ...filters } = query;
  if (isUnfiltered(filters)) {
    const records = await searchNodeRecords(database, match, findOnlyWord(query.search), slice);
    const nodes = await viewNodes(access, records);
    return toPage(query, nodes, await countFound(database, match));
  }
  const words = { match, word: findOnlyWord(query.search) };
  const { ids, total } = await filterNodes(database, words, filters, slice);
  return toPage(query, await viewNodes(access, await findNodeRecords(database, ids, slice)), total);
};

/** The word of a search for one, as ids are folded. */
function findOnlyWord(search = ''): string | undefined {
  const [word, other] = foldNodeId(search).trim().split(/\s+/);
  return other === undefined && word ? word : undefined;
}

function toPage({ page, limit }: PageQuery, nodes: NodePage['nodes'], total: number): NodePage {
  return { limit, nodes, page, total, totalPages: countPages(total, limit) };
}

export const nodePageHandlers = {
  'node.list': { read: listNodes },
  'node.search': { read: searchNodes },
} satisfies Partial<Handlers>;

type SearchQuery = OperationCall<'node.search'>['query'];

/** What restricts or orders a list of nodes apart from its words. */
type NodeFilters = Pick<
  SearchQuery,
  | ('timestamp' | 'supported_os' | 'supported_accelerator' | 'host_node_search')
  | ('node_id' | 'publisher_id' | 'include_banned' | 'sort')
>;

/** Whether there is nothing but words, which the search index answers alone. */
export function isUnfiltered({ sort, include_banned, ...filters }: NodeFilters): boolean {
  return !sort && !include_banned && Object.values(filters).every((value) => value === undefined);
}

const SORT_COLUMNS = {
  name: 'nodes.name',
  create_time: 'nodes.created_at',
  total_install: 'nodes.downloads',
  search_ranking: 'nodes.search_ranking',
} as const;

/**
 * @param words `match` of `parseSearch`, and the only word if there is one
 * @returns the ids of one page, in order, and how many there are, up to `MAX_LISTED_ROWS`
 */
async function filterNodes(
  database: Database,
  { match, word }: { readonly match: string; readonly word: string | undefined },
  filters: NodeFilters,
  { limit, offset }: Slice,
): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
  const found = selectFiltered(database, match, filters);
  const [column, direction] = (filters.sort ?? '').split(';') as [keyof typeof SORT_COLUMNS, string?];
  const ordered = filters.sort
    ? found.orderBy(SORT_COLUMNS[column], direction === 'desc' ? 'desc' : 'asc')
    : (word === undefined ? found : found.orderBy(orderByPrefix(word))).orderBy('nodes.search_key');
  const rows = await ordered.orderBy('nodes.number').select('nodes.id').limit(limit).offset(offset).execute();
  const total = await countRows(
    database.selectFrom(found.select('nodes.id').limit(MAX_LISTED_ROWS).as('found')),
  );
  return { ids: rows.map(({ id }) => id), total };
}

/** The same order as that of `selectLeading`. */
function orderByPrefix(word: string) {
  const start = sql`substr(nodes.folded_id, 1, ${word.length})`;
  return sql`case when nodes.folded_id = ${word} then 0 when ${start} = ${word} then 1 else 2 end`;
}

function selectFiltered(database: Database, match: string, filters: NodeFilters) {
  const { timestamp, supported_os, supported_accelerator, host_node_search, include_banned } = filters;
  const { node_id, publisher_id } = filters;
  let found = database.selectFrom('nodes');
  found = found.where((node) => {
    const words =
      match === ''
        ? node('nodes.search_key', 'is not', null)
        : sql<boolean>`nodes.search_key in ${selectMatches(database, match, MAX_FOUND, 0)}`;
    return include_banned ? node.or([words, node('nodes.status', '=', 'NodeStatusBanned')]) : words;
  });
  if (node_id !== undefined)
    found = found.where('nodes.folded_id', 'in', [...new Set(node_id.map(foldNodeId))]);
  if (publisher_id !== undefined) found = found.where('nodes.publisher_id', '=', publisher_id);
  if (timestamp !== undefined) {
    const since = new Date(timestamp).toISOString();
    found = found.where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('nodes.created_at', '>=', since),
        exists(
          selectFrom('versions')
            .select('versions.id')
            .whereRef('versions.id', '=', 'nodes.latest_version_id')
            .where('versions.created_at', '>=', since),
        ),
      ]),
    );
  }
  if (supported_os !== undefined)
    found = found.where(selectSupporting(database, 'supported_os', supported_os));
  if (supported_accelerator !== undefined)
    found = found.where(selectSupporting(database, 'supported_accelerators', supported_accelerator));
  if (host_node_search !== undefined) {
    const pattern = `%${host_node_search.replace(/[\\%_]/g, '\\$&')}%`;
    found = found.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('host_nodes')
          .select('host_nodes.name')
          .whereRef('host_nodes.node_id', '=', 'nodes.id')
          .where('host_nodes.listed', '=', sql.lit(1))
          .where('host_nodes.policy', '!=', 'HostNodePolicyBanned')
          .where(sql<boolean>`lower(host_nodes.name) like lower(${pattern}) escape '\\'`),
      ),
    );
  }
  return found;
}

// Decided: a node that names no operating systems or accelerators supports all of them.
function selectSupporting(
  database: Database,
  field: 'supported_os' | 'supported_accelerators',
  value: string,
) {
  if (isPostgres(database)) {
    const list = sql`(nodes.details::jsonb -> ${sql.lit(field)})`;
    return sql<boolean>`(coalesce(jsonb_array_length(${list}), 0) = 0 or ${list} @> to_jsonb(${value}::text))`;
  }
  const list = sql`nodes.details, ${sql.lit(`$.${field}`)}`;
  return sql<boolean>`(coalesce(json_array_length(${list}), 0) = 0
    or exists (select 1 from json_each(${list}) where value = ${value}))`;
}

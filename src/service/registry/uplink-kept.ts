import { setImmediate as letOthersRun } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Database, findRow } from '../database/database.js';
import type { OperationCall } from '../operation/call.js';
import { foldNodeId } from './access.js';
import { isUnfiltered } from './node-pages.js';
import { buildSearchText, splitSearch } from './search-index.js';
import { compareVersions } from './version-order.js';
import type { NodeView, VersionView } from './views.js';

/** What is known of a node from the archives that were served, the newest first. */
export interface KeptNode {
  readonly node: NodeView;
  readonly versions: readonly VersionView[];
}

/** What is known of a node without the registry behind this one; undefined if none of its archives was served. */
export async function findKept(database: Database, nodeId: string): Promise<KeptNode | undefined> {
  const rows = await database
    .selectFrom('uplink_versions')
    .select(['version', 'node', 'details'])
    .where('node_id', '=', nodeId)
    .execute();
  const [newest, ...older] = rows.sort((one, other) => compareVersions(other.version, one.version));
  if (!newest) return undefined;
  return {
    node: JSON.parse(newest.node),
    versions: [newest, ...older].map(({ details }) => JSON.parse(details)),
  };
}

/** A version whose archive was served, as it was then. */
export async function findPinned(
  database: Database,
  nodeId: string,
  version: string,
): Promise<VersionView | undefined> {
  const row = await findRow(database, 'uplink_versions', { node_id: nodeId, version });
  return row && (JSON.parse(row.details) as VersionView);
}

interface KeptName {
  readonly node_id: string;
  readonly version: string;
}

/** So that a page of a hundred nodes is not too long for an answer. Longer ones are not listed. */
const MAX_LISTED_BYTES = 64 * 1024;
const CHUNK = 100;

/** Finds the nodes of which archives were served, each with its newest version, by id. */
export async function searchKept(
  database: Database,
  query: OperationCall<'node.search'>['query'],
): Promise<KeptName[]> {
  const rows = await database.selectFrom('uplink_versions').select(['node_id', 'version']).execute();
  const newest = new Map<string, KeptName>();
  for (const row of rows) {
    const known = newest.get(foldNodeId(row.node_id));
    if (!known || compareVersions(known.version, row.version) < 0) newest.set(foldNodeId(row.node_id), row);
  }
  const all = [...newest].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  const { page: _, limit: __, search = '', ...filters } = query;
  if (search === '' && isUnfiltered(filters)) return all;
  const found: KeptName[] = [];
  for (let at = 0; at < all.length; at += CHUNK) {
    const nodes = await listKept(database, all.slice(at, at + CHUNK));
    const fitting = new Set(nodes.filter((node) => isFound(query, node)).map(({ id }) => id));
    found.push(...all.slice(at, at + CHUNK).filter(({ node_id }) => fitting.has(node_id)));
    await letOthersRun();
  }
  return found;
}

/** Reads nodes with the version that is named as the latest, in this order. */
export async function listKept(database: Database, names: readonly KeptName[]): Promise<NodeView[]> {
  if (names.length === 0) return [];
  const rows = await database
    .selectFrom('uplink_versions')
    .select(['node_id', 'version', 'node', 'details'])
    .where(({ and, or }) => or(names.map((name) => and(name))))
    .where(sql<boolean>`octet_length(node) + octet_length(details) <= ${MAX_LISTED_BYTES}`)
    .execute();
  const byId = new Map(rows.map((row) => [row.node_id, row]));
  return names.flatMap(({ node_id: id }) => {
    const row = byId.get(id);
    return row ? [{ ...JSON.parse(row.node), id, latest_version: JSON.parse(row.details) }] : [];
  });
}

/** Whether a search finds a node. It finds none by its definitions, which are not kept. */
function isFound(query: OperationCall<'node.search'>['query'], { id = '', ...node }: NodeView): boolean {
  const { search = '', node_id, publisher_id, timestamp, supported_os, supported_accelerator } = query;
  const supports = (listed: readonly string[] = [], one: string | undefined) =>
    one === undefined || listed.length === 0 || listed.includes(one);
  const text = buildSearchText(id, node.name ?? id, node);
  const dates = [node.created_at, node.latest_version?.createdAt].map((date = '') => Date.parse(date));
  return (
    query.host_node_search === undefined &&
    splitSearch(search).every((word) => text.includes(word)) &&
    (node_id === undefined || node_id.map(foldNodeId).includes(foldNodeId(id))) &&
    (publisher_id === undefined || node.publisher?.id === publisher_id) &&
    (timestamp === undefined || dates.some((date) => date >= Date.parse(timestamp))) &&
    supports(node.supported_os, supported_os) &&
    supports(node.supported_accelerators, supported_accelerator)
  );
}

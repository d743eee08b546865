import type { Selectable } from 'kysely';
import { compileOnce, type Database } from '../database/database.js';
import type { NodeRow, PublisherRow, PublisherTable, VersionRow, VersionTable } from '../database/schema.js';
import { selectAllFound, selectMatches } from './search-index.js';

/** A node with its publisher and its latest version, read with one query. */
export interface NodeRecord {
  readonly node: NodeRow;
  readonly publisher: PublisherRow;
  readonly latest: VersionRow | undefined;
}

const PUBLISHER = [
  ...(['id', 'name', 'description', 'logo', 'source_code_repo', 'support', 'website'] as const),
  ...(['status', 'status_reason', 'plain_id', 'created_at'] as const),
] satisfies (keyof PublisherTable)[];
const VERSION = [
  ...(['id', 'node_id', 'version', 'details', 'status', 'status_reason', 'extract_status'] as const),
  ...(['archive_size', 'archive_sha256', 'archive_tree', 'uploaded_at', 'created_at'] as const),
] satisfies (keyof VersionTable)[];

type Prefixed<Row, Prefix extends string> = {
  [Column in keyof Row & string as `${Prefix}_${Column}`]: Row[Column];
};
type JoinedRow = NodeRow &
  Prefixed<Selectable<PublisherTable>, 'p'> &
  Prefixed<Selectable<VersionTable>, 'v'>;

function selectRecords(database: Database) {
  return database
    .selectFrom('nodes')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .leftJoin('versions', 'versions.id', 'nodes.latest_version_id')
    .selectAll('nodes')
    .select(PUBLISHER.map((column) => `publishers.${column} as p_${column}` as const))
    .select(VERSION.map((column) => `versions.${column} as v_${column}` as const));
}

const selectNode = compileOnce((database: Database, nodeId: string) =>
  selectRecords(database).where('nodes.id', '=', nodeId),
);

const selectOfPublisher = (onlyActive: boolean) =>
  compileOnce((database: Database, publisherId: string, limit: number, offset: number) =>
    selectRecords(database)
      .where('nodes.publisher_id', '=', publisherId)
      .$if(onlyActive, (all) => all.where('nodes.status', '=', 'NodeStatusActive'))
      .orderBy('nodes.id')
      .limit(limit)
      .offset(offset),
  );
const selectAllOfPublisher = selectOfPublisher(false);
const selectActiveOfPublisher = selectOfPublisher(true);

const selectAll = compileOnce((database: Database, limit: number, offset: number) =>
  selectRecords(database)
    .innerJoin(selectAllFound(limit, offset).as('found'), 'found.search_key', 'nodes.search_key')
    .orderBy('found.search_key'),
);

const selectMatching = compileOnce((database: Database, match: string, limit: number, offset: number) =>
  selectRecords(database)
    .innerJoin(
      selectMatches(database, match, limit, offset).as('found'),
      'found.search_key',
      'nodes.search_key',
    )
    .orderBy('found.search_key'),
);

export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

/** @returns undefined if no node has the id, hidden ones included */
export async function findNodeRecord(database: Database, nodeId: string): Promise<NodeRecord | undefined> {
  const [row] = await selectNode(database, nodeId);
  return row && toRecord(row as JoinedRow);
}

/** The nodes with these ids, in their order. */
export async function findNodeRecords(database: Database, ids: readonly string[]): Promise<NodeRecord[]> {
  if (ids.length === 0) return [];
  const rows = (await selectRecords(database).where('nodes.id', 'in', ids).execute()) as JoinedRow[];
  const byId = new Map(rows.map((row) => [row.id, toRecord(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Lists the nodes of a publisher by id. */
export async function listNodeRecords(
  database: Database,
  { publisherId, onlyActive }: { readonly publisherId: string; readonly onlyActive: boolean },
  { limit, offset }: Slice,
): Promise<NodeRecord[]> {
  const select = onlyActive ? selectActiveOfPublisher : selectAllOfPublisher;
  return ((await select(database, publisherId, limit, offset)) as JoinedRow[]).map(toRecord);
}

/**
 * Lists the nodes that a search finds, in order.
 * @param match of `parseSearch`
 */
export async function searchNodeRecords(
  database: Database,
  match: string,
  { limit, offset }: Slice,
): Promise<NodeRecord[]> {
  const rows = await (match === ''
    ? selectAll(database, limit, offset)
    : selectMatching(database, match, limit, offset));
  return (rows as JoinedRow[]).map(toRecord);
}

function toRecord(row: JoinedRow): NodeRecord {
  return {
    node: row,
    publisher: pickPrefixed(row, 'p', PUBLISHER),
    latest: row.v_id === null ? undefined : pickPrefixed(row, 'v', VERSION),
  };
}

function pickPrefixed<Row>(row: object, prefix: string, columns: readonly string[]): Row {
  const picked: Record<string, unknown> = {};
  for (const column of columns) picked[column] = (row as Record<string, unknown>)[`${prefix}_${column}`];
  return picked as Row;
}

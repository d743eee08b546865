import { type RawBuilder, type Selectable, sql } from 'kysely';
import { compileOnce, type Database } from '../database/database.js';
import type { NodeTable, PublisherTable, VersionTable } from '../database/registry-tables.js';
import type { PublisherRow, VersionRow } from '../database/schema.js';
import { limitColumns, readPage } from '../operation/paging.js';
import { selectAllFound, selectLeading, selectMatches } from './search-index.js';

/** A version, maybe without its details, as far as it is shown. */
export type BoundedVersionRow = Omit<
  VersionRow,
  'details' | `archive_${'size' | 'tree' | 'key'}` | 'uploaded_at' | 'node_update'
> & {
  readonly details: string | null;
};

/** A node with its publisher and its latest version, read with one query. In lists, texts that are too long are null. */
export interface NodeRecord {
  readonly node: Selectable<Pick<NodeTable, Exclude<(typeof NODE)[number], 'details'>>> & {
    readonly details: string | null;
  };
  readonly publisher: PublisherRow;
  readonly latest: BoundedVersionRow | undefined;
}

const NODE = [
  ...(['id', 'name', 'details', 'publisher_id', 'status', 'status_detail'] as const),
  ...(['search_ranking', 'downloads', 'created_at'] as const),
] satisfies (keyof NodeTable)[];
const PUBLISHER = [
  ...(['id', 'name', 'description', 'logo', 'source_code_repo', 'support', 'website'] as const),
  ...(['status', 'status_reason', 'plain_id', 'created_at'] as const),
] satisfies (keyof PublisherTable)[];
const VERSION = [
  ...(['id', 'node_id', 'version', 'details', 'status', 'status_reason', 'extract_status'] as const),
  ...(['archive_sha256', 'created_at', 'provenance', 'approve_by'] as const),
] satisfies (keyof VersionTable)[];

/** A text may take its part of a page divided by this. */
const DIVISORS: Readonly<Record<string, number>> = {
  details: 4,
  description: 4,
  ...{ logo: 16, source_code_repo: 16, support: 16, website: 16 },
};

/** A record as one row, each column after the letter of its table. */
type JoinedRow = Readonly<Record<string, unknown>> & { readonly bytes: number; readonly is_cut: unknown };

const COLUMNS = Object.entries({ nodes: NODE, publishers: PUBLISHER, versions: VERSION }).flatMap(
  ([table, columns]) =>
    columns.map((column) => ({
      name: `${table}.${column}`,
      as: `${table[0]}_${column}`,
      divisor: DIVISORS[column] ?? 0,
    })),
);
const LONG = COLUMNS.filter(({ divisor }) => divisor > 0);
const SHORT = COLUMNS.filter(({ divisor }) => divisor === 0);

/** @param part bytes of a page for each record; absent: texts are read at any length */
function selectRecords(database: Database, part?: number) {
  const joined = database
    .selectFrom('nodes')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .leftJoin('versions', 'versions.id', 'nodes.latest_version_id');
  if (part === undefined) return joined.select(COLUMNS.map(({ name, as }) => sql.ref(name).as(as)));
  const limits = LONG.map(({ name, divisor }) => ({
    name,
    most: sql<number>`${part} / ${sql.lit(divisor)}`,
  }));
  const { texts, bytes, isCut } = limitColumns(limits);
  return joined
    .select(SHORT.map(({ name, as }) => sql.ref(name).as(as)))
    .select(LONG.map(({ as }, at) => (texts[at] as RawBuilder<string | null>).as(as)))
    .select([bytes, isCut]);
}

const selectNode = compileOnce((database: Database, nodeId: string) =>
  selectRecords(database).where('nodes.id', '=', nodeId),
);

const selectOfPublisher = (onlyActive: boolean) =>
  compileOnce((database: Database, publisherId: string, part: number, limit: number, offset: number) =>
    selectRecords(database, part)
      .where('nodes.publisher_id', '=', publisherId)
      .$if(onlyActive, (all) => all.where('nodes.status', '=', 'NodeStatusActive'))
      .orderBy('nodes.id')
      .limit(limit)
      .offset(offset),
  );
const selectAllOfPublisher = selectOfPublisher(false);
const selectActiveOfPublisher = selectOfPublisher(true);

const selectAll = compileOnce((database: Database, part: number, limit: number, offset: number) =>
  selectRecords(database, part)
    .innerJoin(selectAllFound(limit, offset).as('found'), 'found.search_key', 'nodes.search_key')
    .orderBy('found.search_key'),
);

const selectMatching = (hasLeading: boolean) =>
  compileOnce(
    (database: Database, match: string, word: string, part: number, limit: number, offset: number) =>
      selectRecords(database, part)
        .innerJoin(
          selectMatches(database, match, limit, offset, hasLeading ? word : undefined).as('found'),
          'found.search_key',
          'nodes.search_key',
        )
        .orderBy('found.search_key'),
  );
const selectAllMatching = selectMatching(false);
const selectOtherMatching = selectMatching(true);

const selectLeadingIds = compileOnce((database: Database, word: string) =>
  database.selectFrom(selectLeading(database, word).as('leading')).select('leading.id'),
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

/** A page of nodes with these ids, in their order. */
export async function findNodeRecords(
  database: Database,
  ids: readonly string[],
  { limit }: Pick<Slice, 'limit'>,
): Promise<NodeRecord[]> {
  if (ids.length === 0) return [];
  const rows = await readPage(limit, async (part) => {
    const read = selectRecords(database, part).where('nodes.id', 'in', ids);
    return (await read.execute()) as JoinedRow[];
  });
  const byId = new Map(rows.map((row) => [row.n_id, toRecord(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export async function listNodeRecords(
  database: Database,
  { publisherId, onlyActive }: { readonly publisherId: string; readonly onlyActive: boolean },
  { limit, offset }: Slice,
): Promise<NodeRecord[]> {
  const select = onlyActive ? selectActiveOfPublisher : selectAllOfPublisher;
  const read = (part: number) => select(database, publisherId, part, limit, offset) as Promise<JoinedRow[]>;
  return (await readPage(limit, read)).map(toRecord);
}

/**
 * Lists the nodes that a search finds, in order.
 * @param match of `parseSearch`
 * @param word the only word that is searched, if it is one
 */
export async function searchNodeRecords(
  database: Database,
  match: string,
  word: string | undefined,
  { limit, offset }: Slice,
): Promise<NodeRecord[]> {
  const leading = word === undefined ? [] : await selectLeadingIds(database, word);
  const ids = leading.slice(offset, offset + limit).map(({ id }) => id);
  const first = await findNodeRecords(database, ids, { limit });
  const rest = limit - ids.length;
  if (rest === 0) return first;
  const from = Math.max(offset - leading.length, 0);
  const read = (part: number) => {
    if (match === '') return selectAll(database, part, rest, from) as Promise<JoinedRow[]>;
    const select = leading.length > 0 ? selectOtherMatching : selectAllMatching;
    return select(database, match, word ?? '', part, rest, from) as Promise<JoinedRow[]>;
  };
  return [...first, ...(await readPage(rest, read)).map(toRecord)];
}

function toRecord(row: JoinedRow): NodeRecord {
  return {
    node: pickPrefixed(row, 'n', NODE),
    publisher: pickPrefixed(row, 'p', PUBLISHER),
    latest: row.v_id === null ? undefined : pickPrefixed(row, 'v', VERSION),
  };
}

function pickPrefixed<Row>(row: JoinedRow, prefix: string, columns: readonly string[]): Row {
  const picked: Record<string, unknown> = {};
  for (const column of columns) picked[column] = row[`${prefix}_${column}`];
  return picked as Row;
}

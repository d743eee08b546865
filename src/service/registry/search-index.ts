import { type RawBuilder, sql } from 'kysely';
import { compileOnce, type Database, getRow, type Tx, updateRows } from '../database/database.js';
import { isPostgres } from '../database/postgres.js';
import type { NodeDetails } from './details.js';
import { addToTotal, readTotal } from './totals.js';

/** How many nodes one search finds; the total of a larger one is this. */
export const MAX_FOUND = 10_000;

/** Rankings beyond this do not change the order. */
const MAX_RANKING = 1_000_000;
const MAX_NODES = 2 ** 32;

/** Words of a search that count. */
const MAX_WORDS = 10;

/** Each separator is two spaces, and two come first, so that the trigrams of a text have the starts of its words. */
const SEPARATOR = /[-_. \t\r\n]/g;

/** Builds the text that search matches, in lower case. */
export function buildSearchText(
  id: string,
  name: string,
  { description = '', tags = [] }: NodeDetails,
): string {
  return `  ${[id, name, description, ...tags].join('\n').toLowerCase().replace(SEPARATOR, '  ')}`;
}

/** The place of a node among the results: a higher ranking first, then the older node. */
function toSearchKey(ranking: number, number: number): number {
  return number - Math.max(-MAX_RANKING, Math.min(MAX_RANKING, ranking)) * MAX_NODES;
}

/**
 * Adds a node to the search index, or removes it, as the status of node and publisher say. Call it after a change of
 * these, of the ranking, or of the text.
 */
export async function refreshSearch(tx: Tx, nodeId: string, isTextNew = false): Promise<void> {
  const node = await getRow(tx, 'nodes', { id: nodeId });
  const publisher = await getRow(tx, 'publishers', { id: node.publisher_id });
  const isFound = node.status === 'NodeStatusActive' && publisher.status === 'PublisherStatusActive';
  const key = isFound ? toSearchKey(node.search_ranking, node.number) : null;
  if (key === node.search_key && !(isTextNew && isFound)) return;
  await sql`delete from node_search where rowid = (select search_key from nodes where id = ${nodeId})`.execute(
    tx,
  );
  await updateRows(tx, 'nodes', { id: nodeId }, { search_key: key });
  await sql`insert into node_search (rowid, search_text)
    select search_key, search_text from nodes where id = ${nodeId} and search_key is not null`.execute(tx);
  await addToTotal(tx, 'nodes.found', Number(key !== null) - Number(node.search_key !== null));
  await addToTotal(tx, 'nodes.searchRevision', 1);
}

// Decided: a word of one or two characters is found at the start of words, a longer one anywhere. `-`, `_`, `.` and
// spaces are the same.
/** Splits a search into what `buildSearchText` of each node that it finds contains. */
export function splitSearch(search: string): string[] {
  const words = search.toLowerCase().split(/\s+/);
  const texts = words.map((word) => word.replace(SEPARATOR, '  ').trim()).filter(Boolean);
  const padded = texts.map((text) => (Array.from(text).length < 3 ? `  ${text}` : text));
  return [...new Set(padded)].sort().slice(0, MAX_WORDS);
}

/** @returns what the index of this database is asked for; empty if no words were given */
export function parseSearch(database: Database, search: string): string {
  const different = splitSearch(search);
  if (isPostgres(database)) return different.join('\n');
  return different.map((text) => `"${text.replaceAll('"', '""')}"`).join(' ');
}

/** Selects the `search_key` of all nodes that search finds, in order. */
export function selectAllFound(limit: number, offset: number): RawBuilder<{ search_key: number }> {
  return sql`(select search_key from nodes where search_key is not null
    order by search_key limit ${limit} offset ${offset})`;
}

/** Of the ids that begin with a word, so many come first in a search. */
export const MAX_LEADING = 100;

/** Characters of ids come before it. */
const AFTER_IDS = '\x7f';

// Decided: a search for one word begins with the node that has this id, and then those whose ids begin with it.
/** Selects the nodes whose ids begin with a word, in order: the one that has this id first. */
export function selectLeading(
  database: Database,
  word: string,
): RawBuilder<{ search_key: number; id: string }> {
  const [from, before] = isPostgres(database) ? [sql`~>=~`, sql`~<~`] : [sql`>=`, sql`<`];
  return sql`(select search_key, id from nodes
    where folded_id ${from} ${word} and folded_id ${before} (cast(${word} as text) || ${sql.lit(AFTER_IDS)})
      and search_key is not null
    order by case when folded_id = ${word} then 0 else 1 end, search_key limit ${sql.lit(MAX_LEADING)})`;
}

/** The same for the nodes that contain all texts of `match`. @param leading leaves out the nodes of `selectLeading` */
export function selectMatches(
  database: Database,
  match: string,
  limit: number,
  offset: number,
  leading?: string,
): RawBuilder<{ search_key: number }> {
  const others =
    leading === undefined
      ? sql``
      : sql`and rowid not in (select search_key from ${selectLeading(database, leading)} as shown)`;
  if (isPostgres(database)) {
    const texts = sql`unnest(string_to_array(${match}, chr(10))) as text`;
    return sql`(select rowid as search_key from node_search
      where to_trigrams(search_text) @> array(select unnest(to_trigrams(text)) from ${texts})
        and not exists (select from ${texts} where position(text in search_text) = 0) ${others}
      order by rowid limit ${limit} offset ${offset})`;
  }
  return sql`(select rowid as search_key from node_search where node_search match ${match} ${others}
    order by rowid limit ${limit} offset ${offset})`;
}

const countMatches = compileOnce((database: Database, match: string) =>
  database
    .selectFrom(selectMatches(database, match, MAX_FOUND, 0).as('found'))
    .select((column) => column.fn.countAll<number>().as('total')),
);

/** Totals of searches since the index last changed. Few texts are in so many nodes that counting takes long. */
const counted = new WeakMap<Database, { revision: number; readonly totals: Map<string, number> }>();
const MAX_COUNTED = 1000;

/**
 * Counts what a search finds, up to `MAX_FOUND` if it has words.
 * @param match empty: all nodes
 */
export async function countFound(database: Database, match: string): Promise<number> {
  if (match === '') return readTotal(database, 'nodes.found');
  const revision = await readTotal(database, 'nodes.searchRevision');
  let known = counted.get(database);
  if (known?.revision !== revision) known = { revision, totals: new Map() };
  counted.set(database, known);
  const before = known.totals.get(match);
  if (before !== undefined) return before;
  const [counts] = await countMatches(database, match);
  const total = Number(counts?.total);
  if (known.totals.size >= MAX_COUNTED) known.totals.clear();
  known.totals.set(match, total);
  return total;
}

import { sql } from 'kysely';
import type { z } from 'zod';
import type { BulkItem } from '../../contract/version.js';
import type { Database } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { Refused } from '../refused.js';
import { type Sight, seesInside, sightOf } from './sight.js';
import { type VersionRow, versionView } from './version-view.js';
import { isBanned } from './visible.js';

type Pair = z.output<typeof BulkItem>['identifier'];
type Found = VersionRow & { publisher_id: string; node_status: string; publisher_status: string };

/** Pairs looked up with one query; each binds two values, and databases bound how many a query has. */
const pairsAtOnce = 1000;

export async function bulkVersions(
  { body, caller, context }: Call<'version.bulk'>,
  database: Database,
): Promise<Answer<'version.bulk'>> {
  const pairs = body.node_versions;
  refuseTooMany(pairs.length, context.configuration.limits.bulkPairs);
  const sight = await sightOf(database, caller);
  const found = await find(database, pairs);
  // Decided: the order and the duplicates of the request are kept.
  return { node_versions: pairs.map((pair) => itemOf(pair, found.get(keyOf(pair)))) };

  function itemOf(identifier: Pair, row: Found | undefined): z.output<typeof BulkItem> {
    const hidden = row && hiddenBecause(sight, row);
    if (!row || hidden === 'not_found') {
      const error_message = `There is no version ${identifier.version} of the node ${identifier.node_id}.`;
      return { identifier, status: 'not_found', error_message };
    }
    if (hidden === 'banned') {
      return { identifier, status: 'error', error_message: `The node ${identifier.node_id} is banned.` };
    }
    const node_version = versionView(context, sight, row, row.publisher_id);
    return { identifier, status: 'success', node_version };
  }
}

// Decided: a bulk request holds at most 1000 pairs.
function refuseTooMany(count: number, limit: number): void {
  if (count <= limit) return;
  const message = `must hold at most ${limit} items`;
  throw new Refused('invalid_request', `node_versions ${message}; split the request.`, [
    { path: 'node_versions', message },
  ]);
}

function hiddenBecause(sight: Sight, row: Found): 'not_found' | 'banned' | undefined {
  if (seesInside(sight, row.publisher_id)) return undefined;
  if (row.node_status === 'NodeStatusDeleted' || row.status !== 'NodeVersionStatusActive') return 'not_found';
  return isBanned({ ...row, status: row.node_status }) ? 'banned' : undefined;
}

async function find(database: Database, pairs: readonly Pair[]): Promise<Map<string, Found>> {
  const different = [...new Map(pairs.map((pair) => [keyOf(pair), pair])).values()];
  const found = new Map<string, Found>();
  for (let start = 0; start < different.length; start += pairsAtOnce) {
    const some = different.slice(start, start + pairsAtOnce);
    for (const row of await findSome(database, some)) found.set(keyOf(row), row);
  }
  return found;
}

function findSome(database: Database, pairs: readonly Pair[]): Promise<Found[]> {
  const values = sql.join(pairs.map((pair) => sql`(${pair.node_id}, ${pair.version})`));
  return database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .selectAll('versions')
    .select(['nodes.publisher_id', 'nodes.status as node_status', 'publishers.status as publisher_status'])
    .where(sql<boolean>`(versions.node_id, versions.version) in (values ${values})`)
    .execute();
}

function keyOf({ node_id, version }: Pair): string {
  return `${node_id}\n${version}`;
}

import { type ExpressionBuilder, sql } from 'kysely';
import type { Database } from '../context.js';
import type { Schema } from '../database/schema.js';
import type { Answer, Call } from '../http/handler.js';
import { nodeViews } from './node-view.js';
import { offsetOf, pagesOf } from './paging.js';
import { type Sight, seesInside, sightOf } from './sight.js';
import { visiblePublisher } from './visible.js';

type NodePage = Answer<'node.list'>;
type PageCall = Pick<Call<'node.list'>, 'context' | 'query'>;

export async function listNodes(call: Call<'node.list'>, database: Database): Promise<NodePage> {
  const { publisherId } = call.params;
  const sight = await sightOf(database, call.caller);
  await visiblePublisher(database, sight, publisherId);
  return pageOf(call, database, sight, 'id', (column) => {
    const own = column('nodes.publisher_id', '=', publisherId);
    // Decided: strangers see Active nodes only.
    const active = column('nodes.status', '=', 'NodeStatusActive');
    return column.and(seesInside(sight, publisherId) ? [own] : [own, active]);
  });
}

/** What everybody may find: of members' own banned or deleted nodes there are the lists. */
export async function searchNodes(call: Call<'node.search'>, database: Database): Promise<NodePage> {
  const words = new Set((call.query.search ?? '').toLowerCase().split(/\s+/).filter(Boolean));
  return pageOf(call, database, await sightOf(database, call.caller), 'ranking', (column) =>
    column.and([
      column('nodes.status', '=', 'NodeStatusActive'),
      column('publishers.status', '=', 'PublisherStatusActive'),
      ...Array.from(words, (word) => sql<boolean>`nodes.search_text like ${pattern(word)} escape '\\'`),
    ]),
  );
}

function pattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`;
}

type Columns = ExpressionBuilder<Schema, 'nodes' | 'publishers'>;

// Decided: lists are ordered by id; search results by search_ranking, which is 0 unless an admin sets it, then by id.
async function pageOf(
  { context, query }: PageCall,
  database: Database,
  sight: Sight,
  order: 'id' | 'ranking',
  wanted: (column: Columns) => ReturnType<Columns['and']>,
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
    .offset(offsetOf(query))
    .execute();
  return {
    limit: query.limit,
    nodes: await nodeViews({ context, database, sight }, rows),
    page: query.page,
    total: Number(total),
    totalPages: pagesOf(Number(total), query.limit),
  };
}

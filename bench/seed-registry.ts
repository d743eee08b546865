import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { openSqlite } from '../src/service/database/sqlite.js';

/** Nodes of one publisher. */
export const NODES_PER_PUBLISHER = 100;
/** The words of descriptions and tags. */
export const WORDS = [
  'light',
  'mask',
  'video',
  'audio',
  'upscale',
  'depth',
  'pose',
  'color',
  'batch',
  'noise',
];

/**
 * Fills a data folder with nodes `node-1` to `node-<nodes>` of publishers of 100 each, five versions `1.0.0` to `1.4.0`
 * of every node, and three definitions of its latest version.
 */
export async function seedRegistry(folder: string, nodes: number): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = await openSqlite({ file: join(folder, 'regen.db'), durable: false });
  const created = '2026-01-31T12:00:00.000Z';
  const word = (number: string) =>
    sql.raw(`case ${number} % 10 ${WORDS.map((one, at) => `when ${at} then '${one}'`).join(' ')} end`);
  const upTo = (last: number) =>
    sql`with recursive number (n) as (select 1 union all select n + 1 from number where n < ${last})`;
  const statements: RawBuilder<unknown>[] = [
    sql`insert into publishers (id, name, description, status, created_at, plain_id)
      ${upTo(Math.ceil(nodes / NODES_PER_PUBLISHER))}
      select 'publisher-' || n, 'Publisher ' || n, 'Packs for pictures and videos', 'PublisherStatusActive', ${created},
        'publisher' || n from number`,
    sql`insert into nodes (id, folded_id, plain_id, publisher_id, name, details, search_text, search_ranking, status, number, search_key,
        downloads, latest_version_id, created_at)
      ${upTo(nodes)}
      select 'node-' || n, 'node-' || n, 'node' || n, 'publisher-' || ((n - 1) / ${sql.lit(NODES_PER_PUBLISHER)} + 1), 'Node ' || n,
        json_object('description', 'Tools for ' || ${word('n')} || ' and ' || ${word('(n / 10)')} || ', number ' || n,
          'license', 'LICENSE', 'repository', 'https://git.example/publisher/node-' || n,
          'tags', json_array(${word('n')}, ${word('(n / 100)')})),
        '  ' || replace('node ' || n || ' node ' || n || ' tools for ' || ${word('n')} || ' and ' || ${word('(n / 10)')}
          || ', number ' || n || ' ' || ${word('(n / 100)')}, ' ', '  '),
        n % 7, 'NodeStatusActive', n, n - 4294967296 * (n % 7), n % 1000, 'node-' || n || '@4', ${created} from number`,
    sql`insert into versions (id, node_id, version, details, status, extract_status, archive_size, archive_sha256,
        archive_tree, uploaded_at, created_at)
      ${upTo(nodes * 5)}
      select 'node-' || ((n - 1) / 5 + 1) || '@' || ((n - 1) % 5), 'node-' || ((n - 1) / 5 + 1), '1.' || ((n - 1) % 5) || '.0',
        json_object('changelog', 'Fixes', 'dependencies', json_array('numpy>=1.26', 'pillow')),
        'NodeVersionStatusActive', 'success', 1000, ${'a'.repeat(64)}, ${'b'.repeat(64)}, ${created}, ${created}
      from number`,
    sql`insert into host_nodes (version_id, node_id, name, definition, policy, listed)
      ${upTo(nodes * 3)}
      select 'node-' || ((n - 1) / 3 + 1) || '@4', 'node-' || ((n - 1) / 3 + 1), 'Definition' || n,
        json_object('host_node_name', 'Definition' || n, 'category', 'image/' || ${word('n')}, 'function', 'run',
          'input_types', '{"required":{"image":["IMAGE"],"strength":["FLOAT",{"default":1,"min":0,"max":2}]}}',
          'return_types', '["IMAGE"]', 'return_names', '["image"]', 'output_is_list', json('[false]')),
        'HostNodePolicyActive', 1 from number`,
    sql`insert into node_search (rowid, search_text) select search_key, search_text from nodes order by search_key`,
    sql`update totals set value = ${nodes} where name = 'nodes.found'`,
    sql`update totals set value = ${nodes * 3} where name = 'host_nodes.listed'`,
  ];
  await database.transaction().execute(async (tx) => {
    for (const statement of statements) await statement.execute(tx);
  });
  await database.destroy();
}

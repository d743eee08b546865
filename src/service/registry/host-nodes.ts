import type { z } from 'zod';
import type { HostNode } from '../../contract/host-nodes.js';
import type { Database } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { Refused } from '../refused.js';
import { offsetOf, pagesOf } from './paging.js';
import { type Sight, sightOf } from './sight.js';
import { visibleVersion } from './visible.js';

type HostNodeView = z.output<typeof HostNode>;
const banned = 'HostNodePolicyBanned';

export async function getHostNode(
  { params, caller }: Call<'hostNodes.get'>,
  database: Database,
): Promise<HostNodeView> {
  return (await findHostNode(database, await sightOf(database, caller), params)).view;
}

/** @throws Refused not_found; banned, as `visibleVersion` */
export async function findHostNode(
  database: Database,
  sight: Sight,
  name: Call<'hostNodes.get'>['params'],
): Promise<{ versionId: string; view: HostNodeView }> {
  const { node, version } = await visibleVersion(database, sight, name.nodeId, name.version);
  const row = await shown(database, sight)
    .selectAll('host_nodes')
    .where('host_nodes.version_id', '=', version.id)
    .where('host_nodes.name', '=', name.hostNodeName)
    .executeTakeFirst();
  if (row) return { versionId: version.id, view: view(row) };
  throw new Refused(
    'not_found',
    `Version ${version.version} of the node ${node.id} has no definition ${name.hostNodeName}.`,
  );
}

export async function listHostNodes(
  { params, query, caller }: Call<'hostNodes.list'>,
  database: Database,
): Promise<Answer<'hostNodes.list'>> {
  const sight = await sightOf(database, caller);
  const { version } = await visibleVersion(database, sight, params.nodeId, params.version);
  const ofVersion = shown(database, sight).where('host_nodes.version_id', '=', version.id);
  const { total } = await ofVersion
    .select((column) => column.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await ofVersion
    .selectAll('host_nodes')
    .orderBy('host_nodes.name')
    .limit(query.limit)
    .offset(offsetOf(query))
    .execute();
  return { host_nodes: rows.map(view), totalNumberOfPages: pagesOf(Number(total), query.limit) };
}

/** The definitions of Active versions, whoever asks: drafts are read by their node and version. */
export async function listAllHostNodes(
  { query, caller }: Call<'hostNodes.listAll'>,
  database: Database,
): Promise<Answer<'hostNodes.listAll'>> {
  let definitions = shown(database, await sightOf(database, caller))
    .innerJoin('versions', 'versions.id', 'host_nodes.version_id')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
    .where('versions.status', '=', 'NodeVersionStatusActive')
    .where('nodes.status', '=', 'NodeStatusActive')
    .where('publishers.status', '=', 'PublisherStatusActive');
  // Decided: without node_version, each node's latest version.
  definitions =
    query.node_version === undefined
      ? definitions.whereRef('versions.id', '=', 'nodes.latest_version_id')
      : definitions.where('versions.version', '=', query.node_version);
  if (query.node_id !== undefined) definitions = definitions.where('nodes.id', '=', query.node_id);
  if (query.host_node_name !== undefined) {
    definitions = definitions.where('host_nodes.name', '=', query.host_node_name);
  }
  const { total } = await definitions
    .select((column) => column.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await definitions
    .selectAll('host_nodes')
    // A node has one version here, so this is the order node, version, name.
    .orderBy('nodes.id')
    .orderBy('host_nodes.name')
    .limit(query.pageSize)
    .offset(offsetOf({ page: query.page, limit: query.pageSize }))
    .execute();
  return { host_nodes: rows.map(view), total: Number(total) };
}

// Decided: a definition whose policy is Banned is hidden from all but admins.
function shown(database: Database, sight: Sight) {
  const all = database.selectFrom('host_nodes');
  return sight.admin ? all : all.where('host_nodes.policy', '!=', banned);
}

function view(row: { name: string; definition: string; policy: string }): HostNodeView {
  return {
    ...(JSON.parse(row.definition) as HostNodeView),
    host_node_name: row.name,
    policy: row.policy as HostNodeView['policy'],
  };
}

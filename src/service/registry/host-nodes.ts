import { type SelectQueryBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { type HostNode, MAX_NODES_OF_NAME } from '../../contract/host-nodes.js';
import { countRows } from '../database/database.js';
import type { Schema } from '../database/schema.js';
import type { Handlers, OperationCall, Read } from '../operation/call.js';
import {
  countPages,
  getOffset,
  limitColumns,
  MAX_LISTED_ROWS,
  readPage,
  requireReachablePage,
} from '../operation/paging.js';
import { Refused } from '../operation/refused.js';
import { getVisibleVersion, openAccess, type ReadAccess } from './access.js';
import type { NodeDetails } from './details.js';
import { readTotal } from './totals.js';
import { findVisibleVersions } from './versions.js';
import { viewNode } from './views.js';

type HostNodeView = z.output<typeof HostNode>;
const BANNED_POLICY = 'HostNodePolicyBanned';

/** @throws Refused not_found; banned, as `getVisibleVersion` */
export async function findHostNode(
  access: ReadAccess,
  name: OperationCall<'hostNodes.get'>['params'],
): Promise<{ versionId: string; publisherId: string; view: HostNodeView }> {
  const { node, version } = await getVisibleVersion(access, name);
  const row = await selectShown(access)
    .selectAll('host_nodes')
    .where('host_nodes.version_id', '=', version.id)
    .where('host_nodes.name', '=', name.hostNodeName)
    .executeTakeFirst();
  if (row) return { versionId: version.id, publisherId: node.publisher_id, view: viewHostNode(row) };
  throw new Refused(
    'not_found',
    `Version ${version.version} of the node ${node.id} has no definition ${name.hostNodeName}.`,
  );
}

/**
 * Finds the node to install for a definition: one that preempts the name, else the one that search shows first.
 * @throws Refused not_found
 */
const findDefiningNode: Read<'hostNodes.findNode'> = async (call, database) => {
  const { params } = call;
  const access = await openAccess(call, database);
  const rows = await selectShown(access)
    .innerJoin('nodes', 'nodes.id', 'host_nodes.node_id')
    .select(['nodes.id', preemptingDetails.as('details')])
    .where('host_nodes.name', '=', params.hostNodeName)
    .where('host_nodes.listed', '=', sql.lit(1))
    .orderBy('nodes.search_key')
    .limit(MAX_PREEMPTING_NODES)
    .execute();
  const preempting = rows.find(({ details }) => {
    const { preempted_host_node_names: names } = JSON.parse(details ?? '{}') as NodeDetails;
    return names?.includes(params.hostNodeName);
  });
  const found = preempting ?? rows[0];
  if (!found) throw new Refused('not_found', `No node has a definition ${params.hostNodeName}.`);
  return viewNode(access, found.id);
};

/** Nodes with a definition of the same name that are looked at. */
const MAX_PREEMPTING_NODES = 100;

/** Only admins write such a list; details of any other kind may be long, and are not read. */
const preemptingDetails = sql<string | null>`case
  when nodes.details like '%"preempted_host_node_names":[%' then nodes.details end`;

const listHostNodes: Read<'hostNodes.list'> = async (call, database) => {
  const { params, query } = call;
  const access = await openAccess(call, database);
  const { version } = await getVisibleVersion(access, params);
  const ofVersion = selectShown(access).where('host_nodes.version_id', '=', version.id);
  const total = await countRows(ofVersion);
  const page = ofVersion.orderBy('host_nodes.name').limit(query.limit).offset(getOffset(query));
  const rows = await readPage(query.limit, (part) => selectDefinitions(page, part).execute());
  return { host_nodes: rows.map(viewHostNode), totalNumberOfPages: countPages(total, query.limit) };
};

/** Lists definitions of Active versions only, for all callers; drafts are read by node and version. */
const listAllHostNodes: Read<'hostNodes.listAll'> = async (call, database) => {
  const { query } = call;
  const offset = requireReachablePage({ page: query.page, limit: query.pageSize });
  const access = await openAccess(call, database);
  const matching = filterHostNodes(access, query);
  const page = matching
    .select((of) =>
      of
        .selectFrom('versions as own')
        .select('own.version')
        .whereRef('own.id', '=', 'host_nodes.version_id')
        .as('version'),
    )
    // Each node has only one version here.
    .orderBy(sql.ref(query.node_version === undefined ? 'host_nodes.node_id' : 'versions.node_id'))
    .orderBy('host_nodes.name')
    .limit(query.pageSize)
    .offset(offset);
  const rows = await readPage(query.pageSize, (part) => selectDefinitions(page, part).execute());
  const { node_id, node_version, host_node_name } = query;
  const isUnfiltered = node_id === undefined && node_version === undefined && host_node_name === undefined;
  const total = isUnfiltered
    ? await countAll(access)
    : await countRows(
        database.selectFrom(matching.select('host_nodes.name').limit(MAX_LISTED_ROWS).as('some')),
      );
  const host_nodes = rows.map((row) => ({
    ...viewHostNode(row),
    node_id: row.node_id,
    node_version: row.version as string,
  }));
  return { host_nodes, total };
};

/** Names or versions in one condition: databases limit the values of a query. */
const VALUES_PER_QUERY = 500;

const getHostNodesInBulk: Read<'hostNodes.bulk'> = async (call, database) => {
  const access = await openAccess(call, database);
  const names = [...new Set(call.body.names)];
  const pairs = call.body.node_versions;
  const exact = pairs.flatMap(({ node_id, version }) =>
    version === undefined ? [] : [{ node_id, version }],
  );
  const versions = await findVisibleVersions(access, call.context, exact);
  const latest = pairs.filter(({ version }) => version === undefined).map(({ node_id }) => node_id);
  const found: NamedRow[] = [];
  await forParts(names, async (some) => {
    const named = selectShown(access).where('host_nodes.name', 'in', some);
    await forParts(
      versions.map(({ id }) => id),
      async (ids) => {
        found.push(...(await selectNames(named.where('host_nodes.version_id', 'in', ids)).execute()));
      },
    );
    const listed = named.where('host_nodes.listed', '=', sql.lit(1));
    await forParts(latest, async (ids) => {
      found.push(...(await selectNames(listed.where('host_nodes.node_id', 'in', ids)).execute()));
    });
    const known = new Set(found.map(({ name }) => name));
    const others = some.filter((name) => !known.has(name));
    if (others.length > 0) found.push(...(await selectOwners(access, others).execute()));
  });
  const keys = [...new Map(found.map((row) => [`${row.version_id}\n${row.name}`, row])).values()];
  const host_nodes = await readDefinitions(access, keys.slice(0, MAX_BULK_ROWS));
  return { host_nodes, total: keys.length };
};

/** Definitions in one answer. */
const MAX_BULK_ROWS = 5000;

/** The key of a definition. */
interface NamedRow {
  readonly version_id: string;
  readonly name: string;
}

async function forParts(
  values: readonly string[],
  work: (some: readonly string[]) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < values.length; start += VALUES_PER_QUERY)
    await work(values.slice(start, start + VALUES_PER_QUERY));
}

function selectNames(matching: ReturnType<typeof selectShown>) {
  return matching.select(['host_nodes.version_id', 'host_nodes.name']).limit(MAX_BULK_ROWS);
}

/** The latest versions that have definitions with some names, a few of each name. */
function selectOwners({ database, viewer }: ReadAccess, names: readonly string[]) {
  const ranked = selectShown({ database, viewer } as ReadAccess)
    .select(['host_nodes.version_id', 'host_nodes.name'])
    .select(
      sql<number>`row_number() over (partition by host_nodes.name order by host_nodes.node_id)`.as('at'),
    )
    .where('host_nodes.name', 'in', names)
    .where('host_nodes.listed', '=', sql.lit(1));
  return database
    .selectFrom(ranked.as('ranked'))
    .select(['ranked.version_id', 'ranked.name'])
    .where('ranked.at', '<=', MAX_NODES_OF_NAME);
}

/** Reads definitions by their keys, in the order of nodes, versions and names. */
async function readDefinitions(access: ReadAccess, keys: readonly NamedRow[]): Promise<HostNodeView[]> {
  if (keys.length === 0) return [];
  const rows = await readPage(keys.length, async (part) => {
    const all = [];
    for (let start = 0; start < keys.length; start += VALUES_PER_QUERY) {
      const values = keys
        .slice(start, start + VALUES_PER_QUERY)
        .map(({ version_id, name }) => sql`(${version_id}, ${name})`);
      const some = selectShown(access)
        .innerJoin('versions', 'versions.id', 'host_nodes.version_id')
        .select('versions.version')
        .where(sql<boolean>`(host_nodes.version_id, host_nodes.name) in (values ${sql.join(values)})`);
      all.push(...(await selectDefinitions(some, part).execute()));
    }
    return all;
  });
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  return [...rows]
    .sort(
      (one, other) =>
        compare(one.node_id, other.node_id) ||
        compare(one.version, other.version) ||
        compare(one.name, other.name),
    )
    .map((row) => ({ ...viewHostNode(row), node_id: row.node_id, node_version: row.version }));
}

/** Decided: without node_version, the latest version of each node. */
function filterHostNodes(access: ReadAccess, query: OperationCall<'hostNodes.listAll'>['query']) {
  const { node_id, node_version, host_node_name } = query;
  return selectShown(access)
    .$if(node_version === undefined, (all) => all.where('host_nodes.listed', '=', sql.lit(1)))
    .$if(node_version !== undefined, (all) =>
      all
        .innerJoin('versions', 'versions.id', 'host_nodes.version_id')
        .innerJoin('nodes', 'nodes.id', 'versions.node_id')
        .innerJoin('publishers', 'publishers.id', 'nodes.publisher_id')
        .where('versions.version', '=', node_version as string)
        .where('versions.status', '=', 'NodeVersionStatusActive')
        .where('nodes.status', '=', 'NodeStatusActive')
        .where('publishers.status', '=', 'PublisherStatusActive'),
    )
    .$if(node_id !== undefined, (all) => all.where('host_nodes.node_id', '=', node_id as string))
    .$if(host_node_name !== undefined, (all) => all.where('host_nodes.name', '=', host_node_name as string));
}

async function countAll({ database, viewer }: ReadAccess): Promise<number> {
  const listed = await readTotal(database, 'host_nodes.listed');
  if (viewer.admin) return listed;
  const hidden = await countRows(
    database
      .selectFrom('host_nodes')
      .where('listed', '=', sql.lit(1))
      .where('policy', '=', sql.lit(BANNED_POLICY)),
  );
  return listed - hidden;
}

// Decided: a definition with the policy Banned is visible only to admins.
function selectShown({ database, viewer }: ReadAccess) {
  const all = database.selectFrom('host_nodes');
  return viewer.admin ? all : all.where('host_nodes.policy', '!=', BANNED_POLICY);
}

/** @param part bytes that a definition may take */
function selectDefinitions<Shape>(page: SelectQueryBuilder<Schema, 'host_nodes', Shape>, part: number) {
  const { texts, bytes, isCut } = limitColumns([{ name: 'host_nodes.definition', most: sql`${part}` }]);
  return page
    .select(['host_nodes.node_id', 'host_nodes.name', 'host_nodes.policy', bytes, isCut])
    .select(texts.map((text) => text.as('definition')));
}

/** @param row with null for a definition that is too long for a page */
function viewHostNode(row: { name: string; definition: string | null; policy: string }): HostNodeView {
  return {
    // Decided: both flags are always there, unless the whole definition is left out.
    ...(row.definition !== null && { deprecated: false, experimental: false, ...JSON.parse(row.definition) }),
    host_node_name: row.name,
    policy: row.policy as HostNodeView['policy'],
  };
}

export const hostNodeHandlers = {
  'hostNodes.get': {
    read: async (call, database) => (await findHostNode(await openAccess(call, database), call.params)).view,
  },
  'hostNodes.findNode': { read: findDefiningNode },
  'hostNodes.listAll': { read: listAllHostNodes },
  'hostNodes.list': { read: listHostNodes },
  'hostNodes.bulk': { read: getHostNodesInBulk },
} satisfies Partial<Handlers>;

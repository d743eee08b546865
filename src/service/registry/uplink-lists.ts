import type { OperationName } from '../../contract/index.js';
import { Node } from '../../contract/node.js';
import { findWrongKind } from '../../contract/schema/kinds.js';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { BulkItem } from '../../contract/version.js';
import type { OperationAnswer, OperationCall } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { countPages } from '../operation/paging.js';
import {
  describeTrouble,
  findForeign,
  isAllowed,
  otherForm,
  reportTrouble,
  requestRemote,
  toOwnVersion,
} from './uplink.js';
import { findPinned, listKept, searchKept } from './uplink-kept.js';
import { VersionRules } from './uplink-rules.js';
import { completeSpelling } from './version-order.js';
import type { NodeView, VersionView } from './views.js';

type NodePage = OperationAnswer<'node.search'>;
type Bulk = OperationAnswer<'version.bulk'>;
type Item = Bulk['node_versions'][number];
type Pair = Item['identifier'];

type Add<Name extends OperationName> = (
  context: Context,
  query: OperationCall<Name>['query'],
  own: OperationAnswer<Name>,
) => Promise<OperationAnswer<Name> | undefined>;

// Decided: a list has the nodes held here first, then those of the registry behind this one in its order, or while it
// gives none, those of the archives that are kept, by id. Nodes that are held here or that a rule refuses are left out of
// the latter, so that a page may be shorter, and `total` too high.
const addNodes: Add<'node.search'> = async (context, query, own) => {
  // An admin's view of this registry.
  if (query.include_banned) return undefined;
  try {
    return await addPages(context, query, own, (page) => readPage(context, { ...query, page }));
  } catch (error) {
    const trouble = reportTrouble(context, error);
    const found = await searchKept(context.database, query);
    const added = await addPages(context, query, own, async (page) => {
      const shown = found.slice((page - 1) * query.limit, page * query.limit);
      return { nodes: await listKept(context.database, shown), total: found.length };
    });
    return {
      ...added,
      incomplete_reason: `${trouble} Of its nodes, only those that are kept here are listed.`,
    };
  }
};

interface RemotePage {
  readonly nodes: readonly unknown[];
  readonly total: number;
}

async function addPages(
  context: Context,
  { limit, page }: OperationCall<'node.search'>['query'],
  own: NodePage,
  read: (page: number) => Promise<RemotePage>,
): Promise<NodePage> {
  const wanted = limit - own.nodes.length;
  const start = Math.max(0, (page - 1) * limit - own.total);
  const pages = [];
  // What is wanted may begin in the middle of a page there.
  for (let at = Math.floor(start / limit); at * limit < start + Math.max(wanted, 1); at += 1)
    pages.push(await read(at + 1));
  const total = own.total + (pages[0]?.total ?? 0);
  const all = pages.flatMap(({ nodes }) => nodes);
  const nodes = await pickNodes(context, all.slice(start % limit, (start % limit) + wanted));
  return { ...own, nodes: [...own.nodes, ...nodes], total, totalPages: countPages(total, limit) };
}

/** Finds out whether the registry behind this one answers a search, which is where a wrong naming shows. */
export async function inspectUplink(
  context: Context,
): Promise<{ readonly url: string; readonly status: string } | undefined> {
  const { uplink } = context.configuration;
  if (!uplink) return undefined;
  const status = await readPage(context, { search: 'a', page: 1, limit: 1 }).then(
    () => 'answers',
    (error) => {
      const { does, message, hint } = describeTrouble(error);
      return [`${does}: ${message}`, ...(hint ? [hint] : [])].join('. ');
    },
  );
  return { url: uplink.url, status };
}

/** @throws FetchFailed */
async function readPage(context: Context, query: Readonly<Record<string, unknown>>): Promise<RemotePage> {
  const answer = (await requestRemote(context, 'node.search', { params: {}, query })) as Partial<NodePage>;
  const { nodes, total } = answer;
  if (!Array.isArray(nodes) || !Number.isSafeInteger(total) || (total as number) < 0) throw otherForm();
  return { nodes, total: total as number };
}

/** The nodes of a list that may be shown; one that has no valid form hides no other. */
async function pickNodes(context: Context, listed: readonly unknown[]): Promise<NodeView[]> {
  const nodes = listed.filter((node) => !findWrongKind(Node, node)) as NodeView[];
  const foreign = await findForeign(
    context,
    nodes.map(({ id = '' }) => id),
  );
  return nodes
    .filter(({ id = '' }) => foreign.has(id) && isAllowed(context, id))
    .map(({ id = '', latest_version: latest, ...node }) => ({
      id,
      ...node,
      ...(latest && isOffered(context, id, latest) && { latest_version: toOwnVersion(context, id, latest) }),
    }));
}

// Decided: a node whose latest version is not offered is listed without one; reading the node finds the one that is.
function isOffered(context: Context, nodeId: string, version: VersionView): boolean {
  return (
    belongsToNode(version, nodeId) && new VersionRules(context, nodeId).findReason(version) === undefined
  );
}

function belongsToNode({ node_id }: VersionView, nodeId: string): boolean {
  return node_id === undefined || node_id.toLowerCase() === nodeId.toLowerCase();
}

/** Asks about the pairs that are not held here, all at once. */
const addVersions: Add<'version.bulk'> = async (context, _, { node_versions: items }) => {
  const missing = items.filter(({ status }) => status === 'not_found').map(({ identifier }) => identifier);
  const foreign = await findForeign(
    context,
    missing.map(({ node_id }) => node_id),
  );
  const asked = missing.filter(({ node_id }) => foreign.has(node_id) && isAllowed(context, node_id));
  if (asked.length === 0) return undefined;
  const { read, trouble } = await readVersions(context, asked).then(
    (read) => ({ read, trouble: undefined }),
    (error) => ({ read: undefined, trouble: reportTrouble(context, error) }),
  );
  const found = new Map<Pair, Item>();
  for (const identifier of asked) {
    const { node_id, version } = identifier;
    // What was served once stays what it was.
    const node_version =
      (await findPinned(context.database, node_id, version)) ?? read?.get(toKey(identifier));
    const reason = node_version && new VersionRules(context, node_id).findReason(node_version);
    if (reason) {
      const error_message = `Version ${version} of the node ${node_id} ${reason} by the rules of this registry.`;
      found.set(identifier, { identifier, status: 'not_found', error_message });
    } else if (node_version)
      found.set(identifier, {
        identifier,
        status: 'success',
        node_version: toOwnVersion(context, node_id, node_version),
      });
    else if (trouble)
      found.set(identifier, {
        identifier,
        // Not an error, which would stop a publish of a name that is not held here.
        status: 'not_found',
        error_message: `There is no version ${version} of the node ${node_id} here. ${trouble}`,
      });
  }
  return { node_versions: items.map((item) => found.get(item.identifier) ?? item) };
};

/**
 * Reads versions, also under their full spelling.
 * @returns by `toKey` of the pairs
 * @throws FetchFailed
 */
async function readVersions(
  context: Context,
  pairs: readonly Pair[],
): Promise<ReadonlyMap<string, VersionView>> {
  const complete = (pair: Pair) => ({ ...pair, version: completeSpelling(context, pair.version) });
  const all = new Map([...pairs, ...pairs.map(complete)].map((pair) => [toKey(pair), pair]));
  const body = { node_versions: [...all.values()].slice(0, DEFAULT_LIMITS.bulkPairs) };
  const answer = (await requestRemote(context, 'version.bulk', { params: {}, body })) as Partial<Bulk>;
  if (!Array.isArray(answer?.node_versions)) throw otherForm();
  const found = new Map<string, VersionView>();
  for (const item of answer.node_versions) {
    if (findWrongKind(BulkItem, item)) continue;
    const { identifier, node_version } = item;
    if (node_version && belongsToNode(node_version, identifier.node_id))
      found.set(toKey(identifier), node_version);
  }
  for (const pair of pairs) {
    const version = found.get(toKey(pair)) ?? found.get(toKey(complete(pair)));
    if (version) found.set(toKey(pair), version);
  }
  return found;
}

function toKey({ node_id, version }: Pair): string {
  return `${node_id}\n${version}`;
}

const additions: { readonly [Name in OperationName]?: Add<Name> } = {
  'node.search': addNodes,
  'version.bulk': addVersions,
};

/**
 * Adds what the registry behind this one has to a list of nodes or a bulk read.
 * @returns undefined if the answer has no such part
 */
export async function addFromUplink(
  context: Context,
  name: OperationName,
  { query }: Pick<OperationCall<OperationName>, 'query'>,
  answer: unknown,
): Promise<unknown> {
  return (additions[name] as Add<OperationName> | undefined)?.(
    context,
    query,
    answer as OperationAnswer<OperationName>,
  );
}

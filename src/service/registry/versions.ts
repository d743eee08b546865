import { type SelectQueryBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { summarizeReason } from '../../contract/parse-reason.js';
import { readStatusWord } from '../../contract/status-names.js';
import type { BulkItem } from '../../contract/version.js';
import { type Database, findRow, updateRows } from '../database/database.js';
import type { NodeRow, Schema, VersionRow } from '../database/schema.js';
import type { Handlers, OperationCall, Read, Write } from '../operation/call.js';
import { MAX_ANSWER_BYTES } from '../operation/json-limits.js';
import { MAX_LISTED_ROWS } from '../operation/paging.js';
import { recordAction, toActor } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import {
  createVersionNotFound,
  getOwnVersion,
  getVisibleNode,
  getVisibleVersion,
  isInsider,
  isNodeBanned,
  openAccess,
  type ReadAccess,
  refuseClosedNode,
  refuseDeletedNode,
  type Viewer,
} from './access.js';
import { pickVersionDetails, refuseLargeFields, type VersionDetails } from './details.js';
import type { BoundedVersionRow } from './node-records.js';
import { applyNodeUpdate } from './nodes.js';
import { compareVersions, completeSpelling } from './version-order.js';
import { changeVersionStatus, refreshLatest } from './version-states.js';
import { viewVersion } from './views.js';

const getVersion: Read<'version.get'> = async (call, database) => {
  const access = await openAccess(call, database);
  const { node, version } = await getVisibleVersion(access, call.params);
  return viewVersion(access, version, node.publisher_id);
};

// Decided: a list of versions has the newest 10,000. Once it holds about 8 MB, the older ones come without what their
// publisher wrote, which `version.get` reads.
const listVersions: Read<'version.list'> = async (call, database) => {
  const { params, query } = call;
  const access = await openAccess(call, database);
  const node = await getVisibleNode(access, params.nodeId);
  let versions = database.selectFrom('versions').where('node_id', '=', node.id);
  if (query.statuses) versions = versions.where('status', 'in', query.statuses);
  // Decided: only members and admins see drafts, which are all versions that are not Active.
  if (!isInsider(access.viewer, node.publisher_id, node.id))
    versions = versions.where('status', '=', 'NodeVersionStatusActive');
  const newest = versions.orderBy('created_at', 'desc').orderBy('id').limit(MAX_LISTED_ROWS);
  const bytes = sql<number>`octet_length(details) + coalesce(octet_length(status_reason), 0)
    + coalesce(octet_length(provenance), 0) + ${BYTES_OF_COLUMNS}`;
  const { all } = await versions.select(({ fn }) => fn.sum(bytes).as('all')).executeTakeFirstOrThrow();
  const whole =
    Number(all) <= MAX_ANSWER_BYTES ? MAX_LISTED_ROWS : await countFitting(newest.select(bytes.as('bytes')));
  const rows: BoundedVersionRow[] = await newest.selectAll().limit(whole).execute();
  if (rows.length === whole) {
    const unread = sql.lit(null).$castTo<null>();
    const older = newest
      .select(['id', 'node_id', 'version', 'status', 'extract_status', 'archive_sha256', 'created_at'])
      .select([unread.as('details'), unread.as('status_reason'), unread.as('provenance'), 'approve_by']);
    rows.push(
      ...(await older
        .limit(MAX_LISTED_ROWS - whole)
        .offset(whole)
        .execute()),
    );
  }
  return rows
    .sort((left, right) => compareVersions(right.version, left.version))
    .map((row) => viewVersion(access, row, node.publisher_id));
};

/** Counts the versions that an answer holds whole, if it has the columns of all others. */
async function countFitting(
  sizes: SelectQueryBuilder<Schema, 'versions', { bytes: number }>,
): Promise<number> {
  const rows = await sizes.execute();
  let left = MAX_ANSWER_BYTES - rows.length * BYTES_OF_COLUMNS;
  const last = rows.findIndex(({ bytes }) => {
    left -= Number(bytes) - BYTES_OF_COLUMNS;
    return left < 0;
  });
  return last === -1 ? rows.length : last;
}

/** About what a version takes in an answer without what its publisher wrote. */
const BYTES_OF_COLUMNS = 600;

const updateVersion: Write<'version.update'> = async (call, tx) => {
  const { params, body, caller } = call;
  if (caller.stages)
    throw new Refused('forbidden', 'This personal access token may only stage versions; use another one.');
  const { node, version } = await getOwnVersion(tx, params);
  refuseClosedNode(node);
  const given = pickVersionDetails(body);
  const before = JSON.parse(version.details) as VersionDetails;
  const merged = { ...before, ...given };
  // Decided: the reason of a deprecation ends with it.
  if (!merged.deprecated || merged.deprecation_message === '') delete merged.deprecation_message;
  refuseLargeFields(merged, 'node_version');
  const details = JSON.stringify(merged);
  if (Object.keys(given).length > 0) {
    await updateRows(tx, 'versions', { id: version.id }, { details });
    await refreshLatest(tx, node.id);
    const event = { kind: 'version', id: version.id, publisherId: node.publisher_id } as const;
    const isSame = (before.deprecated === true) === (merged.deprecated === true);
    const deprecation = merged.deprecated ? 'version.deprecate' : 'version.undeprecate';
    await recordAction(call, tx, {
      ...event,
      action: 'version.update',
      ...(!isSame && { action: deprecation }),
    });
  }
  return viewVersion(await openAccess(call, tx), { ...version, details }, node.publisher_id);
};

const deleteVersion: Write<'version.delete'> = async ({ params, caller, context }, tx) => {
  const { node, version } = await getOwnVersion(tx, params);
  refuseClosedNode(node);
  await changeVersionStatus(tx, {
    versionId: version.id,
    to: 'NodeVersionStatusDeleted',
    right: 'owner',
    actor: toActor(caller),
    now: context.now(),
  });
};

// Decided: an owner approves a staged version in person, so that a token alone makes nothing Active.
const approveVersion: Write<'version.approve'> = async (call, tx) => {
  const { params, caller, context } = call;
  const { node, version } = await getOwnVersion(tx, params);
  refuseClosedNode(node);
  await changeVersionStatus(tx, {
    versionId: version.id,
    to: 'NodeVersionStatusActive',
    right: 'approval',
    actor: toActor(caller),
    // What the checks noted stays.
    reason: version.status_reason ?? undefined,
    now: context.now(),
  });
  await applyNodeUpdate(tx, { actor: toActor(caller), context }, { node, version });
  const approved = await getOwnVersion(tx, params);
  return viewVersion(await openAccess(call, tx), approved.version, node.publisher_id);
};

// Decided: only Active versions are installed, also by members.
const installNode: Read<'node.install'> = async (call, database) => {
  const { params, query, address, context } = call;
  const access = await openAccess(call, database);
  const node = await getVisibleNode(access, params.nodeId);
  refuseDeletedNode(node);
  const active = database
    .selectFrom('versions')
    .selectAll()
    .where('node_id', '=', node.id)
    .where('status', '=', 'NodeVersionStatusActive');
  const requested = query.version;
  const version = await (requested === undefined
    ? active.where('id', '=', node.latest_version_id ?? '')
    : active.where('version', '=', requested)
  ).executeTakeFirst();
  if (!version) {
    if (requested !== undefined) throw await createVersionNotFound(access, node, requested);
    throw await createNothingToInstall(access, node);
  }
  context.installs.count({ nodeId: node.id, versionId: version.id, address });
  return viewVersion(access, version, node.publisher_id);
};

async function createNothingToInstall(
  { database, viewer }: ReadAccess,
  node: NodeRow & { readonly publisher_id: string },
): Promise<Refused> {
  const message = `The node ${node.id} has no version to install`;
  const isInside = isInsider(viewer, node.publisher_id, node.id);
  const versions = isInside
    ? database.selectFrom('versions').selectAll().where('node_id', '=', node.id)
    : undefined;
  const [only, ...others] = (await versions?.limit(2).execute()) ?? [];
  if (!only || others.length > 0) return new Refused('not_found', `${message}.`);
  const reason = only.status_reason ? `: ${summarizeReason(only.status_reason)}` : '.';
  const status = readStatusWord(only.status).toLowerCase();
  return new Refused('not_found', `${message}; its only version, ${only.version}, is ${status}${reason}`);
}

type VersionPair = z.output<typeof BulkItem>['identifier'];
type FoundVersion = VersionRow & { publisher_id: string; node_status: string; publisher_status: string };

/** Each pair binds two values, and databases limit how many a query may have; versions are read as far as they are answered. */
const PAIRS_PER_QUERY = 100;

const getVersionsInBulk: Read<'version.bulk'> = async (call, database) => {
  const access = await openAccess(call, database);
  const complete = (pair: VersionPair) => ({
    ...pair,
    version: completeSpelling(call.context, pair.version),
  });
  const found = new Map<string, FoundVersion>();
  const find = (pair: VersionPair) => found.get(toPairKey(pair)) ?? found.get(toPairKey(complete(pair)));
  let left = MAX_ANSWER_BYTES;
  const pairs = call.body.node_versions;
  const items: BulkItemView[] = [];
  // Decided: the answer has the order and the duplicates of the request. Once it holds about 8 MB, the other pairs have the
  // status `error`.
  for (let start = 0; start < pairs.length; start += PAIRS_PER_QUERY) {
    const some = pairs.slice(start, start + PAIRS_PER_QUERY);
    if (left > 0) await findVersions(database, [...some, ...some.map(complete)], found);
    for (const pair of some) {
      const row = left > 0 ? find(pair) : undefined;
      const item = left > 0 ? toItem(access, pair, row) : toExcessItem(pair);
      if (item.node_version) left -= BYTES_OF_COLUMNS + Buffer.byteLength(row?.details ?? '');
      items.push(item);
    }
  }
  return { node_versions: items };
};

/** Finds the versions of pairs that the caller may see; one pair may be found under its full spelling. */
export async function findVisibleVersions(
  { database, viewer }: ReadAccess,
  context: OperationCall<'version.bulk'>['context'],
  pairs: readonly VersionPair[],
): Promise<FoundVersion[]> {
  const found = new Map<string, FoundVersion>();
  const spelled = pairs.map((pair) => ({ ...pair, version: completeSpelling(context, pair.version) }));
  const all = [...pairs, ...spelled];
  for (let start = 0; start < all.length; start += PAIRS_PER_QUERY)
    await findVersions(database, all.slice(start, start + PAIRS_PER_QUERY), found);
  return [...found.values()].filter((row) => findHiddenReason(viewer, row) === undefined);
}

type BulkItemView = z.output<typeof BulkItem>;

function toExcessItem(identifier: VersionPair): BulkItemView {
  const error_message = 'The answer holds too much already; ask for fewer versions.';
  return { identifier, status: 'error', error_message };
}

function toItem(
  access: Omit<ReadAccess, 'database'>,
  identifier: VersionPair,
  row: FoundVersion | undefined,
): BulkItemView {
  const hidden = row && findHiddenReason(access.viewer, row);
  if (!row || hidden === 'not_found') {
    const error_message = `There is no version ${identifier.version} of the node ${identifier.node_id}.`;
    return { identifier, status: 'not_found', error_message };
  }
  if (hidden === 'banned')
    return { identifier, status: 'error', error_message: `The node ${identifier.node_id} is banned.` };
  return { identifier, status: 'success', node_version: viewVersion(access, row, row.publisher_id) };
}

function findHiddenReason(viewer: Viewer, row: FoundVersion): 'not_found' | 'banned' | undefined {
  if (isInsider(viewer, row.publisher_id, row.node_id)) return undefined;
  if (row.node_status === 'NodeStatusDeleted' || row.status !== 'NodeVersionStatusActive') return 'not_found';
  return isNodeBanned({ ...row, status: row.node_status }) ? 'banned' : undefined;
}

/** Adds the versions of pairs that were not looked for yet. */
async function findVersions(
  database: Database,
  pairs: readonly VersionPair[],
  found: Map<string, FoundVersion>,
): Promise<void> {
  const different = new Map(pairs.map((pair) => [toPairKey(pair), pair]));
  for (const key of found.keys()) different.delete(key);
  if (different.size === 0) return;
  for (const row of await findVersionBatch(database, [...different.values()])) found.set(toPairKey(row), row);
}

function findVersionBatch(database: Database, pairs: readonly VersionPair[]): Promise<FoundVersion[]> {
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

function toPairKey({ node_id, version }: VersionPair): string {
  return `${node_id}\n${version}`;
}

const getReadme: Read<'version.readme'> = async (call, database) => {
  const { version } = await getVisibleVersion(await openAccess(call, database), call.params);
  const row = await findRow(database, 'readmes', { version_id: version.id });
  if (row) return { text: row.text };
  throw new Refused('not_found', `The archive of version ${version.version} has no README that is kept.`);
};

export const versionHandlers = {
  'version.update': { write: updateVersion },
  'version.get': { read: getVersion },
  'version.list': { read: listVersions },
  'version.readme': { read: getReadme },
  'version.delete': { write: deleteVersion },
  'version.approve': { write: approveVersion },
  'node.install': { read: installNode },
  'version.bulk': { read: getVersionsInBulk },
} satisfies Partial<Handlers>;

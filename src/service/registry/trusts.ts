import { randomUUID } from 'node:crypto';
import type { WantedClaims } from '../../contract/trust.js';
import { parseTokenLimit } from '../auth/random-tokens.js';
import { completeIssuer, type PublishIssuer } from '../configuration/publish-issuer.js';
import { type Database, deleteRows, findRow, findRows, insertRow, type Tx } from '../database/database.js';
import type { TrustRow } from '../database/schema.js';
import type { Handlers, OperationAnswer, OperationCall, Read, Write } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireCountQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { invalidField, Refused } from '../operation/refused.js';
import { findNodeInAnySpelling } from './access.js';

type AddCall = OperationCall<'publisher.trust.add'>;

/** Decided: a trust that names a node that does not exist ends after 30 days if it is not used before. */
const UNUSED_MS = 30 * 24 * 60 * 60_000;

const addTrust: Write<'publisher.trust.add'> = async (call, tx) => {
  const { params, body, caller, context } = call;
  const { publisherId } = params;
  const { issuer, nodes, stage, ...wanted } = body;
  await requireCountQuota(tx, context, { publisherId, quota: 'trusts' });
  const known = findIssuer(context, issuer);
  requireClaims(known, wanted);
  const now = context.now();
  const row: TrustRow = {
    id: randomUUID(),
    publisher_id: publisherId,
    issuer: known.issuer,
    wanted: JSON.stringify(wanted),
    nodes: nodes ? JSON.stringify(nodes) : null,
    ids: null,
    stage: stage ? 1 : null,
    created_by: caller.userId as string,
    created_at: new Date(now).toISOString(),
    expires_at: (await isEachKnown(tx, nodes ?? [])) ? null : new Date(now + UNUSED_MS).toISOString(),
    last_used_at: null,
  };
  await insertRow(tx, 'trusts', row);
  await recordTrust(call, tx, row, 'trust.add');
  return (await viewTrusts(tx, [row]))[0] as OperationAnswer<'publisher.trust.add'>;
};

/** @throws Refused invalid_request if the service does not accept its tokens */
function findIssuer({ configuration }: Context, name: string): PublishIssuer {
  const issuers = configuration.publish.issuers.map(completeIssuer);
  const named = issuers.filter(({ kind, issuer }) => issuer === name || (kind === name && kind !== 'other'));
  if (named.length === 1) return named[0] as PublishIssuer;
  const known = issuers.map(({ issuer }) => issuer).join(', ');
  throw invalidField(
    'issuer',
    named.length > 1
      ? `must be the address of one of them: ${named.map(({ issuer }) => issuer).join(', ')}`
      : known
        ? `must be an issuer that this service accepts: ${known}`
        : 'cannot be accepted, because the operator of this service lists none in publish.issuers',
  );
}

/** @throws Refused invalid_request if they do not name one workflow of one repository, or the issuer has other claims */
function requireClaims({ kind, issuer, claims }: PublishIssuer, wanted: WantedClaims): void {
  for (const name of ['repository', 'workflow', 'environment', 'ref'] as const) {
    const isNeeded = name === 'repository' || name === 'workflow';
    if (wanted[name] !== undefined && claims[name] === undefined)
      throw invalidField(name, `cannot be compared, because ${issuer} has no claim for it; use claims`);
    if (isNeeded && claims[name] !== undefined && wanted[name] === undefined)
      throw invalidField(name, 'is required');
  }
  if (kind === 'github' && wanted.workflow?.includes('/'))
    throw invalidField('workflow', 'must be the name of a file, such as release.yml, without its folder');
  const count = Object.keys(wanted.claims ?? {}).length;
  if (count === 0 && !wanted.repository) throw invalidField('claims', 'must name at least one claim');
}

async function isEachKnown(tx: Tx, nodes: readonly string[]): Promise<boolean> {
  for (const node of nodes) if (!(await findNodeInAnySpelling(tx, node))) return false;
  return true;
}

const listTrusts: Read<'publisher.trust.list'> = async ({ params }, database) => {
  const own = { publisher_id: params.publisherId };
  return viewTrusts(database, await findRows(database, 'trusts', own, ['created_at', 'id']));
};

const removeTrust: Write<'publisher.trust.remove'> = async (call, tx) => {
  const { publisherId, trustId } = call.params;
  const row = await findRow(tx, 'trusts', { publisher_id: publisherId, id: trustId });
  if (!row) throw new Refused('not_found', `The publisher ${publisherId} has no trust ${trustId}.`);
  await deleteRows(tx, 'personal_access_tokens', { trust_id: trustId });
  await deleteRows(tx, 'trusts', { id: trustId });
  await recordTrust(call, tx, row, 'trust.remove');
};

function recordTrust(
  call: AddCall | OperationCall<'publisher.trust.remove'>,
  tx: Tx,
  row: TrustRow,
  action: string,
) {
  const { repository = row.issuer }: WantedClaims = JSON.parse(row.wanted);
  const event = { kind: 'trust', id: row.id, publisherId: row.publisher_id } as const;
  return recordAction(call, tx, { ...event, action, reason: repository });
}

async function viewTrusts(
  database: Database,
  rows: readonly TrustRow[],
): Promise<OperationAnswer<'publisher.trust.list'>> {
  const users =
    rows.length > 0 ? await findRows(database, 'users', { id: rows.map((row) => row.created_by) }) : [];
  return rows.map((row) => ({
    id: row.id,
    issuer: row.issuer,
    ...(JSON.parse(row.wanted) as WantedClaims),
    nodes: parseTokenLimit(row.nodes),
    stage: row.stage === 1,
    ids: row.ids === null ? undefined : JSON.parse(row.ids),
    created_by: row.created_by,
    created_by_email: users.find(({ id }) => id === row.created_by)?.email ?? undefined,
    created_at: row.created_at,
    expires_at: row.expires_at ?? undefined,
    last_used_at: row.last_used_at ?? undefined,
  }));
}

export const trustHandlers = {
  'publisher.trust.add': { write: addTrust },
  'publisher.trust.list': { read: listTrusts },
  'publisher.trust.remove': { write: removeTrust },
} satisfies Partial<Handlers>;

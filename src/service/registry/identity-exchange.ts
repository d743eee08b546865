import { createHash, randomUUID } from 'node:crypto';
import { createRandomToken, parseTokenLimit } from '../auth/random-tokens.js';
import { findRestDays } from '../auth/users.js';
import { type Database, findRow, findRows, insertRow, type Tx, updateRows } from '../database/database.js';
import type { TrustRow } from '../database/schema.js';
import type { Handlers, OperationAnswer, OperationCall, PreparedWrite, Read } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import type { CiIdentity, ClaimCheck } from '../operation/identity.js';
import { requireCountQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import { getVisiblePublisher, isInsider, openAccess, type Viewer } from './access.js';
import { findNearest, matchTrust, readIds, type TrustMatch, toProvenance } from './match-trust.js';

type ExchangeCall = OperationCall<'publisher.trust.exchange'>;

const DAY_MS = 24 * 60 * 60_000;
/** Decided: how long a CI job may publish with what it got for its identity token. */
const TOKEN_MS = 15 * 60_000;
/** The end of the year 9999: the latest date in ISO 8601 with four digits. */
const MAX_TIME_MS = 253_402_300_799_000;

const checkTrust: Read<'publisher.trust.check'> = async (call, database) => {
  const { params, body, context } = call;
  const access = await openAccess(call, database);
  await getVisiblePublisher(access, params.publisherId);
  const identity = await context.verifyJob(context, body.token);
  const asked = { publisherId: params.publisherId, nodes: body.nodes };
  const isMember = isInsider(access.viewer, params.publisherId);
  const { match, checks } = await judgeIdentity(context, database, identity, { ...asked, isMember });
  return { accepted: checks.every(({ ok }) => ok), trust_id: match?.trust.id, claims: [...checks] };
};

const STRANGER: Viewer = { admin: false, publishers: new Set() };

/** The issuer is asked for its keys before the transaction. */
async function prepareExchange(
  call: ExchangeCall,
): Promise<PreparedWrite<OperationAnswer<'publisher.trust.exchange'>>> {
  const identity = await call.context.verifyJob(call.context, call.body.token);
  return { write: (tx) => exchangeIdentity(call, tx, identity), undo: async () => {} };
}

// Decided: a CI job gets an ordinary personal access token, made by who added the trust, which ends with their membership.
async function exchangeIdentity(
  call: ExchangeCall,
  tx: Tx,
  identity: CiIdentity,
): Promise<OperationAnswer<'publisher.trust.exchange'>> {
  const { params, body, context } = call;
  const { publisherId } = params;
  // No one may publish for a banned publisher, its members included.
  await getVisiblePublisher({ context, database: tx, viewer: STRANGER }, publisherId);
  const asked = { publisherId, nodes: body.nodes, isMember: false };
  const { match, checks } = await judgeIdentity(context, tx, identity, asked);
  const problems = checks.filter(({ ok }) => !ok);
  if (problems.length > 0 || !match || !identity.issuer) throw refuseIdentity(publisherId, match, problems);
  const { trust } = match;
  const now = context.now();
  const at = new Date(now).toISOString();
  await useIdentity(tx, identity, at);
  const ids = JSON.stringify(readIds(identity.issuer, identity.claims));
  await updateRows(tx, 'trusts', { id: trust.id }, { ids, expires_at: null, last_used_at: at });
  await tx
    .deleteFrom('personal_access_tokens')
    .where('publisher_id', '=', publisherId)
    .where('trust_id', 'is not', null)
    .where('expires_at', '<=', at)
    .execute();
  await requireCountQuota(tx, context, { publisherId, quota: 'tokens' });
  const provenance = toProvenance(identity.issuer, identity.claims);
  const { token, prefix, hash } = createRandomToken('personal_access_tokens');
  const nodes = body.nodes ?? parseTokenLimit(trust.nodes);
  const row = {
    ...{ id: randomUUID(), publisher_id: publisherId, prefix, hash, created_by: trust.created_by },
    name: `CI job ${provenance.run ?? ''} of ${provenance.repository ?? provenance.issuer}`.slice(0, 100),
    description: null,
    nodes: nodes ? JSON.stringify(nodes) : null,
    created_at: at,
    expires_at: new Date(now + TOKEN_MS).toISOString(),
    last_used_at: null,
    trust_id: trust.id,
    provenance: JSON.stringify(provenance),
    stage: trust.stage,
  };
  await insertRow(tx, 'personal_access_tokens', row);
  const caller = { ...call.caller, userId: trust.created_by };
  const reason = `For ${row.name}, by the trust ${trust.id}.`;
  const event = { kind: 'token', id: row.id, publisherId, action: 'token.create', reason } as const;
  await recordAction({ ...call, caller }, tx, event);
  return { token, expires_at: row.expires_at, nodes, trust_id: trust.id };
}

/** @throws Refused identity_refused if the token was exchanged before */
async function useIdentity(tx: Tx, { claims }: CiIdentity, at: string): Promise<void> {
  const id = createHash('sha256').update(`${claims.iss}\n${claims.jti}`).digest('hex');
  await tx.deleteFrom('used_identities').where('expires_at', '<=', at).execute();
  if (await findRow(tx, 'used_identities', { id })) {
    const problem = {
      claim: 'jti',
      wanted: 'an id that is used once',
      got: 'one that was exchanged before',
      ok: false,
    };
    const message = `The identity token is refused: ${describeCheck(problem)}. Request a new token from the issuer.`;
    throw new Refused('identity_refused', message, [toDetail(problem)]);
  }
  // Longer than the tolerance of clocks.
  const end = Math.min((claims.exp as number) * 1000 + DAY_MS, MAX_TIME_MS);
  await insertRow(tx, 'used_identities', { id, expires_at: new Date(end).toISOString() });
}

interface Asked {
  readonly publisherId: string;
  readonly nodes: readonly string[] | undefined;
  /** Whether the caller may see the trusts. */
  readonly isMember: boolean;
}

/** Compares an identity with the trusts of a publisher. @returns the one that matches, or the nearest that may be shown */
async function judgeIdentity(
  context: Context,
  database: Database,
  { issuer, claims, checks, isSigned }: CiIdentity,
  { publisherId, nodes, isMember }: Asked,
): Promise<{ readonly match: TrustMatch | undefined; readonly checks: readonly ClaimCheck[] }> {
  if (!issuer || !(isSigned || isMember)) return { match: undefined, checks };
  const trusts = await findRows(database, 'trusts', { publisher_id: publisherId, issuer: issuer.issuer });
  const matches = trusts.map((trust) => matchTrust({ issuer, claims }, trust, { nodes, now: context.now() }));
  const match = findNearest(matches.filter(({ isRelated }) => isRelated || isMember));
  if (match) {
    const rest = await checkMaker(context, database, match.trust);
    return { match, checks: [...checks, ...match.checks, ...rest] };
  }
  const claim = issuer.claims.repository ?? 'sub';
  const got = claims[claim] === undefined ? undefined : String(claims[claim]).slice(0, 300);
  const missing = { claim, wanted: `of a CI job that ${publisherId} trusts`, got, ok: false };
  return { match, checks: [...checks, missing] };
}

/** Who has left the identity provider cannot publish by what they set up. */
async function checkMaker(
  context: Context,
  database: Database,
  { created_by }: TrustRow,
): Promise<ClaimCheck[]> {
  const days = await findRestDays(context, database, created_by);
  if (days === undefined) return [];
  const wanted = `of a person who signed in within ${days} days`;
  return [{ claim: 'trust', wanted, got: 'of one who did not', ok: false }];
}

function refuseIdentity(
  publisherId: string,
  match: TrustMatch | undefined,
  problems: readonly ClaimCheck[],
): Refused {
  const what = match
    ? `does not match the nearest trust of ${publisherId}`
    : `is not trusted by ${publisherId}`;
  const sentence = `The identity token ${what}: ${problems.map(describeCheck).join('; ')}.`;
  return new Refused('identity_refused', sentence, problems.map(toDetail));
}

function describeCheck({ claim, wanted, got }: ClaimCheck): string {
  return `${claim} must be ${wanted}, ${got === undefined ? 'and is missing' : `not ${got}`}`;
}

function toDetail(check: ClaimCheck): { path: string; message: string } {
  const { claim: path, wanted, got } = check;
  return { path, message: `must be ${wanted}, ${got === undefined ? 'and is missing' : `not ${got}`}` };
}

export const identityHandlers = {
  'publisher.trust.check': { read: checkTrust },
  'publisher.trust.exchange': { prepare: prepareExchange },
} satisfies Partial<Handlers>;

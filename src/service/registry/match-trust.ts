import type { WantedClaims } from '../../contract/trust.js';
import { fail, readClaim } from '../auth/ci-identity.js';
import { coversNode, parseTokenLimit } from '../auth/random-tokens.js';
import type { PublishIssuer } from '../configuration/publish-issuer.js';
import type { TrustRow } from '../database/schema.js';
import type { CiIdentity, ClaimCheck } from '../operation/identity.js';

const NAMES = ['repository', 'workflow', 'environment', 'ref'] as const;

type Claims = CiIdentity['claims'];

export interface TrustMatch {
  readonly trust: TrustRow;
  readonly checks: readonly ClaimCheck[];
  /** Whether the identity is of the repository that the trust names, or has any of its claims if it names none. */
  readonly isRelated: boolean;
}

/** Compares an identity with a trust of its issuer. @param nodes to publish; absent: not known yet */
export function matchTrust(
  { issuer, claims }: { readonly issuer: PublishIssuer; readonly claims: Claims },
  trust: TrustRow,
  { nodes, now }: { readonly nodes: readonly string[] | undefined; readonly now: number },
): TrustMatch {
  const wanted: WantedClaims = JSON.parse(trust.wanted);
  const compare = (claim: string, value: string, got = readClaim(claims, claim)) => {
    return { claim, wanted: value, got, ok: got === value };
  };
  const named = NAMES.flatMap((name) => {
    const { [name]: value } = wanted;
    if (value === undefined) return [];
    const got = name === 'workflow' ? readWorkflow(issuer, claims) : undefined;
    return [compare(issuer.claims[name] ?? name, value, got)];
  });
  const other = Object.entries(wanted.claims ?? {}).map(([claim, value]) => compare(claim, value));
  const ids = checkIds(issuer, trust, claims);
  const isSame = trust.ids !== null && ids[0]?.ok === true;
  return {
    trust,
    checks: [
      ...named,
      ...other,
      ...ids,
      ...checkEvent(issuer, claims),
      ...checkNodes(trust, nodes),
      ...checkEnd(trust, now),
    ],
    isRelated: wanted.repository === undefined ? other.some(({ ok }) => ok) : isSame || named[0]?.ok === true,
  };
}

/** The file of the workflow: `octo/light/.github/workflows/release.yml@refs/heads/main` names release.yml. */
function readWorkflow({ issuer, claims: names, folder }: PublishIssuer, claims: Claims): string | undefined {
  const text = readClaim(claims, names.workflow ?? '');
  if (text === undefined || folder === undefined) return text;
  const own = `${readClaim(claims, names.repository ?? '')}${folder}`;
  // GitLab has its host before it.
  const start = [own, `${new URL(issuer).host}/${own}`].find((one) => text.startsWith(one));
  const end = text.indexOf('@refs/', start?.length);
  // That of another repository is named whole.
  return start === undefined || end < 0 ? text : text.slice(start.length, end);
}

// Decided: a repository and its owner are those of the first use, because others may get their names later.
function checkIds({ ids }: PublishIssuer, trust: TrustRow, claims: Claims): ClaimCheck[] {
  const known: Readonly<Record<string, string>> = JSON.parse(trust.ids ?? '{}');
  return ids.map((claim) => {
    const got = readClaim(claims, claim);
    const isKnown = Object.hasOwn(known, claim);
    const wanted = isKnown ? `${known[claim]}, as at the first use` : 'an id';
    return { claim, wanted, got, ok: got !== undefined && (!isKnown || got === known[claim]) };
  });
}

/** The ids of an identity that a trust keeps. */
export function readIds({ ids }: PublishIssuer, claims: Claims): Readonly<Record<string, string>> {
  return Object.fromEntries(ids.map((claim) => [claim, readClaim(claims, claim) ?? '']));
}

function checkEvent({ claims: { event }, refusedEvents }: PublishIssuer, claims: Claims): ClaimCheck[] {
  if (event === undefined || refusedEvents.length === 0) return [];
  const got = readClaim(claims, event);
  const wanted = `an event other than ${refusedEvents.join(' and ')}`;
  return [{ claim: event, wanted, got, ok: got !== undefined && !refusedEvents.includes(got) }];
}

function checkNodes({ nodes }: TrustRow, asked: readonly string[] | undefined): ClaimCheck[] {
  const limit = parseTokenLimit(nodes);
  if (!limit || !asked) return [];
  const ok = asked.every((node) => coversNode(limit, node));
  return [{ claim: 'nodes', wanted: `among ${limit.join(', ')}`, got: asked.join(', '), ok }];
}

function checkEnd({ expires_at }: TrustRow, now: number): ClaimCheck[] {
  if (expires_at === null || Date.parse(expires_at) > now) return [];
  return [fail('trust', 'used within 30 days of its addition', `unused until ${expires_at}`)];
}

/** The one that fails least. */
export function findNearest(matches: readonly TrustMatch[]): TrustMatch | undefined {
  const countFailed = ({ checks }: TrustMatch) => checks.filter(({ ok }) => !ok).length;
  return [...matches].sort((one, other) => countFailed(one) - countFailed(other))[0];
}

/** What a version says of the CI job that published it. */
export function toProvenance({ issuer, claims: names, ids }: PublishIssuer, claims: Claims) {
  const read = (name: string | undefined) =>
    name === undefined ? undefined : readClaim(claims, name)?.replace(/\p{Cc}/gu, ' ');
  return {
    issuer,
    repository: read(names.repository),
    repository_id: read(ids[0]),
    ref: read(names.ref),
    commit: read(names.commit),
    workflow: read(names.workflow),
    run: read(names.run),
  };
}

import { compactVerify, errors, type JWTPayload } from 'jose';
import { isRecord, parseJson } from '../../contract/json.js';
import type { PublishIssuer } from '../configuration/publish-issuer.js';
import type { Context } from '../operation/context.js';
import type { CiIdentity, CiVerifier, ClaimCheck } from '../operation/identity.js';
import { Refused } from '../operation/refused.js';
import { CLOCK_TOLERANCE_SECONDS } from './issuer.js';
import { createKeyFinder, IssuerUnavailable, RETRY_AFTER_SECONDS } from './issuer-keys.js';
import { decodeUnverified } from './tokens.js';

/**
 * Creates the verifier of the identity tokens of CI jobs. It says of each claim of the token itself whether it is valid.
 * @throws Refused unavailable if the issuer does not answer
 */
export function createCiVerifier(
  issuers: readonly PublishIssuer[],
  parts: Pick<Context, 'now' | 'log'>,
): CiVerifier {
  const known = issuers.map((issuer) => ({ issuer, findKey: createKeyFinder(issuer.issuer, parts) }));
  return async ({ now, baseUrl }, token) => {
    const claims = decodeUnverified(token);
    if (!claims)
      return { claims: {}, isSigned: false, checks: [fail('token', 'a signed JWT', 'other text')] };
    const found = known.find(({ issuer }) => issuer.issuer === claims.iss);
    if (!found) {
      const names = issuers.map(({ issuer }) => issuer).join(' or ');
      const wanted = names || 'an issuer in the setting publish.issuers of this service, which has none';
      return { claims, isSigned: false, checks: [fail('iss', wanted, readClaim(claims, 'iss'))] };
    }
    const { issuer, findKey } = found;
    const problem = await findSignatureProblem(issuer, token, findKey);
    const checks = checkStandardClaims(claims, {
      audience: issuer.audience ?? baseUrl(),
      seconds: now() / 1000,
    });
    const of: CiIdentity = { issuer, claims, isSigned: problem === undefined, checks };
    return problem ? { ...of, checks: [problem, ...checks] } : of;
  };
}

async function findSignatureProblem(
  { issuer, algorithms }: PublishIssuer,
  token: string,
  findKey: ReturnType<typeof createKeyFinder>,
): Promise<ClaimCheck | undefined> {
  try {
    const { payload } = await compactVerify(token, findKey, { algorithms: [...algorithms] });
    if (isRecord(parseJson(Buffer.from(payload).toString()))) return undefined;
    return fail('token', 'a signed JWT', 'other text');
  } catch (error) {
    const header = readHeader(token);
    if (error instanceof IssuerUnavailable) {
      const message = `The issuer ${issuer} does not answer; try again soon.`;
      throw new Refused('unavailable', message, undefined, RETRY_AFTER_SECONDS);
    }
    if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
      return fail('alg', `one of ${algorithms.join(', ')}`, header.alg);
    if (error instanceof errors.JWKSNoMatchingKey) return fail('kid', `a key of ${issuer}`, header.kid);
    return fail('signature', `one made with a key of ${issuer}`, 'another');
  }
}

function readHeader(token: string): { readonly alg?: string | undefined; readonly kid?: string | undefined } {
  const header = parseJson(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
  const read = (name: string) => (isRecord(header) ? readClaim(header, name) : undefined);
  return { alg: read('alg'), kid: read('kid') };
}

/** Ids that are longer say nothing more. */
const MAX_ID = 1024;

function checkStandardClaims(
  claims: JWTPayload,
  { audience, seconds }: { readonly audience: string; readonly seconds: number },
): ClaimCheck[] {
  const { exp, nbf, jti } = claims as Readonly<Record<string, unknown>>;
  const audiences = [claims.aud ?? []].flat();
  const isEnd = typeof exp === 'number' && exp > seconds - CLOCK_TOLERANCE_SECONDS;
  const isBegun = nbf === undefined || (typeof nbf === 'number' && nbf <= seconds + CLOCK_TOLERANCE_SECONDS);
  const isId = typeof jti === 'string' && jti !== '' && jti.length <= MAX_ID;
  return [
    // Decided: a token that is for another service, too, could have come from there.
    {
      claim: 'aud',
      wanted: audience,
      got: audiences.length > 0 ? shorten(audiences.join(' and ')) : undefined,
      ok: audiences.length === 1 && audiences[0] === audience,
    },
    { claim: 'exp', wanted: 'a time in the future', got: toTime(exp), ok: isEnd },
    ...(isBegun ? [] : [fail('nbf', 'a time in the past', toTime(nbf))]),
    { claim: 'jti', wanted: 'an id that is used once', got: readClaim(claims, 'jti'), ok: isId },
  ];
}

export function fail(claim: string, wanted: string, got: string | undefined): ClaimCheck {
  return { claim, wanted, got, ok: false };
}

function toTime(seconds: unknown): string | undefined {
  const date = new Date(Number(seconds) * 1000);
  if (seconds === undefined || Number.isNaN(date.getTime())) return shorten(seconds);
  return date.toISOString();
}

/**
 * Reads a claim as text. A claim's name may itself contain dots, such as a URL.
 * @returns undefined if the token does not have it
 */
export function readClaim(claims: Readonly<Record<string, unknown>>, path: string): string | undefined {
  if (Object.hasOwn(claims, path)) return shorten(claims[path]);
  const value = path
    .split('.')
    .reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), claims);
  return shorten(value);
}

/** Longer values are never wanted. */
const MAX_SHOWN = 301;

function shorten(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.slice(0, MAX_SHOWN).toWellFormed();
}

import { randomUUID } from 'node:crypto';
import { type CryptoKey, decodeJwt, errors, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Context } from '../operation/context.js';
import type { Identity, SigningKey, TokenSubject, VerifierContext } from '../operation/identity.js';
import { Refused } from '../operation/refused.js';

/** Issuer and audience of the tokens that the service issues. */
const OWN_ISSUER = 'regen';
const ALGORITHM = 'EdDSA';
/** Decided: no token of the service is valid longer than an hour. */
export const MAX_TOKEN_SECONDS = 3600;

/** Issues a bearer token of the service. */
export async function signToken(
  signer: Pick<Context, 'keys' | 'now'>,
  { sub, roles = [], email, name, expiresInSeconds = MAX_TOKEN_SECONDS }: TokenSubject,
): Promise<string> {
  const claims = { roles, ...(email ? { email } : {}), ...(name ? { name } : {}) };
  return signJwt(signer, { audience: OWN_ISSUER, subject: sub, jti: randomUUID(), expiresInSeconds, claims });
}

export interface SignJwtOptions {
  readonly audience: string;
  readonly subject: string;
  readonly jti: string;
  /** Counted from the start of the current second. */
  readonly expiresInSeconds: number;
  readonly claims?: JWTPayload;
}

/** The key that signs: the one that is not retired. */
export function getSigningKey(keys: readonly SigningKey[]): SigningKey {
  return keys.find(({ retiredAt }) => retiredAt === undefined) as SigningKey;
}

/** @throws RangeError if it would be valid longer than an hour */
export async function signJwt(
  { keys, now }: Pick<Context, 'keys' | 'now'>,
  { audience, subject, jti, expiresInSeconds, claims = {} }: SignJwtOptions,
): Promise<string> {
  if (expiresInSeconds > MAX_TOKEN_SECONDS)
    throw new RangeError(`A token is valid for at most ${MAX_TOKEN_SECONDS} s.`);
  const key = getSigningKey(keys.token);
  const issuedAt = Math.floor(now() / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid: key.kid, typ: 'JWT' })
    .setIssuer(OWN_ISSUER)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt(issuedAt)
    .setNotBefore(Math.min(issuedAt, issuedAt + expiresInSeconds))
    .setExpirationTime(issuedAt + expiresInSeconds)
    .setJti(jti)
    .sign((await loadKeyPair(key)).privateKey);
}

export async function verifyOwnToken(context: VerifierContext, token: string): Promise<Identity | undefined> {
  if (decodeUnverified(token)?.iss !== OWN_ISSUER) return undefined;
  const claims = await verifyJwt(context, token, OWN_ISSUER);
  const { email, name, roles } = claims as { email?: string; name?: string; roles?: string[] };
  return {
    kind: 'service',
    issuer: OWN_ISSUER,
    subject: claims.sub as string,
    verifiedEmail: email,
    name,
    admin: roles?.includes('admin') ?? false,
    expiresAt: claims.exp as number,
  };
}

/** Whether a token claims that the service issued it for this audience; not verified. */
export function isIssuedFor(token: string, audience: string): boolean {
  const claims = decodeUnverified(token);
  return claims?.iss === OWN_ISSUER && claims.aud === audience;
}

/** The claims of a token that was not verified; undefined if it has none. */
export function decodeUnverified(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/**
 * Verifies a token that the service issued for this audience, without clock tolerance. @returns its claims
 * @throws Refused unauthenticated
 */
export async function verifyJwt(
  { keys, now }: Pick<VerifierContext, 'keys' | 'now'>,
  token: string,
  audience: string,
): Promise<JWTPayload> {
  let lookup: Promise<void> | undefined;
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const find = () => keys.token.find((one) => one.kid === kid);
        lookup = find() ? undefined : keys.reload();
        await lookup;
        const key = find();
        if (!key || (key.retiredAt !== undefined && key.retiredAt <= now()))
          throw new errors.JWKSNoMatchingKey();
        return (await loadKeyPair(key)).publicKey;
      },
      {
        issuer: OWN_ISSUER,
        audience,
        algorithms: [ALGORITHM],
        requiredClaims: ['sub', 'iat', 'exp'],
        currentDate: new Date(now()),
        clockTolerance: 0,
      },
    );
    return payload;
  } catch (error) {
    // That the keys cannot be read says nothing of the token.
    await lookup;
    throw invalidToken(error);
  }
}

/** Why a token is refused. Claims are checked after the signature, so this does not help to forge one. */
export function invalidToken(error?: unknown, audience?: string): Refused {
  return new Refused('unauthenticated', `The token ${describeProblem(error, audience)}; sign in again.`);
}

function describeProblem(error: unknown, audience: string | undefined): string {
  if (error instanceof errors.JWTExpired) return 'has expired';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'is not valid';
  if (error.claim === 'aud') return `is for another service${audience ? ` than ${audience}` : ''}`;
  return error.claim === 'nbf' ? 'is not valid yet' : 'is not valid';
}

type KeyPair = Readonly<Record<'privateKey' | 'publicKey', CryptoKey>>;

const keyPairs = new WeakMap<object, Promise<KeyPair>>();

function loadKeyPair(key: SigningKey): Promise<KeyPair> {
  const pair = keyPairs.get(key.jwk) ?? importKeyPair(key.jwk);
  keyPairs.set(key.jwk, pair);
  return pair;
}

async function importKeyPair(jwk: Record<string, unknown>): Promise<KeyPair> {
  const { d: _, ...open } = jwk;
  const [privateKey, publicKey] = await Promise.all([importJWK(jwk, ALGORITHM), importJWK(open, ALGORITHM)]);
  return { privateKey: privateKey as CryptoKey, publicKey: publicKey as CryptoKey };
}

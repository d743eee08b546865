import { randomUUID } from 'node:crypto';
import { type CryptoKey, decodeJwt, errors, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Context, SigningKey } from '../context.js';
import { Refused } from '../refused.js';
import type { Identity } from './identity.js';

/** Issuer and audience of the tokens the service makes itself. */
const self = 'regen';
const algorithm = 'EdDSA';
/** Decided: no token of the service lives longer than an hour. */
export const longestTokenSeconds = 3600;

export interface TokenSubject {
  readonly sub: string;
  /** `admin` makes an admin. */
  readonly roles?: readonly string[];
  readonly email?: string;
  readonly name?: string;
  /** At most an hour, which it is where absent; a negative one makes a token that has expired. */
  readonly expiresInSeconds?: number;
}

/** Makes a bearer token of the service itself. */
export async function signToken(
  signer: Pick<Context, 'keys' | 'now'>,
  { sub, roles = [], email, name, expiresInSeconds = longestTokenSeconds }: TokenSubject,
): Promise<string> {
  const claims = { roles, ...(email ? { email } : {}), ...(name ? { name } : {}) };
  return sign(signer, { audience: self, subject: sub, jti: randomUUID(), expiresInSeconds, claims });
}

export interface Signed {
  readonly audience: string;
  readonly subject: string;
  readonly jti: string;
  /** Counted from the second that `now` lies in. */
  readonly expiresInSeconds: number;
  readonly claims?: JWTPayload;
}

/** The key that signs: the one that none took the place of. */
export function signerOf(keys: readonly SigningKey[]): SigningKey {
  return keys.find(({ retiredAt }) => retiredAt === undefined) as SigningKey;
}

/**
 * Signs a token with the service's newest key.
 * @throws RangeError where it would live longer than an hour
 */
export async function sign(
  { keys, now }: Pick<Context, 'keys' | 'now'>,
  { audience, subject, jti, expiresInSeconds, claims = {} }: Signed,
): Promise<string> {
  if (expiresInSeconds > longestTokenSeconds)
    throw new RangeError(`A token lives at most ${longestTokenSeconds} s.`);
  const key = signerOf(keys.token);
  const issuedAt = Math.floor(now() / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, kid: key.kid, typ: 'JWT' })
    .setIssuer(self)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt(issuedAt)
    .setNotBefore(Math.min(issuedAt, issuedAt + expiresInSeconds))
    .setExpirationTime(issuedAt + expiresInSeconds)
    .setJti(jti)
    .sign((await imported(key)).privateKey);
}

/** The Verifier of the service's own tokens. */
export async function verifyOwnToken(context: Context, token: string): Promise<Identity | undefined> {
  if (unverified(token)?.iss !== self) return undefined;
  const claims = await verified(context, token, self);
  const { email, name, roles } = claims as { email?: string; name?: string; roles?: string[] };
  return {
    kind: 'service',
    issuer: self,
    subject: claims.sub as string,
    verifiedEmail: email,
    name,
    admin: roles?.includes('admin') ?? false,
    expiresAt: claims.exp as number,
  };
}

/** Whether a token says that the service made it for this audience; to be believed only once it is `verified`. */
export function isFor(token: string, audience: string): boolean {
  const claims = unverified(token);
  return claims?.iss === self && claims.aud === audience;
}

function unverified(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/**
 * The claims of a token that the service made for this audience. Not a second of leeway is given.
 * @throws Refused unauthenticated
 */
export async function verified({ keys, now }: Context, token: string, audience: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = keys.token.find((one) => one.kid === kid);
        if (!key || (key.retiredAt !== undefined && key.retiredAt <= now()))
          throw new errors.JWKSNoMatchingKey();
        return (await imported(key)).publicKey;
      },
      {
        issuer: self,
        audience,
        algorithms: [algorithm],
        requiredClaims: ['sub', 'iat', 'exp'],
        currentDate: new Date(now()),
        clockTolerance: 0,
      },
    );
    return payload;
  } catch (error) {
    throw invalidToken(error);
  }
}

/** Why a token is refused. Claims are looked at after the signature, so that nobody learns how to forge one. */
export function invalidToken(error?: unknown): Refused {
  return new Refused('unauthenticated', `The token ${problemOf(error)}; sign in again.`);
}

function problemOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'has expired';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'is not valid';
  if (error.claim === 'aud') return 'is made for another service';
  return error.claim === 'nbf' ? 'is not valid yet' : 'is not valid';
}

interface Pair {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

const pairs = new WeakMap<object, Promise<Pair>>();

function imported(key: SigningKey): Promise<Pair> {
  let pair = pairs.get(key.jwk);
  if (!pair) {
    pair = importPair(key.jwk);
    pairs.set(key.jwk, pair);
  }
  return pair;
}

async function importPair(jwk: Record<string, unknown>): Promise<Pair> {
  const { d: _, ...open } = jwk;
  const [privateKey, publicKey] = await Promise.all([importJWK(jwk, algorithm), importJWK(open, algorithm)]);
  return { privateKey: privateKey as CryptoKey, publicKey: publicKey as CryptoKey };
}

import { type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import { EmailAddress } from '../../contract/schema/identifiers.js';
import type { IssuerSettings } from '../configuration/issuer-settings.js';
import type { Context } from '../operation/context.js';
import type { Identity, Verifier } from '../operation/identity.js';
import { Refused } from '../operation/refused.js';
import { createKeyFinder, IssuerUnavailable, RETRY_AFTER_SECONDS } from './issuer-keys.js';
import { decodeUnverified, invalidToken } from './tokens.js';

// Decided: an issuer's clock may be a minute off. The service's own tokens get no tolerance.
export const CLOCK_TOLERANCE_SECONDS = 60;
/** The end of the year 9999: the latest date in ISO 8601 with four digits. */
const MAX_EXPIRY_SECONDS = 253_402_300_799;

/** Creates the verifier of one identity provider's access tokens. */
export function createVerifier(settings: IssuerSettings, parts: Pick<Context, 'now' | 'log'>): Verifier {
  const { issuer, audience, algorithms } = settings;
  const keys = createKeyFinder(issuer, parts);
  const logSignIn = createSignInLog(parts.log);
  return async (context, token) => {
    if (decodeUnverified(token)?.iss !== issuer) return undefined;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer,
        audience: audience ?? context.baseUrl(),
        algorithms,
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(context.now()),
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
      requireAccessToken(protectedHeader, payload, settings);
      const identity = toIdentity(payload, settings);
      logSignIn(token, identity);
      return identity;
    } catch (error) {
      if (error instanceof IssuerUnavailable) {
        const message = `The identity provider ${issuer} does not answer; try again soon.`;
        throw new Refused('unavailable', message, undefined, RETRY_AFTER_SECONDS);
      }
      throw error instanceof Refused ? error : invalidToken(error, audience ?? context.baseUrl());
    }
  };
}

const ACCESS_TYPES = ['jwt', 'at+jwt', 'application/at+jwt'];
/** As Keycloak writes in the claim `typ` of its other tokens. */
const OTHER_TYPES = ['refresh', 'offline', 'logout'];

// Decided: an access token has no hash of itself, and no event. Some providers repeat the nonce of the sign-in in it
// (Keycloak before 25), beside what ID tokens do not have: its scopes, or its client as RFC 9068 names it.
/** @throws Refused unauthenticated for ID, refresh and logout tokens, which may have the same audience */
function requireAccessToken(
  { typ = 'JWT' }: JWTHeaderParameters,
  claims: JWTPayload,
  { idTokens }: IssuerSettings,
): void {
  const kind = typeof claims.typ === 'string' ? claims.typ.toLowerCase() : '';
  const has = (names: readonly string[]) => names.some((name) => claims[name] !== undefined);
  const isIdToken =
    has(['at_hash', 'c_hash']) || (has(['nonce']) && !has(['scope', 'scp', 'client_id'])) || kind === 'id';
  const isOther = !ACCESS_TYPES.includes(typ.toLowerCase()) || OTHER_TYPES.includes(kind) || has(['events']);
  if (isOther || (isIdToken && !idTokens))
    throw new Refused('unauthenticated', 'The token is not an access token; sign in again.');
}

/** How many tokens are remembered, so that each is logged once. */
const MAX_LOGGED = 10_000;

/** Logs the first use of each access token. */
function createSignInLog(log: Context['log']): (token: string, identity: Identity) => void {
  const logged = new Set<string>();
  return (token, { issuer, subject, admin, expiresAt }) => {
    const signature = token.slice(token.lastIndexOf('.') + 1);
    if (logged.has(signature)) return;
    if (logged.size >= MAX_LOGGED) logged.clear();
    logged.add(signature);
    log('info', 'sign-in', { issuer, subject, admin, expiresAt: new Date(expiresAt * 1000).toISOString() });
  };
}

function toIdentity(claims: JWTPayload, settings: IssuerSettings): Identity {
  const { issuer, rolesClaim, adminRole } = settings;
  const subject = claims.sub;
  // OpenID Connect Core 2: at most 255 characters.
  if (typeof subject !== 'string' || !/^[^\p{Cc}\p{Cs}]{1,255}$/u.test(subject)) throw invalidToken();
  return {
    kind: 'identity_provider',
    issuer,
    subject,
    verifiedEmail: readVerifiedEmail(claims),
    name: readName(claims),
    admin: readRoles(claims, rolesClaim).includes(adminRole),
    weakness: findWeakness(claims, settings),
    expiresAt: Math.min(claims.exp as number, MAX_EXPIRY_SECONDS),
  };
}

/** RFC 8176 and OpenID Connect Core 2: how a person signed in. */
function findWeakness({ amr, acr }: JWTPayload, { requireForOwners }: IssuerSettings): string | undefined {
  const { amr: methods, acr: levels } = requireForOwners ?? {};
  const used: unknown[] = [amr ?? []].flat();
  if (methods && !methods.some((method) => used.includes(method))) return `with amr ${methods.join(' or ')}`;
  return levels && !levels.some((level) => level === acr) ? `with acr ${levels.join(' or ')}` : undefined;
}

/** Decided: an address counts only with `email_verified`, because memberships are granted to addresses. */
function readVerifiedEmail({ email, email_verified }: JWTPayload): string | undefined {
  return email_verified === true ? EmailAddress.safeParse(email).data : undefined;
}

function readName({ name }: JWTPayload): string | undefined {
  if (typeof name !== 'string') return undefined;
  return (
    name
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, 200)
      // Stored otherwise, it would differ from the token each time.
      .toWellFormed() || undefined
  );
}

// Decided: a text is one role, because the words of a sentence are none.
/** Reads a claim's roles: a list, or one as text. A claim's name may itself contain dots, such as a URL. */
function readRoles(claims: JWTPayload, path: string): unknown[] {
  const value = Object.hasOwn(claims, path) ? claims[path] : path.split('.').reduce(getProperty, claims);
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value : [];
}

function getProperty(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { EmailAddress } from '../../contract/rules.js';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import type { Identity, Verifier } from './identity.js';
import { IssuerUnavailable } from './issuer-fetch.js';
import { issuerKeys, retryAfterSeconds } from './issuer-keys.js';
import type { IssuerSettings } from './issuer-settings.js';
import { invalidToken } from './tokens.js';

// Decided: clocks of issuers may be a minute off; the service's own is never off from itself.
const leewaySeconds = 60;
/** The end of the year 9999: no date lies beyond it. */
const lastSecond = 253_402_300_799;

/** The Verifier of one identity provider's access tokens. */
export function issuerVerifier(settings: IssuerSettings, parts: Pick<Context, 'now' | 'log'>): Verifier {
  const { issuer, audience, algorithms } = settings;
  const keys = issuerKeys(issuer, parts);
  return async (context, token) => {
    if (issuerOf(token) !== issuer) return undefined;
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: audience ?? context.baseUrl(),
        algorithms,
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(context.now()),
        clockTolerance: leewaySeconds,
      });
      return identityOf(payload, settings);
    } catch (error) {
      if (error instanceof IssuerUnavailable) throw unavailable(issuer);
      throw error instanceof Refused ? error : invalidToken(error);
    }
  };
}

/** What a token says of where it is from. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function unavailable(issuer: string): Refused {
  const message = `The identity provider ${issuer} cannot be asked for its keys; try again soon.`;
  return new Refused('unavailable', message, undefined, retryAfterSeconds);
}

function identityOf(claims: JWTPayload, { issuer, rolesClaim, adminRole }: IssuerSettings): Identity {
  const subject = claims.sub;
  // OpenID Connect Core 2: at most 255 characters.
  if (typeof subject !== 'string' || !/^[^\p{Cc}]{1,255}$/u.test(subject)) throw invalidToken();
  return {
    kind: 'identity_provider',
    issuer,
    subject,
    verifiedEmail: verifiedEmail(claims),
    name: nameIn(claims),
    admin: rolesIn(claims, rolesClaim).includes(adminRole),
    expiresAt: Math.min(claims.exp as number, lastSecond),
  };
}

/** Decided: an address counts only with `email_verified: true`, because memberships are given to addresses. */
function verifiedEmail({ email, email_verified }: JWTPayload): string | undefined {
  return email_verified === true ? EmailAddress.safeParse(email).data : undefined;
}

function nameIn({ name }: JWTPayload): string | undefined {
  if (typeof name !== 'string') return undefined;
  return (
    name
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, 200) || undefined
  );
}

/** The roles a claim holds: a list, or words in a text. Its name may itself hold dots, as that of a URL does. */
function rolesIn(claims: JWTPayload, path: string): unknown[] {
  const value = Object.hasOwn(claims, path) ? claims[path] : path.split('.').reduce(within, claims);
  if (typeof value === 'string') return value.split(/\s+/);
  return Array.isArray(value) ? value : [];
}

function within(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

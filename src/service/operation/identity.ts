import type { Envelope } from '../../contract/statement.js';
import type { PublishIssuer } from '../configuration/publish-issuer.js';

export interface SigningKey {
  readonly kid: string;
  /** Ed25519, private. */
  readonly jwk: Record<string, unknown>;
  /** When it stops being accepted, milliseconds since the epoch; absent for the key that signs. */
  readonly retiredAt?: number;
}

/** A key of statements; only the one that is not retired still has its private part. */
export interface StatementSigner {
  /** The thumbprint of its public part. */
  readonly kid: string;
  readonly jwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string; readonly d?: string };
  /** This key, signed with the one before it. */
  readonly endorsement?: Envelope;
  readonly createdAt: string;
  readonly retiredAt?: string;
}

export interface Keys {
  /** HMAC key of signed URLs. */
  readonly url: Buffer;
  /** One signs, all verify until they are retired. Replaced as a whole when a key is added. */
  token: readonly SigningKey[];
  /** The newest first. Replaced as a whole. */
  statement: readonly StatementSigner[];
  /** The owner's bearer token, absent without a data folder. Replaced when it is rotated. */
  owner?: string;
  /** Reads again what another service may have rotated. */
  reload(): Promise<void>;
  /** Replaces the owner's token, in all services of the database. */
  rotateOwner(): Promise<void>;
}

/** The identity that a signed token asserts. */
export interface Identity {
  readonly kind: 'service' | 'identity_provider';
  readonly issuer: string;
  readonly subject: string;
  /** Only if the issuer has verified it, because memberships are granted by email address. */
  readonly verifiedEmail?: string | undefined;
  readonly name?: string | undefined;
  readonly admin: boolean;
  /** What the sign-in lacks for changes that only owners and admins make, if anything. */
  readonly weakness?: string | undefined;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** Whom a token of the service is for. */
export interface TokenSubject {
  readonly sub: string;
  /** `admin` for an admin. */
  readonly roles?: readonly string[] | undefined;
  readonly email?: string;
  readonly name?: string;
  /** At most an hour, which is the default; negative for an expired token. */
  readonly expiresInSeconds?: number;
}

/**
 * Verifies the tokens of one issuer.
 * @returns undefined if the token is from another issuer
 * @throws Refused unauthenticated if it is from this issuer but invalid
 */
export type Verifier = (service: VerifierContext, token: string) => Promise<Identity | undefined>;

/** What verifying a token needs from the service. */
export interface VerifierContext {
  readonly keys: Keys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where clients reach the service: the audience of its tokens. */
  readonly baseUrl: () => string;
}

/** What one claim of an identity token must be, and what it is. */
export interface ClaimCheck {
  readonly claim: string;
  readonly ok: boolean;
  readonly wanted: string;
  /** Absent if the token does not have it. */
  readonly got?: string | undefined;
}

export interface CiIdentity {
  /** Absent if the configuration does not name it. */
  readonly issuer?: PublishIssuer;
  /** To be trusted only if all checks are ok. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Whether the claims are those that the issuer signed. */
  readonly isSigned: boolean;
  readonly checks: readonly ClaimCheck[];
}

export type CiVerifier = (
  service: Pick<VerifierContext, 'now' | 'baseUrl'>,
  token: string,
) => Promise<CiIdentity>;

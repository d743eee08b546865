import type { Context } from '../context.js';

/** Who a signed token says its bearer is. */
export interface Identity {
  readonly kind: 'service' | 'identity_provider';
  readonly issuer: string;
  readonly subject: string;
  /** Only where the issuer vouches for it: memberships are given by e-mail address. */
  readonly verifiedEmail?: string;
  readonly name?: string;
  readonly admin: boolean;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Reads the tokens of one issuer.
 * @returns undefined where the token is of somebody else
 * @throws Refused unauthenticated where it is of this issuer, but not valid
 */
export type Verifier = (context: Context, token: string) => Promise<Identity | undefined>;

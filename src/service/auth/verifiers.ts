import type { Context } from '../context.js';
import type { Verifier } from './identity.js';
import { issuerVerifier } from './issuer.js';
import { verifyOwnToken } from './tokens.js';

/** One for each issuer whose tokens are accepted: the service itself, and those configured. */
export function verifiersOf({
  configuration,
  ...parts
}: Pick<Context, 'configuration' | 'now' | 'log'>): Verifier[] {
  return [verifyOwnToken, ...configuration.issuers.map((issuer) => issuerVerifier(issuer, parts))];
}

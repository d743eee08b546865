import { decodeUnverified } from '../auth/tokens.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

const INTERVAL_MS = 60_000;
/** How many reasons are logged in an interval: strangers choose the claims of a token that is refused. */
const MAX_REASONS = 20;
const MAX_CLAIM_LENGTH = 200;

/** Creates a log of why credentials are refused, each reason once a minute, without the credentials. */
export function createRefusalLog({ log, now }: Pick<Context, 'log' | 'now'>) {
  const logged = new Set<string>();
  let since = now();
  return (error: unknown, credential: string | undefined): void => {
    if (!(error instanceof Refused) || error.code !== 'unauthenticated') return;
    if (Math.abs(now() - since) >= INTERVAL_MS) {
      logged.clear();
      since = now();
    }
    const { iss, aud } = decodeUnverified(credential?.split(' ').at(-1) ?? '') ?? {};
    const [issuer, audience] = [iss, aud].map((claim) => claim && String(claim).slice(0, MAX_CLAIM_LENGTH));
    const facts = { reason: error.message, issuer, audience };
    const key = JSON.stringify(facts);
    if (logged.has(key) || logged.size >= MAX_REASONS) return;
    logged.add(key);
    log('warn', 'A credential was refused.', facts);
  };
}

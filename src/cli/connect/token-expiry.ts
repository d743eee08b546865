import { regen, say, type Text } from '../../contract/schema/message.js';
import type { MeCredential } from '../../contract/user.js';

const DAY_MS = 24 * 60 * 60_000;
/** Decided: how long before it ends a token that nothing renews is warned about. */
const WARNED_MS = 14 * DAY_MS;

const NEW_TOKEN = {
  personal_access_token: {
    what: 'personal access token',
    command: regen('publisher token create', '<publisher> <name>'),
  },
  api_key: { what: 'API key', command: regen('key create', '<name>') },
} as const;

/** Warns of a token that ends soon; sign-ins renew themselves. @returns undefined if there is nothing to warn of */
export function describeExpiry(
  { kind, expires_at }: Partial<MeCredential>,
  source: string,
  now: number,
): Text | undefined {
  // `regen exec` extends it.
  if (source === 'REGEN_KEY_FILE') return undefined;
  if ((kind !== 'personal_access_token' && kind !== 'api_key') || expires_at === undefined) return undefined;
  const left = Date.parse(expires_at) - now;
  if (left > WARNED_MS) return undefined;
  const { what, command } = NEW_TOKEN[kind];
  const days = Math.floor(left / DAY_MS);
  const when = days < 1 ? 'within a day' : days === 1 ? 'in a day' : `in ${days} days`;
  return say`The ${what} expires ${when}. Sign in to create another one with: ${command}`;
}

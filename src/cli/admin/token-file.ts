import { join } from 'node:path';
import { writePrivateFile } from '../../disk/private-file.js';
import { toFailure } from '../command/to-failure.js';
import type { System } from '../terminal/system.js';

export interface AdminToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

interface TokenFileOptions {
  /** A private folder. */
  readonly folder: string;
  readonly first: AdminToken;
  readonly create: (signal: AbortSignal) => Promise<AdminToken>;
  readonly system: Pick<System, 'now' | 'sleep'>;
  /** Called with a sentence when no new token can be created. */
  readonly warn: (message: string) => Promise<void>;
}

/** A token is renewed this long before it expires. */
const RENEWAL_MARGIN_MS = 5 * 60_000;
// Timers stand still while a machine sleeps, so the clock is checked often.
const CHECK_INTERVAL_MS = 30_000;

/** Keeps a valid admin token, and nothing else, in a file until `end` is called. */
export function keepTokenFile({ folder, first, create, system, warn }: TokenFileOptions) {
  const path = join(folder, 'admin-token');
  const ending = new AbortController();
  const tokens = [first];
  let { expires_at } = first;
  let lastWarning = '';
  writePrivateFile(path, first.token);

  const renew = async () => {
    try {
      const next = await create(ending.signal);
      tokens.push(next);
      writePrivateFile(path, next.token);
      expires_at = next.expires_at;
    } catch (error) {
      if (ending.signal.aborted) return;
      // The service may come back before the old token expires; the child keeps running either way.
      const message = `Could not renew the admin token, which expires at ${expires_at}: ${toFailure(error).message}`;
      if (message !== lastWarning) await warn(message);
      lastWarning = message;
    }
  };
  const watching = (async () => {
    while (!ending.signal.aborted) {
      await system.sleep(CHECK_INTERVAL_MS, ending.signal);
      if (!ending.signal.aborted && system.now() >= Date.parse(expires_at) - RENEWAL_MARGIN_MS) await renew();
    }
  })();
  return {
    path,
    /** @returns all tokens that were created */
    async end(): Promise<readonly AdminToken[]> {
      ending.abort();
      await watching;
      return tokens;
    },
  };
}

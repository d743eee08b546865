import { join } from 'node:path';
import { writePrivateFile } from '../../disk/private-file.js';
import { toFailure } from '../command/to-failure.js';
import type { System } from '../terminal/system.js';

export interface Token {
  readonly token: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

interface Parts {
  /** One that only its owner may enter. */
  readonly folder: string;
  readonly first: Token;
  readonly make: (signal: AbortSignal) => Promise<Token>;
  readonly system: Pick<System, 'now' | 'sleep'>;
  /** Told in a sentence that no new token was to be had. */
  readonly failed: (message: string) => Promise<void>;
}

/** How long before it ends a token is replaced. */
const aheadMs = 5 * 60_000;
// A machine that slept wakes up with its timers where they were, so that the clock is looked at often.
const lookEveryMs = 30_000;

/** Keeps a file that holds a valid admin token, the token alone, until it is ended. */
export function keepFresh({ folder, first, make, system, failed }: Parts) {
  const path = join(folder, 'admin-token');
  const ending = new AbortController();
  const made = [first];
  let { expires_at } = first;
  let said = '';
  writePrivateFile(path, first.token);

  const renew = async () => {
    try {
      const next = await make(ending.signal);
      made.push(next);
      writePrivateFile(path, next.token);
      expires_at = next.expires_at;
    } catch (error) {
      if (ending.signal.aborted) return;
      // It may come back before the old one ends; what runs with it is not to be ended either way.
      const message = `No new admin token (the old one ends at ${expires_at}): ${toFailure(error).message}`;
      if (message !== said) await failed(message);
      said = message;
    }
  };
  const watching = (async () => {
    while (!ending.signal.aborted) {
      await system.sleep(lookEveryMs, ending.signal);
      if (!ending.signal.aborted && system.now() >= Date.parse(expires_at) - aheadMs) await renew();
    }
  })();
  return {
    path,
    /** @returns all tokens that were made */
    async end(): Promise<readonly Token[]> {
      ending.abort();
      await watching;
      return made;
    },
  };
}

import type { Credential } from '../connect/credential.js';
import type { CredentialStore, SignIn } from '../connect/credentials.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { KeychainError } from '../terminal/keychain.js';

/** Asks the issuer for a new access token. @throws Failure where it refuses, ClientError where it is not reached */
export type Refresh = (signIn: SignIn) => Promise<SignIn>;

// Decided: renewed this long before it ends, so that it lasts for the request it is sent with.
const aheadMs = 30_000;

interface Parts {
  readonly store: CredentialStore;
  readonly refresh: Refresh;
  readonly now: () => number;
  /** How to sign in again. */
  readonly hint: string;
  /** Told of a renewal that must not be cut off: with it the old refresh token is used up. */
  readonly renewing: (renewal: Promise<unknown>) => void;
}

/** A sign-in as the credential of a client: its access token is renewed without anybody noticing. */
export function keptSignIn(first: SignIn, source: string, parts: Parts): Credential {
  const { store, refresh, now } = parts;
  let current = first;

  /** Of many processes at once, the first renews and the others take what it kept. */
  const renewed = (refused?: string) => {
    const renewal = store.changeSignIn(async (kept) => {
      if (!kept) throw toEndedFailure('You signed out meanwhile.', parts.hint);
      current = isSpent(kept, now()) || kept.access_token === refused ? await refresh(kept) : kept;
      return current;
    });
    parts.renewing(renewal);
    return renewal;
  };

  return {
    source,
    async token() {
      if (!isSpent(current, now())) return current.access_token;
      try {
        await renewed();
      } catch (error) {
        // What still works is sent; the reason why it cannot be renewed will not go away.
        if (isSpent(current, now(), 0)) throw inWords(error);
      }
      return current.access_token;
    },
    async renew(refused) {
      if (current.access_token === refused && !current.refresh_token) return false;
      await renewed(refused).catch((error) => {
        throw inWords(error);
      });
      return current.access_token !== refused;
    },
  };
}

/** Whether the access token ends soon, or within `ahead` milliseconds. */
function isSpent({ expires_at }: SignIn, now: number, ahead = aheadMs): boolean {
  return expires_at !== undefined && Date.parse(expires_at) - now < ahead;
}

export function toEndedFailure(message: string, hint: string): Failure {
  return new Failure(message, { code: 'sign_in_ended', exit: exitCodes.notAllowed, hint });
}

function inWords(error: unknown): unknown {
  if (!(error instanceof KeychainError)) return error;
  return new Failure(`The sign-in cannot be renewed: the keychain fails (${error.message}).`, {
    code: 'keychain_unavailable',
    exit: exitCodes.notAllowed,
    hint: 'Unlock the keychain, or keep credentials in a file: regen config set credential_store file',
  });
}

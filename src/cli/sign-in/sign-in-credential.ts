import { regen, say } from '../../contract/schema/message.js';
import type { Credential } from '../connect/choose-credential.js';
import type { CredentialStore, SignIn } from '../connect/credentials.js';
import { Failure, SIGN_IN_HINT } from '../terminal/failure.js';
import { KeychainError } from '../terminal/keychain.js';

/** Requests a new access token. @throws Failure if the issuer refuses, ClientError if it cannot be reached */
export type Refresh = (signIn: SignIn) => Promise<SignIn>;

// Decided: a token is renewed this long before it expires, so that it lasts for the request.
const RENEW_BEFORE_MS = 30_000;

interface SignInCredentialOptions {
  readonly store: CredentialStore;
  readonly refresh: Refresh;
  readonly now: () => number;
  /** Called with each renewal. It must not be interrupted, because the old refresh token is already used. */
  readonly onRenewal: (renewal: Promise<unknown>) => void;
}

/** Creates a credential from a sign-in, which renews its access token automatically. */
export function createSignInCredential(
  first: SignIn,
  source: string,
  options: SignInCredentialOptions,
): Credential {
  const { store, refresh, now } = options;
  let current = first;

  /** If several processes renew at once, the first one does and the others use its result. */
  const renewStored = (refused?: string) => {
    const renewal = store.changeSignIn(async (kept) => {
      if (!kept) throw toEndedFailure('You have signed out.');
      current = isExpired(kept, now()) || kept.access_token === refused ? await refresh(kept) : kept;
      return current;
    });
    options.onRenewal(renewal);
    return renewal;
  };

  return {
    source,
    async token() {
      if (!isExpired(current, now())) return current.access_token;
      try {
        await renewStored();
      } catch (error) {
        // The token is used while it still works; a lasting problem fails later.
        if (isExpired(current, now(), 0)) throw explainKeychainError(error);
      }
      return current.access_token;
    },
    async renew(refused) {
      if (current.access_token === refused && !current.refresh_token) return false;
      await renewStored(refused).catch((error) => {
        throw explainKeychainError(error);
      });
      return current.access_token !== refused;
    },
  };
}

/** Whether the access token expires within `ahead` milliseconds. */
function isExpired({ expires_at }: SignIn, now: number, ahead = RENEW_BEFORE_MS): boolean {
  return expires_at !== undefined && Date.parse(expires_at) - now < ahead;
}

export function toEndedFailure(message: string): Failure {
  return new Failure(message, { code: 'sign_in_ended', hint: SIGN_IN_HINT });
}

function explainKeychainError(error: unknown): unknown {
  if (!(error instanceof KeychainError)) return error;
  return new Failure(`Could not renew the sign-in because the keychain failed: ${error.message}.`, {
    code: 'keychain_unavailable',
    hint: say`Unlock the keychain, or store credentials in a file: ${regen('config set', 'credential_store file')}`,
  });
}

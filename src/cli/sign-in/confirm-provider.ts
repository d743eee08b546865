import type { Needs } from '../connect/context.js';
import type { Credentials } from '../connect/credentials.js';
import { Failure } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import type { SignInConfiguration } from './discovery.js';
import { readAudience } from './tokens.js';

type ConfirmContext = Needs<'flags' | 'mayAsk' | 'system'>;

interface ProviderConfirmation {
  /** @throws Failure if the service names another provider than before, and the user does not confirm it */
  requireKnownIssuer(): Promise<void>;
  /** @throws Failure if a token may be for another service, and the user does not confirm its provider */
  requireOwnToken(token: string): Promise<void>;
}

/**
 * Lets the user confirm where they sign in, at most once in a sign-in: where the service has named another identity
 * provider before, and where a token does not say that it is for this service, because a service could name the
 * provider of another one and use what it gets there.
 * @param kept with which provider the user signed in to the service before
 */
export function confirmProvider(
  { flags, mayAsk, system }: ConfirmContext,
  url: string,
  { issuer, scope }: SignInConfiguration,
  kept: Credentials,
): ProviderConfirmation {
  const known = kept.provider ?? (kept.sign_in && { issuer: kept.sign_in.issuer, scope: '' });
  // `--issuer` was compared with what the service names.
  let isConfirmed = flags.issuer !== undefined;
  const confirm = async (why: string) => {
    if (isConfirmed) return;
    if (!mayAsk) {
      throw new Failure(`${why} Nothing was sent to ${url}.`, {
        code: 'provider_unconfirmed',
        hint: `If you trust this service with the scopes ${scope}, run: regen auth login --issuer ${shellWord(issuer)}`,
      });
    }
    const question = `${why} Sign in to ${url} with ${issuer} (scopes ${scope})?`;
    if (!(await system.prompts.confirm(question)))
      throw new Failure('You are not signed in.', { code: 'declined' });
    isConfirmed = true;
  };
  return {
    async requireKnownIssuer() {
      if (known !== undefined && known.issuer !== issuer)
        await confirm(`${url} signed in with ${known.issuer} before.`);
    },
    async requireOwnToken(token) {
      if (await readAudience(token)) return;
      const granted = known?.issuer === issuer ? known.scope.split(' ') : [];
      if (scope.split(' ').every((one) => granted.includes(one))) return;
      await confirm(`The token from ${issuer} does not say which service it is for.`);
    },
  };
}

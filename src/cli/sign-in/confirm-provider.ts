import type { Needs } from '../connect/context.js';
import type { Credentials } from '../connect/credentials.js';
import { Failure } from '../terminal/failure.js';
import { oneLine, shellWord } from '../terminal/text.js';
import type { SignInConfiguration } from './discovery.js';
import { readAudience } from './tokens.js';

type ConfirmContext = Needs<'flags' | 'mayAsk' | 'system'>;

/**
 * Lets the user confirm where they sign in, at most once in a sign-in: where the service has named another identity
 * provider before, and where a token does not say that it is for this service, because a service could name the
 * provider of another one and use what it gets there.
 */
export class ProviderConfirmation {
  readonly #context: ConfirmContext;
  readonly #url: string;
  readonly #place: SignInConfiguration;
  readonly #known: Credentials['provider'];
  #isConfirmed: boolean;

  /** @param known with which provider the user signed in to the service before */
  constructor(
    context: ConfirmContext,
    url: string,
    place: SignInConfiguration,
    { provider, sign_in }: Credentials,
  ) {
    this.#context = context;
    this.#url = url;
    this.#place = place;
    this.#known = provider ?? (sign_in && { issuer: sign_in.issuer, scope: '' });
    // `--issuer` was compared with what the service names.
    this.#isConfirmed = context.flags.issuer !== undefined;
  }

  /** @throws Failure if the service names another provider than before, and the user does not confirm it */
  async requireKnownIssuer(): Promise<void> {
    const { issuer } = this.#known ?? {};
    if (issuer === undefined || issuer === this.#place.issuer) return;
    await this.#confirm(`${this.#url} signed in with ${issuer} before.`);
  }

  /** @throws Failure if a token may be for another service, and the user does not confirm its provider */
  async requireOwnToken(token: string): Promise<void> {
    if (await readAudience(token)) return;
    const { issuer, scope } = this.#place;
    const known = this.#known?.scope.split(' ') ?? [];
    if (this.#known?.issuer === issuer && scope.split(' ').every((one) => known.includes(one))) return;
    await this.#confirm(`The token from ${issuer} does not say which service it is for.`);
  }

  async #confirm(why: string): Promise<void> {
    if (this.#isConfirmed) return;
    const { mayAsk, system } = this.#context;
    const { issuer, scope } = this.#place;
    const what = `Sign in to ${this.#url} with ${issuer} (scopes ${scope})?`;
    if (!mayAsk) {
      throw new Failure(`${why} Nothing was sent to ${this.#url}.`, {
        code: 'provider_unconfirmed',
        hint: `If you trust this service with the scopes ${scope}, run: regen auth login --issuer ${shellWord(issuer)}`,
      });
    }
    if (!(await system.prompts.confirm(oneLine(`${why} ${what}`))))
      throw new Failure('You are not signed in.', { code: 'declined' });
    this.#isConfirmed = true;
  }
}

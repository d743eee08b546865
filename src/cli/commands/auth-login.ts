import type { TokenEndpointResponse } from 'openid-client';
import { ServiceError } from '../../client/errors.js';
import { regen, say } from '../../contract/schema/message.js';
import { readText } from '../command/command.js';
import { parseToken, readTokenFile } from '../connect/choose-credential.js';
import type { Needs } from '../connect/context.js';
import { chooseTarget } from '../connect/settings.js';
import { signInByBrowser, signInByDevice, supportsDevices } from '../sign-in/browser.js';
import { confirmProvider } from '../sign-in/confirm-provider.js';
import { discoverSignIn, type SignInConfiguration } from '../sign-in/discovery.js';
import { hasBrowser } from '../sign-in/opener.js';
import { openProvider } from '../sign-in/provider.js';
import { toSignIn } from '../sign-in/tokens.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { View } from '../views/view.js';

type Context = Needs<
  'flags' | 'system' | 'output' | 'signal' | 'settings' | 'connect' | 'services' | 'mayAsk'
>;

export const view = (): View => ({
  usage: 'auth login',
  summary: 'Sign in to a service in a browser, or store a token read from standard input',
  flags: {
    '--device': 'Sign in with a browser on another device (default: if there is no browser here)',
    '--client-id <id>':
      'Client id of this program at the identity provider, if the service does not name one',
    '--issuer <url>':
      'Identity provider to sign in with; confirms it where its tokens cannot be read, or where it has changed',
    '--audience <name>': "Audience of the identity provider's tokens (default: the address of the service)",
    '--with-token': 'Read the token from standard input',
    '--publisher <publisherId>': "Store the token as this publisher's personal access token, for publishing",
  },
  notes: ['With both --profile and --base-url, the profile is added.'],
  examples: [
    'regen auth login --profile team --base-url https://registry.example.com',
    'regen auth login --profile team --with-token < token.txt',
    'regen auth login --with-token --publisher my-team < publish-token.txt',
  ],
});

export async function run(context: Context): Promise<void> {
  const { flags, output, services } = context;
  useNewProfile(context);
  const { target } = services;
  if (flags['with-token'] || flags.publisher) return keepToken(context);
  if (target.baseUrl !== undefined) return signIn(context, target.baseUrl);
  await output.note('The embedded service needs no sign-in. Select another service with --base-url.');
}

/**
 * With an address and the name of a profile, uses the profile, which is added once the sign-in is stored.
 * @throws Failure if the profile cannot be added
 */
function useNewProfile({ flags, settings, services, system }: Context): void {
  const profile = readText(flags, 'profile');
  const baseUrl = readText(flags, 'base-url');
  if (profile === undefined || baseUrl === undefined) return;
  const key = `profiles.${profile}.base_url`;
  const known = settings.get(key)?.value;
  if (known !== undefined && known !== baseUrl) {
    throw usage(
      `The profile ${profile} already has the address ${known}.`,
      say`Choose another name, or change its address: ${regen('config set', `${key} ${baseUrl}`)}`,
    );
  }
  settings.check(key, baseUrl);
  const target = chooseTarget({ 'base-url': baseUrl }, system.env, settings);
  services.use({ ...target, name: profile, profile });
}

/** Adds the profile that was named with an address, and says how other commands use the service. */
async function keepProfile({ output, services, settings }: Context): Promise<void> {
  const { baseUrl = '', profile, source } = services.target;
  if (source === '--base-url' && profile !== undefined)
    await settings.set(`profiles.${profile}.base_url`, baseUrl);
  if (source !== '--base-url' && source !== '--profile') return;
  if (profile === undefined)
    await output.note(
      say`Give the service a name for --profile: ${regen('config set', `profiles.<name>.base_url ${baseUrl}`)}`,
    );
  else if (settings.get('profile')?.value !== profile)
    await output.note(
      say`Use it with --profile ${profile}, or by default: ${regen('config set', `profile ${profile}`)}`,
    );
}

async function signIn(context: Context, url: string): Promise<void> {
  const { output, system, flags, services } = context;
  const { target } = services;
  // Decided: a CI job fails instead of waiting for a person.
  if (system.env.CI || flags.input === false) {
    throw usage(
      'Signing in requires a person with a browser.',
      say`Without one, set REGEN_TOKEN, or run: ${regen('auth login', '--with-token < token.txt')}`,
    );
  }
  const place = await discoverSignIn(context, url);
  const { issuer, scope } = place;
  const store = context.services.openCredentialStore();
  const confirmation = confirmProvider(context, url, place, await store.read());
  await confirmation.requireKnownIssuer();
  await output.tell(`${url} signs in with ${issuer} and asks for the scopes ${scope}.`);
  const tokens = await fetchTokens(context, place);
  const signIn = await toSignIn(place, tokens, system.now());
  await confirmation.requireOwnToken(tokens.access_token);
  const who = await readIdentity(context, url, signIn.access_token).catch((error) => {
    throw error instanceof ServiceError && error.status === 401
      ? toRejectedFailure(url, issuer, error)
      : error;
  });
  const kept = await store.keepSignIn(signIn, { issuer, scope });
  await output.note(
    `Signed in${who ? ` as ${who}` : ''} (${target.name === url ? url : `profile ${target.name}`}). The sign-in is saved in ${store.describeStorage(kept)}.`,
  );
  await keepProfile(context);
  if (!signIn.refresh_token && signIn.expires_at)
    await output.warn(`${issuer} gave no refresh token; the sign-in expires at ${signIn.expires_at}.`);
}

async function fetchTokens(context: Context, place: SignInConfiguration): Promise<TokenEndpointResponse> {
  const provider = await openProvider(context.connect, place);
  const device = context.flags.device || (!hasBrowser(context.system) && supportsDevices(provider));
  return (device ? signInByDevice : signInByBrowser)(context, provider, place);
}

function toRejectedFailure(url: string, issuer: string, error: ServiceError): Failure {
  return new Failure(`${issuer} signed you in, but ${url} rejected its token: ${error.message}`, {
    code: error.code,
    exit: exitCodes.notAllowed,
    status: error.status,
    hint: say`Contact the operator of the service. To compare the clocks, run: ${regen('doctor')}`,
  });
}

/** Stores a token from standard input, after the service identified its owner. */
async function keepToken(context: Context): Promise<void> {
  const { output } = context;
  const publisherId = readText(context.flags, 'publisher');
  const token = await readToken(context);
  const store = context.services.openCredentialStore();
  const { url } = await context.services.reach();
  const who = await readIdentity(context, url, token);
  const kept = await (publisherId ? store.keepPublishToken(publisherId, token) : store.keepToken(token));
  const saved = publisherId ? `publishing token of ${publisherId}` : `token${who ? ` of ${who}` : ''}`;
  await output.note(
    `Saved the ${saved} for ${context.services.target.name} in ${store.describeStorage(kept)}.`,
  );
  await keepProfile(context);
  if (!who) await output.note('It was not verified, because the service cannot identify its owner.');
}

async function readToken({ flags, system, mayAsk, output }: Context): Promise<string> {
  if (!flags['with-token'] && !mayAsk) {
    throw usage(
      'This sign-in requires a token.',
      say`Pipe it in: ${regen('auth login', '--with-token < token.txt')}`,
    );
  }
  if (mayAsk) {
    await output.note(
      'Paste a token of the service: from its operator, or for your own service, from owner.token in its data folder.',
    );
  }
  // On a terminal, standard input would show the token.
  if (!mayAsk) return readTokenFile(system, '-', '--with-token');
  return parseToken(await system.prompts.password('Token:'), 'The answer');
}

/** @returns a name, or undefined if the service lacks the extension that reports it */
async function readIdentity(context: Context, url: string, token: string): Promise<string | undefined> {
  const client = await context.connect(url, token, context.services.target);
  try {
    const me = await client.user.me({}, { signal: context.signal });
    return me.email ?? me.name ?? me.id;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

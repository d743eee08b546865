import type { TokenEndpointResponse } from 'openid-client';
import { ServiceError } from '../../client/errors.js';
import { readText } from '../command/command.js';
import { signInByBrowser } from '../sign-in/browser.js';
import { signInByDevice, supportsDevices } from '../sign-in/device.js';
import { discoverSignIn, type SignInConfiguration } from '../sign-in/discovery.js';
import { hasBrowser } from '../sign-in/opener.js';
import { openProvider } from '../sign-in/provider.js';
import { toSignIn } from '../sign-in/tokens.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { CommandContext } from './context.js';

/** Signs in where the service says that its people do, or keeps a token that somebody brings. */
export async function run(context: CommandContext): Promise<void> {
  const { flags, output, services } = context;
  const { target } = services;
  if (flags['with-token'] || flags.publisher) return keepToken(context);
  if (target.baseUrl !== undefined) return signIn(context, target.baseUrl);
  await output.note(
    'The embedded service is yours: its commands need no sign-in. Name another with --base-url.',
  );
}

async function signIn(context: CommandContext, url: string): Promise<void> {
  const { output, system, flags, services } = context;
  const { target } = services;
  // Decided: a job would wait for a person who is not there.
  if (system.env.CI || flags.input === false) {
    throw usage(
      'Signing in takes a person with a browser.',
      'A job brings its token: REGEN_TOKEN or --with-token.',
    );
  }
  const place = await discoverSignIn(context, url);
  const signIn = toSignIn(place, await tokensFrom(context, place), system.now());
  const who = await readIdentity(context, url, signIn.access_token).catch((error) => {
    throw error instanceof ServiceError && error.status === 401 ? notTaken(url, place.issuer, error) : error;
  });
  const store = context.services.openCredentialStore();
  const kept = await store.keepSignIn(signIn);
  await output.note(
    `Signed in to ${target.name}${who ? ` as ${who}` : ''}; kept in ${store.describeStorage(kept)}.`,
  );
  if (!signIn.refresh_token && signIn.expires_at)
    await output.warn(`${place.issuer} gives nothing to renew it with: it ends at ${signIn.expires_at}.`);
}

async function tokensFrom(
  context: CommandContext,
  place: SignInConfiguration,
): Promise<TokenEndpointResponse> {
  const provider = await openProvider(context.connect, place);
  const device = context.flags.device || (!hasBrowser(context.system) && supportsDevices(provider));
  return (device ? signInByDevice : signInByBrowser)(context, provider, place);
}

function notTaken(url: string, issuer: string, error: ServiceError): Failure {
  return new Failure(`${issuer} signed you in, but ${url} does not take its token: ${error.message}`, {
    code: error.code,
    exit: exitCodes.notAllowed,
    status: error.status,
    hint: 'Tell the people of the service; `regen doctor` compares the clocks.',
  });
}

/** Keeps a token that came over standard input, once the service said whose it is. */
async function keepToken(context: CommandContext): Promise<void> {
  const { output } = context;
  const publisherId = readText(context.flags, 'publisher');
  const token = await tokenGiven(context);
  const store = context.services.openCredentialStore();
  const { url } = await context.services.reach();
  const who = await readIdentity(context, url, token);
  const kept = await (publisherId ? store.keepPublishToken(publisherId, token) : store.keepToken(token));
  const whose = who ? `of ${who}` : 'unchecked, because the service does not say whose it is,';
  await output.note(
    `The token ${whose} is kept in ${store.describeStorage(kept)} for ${context.services.target.name}.`,
  );
}

async function tokenGiven({ flags, system, mayAsk }: CommandContext): Promise<string> {
  if (!flags['with-token'] && !mayAsk) {
    throw usage('Signing in here takes a token.', 'Pipe it in: regen auth login --with-token < token.txt');
  }
  // Typed on a terminal, standard input would show it.
  const text = mayAsk ? await system.prompts.password('Token:') : await readAll(system.stdin);
  const token = text.trim();
  if (!token) throw usage('No token came over standard input.');
  if (/\s/.test(token)) throw usage('A token is one word; more than that came over standard input.');
  return token;
}

/** @returns a name, or undefined where the service lacks the extension that tells it */
async function readIdentity(
  context: CommandContext,
  url: string,
  token: string,
): Promise<string | undefined> {
  const client = await context.connect(url, token);
  try {
    const me = await client.user.me({}, { signal: context.signal });
    return me.email ?? me.name ?? me.id;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

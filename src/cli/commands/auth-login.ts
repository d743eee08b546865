import type { TokenEndpointResponse } from 'openid-client';
import { ServiceError } from '../../client/errors.js';
import type { Invocation } from '../command/invocation.js';
import { byBrowser } from '../sign-in/browser.js';
import { byDevice, knowsDevices } from '../sign-in/device.js';
import { type SignInPlace, signInPlace } from '../sign-in/discovery.js';
import { hasBrowser } from '../sign-in/opener.js';
import { openProvider } from '../sign-in/provider.js';
import { signInOf } from '../sign-in/tokens.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';

/** Signs in where the service says that its people do, or keeps a token that somebody brings. */
export async function run(invocation: Invocation): Promise<void> {
  const { flags, target, output } = invocation;
  if (flags['with-token'] || flags.publisher) return keepToken(invocation);
  if (target.baseUrl !== undefined) return signIn(invocation, target.baseUrl);
  await output.note(
    'The embedded service is yours: its commands need no sign-in. Name another with --base-url.',
  );
}

async function signIn(invocation: Invocation, url: string): Promise<void> {
  const { output, system, flags, target } = invocation;
  // Decided: a job would wait for a person who is not there.
  if (system.env.CI || flags.input === false) {
    throw usage(
      'Signing in takes a person with a browser.',
      'A job brings its token: REGEN_TOKEN or --with-token.',
    );
  }
  const place = await signInPlace(invocation, url);
  const signIn = signInOf(place, await tokensFrom(invocation, place), system.now());
  const who = await identity(invocation, url, signIn.access_token).catch((error) => {
    throw error instanceof ServiceError && error.status === 401 ? notTaken(url, place.issuer, error) : error;
  });
  const store = invocation.credentialStore();
  const kept = await store.keepSignIn(signIn);
  await output.note(`Signed in to ${target.name}${who ? ` as ${who}` : ''}; kept in ${store.placeOf(kept)}.`);
  if (!signIn.refresh_token && signIn.expires_at)
    await output.warn(`${place.issuer} gives nothing to renew it with: it ends at ${signIn.expires_at}.`);
}

async function tokensFrom(invocation: Invocation, place: SignInPlace): Promise<TokenEndpointResponse> {
  const provider = await openProvider(invocation, place);
  const device = invocation.flags.device || (!hasBrowser(invocation.system) && knowsDevices(provider));
  return (device ? byDevice : byBrowser)(invocation, provider, place);
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
async function keepToken(invocation: Invocation): Promise<void> {
  const { output } = invocation;
  const publisherId = invocation.text('publisher');
  const token = await tokenGiven(invocation);
  const store = invocation.credentialStore();
  const { url } = await invocation.service();
  const who = await identity(invocation, url, token);
  const kept = await (publisherId ? store.keepPublishToken(publisherId, token) : store.keepToken(token));
  const whose = who ? `of ${who}` : 'unchecked, because the service does not say whose it is,';
  await output.note(`The token ${whose} is kept in ${store.placeOf(kept)} for ${invocation.target.name}.`);
}

async function tokenGiven({ flags, system, mayAsk }: Invocation): Promise<string> {
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
async function identity(invocation: Invocation, url: string, token: string): Promise<string | undefined> {
  const client = await invocation.connect(url, token);
  try {
    const me = await client.user.me({}, { signal: invocation.signal });
    return me.email ?? me.name ?? me.id;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

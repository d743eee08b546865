import { ServiceError } from '../../client/errors.js';
import { usage } from '../failure.js';
import type { Invocation } from '../invocation.js';
import { readAll } from '../stdin.js';

/** Keeps a token that came over standard input, once the service said whose it is. */
export async function run(invocation: Invocation): Promise<void> {
  const { output } = invocation;
  const publisherId = invocation.text('publisher');
  const token = await tokenGiven(invocation);
  const store = invocation.credentialStore();
  const who = await identity(invocation, token);
  if (publisherId) await store.keepPublishToken(publisherId, token);
  else await store.keepToken(token);
  const whose = who ? `of ${who}` : 'unchecked, because the service does not say whose it is,';
  await output.note(`The token ${whose} is kept in ${store.path} for ${invocation.target.name}.`);
}

async function tokenGiven(invocation: Invocation): Promise<string> {
  const { flags, system, mayAsk } = invocation;
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
async function identity(invocation: Invocation, token: string): Promise<string | undefined> {
  const { url } = await invocation.service();
  const client = await invocation.connect(url, token);
  try {
    const me = await client.user.me({}, { signal: invocation.signal });
    return me.email ?? me.name ?? me.id;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

import { z } from 'zod';
import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import { getOperation } from '../../contract/index.js';
import type { MeCredential } from '../../contract/user.js';
import { requireShow } from '../command/confirm.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import type { SignIn } from '../connect/credentials.js';
import { describeExpiry } from '../connect/token-expiry.js';
import { Failure, SIGN_IN_HINT } from '../terminal/failure.js';
import { Text, Texts } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'flags' | 'system' | 'output' | 'signal' | 'connect' | 'services'>;

export const view = (): View[] => [
  {
    usage: 'auth logout',
    summary: 'Remove the stored tokens of a service, and sign out at its identity provider',
  },
  {
    usage: 'auth status',
    summary:
      'Show who is signed in, on which service, and the source of the credential; exits 4 if it does not work',
    answer: (getOperation('user.me').response as z.ZodObject).partial().extend({
      service: Text,
      profile: Text,
      source: Text,
      issuer: Text.optional(),
      renewed: z.boolean().optional(),
      publish_tokens: Texts,
    }),
  },
  {
    usage: 'auth token',
    summary: 'Print the current token',
    flags: { '--show': 'Print the token even if stdout is a terminal' },
    examples: [
      `printf 'Authorization: Bearer %s' "$(regen auth token --profile team)" | curl -H @- https://registry.example.com/users/me`,
    ],
    answer: z.object({ token: Text }),
  },
];

export const run = { logout: signOut, status: showStatus, token: printToken };

async function showStatus(context: Context): Promise<void> {
  const { output, signal, system } = context;
  const { name, url, client, credential, store } = await context.services.reach();
  if (!credential) {
    const publishers = Object.keys((await store.read()).publish_tokens ?? {});
    const stored =
      publishers.length > 0 ? ` A token for publishing is stored for ${publishers.join(', ')}.` : '';
    throw new Failure(`Not signed in to ${name === url ? url : `${name} (${url})`}.${stored}`, {
      code: 'unauthenticated',
      hint: SIGN_IN_HINT,
    });
  }
  const me = await readIdentity(client, signal);
  const kept = await store.read();
  const { sign_in, publish_tokens = {} } = kept;
  const isKept = credential.source === store.describeStorage(kept);
  await output.answer({
    service: url,
    profile: name,
    source: credential.source,
    ...(isKept && sign_in && { issuer: sign_in.issuer, renewed: sign_in.refresh_token !== undefined }),
    ...me,
    publish_tokens: Object.keys(publish_tokens),
  });
  if (me.credential?.kind === 'identity_provider' && me.email === undefined)
    await output.note('The provider gave no verified email address, so invitations do not reach you.');
  const warning = describeExpiry(me.credential ?? {}, credential.source, system.now());
  if (warning) await output.warn(warning);
}

/** Without an id if the service lacks the extension that reports it; a credential that does not work fails anyway. */
async function readIdentity(
  client: Client,
  signal: AbortSignal,
): Promise<{ readonly credential?: MeCredential; readonly email?: string | undefined }> {
  try {
    return await client.user.me({}, { signal });
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
    const publishers = (await client.publisher.list({}, { signal })).map(({ id }) => ({ id }));
    return { publishers } as object;
  }
}

async function printToken(context: Context): Promise<void> {
  requireShow(context, 'token');
  const { credential, name } = await context.services.reach();
  if (!credential) {
    throw new Failure(`There is no token for ${name}.`, {
      code: 'unauthenticated',
      hint: SIGN_IN_HINT,
    });
  }
  await context.output.answer({ token: await credential.token() }, { only: 'token' });
}

/** Removes all tokens of the service, and revokes the sign-in if its issuer can. */
async function signOut(context: Context): Promise<void> {
  const { output, services } = context;
  const { target } = services;
  const store = context.services.openCredentialStore();
  const { token, sign_in, publish_tokens, kept_in } = await store.read();
  const count = (token || sign_in ? 1 : 0) + Object.keys(publish_tokens ?? {}).length;
  if (count === 0 && !kept_in) return output.note(`There was no stored token for ${target.name}.`);
  if (sign_in) await endAtIssuer(context, sign_in);
  await store.forget();
  await output.note(`Removed ${count > 1 ? `${count} tokens` : 'the token'} of ${target.name}.`);
}

/** A failure is only a warning, because logging out must work without the network. */
async function endAtIssuer(context: Context, signIn: SignIn): Promise<void> {
  const { output, signal } = context;
  const { issuer } = signIn;
  const { revokeSignIn } = await import('../sign-in/tokens.js');
  try {
    if (await revokeSignIn(context.connect, signIn)) return await output.note(`Signed out at ${issuer}.`);
    await output.note(
      `${issuer} cannot revoke tokens; the last one expires ${signIn.expires_at ? `at ${signIn.expires_at}` : 'later'}.`,
    );
  } catch (error) {
    if (signal.aborted) throw error;
    await output.warn(`Could not sign out at ${issuer}: ${toFailure(error).message}`);
  }
}

import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import type { Invocation } from '../command/invocation.js';
import { signInHint } from '../sign-in/hint.js';
import { exitCodes, Failure } from '../terminal/failure.js';

/** Who this is, where, by which credential, and how long it lasts. */
export async function run(invocation: Invocation): Promise<void> {
  const { output, signal } = invocation;
  const { name, url, client, credential, store } = await invocation.service();
  if (!credential) {
    throw new Failure(`Not signed in to ${name === url ? url : `${name} (${url})`}.`, {
      code: 'unauthenticated',
      exit: exitCodes.notAllowed,
      hint: signInHint(invocation),
    });
  }
  const me = await identity(client, signal);
  const kept = await store.read();
  const { sign_in, publish_tokens = {} } = kept;
  const isKept = credential.source === store.placeOf(kept);
  await output.answer({
    service: url,
    profile: name,
    source: credential.source,
    ...(isKept && sign_in && { issuer: sign_in.issuer, renewed: sign_in.refresh_token !== undefined }),
    ...me,
    publish_tokens: Object.keys(publish_tokens),
  });
}

/** Nothing where the service lacks the extension that tells it. */
async function identity(client: Client, signal: AbortSignal): Promise<object> {
  try {
    return await client.user.me({}, { signal });
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return {};
    throw error;
  }
}

import { exitCodes, Failure } from '../failure.js';
import type { Invocation } from '../invocation.js';
import { signInHint } from '../sign-in.js';

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
  const me = await client.user.me({}, { signal });
  await output.answer({
    service: url,
    profile: name,
    source: credential.source,
    ...me,
    publish_tokens: Object.keys(store.read().publish_tokens ?? {}),
  });
}

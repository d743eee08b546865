import { exitCodes, Failure } from '../failure.js';
import type { Invocation } from '../invocation.js';

/** Who this is, where, by which credential, and how long it lasts. */
export async function run(invocation: Invocation): Promise<void> {
  const { output, signal } = invocation;
  const { name, url, client, credential, store } = await invocation.service();
  if (!credential) {
    throw new Failure(`Not signed in to ${name === url ? url : `${name} (${url})`}.`, {
      code: 'unauthenticated',
      exit: exitCodes.notAllowed,
      hint: 'Sign in with: regen auth login --with-token < token.txt',
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

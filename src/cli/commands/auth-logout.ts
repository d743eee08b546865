import type { Invocation } from '../invocation.js';

/** Forgets every token kept for the service. */
export async function run(invocation: Invocation): Promise<void> {
  const { output, target } = invocation;
  const store = invocation.credentialStore();
  const { token, publish_tokens } = store.read();
  const count = (token ? 1 : 0) + Object.keys(publish_tokens ?? {}).length;
  if (count === 0) return output.note(`No token was kept for ${target.name}.`);
  await store.forget();
  await output.note(`Forgotten for ${target.name}: ${count === 1 ? 'its token' : `${count} tokens`}.`);
}

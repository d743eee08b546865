import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import type { CommandContext } from '../connect/context.js';
import { Failure, SIGN_IN_HINT } from '../terminal/failure.js';

/** Shows the user, the service, the credential and when it expires. */
export async function run(context: CommandContext): Promise<void> {
  const { output, signal } = context;
  const { name, url, client, credential, store } = await context.services.reach();
  if (!credential) {
    throw new Failure(`Not signed in to ${name === url ? url : `${name} (${url})`}.`, {
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
}

/** Without an id if the service lacks the extension that reports it; a credential that does not work fails anyway. */
async function readIdentity(client: Client, signal: AbortSignal): Promise<object> {
  try {
    return await client.user.me({}, { signal });
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
    return { publishers: (await client.publisher.list({}, { signal })).map(({ id }) => ({ id })) };
  }
}

import type { Client } from '../../client/client.js';
import type { Target } from '../../flows/tasks/task.js';
import { type Credential, fixedCredential } from './choose-credential.js';
import type { Connect } from './clients.js';
import type { CredentialStore, Credentials } from './credentials.js';

interface ReachedService {
  readonly url: string;
  readonly client: Client;
  readonly store: CredentialStore;
}

interface PublisherSearch {
  readonly nodeId: string | undefined;
  readonly target: Target;
  /** The stored credentials of the service. */
  readonly kept: Credentials;
  readonly connect: Connect;
  readonly signal: AbortSignal;
}

/** @returns a client with the only stored token, or that of a node's publisher; undefined if there is none that is valid */
export async function connectAsPublisher(
  service: ReachedService,
  { nodeId, target, kept, connect, signal }: PublisherSearch,
): Promise<{ readonly client: Client; readonly credential: Credential } | undefined> {
  const tokens = kept.publish_tokens ?? {};
  const [only, ...others] = Object.values(tokens);
  const read = async (id: string) => {
    const node = await service.client.node.get({ nodeId: id }, { signal }).catch(() => undefined);
    return tokens[node?.publisher?.id ?? ''];
  };
  const token = others.length === 0 ? only : nodeId === undefined ? undefined : await read(nodeId);
  if (token === undefined) return undefined;
  const credential = fixedCredential(token, service.store.describeStorage(kept));
  const client = await connect(service.url, credential, target);
  try {
    await client.user.me({}, { signal });
    return { client, credential };
  } catch {
    // Anyone may read what is public, also after the token has expired.
    return undefined;
  }
}

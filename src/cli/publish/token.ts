import { hostname } from 'node:os';
import { ServiceError } from '../../client/errors.js';
import type { Service } from '../connect/services.js';
import { isNamed } from '../connect/target.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { PublishContext } from './publishing.js';

/** A personal access token for publishing, and whether it may be replaced by a new one without asking. */
export interface PublishToken {
  readonly token: string;
  readonly replaceable: boolean;
}

/**
 * The publisher's token: REGEN_PUBLISH_TOKEN, the store, for the embedded service one made now, else asked for.
 * @throws Failure where there is none and nobody to ask
 */
export async function publishToken(
  context: Pick<PublishContext, 'system' | 'services' | 'mayAsk' | 'output' | 'signal'>,
  service: Service,
  publisherId: string,
): Promise<PublishToken> {
  const { system, services, mayAsk } = context;
  const fromEnvironment = isNamed(services.target) && system.env.REGEN_PUBLISH_TOKEN?.trim();
  if (fromEnvironment) return { token: fromEnvironment, replaceable: false };
  const kept = (await service.store.read()).publish_tokens?.[publisherId];
  if (kept) return { token: kept, replaceable: service.local !== undefined };
  if (service.local) return { token: await makeToken(context, service, publisherId), replaceable: false };
  if (mayAsk) {
    const token = (await system.prompts.password(`Personal access token of ${publisherId}:`)).trim();
    if (token) return { token, replaceable: false };
  }
  throw new Failure(`Publishing to ${service.name} takes a personal access token of ${publisherId}.`, {
    code: 'publish_token_missing',
    exit: exitCodes.notAllowed,
    hint: `Set REGEN_PUBLISH_TOKEN, or keep one: regen auth login --with-token --publisher ${publisherId} < token.txt`,
  });
}

/** On the embedded service a missing publisher and a token are made on the way. */
export async function makeToken(
  { output, signal }: Pick<PublishContext, 'output' | 'signal'>,
  service: Service,
  publisherId: string,
): Promise<string> {
  const { client, store } = service;
  const made = await makePublisher(service, publisherId, signal);
  const body = {
    name: `regen on ${hostname()}`.slice(0, 100),
    description: 'Made when publishing from this machine',
  };
  const { token } = await client.publisher.token.create({ publisherId, body }, { signal });
  await store.keepPublishToken(publisherId, token);
  await output.note(
    made
      ? `Made the publisher ${publisherId} and a token for it on the embedded service.`
      : `Made a token of ${publisherId} on the embedded service.`,
  );
  return token;
}

async function makePublisher(
  { client }: Service,
  publisherId: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.publisher.get({ publisherId }, { signal });
    return false;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
  }
  try {
    await client.publisher.create({ body: { id: publisherId, name: publisherId } }, { signal });
    return true;
  } catch (error) {
    // Another publish at the same moment was first.
    if (error instanceof ServiceError && error.code === 'duplicate_publisher') return false;
    throw error;
  }
}

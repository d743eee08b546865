import { hostname } from 'node:os';
import { ServiceError } from '../../client/errors.js';
import type { PublishReport } from '../../flows/publish/pack.js';
import type { Needs } from '../connect/context.js';
import type { Service } from '../connect/services.js';
import { isNamed } from '../connect/settings.js';
import { Failure } from '../terminal/failure.js';
import type { Interruption } from '../terminal/interrupted.js';

/** What is needed to publish a pack. */
export type PublishContext = Needs<'flags' | 'system' | 'signal' | 'connect' | 'services' | 'mayAsk'> & {
  readonly interruption: Pick<Interruption, 'hint'>;
  readonly output: PublishReport;
};

/** A personal access token for publishing. `replaceable`: it may be replaced by a new one without asking. */
export interface PublishToken {
  readonly token: string;
  readonly replaceable: boolean;
}

/**
 * Finds the token of a publisher: REGEN_PUBLISH_TOKEN, the store, a new one on the embedded service, or a prompt.
 * @throws Failure if there is none and the command cannot prompt
 */
export async function findPublishToken(
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
    const question = `Publishing to ${service.name} requires a token of ${publisherId}:`;
    if (service.credential && (await system.prompts.select(question, TOKEN_CHOICES)) === TOKEN_CHOICES[0])
      return { token: await makeToken(context, service, publisherId), replaceable: false };
    await context.output.note(
      `Owners of ${publisherId} create tokens with: regen publisher token create ${publisherId}`,
    );
    const token = (await system.prompts.password(`Personal access token of ${publisherId}:`)).trim();
    if (token) return { token, replaceable: false };
  }
  throw new Failure(`Publishing to ${service.name} requires a personal access token of ${publisherId}.`, {
    code: 'publish_token_missing',
    hint: `Set REGEN_PUBLISH_TOKEN, or save one with: regen auth login --with-token --publisher ${publisherId} < token.txt`,
  });
}

const TOKEN_CHOICES = ['Create one and save it', 'Paste one'];

/** Creates and saves a token, and creates the publisher if it does not exist. */
export async function makeToken(
  { output, signal }: Pick<PublishContext, 'output' | 'signal'>,
  service: Service,
  publisherId: string,
): Promise<string> {
  const { client, store } = service;
  const made = await makePublisher(service, publisherId, signal);
  const body = {
    name: `regen on ${hostname()}`.slice(0, 100),
    description: 'Created when publishing from this machine',
  };
  const { token } = await client.publisher.token.create({ publisherId, body }, { signal });
  await store.keepPublishToken(publisherId, token);
  const created = made ? `the publisher ${publisherId} and a token for it` : `a token of ${publisherId}`;
  await output.note(`Created ${created} on ${service.local ? 'the embedded service' : service.name}.`);
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
    // Another command created it at the same time.
    if (error instanceof ServiceError && error.code === 'duplicate_publisher') return false;
    throw error;
  }
}

import { hostname } from 'node:os';
import { ServiceError } from '../../client/errors.js';
import { regen, say, type Text } from '../../contract/schema/message.js';
import type { PublishReport } from '../../flows/publish/pack.js';
import { readText } from '../command/command.js';
import { parseToken, readTokenVariable } from '../connect/choose-credential.js';
import type { Needs } from '../connect/context.js';
import type { Service } from '../connect/services.js';
import { isNamed } from '../connect/settings.js';
import { Failure, usage } from '../terminal/failure.js';
import type { Interruption } from '../terminal/interrupted.js';
import { shellWord } from '../terminal/text.js';
import { exchangeIdentity, findJobIdentity } from './job-identity.js';

export type PublishContext = Needs<'flags' | 'system' | 'signal' | 'connect' | 'services' | 'mayAsk'> & {
  readonly interruption: Pick<Interruption, 'hint' | 'hasBegun'>;
  readonly output: PublishReport;
};

/** A personal access token for publishing. `replaceable`: it may be replaced by a new one without asking. */
export interface PublishToken {
  readonly token: string;
  readonly replaceable: boolean;
}

export interface PublishSubject {
  readonly publisherId: string;
  readonly nodes: readonly string[];
}

/**
 * Finds the token of a publisher: REGEN_PUBLISH_TOKEN, the store, the identity of a CI job, a new one on the embedded
 * service, or a prompt. The identity comes first if the command names its file.
 * @throws Failure if there is none and the command cannot prompt, or the identity is refused
 */
export async function findPublishToken(
  context: Pick<PublishContext, 'flags' | 'system' | 'services' | 'mayAsk' | 'output' | 'signal' | 'connect'>,
  service: Service,
  subject: PublishSubject,
): Promise<PublishToken> {
  const { system, services, mayAsk, output, flags } = context;
  const { publisherId } = subject;
  const identity = findJobIdentity(context);
  const fromEnvironment =
    isNamed(services.target) && (await readTokenVariable(system.env, 'REGEN_PUBLISH_TOKEN'));
  const isIdentityGiven = flags['id-token-file'] !== undefined;
  if (fromEnvironment && isIdentityGiven)
    throw usage('REGEN_PUBLISH_TOKEN and --id-token-file cannot be used together.');
  const kept = isIdentityGiven ? undefined : (await service.store.read()).publish_tokens?.[publisherId];
  if (identity && (fromEnvironment || kept))
    await output.note(
      `Publishing with ${fromEnvironment ? 'REGEN_PUBLISH_TOKEN' : 'the stored token'}; ${identity.source} is not used.`,
    );
  if (fromEnvironment) return { token: fromEnvironment, replaceable: false };
  if (kept) return { token: kept, replaceable: service.local !== undefined };
  if (identity) {
    const token = await exchangeIdentity(context, identity, service, subject);
    await output.note(`Publishing for ${publisherId} with ${identity.source}.`);
    return { token, replaceable: false };
  }
  if (service.local) return { token: await makeToken(context, service, publisherId), replaceable: false };
  if (mayAsk) {
    const question = `Publishing to ${service.name} requires a token of ${publisherId}:`;
    if (service.credential && (await system.prompts.select(question, TOKEN_CHOICES)) === TOKEN_CHOICES[0])
      return { token: await makeToken(context, service, publisherId), replaceable: false };
    await context.output.note(
      say`Owners of ${publisherId} create tokens with: ${regen('publisher token create', `${publisherId} <name>`)}`,
    );
    const answer = (await system.prompts.password(`Personal access token of ${publisherId}:`)).trim();
    if (answer) return { token: await parseToken(answer, 'The answer'), replaceable: false };
  }
  throw new Failure(`Publishing to ${service.name} requires a personal access token of ${publisherId}.`, {
    code: 'publish_token_missing',
    hint: await suggestToken(context, publisherId),
  });
}

/** What to do without a token for publishing. */
export async function suggestToken(
  { flags, system: { env } }: Pick<PublishContext, 'flags' | 'system'>,
  publisherId: string,
): Promise<Text> {
  const save = (file: string) =>
    regen('auth login', `--with-token --publisher ${publisherId} < ${shellWord(file)}`);
  const tokenFile = readText(flags, 'token-file');
  if (tokenFile !== undefined && tokenFile !== '-')
    return say`--token-file is for signing in. If the file contains a token for publishing, set REGEN_PUBLISH_TOKEN, or save the token with: ${save(tokenFile)}`;
  const { explainEmpty } = await import('../connect/explain-token.js');
  const empty = explainEmpty(env, ['REGEN_PUBLISH_TOKEN']);
  if (empty) return empty;
  if (env.GITHUB_ACTIONS)
    return 'Give the job the permission `id-token: write`, if the publisher trusts it, or set REGEN_PUBLISH_TOKEN.';
  if (env.CI)
    return 'Set REGEN_PUBLISH_TOKEN, or REGEN_ID_TOKEN to an identity token of the job, if the publisher trusts it.';
  return say`Owners create one, also for members, with: ${regen('publisher token create', `${publisherId} <name> --output-file token.txt`)}. Set REGEN_PUBLISH_TOKEN, or save it with: ${save('token.txt')}`;
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

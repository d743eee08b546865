import { z } from 'zod';
import { ServiceError } from '../../client/errors.js';
import { regen, say } from '../../contract/schema/message.js';
import { fixedCredential, readTokenVariable } from '../connect/choose-credential.js';
import type { Needs } from '../connect/context.js';
import { isNamed } from '../connect/settings.js';
import { suggestToken } from '../publish/token.js';
import { Failure } from '../terminal/failure.js';
import { Text, Texts, Time } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'signal' | 'connect' | 'services'>;

export const view = (): View => ({
  usage: 'publisher token check <publisherId>',
  summary: 'Check whether the token that `version publish` would use can publish for a publisher',
  flags: { '--node <nodeId>': 'Check it for this node, too' },
  examples: ['regen publisher token check my-team --node light-tools'],
  answer: z.object({
    publisher: Text,
    source: Text,
    nodes: Texts.optional(),
    expires_at: Time.optional(),
  }),
});

export async function run(context: Context): Promise<void> {
  const { args, flags, output, services, signal, system, connect } = context;
  const publisherId = args.publisherId as string;
  const nodeId = flags.node as string | undefined;
  const { url, name, store } = await services.reach();
  const given = isNamed(services.target) && (await readTokenVariable(system.env, 'REGEN_PUBLISH_TOKEN'));
  const kept = await store.read();
  const token = given || kept.publish_tokens?.[publisherId];
  const source = given ? 'REGEN_PUBLISH_TOKEN' : store.describeStorage(kept);
  if (!token) {
    const where = isNamed(services.target) ? ', and REGEN_PUBLISH_TOKEN is not set' : '';
    throw new Failure(`No token of ${publisherId} is stored for ${name}${where}.`, {
      code: 'publish_token_missing',
      hint: await suggestToken(context, publisherId),
    });
  }
  const client = await connect(url, fixedCredential(token, source), services.target);
  const me = await client.user.me({}, { signal }).catch((error) => {
    if (error instanceof ServiceError && error.status === 401) return undefined;
    throw error;
  });
  const { kind, nodes, expires_at } = me?.credential ?? {};
  const isOwn = kind === 'personal_access_token' && me?.publishers.some(({ id }) => id === publisherId);
  if (!isOwn || (nodeId !== undefined && nodes && !nodes.includes(nodeId))) {
    const reason = !me
      ? 'is unknown, expired or revoked'
      : isOwn
        ? `is limited to ${nodes?.join(', ')}`
        : 'belongs to another publisher';
    throw new Failure(
      `The token from ${source} cannot publish ${nodeId ?? `for ${publisherId}`}: it ${reason}.`,
      {
        code: 'invalid_personal_access_token',
        hint: say`Create one with: ${regen('publisher token create', `${publisherId} <name>`)}`,
      },
    );
  }
  await output.answer({
    ...{ publisher: publisherId, source },
    ...(nodes && { nodes }),
    ...(expires_at && { expires_at }),
  });
}

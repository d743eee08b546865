import type { Context, Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { newWebhookSecret } from './sign.js';

// Decided: a secret that was replaced signs for another 24 hours, and of those the newest two: the header must not grow
// with every rotation.
const overlapMs = 24 * 60 * 60_000;
const mostReplaced = 2;

/** Whose secret, and the time. */
type Owner = Pick<Context, 'now'> & { readonly userId: string };

/** What signs a user's webhooks now, the newest first; the first secret is made when it is first needed. */
export async function signingSecrets(tx: Tx, owner: Owner): Promise<[string, ...string[]]> {
  const rows = await tx
    .selectFrom('webhook_secrets')
    .select('secret')
    .where('user_id', '=', owner.userId)
    .where((where) =>
      where.or([where('replaced_at', 'is', null), where('replaced_at', '>', longAgo(owner.now))]),
    )
    .orderBy('number', 'desc')
    .limit(1 + mostReplaced)
    .execute();
  const [newest, ...others] = rows.map(({ secret }) => secret);
  return newest === undefined ? [await add(tx, owner)] : [newest, ...others];
}

type Secret = Promise<Answer<'webhook.secret'>>;

export async function showWebhookSecret({ caller, context }: Call<'webhook.secret'>, tx: Tx): Secret {
  const [secret] = await signingSecrets(tx, { userId: caller.userId as string, now: context.now });
  return { secret };
}

export async function rotateWebhookSecret(
  { caller, context: { now } }: Call<'webhook.rotateSecret'>,
  tx: Tx,
): Secret {
  const userId = caller.userId as string;
  await tx
    .deleteFrom('webhook_secrets')
    .where('user_id', '=', userId)
    .where('replaced_at', '<=', longAgo(now))
    .execute();
  await tx
    .updateTable('webhook_secrets')
    .set({ replaced_at: time(now()) })
    .where('user_id', '=', userId)
    .where('replaced_at', 'is', null)
    .execute();
  return { secret: await add(tx, { userId, now }) };
}

async function add(tx: Tx, { userId, now }: Owner): Promise<string> {
  const secret = newWebhookSecret();
  await tx
    .insertInto('webhook_secrets')
    .values({ user_id: userId, secret, created_at: time(now()), replaced_at: null })
    .execute();
  return secret;
}

function longAgo(now: Context['now']): string {
  return time(now() - overlapMs);
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

import { randomBytes } from 'node:crypto';
import { WEBHOOK_SECRET_PREFIX } from '../../contract/events.js';
import { toIsoTime } from '../database/clock.js';
import { insertRow, type Tx, updateRows } from '../database/database.js';
import type { Handlers, OperationAnswer, Write } from '../operation/call.js';
import type { Context } from '../operation/context.js';

// Decided: a replaced secret signs for another 24 hours, but only the newest two, which limits the header.
const OVERLAP_MS = 24 * 60 * 60_000;
const MAX_REPLACED = 2;

/** Whose secrets, and the clock. */
type SecretOwner = Pick<Context, 'now'> & { readonly userId: string };

/** The secrets that sign a user's webhooks now, newest first. The first one is created when it is needed. */
export async function listSigningSecrets(tx: Tx, owner: SecretOwner): Promise<[string, ...string[]]> {
  const rows = await tx
    .selectFrom('webhook_secrets')
    .select('secret')
    .where('user_id', '=', owner.userId)
    .where((where) =>
      where.or([where('replaced_at', 'is', null), where('replaced_at', '>', getOverlapStart(owner.now))]),
    )
    .orderBy('number', 'desc')
    .limit(1 + MAX_REPLACED)
    .execute();
  const [newest, ...others] = rows.map(({ secret }) => secret);
  return newest === undefined ? [await insertSecret(tx, owner)] : [newest, ...others];
}

const showWebhookSecret: Write<'webhook.secret'> = ({ caller, context }, tx) =>
  viewSecrets(tx, { userId: caller.userId as string, now: context.now });

async function viewSecrets(tx: Tx, owner: SecretOwner): Promise<OperationAnswer<'webhook.secret'>> {
  const [secret, ...previous] = await listSigningSecrets(tx, owner);
  return { secret, ...(previous.length > 0 && { previous }) };
}

const rotateWebhookSecret: Write<'webhook.rotateSecret'> = async ({ caller, context: { now } }, tx) => {
  const userId = caller.userId as string;
  await tx
    .deleteFrom('webhook_secrets')
    .where('user_id', '=', userId)
    .where(({ eb, or, selectFrom }) =>
      or([
        eb('replaced_at', '<=', getOverlapStart(now)),
        // Only the newest ones sign.
        eb(
          'number',
          'not in',
          selectFrom('webhook_secrets')
            .select('number')
            .where('user_id', '=', userId)
            .orderBy('number', 'desc')
            .limit(MAX_REPLACED),
        ),
      ]),
    )
    .execute();
  await updateRows(
    tx,
    'webhook_secrets',
    { user_id: userId, replaced_at: null },
    { replaced_at: toIsoTime(now()) },
  );
  await insertSecret(tx, { userId, now });
  return viewSecrets(tx, { userId, now });
};

async function insertSecret(tx: Tx, { userId, now }: SecretOwner): Promise<string> {
  const secret = WEBHOOK_SECRET_PREFIX + randomBytes(32).toString('base64');
  await insertRow(tx, 'webhook_secrets', {
    user_id: userId,
    secret,
    created_at: toIsoTime(now()),
    replaced_at: null,
  });
  return secret;
}

function getOverlapStart(now: Context['now']): string {
  return toIsoTime(now() - OVERLAP_MS);
}

export const webhookSecretHandlers = {
  'webhook.secret': { write: showWebhookSecret },
  'webhook.rotateSecret': { write: rotateWebhookSecret },
} satisfies Partial<Handlers>;

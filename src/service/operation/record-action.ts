import { type Actor, type AuditAction, recordEvent } from '../database/audit-log.js';
import type { Tx } from '../database/database.js';
import type { OperationCall } from './call.js';
import type { Caller } from './caller.js';

export function toActor({ userId, tokenId }: Caller): Actor {
  return { userId: userId as string, tokenId };
}

/** Appends to the audit log what the caller of an operation did, and logs it once it is committed. */
export async function recordAction(
  { caller, context, actions }: Pick<OperationCall<'user.me'>, 'caller' | 'context' | 'actions'>,
  tx: Tx,
  action: AuditAction,
): Promise<void> {
  await recordEvent(tx, context.now, { actor: toActor(caller), ...action });
  actions.push({ actor: caller.userId, token: caller.tokenId, ...action });
}

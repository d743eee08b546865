import { type AuditAction, recordEvent } from '../database/audit-log.js';
import type { Tx } from '../database/database.js';
import type { OperationCall } from './call.js';

/** Appends to the audit log what the caller of an operation did, and logs it once it is committed. */
export async function recordAction(
  { caller, context, actions }: Pick<OperationCall<'user.me'>, 'caller' | 'context' | 'actions'>,
  tx: Tx,
  action: AuditAction,
): Promise<void> {
  const event = { actor: caller.userId as string, ...action };
  await recordEvent(tx, context.now, event);
  actions.push(event);
}

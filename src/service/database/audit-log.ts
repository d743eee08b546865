import type { Tx } from './database.js';

export interface AuditEvent {
  /** A user id. */
  readonly actor: string;
  readonly kind:
    | 'publisher'
    | 'node'
    | 'version'
    | 'host_node'
    | 'member'
    | 'token'
    | 'admin_token'
    | 'key'
    | 'task';
  readonly id: string;
  readonly action: string;
  /** The new status, if the event changed it. */
  readonly status?: string;
  readonly reason?: string;
}

/** Appends to histories and audit log. `changeVersionStatus` appends the status changes of versions. */
export async function recordEvent(tx: Tx, now: () => number, event: AuditEvent): Promise<void> {
  await tx
    .insertInto('events')
    .values({
      at: new Date(now()).toISOString(),
      actor: event.actor,
      subject_kind: event.kind,
      subject_id: event.id,
      action: event.action,
      status: event.status ?? null,
      reason: event.reason ?? null,
    })
    .execute();
}

import type { Context, Tx } from '../context.js';

export interface RegistryEvent {
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
  /** Where the event changed it. */
  readonly status?: string;
  readonly reason?: string;
}

/** Appends to the histories and the audit; the status changes of versions are appended by `transition`. */
export async function record(tx: Tx, now: Context['now'], event: RegistryEvent): Promise<void> {
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

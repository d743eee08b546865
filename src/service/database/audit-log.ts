import type { AuditKind } from '../../contract/audit.js';
import { insertRow, type Tx } from './database.js';

type PublisherKind = 'publisher' | 'node' | 'version' | 'host_node' | 'member' | 'token' | 'trust';

/** What was changed, and the publisher that it belongs to, whose owners can read the event. */
type AuditSubject =
  | { readonly kind: PublisherKind; readonly publisherId: string }
  | { readonly kind: Exclude<AuditKind, PublisherKind>; readonly publisherId?: undefined };

export type AuditAction = AuditSubject & {
  readonly id: string;
  readonly action: string;
  /** The new status, if the event changed it. */
  readonly status?: string;
  readonly reason?: string | undefined;
};

/** Who did something: the id of a user, or `service`; of a token or key with its id. */
export type Actor = string | { readonly userId: string; readonly tokenId: string | undefined };

/** Appends to histories and audit log. `changeVersionStatus` appends the status changes of versions. */
export async function recordEvent(
  tx: Tx,
  now: () => number,
  event: AuditAction & { readonly actor: Actor },
): Promise<void> {
  const { userId, tokenId = null } = typeof event.actor === 'string' ? { userId: event.actor } : event.actor;
  await insertRow(tx, 'events', {
    at: new Date(now()).toISOString(),
    actor: userId,
    token_id: tokenId,
    subject_kind: event.kind,
    subject_id: event.id,
    publisher_id: event.publisherId ?? null,
    action: event.action,
    status: event.status ?? null,
    reason: event.reason ?? null,
  });
}

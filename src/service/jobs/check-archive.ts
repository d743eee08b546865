import type { Selectable } from 'kysely';
import { type InspectionWithCode, inspectApart } from '../../pack/thread.js';
import type { Context, Tx } from '../context.js';
import type { VersionTable } from '../database/schema.js';
import { type ArchiveName, archiveKey } from '../http/signed-urls.js';
import type { Work } from '../queue/queue.js';
import { storeDefinitions } from '../registry/definitions.js';
import { explainPending, transition } from '../registry/version-states.js';
import { findingsReason } from './findings-reason.js';

/** Holds an uploaded archive against the rules, reads its definitions, and lets its version leave Pending. */
export function checkArchive(context: Context): Work {
  return async ({ key: versionId }) => {
    const version = await uncheckedVersion(context, versionId);
    if (!version) return;
    const verdict = await inspect(context, version);
    await context.database.transaction().execute((tx) => settle(tx, context.now(), version, verdict));
  };
}

type Unchecked = ArchiveName & Pick<Selectable<VersionTable>, 'id'>;

async function uncheckedVersion({ database }: Context, versionId: string): Promise<Unchecked | undefined> {
  return await database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .select([
      'versions.id',
      'nodes.publisher_id as publisherId',
      'versions.node_id as nodeId',
      'versions.version',
    ])
    .where('versions.id', '=', versionId)
    .where('versions.status', '<>', 'NodeVersionStatusDeleted')
    .where('versions.uploaded_at', 'is not', null)
    .where('versions.archive_tree', 'is', null)
    .executeTakeFirst();
}

// Decided: the service's own failure is retried; meanwhile the version is Pending with a reason, never silent.
async function inspect(context: Context, version: Unchecked): Promise<InspectionWithCode> {
  try {
    const archive = await context.storage.borrow(archiveKey(version));
    try {
      return await inspectApart(archive.path, context.configuration.limits);
    } finally {
      await archive.release();
    }
  } catch (error) {
    const reason = 'The service could not read the archive; it tries again by itself.';
    await context.database.transaction().execute((tx) => explainPending(tx, version.id, reason));
    throw error;
  }
}

// Decided: a sound archive makes the version Active; an unreadable one, or a finding of severity high, Flagged, and
// status_reason says what and where. Lesser findings are kept there too.
async function settle(
  tx: Tx,
  now: number,
  { id, nodeId }: Unchecked,
  verdict: InspectionWithCode,
): Promise<void> {
  const current = await tx
    .selectFrom('versions')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (verdict.ok) {
    await tx.updateTable('versions').set({ archive_tree: verdict.tree }).where('id', '=', id).execute();
  }
  // Decided: extraction failing alone leaves the version Active, its extract status `failed`.
  const code = verdict.ok ? verdict.code : undefined;
  await storeDefinitions(tx, { versionId: id, nodeId, nodes: code?.followed ? code.nodes : undefined });
  // The owner or an admin was quicker.
  if (current.status !== 'NodeVersionStatusPending') return;
  const findings = code?.findings ?? [];
  const isSound = verdict.ok && !findings.some(({ severity }) => severity === 'high');
  const reason = verdict.ok ? findingsReason(findings) : verdict.reason;
  await transition(tx, {
    versionId: id,
    to: isSound ? 'NodeVersionStatusActive' : 'NodeVersionStatusFlagged',
    ...(reason && { reason }),
    right: 'service',
    actor: 'service',
    now,
  });
}

import type { NotNull } from 'kysely';
import type { CodeReport } from '../../python/code-report.js';
import { MAX_DEFINITION_BYTES } from '../../python/definitions/definitions.js';
import type { PackInspection } from '../../python/reader-process.js';
import type { Finding } from '../../python/scan/finding.js';
import {
  compileOnce,
  type Database,
  deleteRows,
  getRow,
  insertRow,
  type Tx,
  updateRows,
} from '../database/database.js';
import type { VersionRow } from '../database/schema.js';
import type { Context } from '../operation/context.js';
import type { ArchiveName } from '../operation/signed-urls.js';
import type { JobHandler, RunningJob } from '../queue/queue.js';
import { chargeDefinitions, measureDefinitions, storeDefinitions } from '../registry/definitions.js';
import { findOriginChange } from '../registry/provenance.js';
import { changeVersionStatus, explainPending } from '../registry/version-states.js';
import { describeBrokenPromise } from './check-number.js';

/** Larger archives are slow without a look at them. */
const MAX_QUICK_BYTES = 64 * 1024 ** 2;

/**
 * Checks an uploaded archive, extracts its node definitions and moves its version out of Pending. A pack that takes
 * longer than most is left to `checkSlowArchive`, and so is what its user publishes until that ends, so that others wait
 * a few seconds at most for the packs of one user.
 */
export function checkArchive(context: Context): JobHandler {
  const { database, queue, packReaders, configuration } = context;
  return async (job, signal) => {
    const { key: versionId, owner, commit } = job;
    const version = await findUnchecked(database, versionId);
    if (!version) return;
    const isSlow = version.size > MAX_QUICK_BYTES || (await findSlowArchives(database, owner)).length > 0;
    const verdict = isSlow
      ? undefined
      : await borrowArchive(context, { version, job, signal }, (path) =>
          packReaders.quick.tryArchive(path, configuration.limits, signal),
        );
    if (verdict) return settleVersion(context, job, version, verdict);
    const slow = { kind: 'check-slow-archive', key: versionId, owner };
    await commit((tx) => queue.enqueue(tx, slow));
  };
}

/**
 * Checks an archive that takes long. The verdict does not depend on which of the two gave it. A reader that is ended from
 * outside, as by a machine without memory, is no verdict however often: no pack gets past the limits of its reader, which
 * say so themselves. It is read again after pauses of up to an hour.
 */
export function checkSlowArchive(context: Context): JobHandler {
  const { database, packReaders, configuration } = context;
  return async (job, signal) => {
    const version = await findUnchecked(database, job.key);
    if (!version) return;
    const verdict = await borrowArchive(context, { version, job, signal }, (path) =>
      packReaders.thorough.inspectArchive(path, configuration.limits, signal),
    );
    await settleVersion(context, job, version, verdict);
  };
}

type Unchecked = ArchiveName & Pick<VersionRow, 'id'> & { readonly key: string; readonly size: number };

async function findUnchecked(database: Database, versionId: string): Promise<Unchecked | undefined> {
  return (await selectUnchecked(database, versionId))[0];
}

const selectUnchecked = compileOnce((database, versionId: string) =>
  database
    .selectFrom('versions')
    .innerJoin('nodes', 'nodes.id', 'versions.node_id')
    .select([
      'versions.id',
      'nodes.publisher_id as publisherId',
      'versions.node_id as nodeId',
      'versions.version',
      'versions.archive_key as key',
      'versions.archive_size as size',
    ])
    .where('versions.id', '=', versionId)
    .where('versions.status', '<>', 'NodeVersionStatusDeleted')
    .where('versions.uploaded_at', 'is not', null)
    .where('versions.archive_tree', 'is', null)
    .$narrowType<{ key: NotNull; size: NotNull }>(),
);

const findSlowArchives = compileOnce((database, owner: string) =>
  database
    .selectFrom('jobs')
    .select('id')
    .where('owner', '=', owner)
    .where('kind', '=', 'check-slow-archive')
    .limit(1),
);

// Decided: failures of the service itself are retried; until then the version is Pending with a reason.
async function borrowArchive<Result>(
  { storage }: Context,
  {
    version,
    job: { commit },
    signal,
  }: { readonly version: Unchecked; readonly job: RunningJob; readonly signal: AbortSignal },
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  try {
    const archive = await storage.borrow(version.key);
    try {
      return await use(archive.path);
    } finally {
      await archive.release();
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = 'The service could not read the archive; it will retry.';
    await commit((tx) => explainPending(tx, version.id, reason));
    throw error;
  }
}

async function settleVersion(
  context: Context,
  { commit }: RunningJob,
  version: Unchecked,
  verdict: PackInspection,
): Promise<void> {
  const { id: versionId, nodeId } = version;
  const status = await commit((tx) => recordVerdict(tx, context, version, verdict));
  context.log('info', 'verdict', { versionId, nodeId, status });
}

// Decided: a valid archive makes the version Active. An unreadable one, or a finding of high severity, makes
// it Flagged, and status_reason says what and where. Other findings are listed there too, and where nodes may be lost. So
// does a version number that hides what breaks, if the service enforces that; an admin may make the version Active.
// A staged version that would become Active waits for an owner instead.
async function recordVerdict(
  tx: Tx,
  context: Context,
  { id, nodeId, publisherId, version }: Unchecked,
  verdict: PackInspection,
): Promise<string> {
  const current = await getRow(tx, 'versions', { id });
  if (verdict.ok) {
    await updateRows(tx, 'versions', { id }, { archive_tree: verdict.tree });
    await deleteRows(tx, 'readmes', { version_id: id });
    if (verdict.readme) await insertRow(tx, 'readmes', { version_id: id, text: verdict.readme });
  }
  // Decided: a failed extraction alone leaves the version Active, with the extract status `failed`.
  const code = verdict.ok ? verdict.code : undefined;
  // The same where no node was found although there may be some, and where the definitions are too large.
  const isRead =
    code?.followed &&
    (code.nodes.length > 0 || code.unresolved.length === 0 || code.isEmpty) &&
    measureDefinitions(code.nodes) <= MAX_DEFINITION_BYTES;
  const nodes = isRead ? code.nodes : undefined;
  if (await storeDefinitions(tx, { versionId: id, nodeId, nodes }))
    await chargeDefinitions(tx, context, { publisherId, nodes });
  // The owner or an admin has already changed the status.
  if (current.status !== 'NodeVersionStatusPending') return current.status;
  const findings = code?.findings ?? [];
  const broken = code && nodes && (await describeBrokenPromise(tx, context, { nodeId, version }, code));
  const isKept = broken === undefined || context.configuration.registry.semver !== 'enforce';
  const isSound = verdict.ok && isKept && !findings.some(({ severity }) => severity === 'high');
  const hold = isSound ? await findOriginChange(tx, current) : undefined;
  const reason = verdict.ok
    ? [hold, broken, formatFindings(findings, code)].filter(Boolean).join('\n')
    : verdict.reason;
  const isOpen = isSound && hold === undefined;
  if (isOpen && current.approve_by !== null) {
    await explainPending(tx, id, reason || null);
    return current.status;
  }
  const to = isOpen ? 'NodeVersionStatusActive' : 'NodeVersionStatusFlagged';
  await changeVersionStatus(tx, {
    versionId: id,
    to,
    ...(reason && { reason }),
    right: 'service',
    actor: 'service',
    now: context.now(),
  });
  return to;
}

type Definitions = Pick<CodeReport, 'followed' | 'nodes' | 'unresolved' | 'isEmpty'>;

const MAX_FINDINGS = 20;
const MAX_GAPS = 3;

/**
 * Formats what the checks found as a version's status_reason: one per line with its location, high severity first, then
 * where nodes may be lost.
 * @returns undefined if there is nothing to report
 */
export function formatFindings(findings: readonly Finding[], definitions?: Definitions): string | undefined {
  const high = findings.filter(({ severity }) => severity === 'high');
  const low = findings.filter(({ severity }) => severity !== 'high');
  const isEmpty =
    definitions?.isEmpty || (definitions?.nodes.length === 0 && definitions.unresolved.length === 0);
  const shown = [...high, ...low].slice(0, MAX_FINDINGS);
  const more = findings.length - shown.length;
  const lines = [
    ...shown.map(({ file, line, message, rule, severity }) => {
      const effect = severity === 'high' ? '' : ', only noted';
      return `${file}:${line} ${message} (${rule}${effect})`;
    }),
    ...(more > 0 ? [`And ${more} more.`] : []),
    ...(definitions && !isEmpty ? formatGaps(definitions) : []),
    // A version that is Active without nodes must not look like any other.
    ...(high.length === 0 && isEmpty
      ? ['The pack registers no node, so the version is listed without nodes.']
      : []),
  ];
  return lines.length > 0 ? lines.join('\n') : undefined;
}

function formatGaps({ followed, nodes, unresolved }: Definitions): string[] {
  const [first] = unresolved;
  if (!first) return [];
  if (!followed) return [`Node definitions could not be extracted: ${first.what}.`];
  const more = unresolved.length - MAX_GAPS;
  return [
    ...(nodes.length === 0
      ? ['No node definition could be read, so the version is listed without nodes.']
      : []),
    ...unresolved
      .slice(0, MAX_GAPS)
      .map(({ file, line, what }) => `${file}:${line} Nodes may be missing: ${what}`),
    ...(more > 0 ? [`And ${more} more places where nodes may be missing.`] : []),
  ];
}

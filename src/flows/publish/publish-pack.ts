import { join } from 'node:path';
import type { Client } from '../../client/client.js';
import { ClientError, StillRunningError } from '../../client/errors.js';
import { wait } from '../../client/wait.js';
import { regen, say } from '../../contract/schema/message.js';
import type { BuiltArchive } from '../../pack/archive.js';
import type { CodeReport } from '../../python/code-report.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { FlowError } from '../flow-error.js';
import { refuseBrokenPromise } from './latest-release.js';
import { findNextStep, isSettled, isStaged, readReason, toVerdictError, WAITS } from './next-step.js';
import { buildArchive, type Pack, type PublishReport, type Stages } from './pack.js';
import { type NodeVersion, readVersion, type VersionContext } from './published.js';
import { isUncertain, type Registration, type Registry, registerAndUpload } from './upload.js';

/** How a pack that passed its checks is published. */
export interface PublishContext {
  /** Opens the registry, once the archive is built. */
  openRegistry(publisherId: string): Promise<Registry>;
  readonly report: PublishReport;
  readonly progress: Stages;
  /** An empty folder. */
  readonly scratch: string;
  readonly changelog: string | undefined;
  /** Whether an owner has to approve the version once it has passed its checks. */
  readonly stage?: boolean | undefined;
  /** How long to wait for the verdict; undefined: not at all. */
  readonly timeoutMs: number | undefined;
  /** Whether the same files may already be published. */
  readonly skipExisting: boolean;
  /** The code that was read, to compare with the latest version; undefined if the release may break workflows. */
  readonly code: CodeReport | undefined;
  readonly signal: AbortSignal;
  /** Called when only the verdict is missing. */
  onUploaded?(): void;
  /** Called when the same files were published before, and may be. */
  onExisting?(): void;
}

/** Packs a folder, registers it as a version, uploads it, and waits for the registry's verdict. */
export async function publishPack(context: PublishContext, pack: Pack): Promise<NodeVersion> {
  const registration = await buildRegistration(context, pack);
  const { manifest, archive } = registration;
  const { signal } = context;
  const registry = await context.openRegistry(manifest.publisher);
  const subject = toSubject(await registry.connect(registry.token), pack, signal);
  for (let round = 0; ; round++) {
    const next = await findNextStep(subject, archive, context.scratch);
    if (next.step === 'done')
      return round > 0 ? next.version : acceptExisting(context, subject, next.version);
    if (next.step === 'wait') return waitForVerdict(context, subject, next.version);
    if (context.code && round === 0) await refuseBrokenPromise(subject, context.code, context.report);
    try {
      const registered = await registerAndUpload(context, registry, registration);
      return await waitForVerdict(context, subject, registered);
    } catch (error) {
      if (round === 2 || signal.aborted || !isUncertain(error)) throw error;
    }
  }
}

/**
 * Reads what the registry has, and changes nothing.
 * @throws FlowError if `publishPack` would refuse the pack
 */
export async function tryPack(
  context: Omit<PublishContext, 'openRegistry' | 'timeoutMs'>,
  pack: Pack,
  client: Client,
): Promise<void> {
  const { archive } = await buildRegistration(context, pack);
  await tryArchive(context, toSubject(client, pack, context.signal), archive);
}

/** As `tryPack`, for an archive that is built. */
export async function tryArchive(
  context: Pick<PublishContext, 'scratch' | 'code' | 'report' | 'skipExisting' | 'onExisting'>,
  subject: VersionContext,
  archive: BuiltArchive,
): Promise<void> {
  const next = await findNextStep(subject, archive, context.scratch);
  if (next.step === 'done') await acceptExisting(context, subject, next.version);
  if (next.step === 'register' && context.code)
    await refuseBrokenPromise(subject, context.code, context.report);
}

export function toSubject(client: Client, { manifest }: Pack, signal: AbortSignal): VersionContext {
  const { node, version, publisher } = manifest;
  return { client, nodeId: node.id, publisherId: publisher, version: version.version, signal };
}

async function buildRegistration(
  { report, progress, scratch, changelog, stage, signal }: Omit<PublishContext, 'openRegistry' | 'timeoutMs'>,
  pack: Pack,
): Promise<Registration> {
  const { manifest, files, size } = pack;
  await progress.stage(`Packing ${manifest.node.id} ${manifest.version.version}`);
  const path = join(scratch, 'node.zip');
  const archive = await buildArchive({ signal }, pack, path, progress);
  progress.end();
  const count = `${files.length} file${files.length === 1 ? '' : 's'}`;
  await report.note(`${count}, ${formatBytes(size)}, packed to ${formatBytes(archive.size)}.`);
  return { manifest, changelog, stage, archive, path };
}

async function acceptExisting(
  { skipExisting, report, onExisting }: Pick<PublishContext, 'skipExisting' | 'report' | 'onExisting'>,
  { nodeId, version }: VersionContext,
  published: NodeVersion,
): Promise<NodeVersion> {
  const message = `${nodeId} ${version} is already published, with the same files.`;
  if (!skipExisting) throw new FlowError('same_version_exists', message);
  onExisting?.();
  await report.note(message);
  return published;
}

const MAX_EXTRACTION_MS = 60_000;

/** Waits for the verdict of the registry, and reports it. */
async function waitForVerdict(
  { report, progress, timeoutMs, signal, onUploaded }: PublishContext,
  subject: VersionContext,
  uploaded: NodeVersion,
): Promise<NodeVersion> {
  const name = `${subject.nodeId} ${subject.version}`;
  if (timeoutMs === undefined) {
    await report.note(say`${name} is uploaded. See the verdict later with: ${regen('version get', name)}`);
    return uploaded;
  }
  onUploaded?.();
  await progress.stage('Waiting for the registry to check it');
  try {
    const read = async () => (await readVersion(subject)) ?? uploaded;
    const checked = await wait(read, {
      isDone: (version) => version.status !== 'NodeVersionStatusPending' || isStaged(version),
      onAnswer: ({ status_reason }) => status_reason && progress.update(`(${status_reason})`),
      timeoutMs,
      signal,
    });
    if (isStaged(checked)) {
      progress.end();
      const approve = regen('version approve', `${subject.nodeId}@${subject.version}`);
      await report.note(
        say`${name} has passed its checks. An owner can approve it until ${checked.approve_by}: ${approve}`,
      );
      return checked;
    }
    if (checked.status !== 'NodeVersionStatusActive')
      throw toVerdictError(subject, await readReason(subject, checked), WAITS);
    // The version has passed. Some registries extract definitions much later.
    let version = checked;
    if (!isSettled(checked)) {
      await progress.stage('Waiting for its node definitions');
      const limits = { timeoutMs: Math.min(timeoutMs, MAX_EXTRACTION_MS), signal };
      version = await wait(read, { isDone: isSettled, ...limits }).catch((error) => {
        if (!(error instanceof StillRunningError)) throw error;
        return checked;
      });
    }
    progress.end();
    if (version.status_reason) await report.warn(`The registry reported: ${shorten(version.status_reason)}`);
    await report.note(`${name} is Active${await describeDefinitions(subject, version)}.`);
    return version;
  } catch (error) {
    if (!(error instanceof StillRunningError)) throw error;
    throw new FlowError(
      'still_checking',
      `${name} is uploaded, but the registry has not finished its checks.`,
      { subject: `${subject.nodeId} ${subject.version}` },
    );
  }
}

async function describeDefinitions(
  { client, nodeId, signal }: VersionContext,
  version: NodeVersion,
): Promise<string> {
  if (version.host_node_extract_status === 'pending') return '; its node definitions are not extracted yet';
  if (version.host_node_extract_status === 'failed') return ', but its node definitions could not be read';
  try {
    const filters = { node_id: nodeId, node_version: version.version, pageSize: 1 };
    const { total } = await client.hostNodes.listAll(filters, { signal });
    return ` with ${total} node definition${total === 1 ? '' : 's'}`;
  } catch (error) {
    // The version is published; a missing count is not a failure.
    if (error instanceof ClientError) return '';
    throw error;
  }
}

/** Shortens the reason for a message; the output has all of it. */
function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

import { join } from 'node:path';
import { ClientError, StillRunningError } from '../../client/errors.js';
import { wait } from '../../client/wait.js';
import type { Service } from '../connect/services.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Stages } from '../terminal/progress.js';
import { withScratch } from '../terminal/scratch.js';
import { formatBytes } from '../terminal/text.js';
import { buildArchive } from './build.js';
import type { Pack } from './pack.js';
import { type NodeVersion, readVersion, type VersionContext } from './published.js';
import type { PublishContext } from './publishing.js';
import { findNextStep, isSettled, toVerdictFailure } from './state.js';
import type { PublishToken } from './token.js';
import { isUncertain, type Registration, registerAndUpload } from './upload.js';

/** How a pack that passed its checks is published. */
export interface PublishOptions {
  readonly changelog: string | undefined;
  /** How long to wait for the verdict. */
  readonly timeoutMs: number;
  readonly progress: Stages;
  findToken(service: Service, publisherId: string): Promise<PublishToken>;
}

/** Packs a folder, registers it as a version, uploads it, and waits for the registry's verdict. */
export function publishPack(
  context: PublishContext,
  pack: Pack,
  options: PublishOptions,
): Promise<NodeVersion> {
  return withScratch(context.system.now(), async (scratch) =>
    publishRegistration(context, await buildRegistration(context, pack, options, scratch), options, scratch),
  );
}

async function buildRegistration(
  context: PublishContext,
  pack: Pack,
  { changelog, progress }: PublishOptions,
  scratch: string,
): Promise<Registration> {
  const { manifest, files, size } = pack;
  await progress.stage(`Packing ${manifest.node.id} ${manifest.version.version}`);
  const path = join(scratch, 'node.zip');
  const archive = await buildArchive(context, pack, path, progress);
  progress.end();
  await context.output.note(
    `${files.length} files, ${formatBytes(size)}, packed to ${formatBytes(archive.size)}.`,
  );
  return { manifest, changelog, archive, path };
}

async function publishRegistration(
  context: PublishContext,
  registration: Registration,
  { timeoutMs, progress, findToken }: PublishOptions,
  scratch: string,
): Promise<NodeVersion> {
  const { manifest, archive } = registration;
  const { services, connect, signal, flags } = context;
  const service = await services.reach();
  const token = await findToken(service, manifest.publisher);
  const subject: VersionContext = {
    client: service.credential ? service.client : await connect(service.url, token.token),
    serviceUrl: service.url,
    connect,
    nodeId: manifest.node.id,
    version: manifest.version.version,
    signal,
  };
  for (let round = 0; ; round++) {
    const next = await findNextStep(subject, archive, scratch);
    if (next.step === 'done')
      return round > 0 ? next.version : acceptExisting(context, subject, next.version);
    if (next.step === 'wait') return waitForVerdict(context, subject, next.version, timeoutMs, progress);
    try {
      const registered = await registerAndUpload(context, service, token, registration, progress);
      if (flags.wait === false) return registered;
      return await waitForVerdict(context, subject, registered, timeoutMs, progress);
    } catch (error) {
      if (round === 2 || signal.aborted || !isUncertain(error)) throw error;
    }
  }
}

async function acceptExisting(
  { flags, output }: PublishContext,
  { nodeId, version }: VersionContext,
  published: NodeVersion,
): Promise<NodeVersion> {
  if (!flags['skip-existing']) {
    throw new Failure(`${nodeId} ${version} is already published, with the same files.`, {
      code: 'version_exists',
      exit: exitCodes.conflict,
      hint: 'Pass --skip-existing to treat this as success.',
    });
  }
  await output.note(`${nodeId} ${version} is already published, with the same files.`);
  return published;
}

/** Waits for the verdict of the registry, and reports it. */
async function waitForVerdict(
  context: PublishContext,
  subject: VersionContext,
  uploaded: NodeVersion,
  timeoutMs: number,
  progress: Stages,
): Promise<NodeVersion> {
  const { signal, output, flags } = context;
  if (flags.wait === false) return uploaded;
  context.interruption.hint = `The upload is complete. See the verdict later with: regen version bulk ${subject.nodeId}@${subject.version}`;
  await progress.stage('Waiting for the registry to check it');
  try {
    const version = await wait(async () => (await readVersion(subject)) ?? uploaded, {
      isDone: isSettled,
      onAnswer: ({ status_reason }) => status_reason && progress.update(`(${status_reason})`),
      timeoutMs,
      signal,
    });
    progress.end();
    if (version.status !== 'NodeVersionStatusActive') throw toVerdictFailure(subject, version);
    if (version.status_reason) await output.warn(`The registry reported: ${shorten(version.status_reason)}`);
    await sayVerdict(context, subject, version);
    return version;
  } catch (error) {
    if (!(error instanceof StillRunningError)) throw error;
    throw new Failure(
      `${subject.nodeId} ${subject.version} is uploaded, but the registry has not finished its checks.`,
      {
        code: 'still_running',
        exit: exitCodes.stillGoing,
        hint: `See the verdict later with: regen version bulk ${subject.nodeId}@${subject.version}`,
      },
    );
  }
}

/** Reports the status of a version and the number of its definitions. */
async function sayVerdict(
  { output }: PublishContext,
  subject: VersionContext,
  version: NodeVersion,
): Promise<void> {
  const found = await describeDefinitions(subject, version);
  await output.note(`${subject.nodeId} ${subject.version} is Active${found}.`);
}

async function describeDefinitions(
  { client, nodeId, signal }: VersionContext,
  version: NodeVersion,
): Promise<string> {
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

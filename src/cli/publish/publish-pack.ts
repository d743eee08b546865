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
import { type NodeVersion, readVersion, type Subject } from './published.js';
import type { PublishContext } from './publishing.js';
import { endedBadly, isSettled, nextStep } from './state.js';
import type { PublishToken } from './token.js';
import { isUncertain, type Registration, registerAndUpload } from './upload.js';

/** How a pack that passed its checks is published. */
export interface PublishOptions {
  readonly changelog: string | undefined;
  /** How long to wait for the registry. Milliseconds. */
  readonly timeoutMs: number;
  readonly progress: Stages;
  tokenOf(service: Service, publisherId: string): Promise<PublishToken>;
}

/** Packs a folder, registers it as a version, uploads it, and waits for what the registry thinks. */
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
  { timeoutMs, progress, tokenOf }: PublishOptions,
  scratch: string,
): Promise<NodeVersion> {
  const { manifest, archive } = registration;
  const { services, connect, signal, flags } = context;
  const service = await services.reach();
  const token = await tokenOf(service, manifest.publisher);
  const subject: Subject = {
    client: service.credential ? service.client : await connect(service.url, token.token),
    serviceUrl: service.url,
    connect,
    nodeId: manifest.node.id,
    version: manifest.version.version,
    signal,
  };
  for (let round = 0; ; round++) {
    const next = await nextStep(subject, archive, scratch);
    if (next.step === 'done') return round > 0 ? next.version : alreadyThere(context, subject, next.version);
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

async function alreadyThere(
  { flags, output }: PublishContext,
  { nodeId, version }: Subject,
  published: NodeVersion,
): Promise<NodeVersion> {
  if (!flags['skip-existing']) {
    throw new Failure(`${nodeId} ${version} is already published, with the same files.`, {
      code: 'version_exists',
      exit: exitCodes.conflict,
      hint: 'With --skip-existing this is no failure.',
    });
  }
  await output.note(`${nodeId} ${version} is already published, with the same files.`);
  return published;
}

/** Waits until the registry is through with a version, and says what it thinks. */
async function waitForVerdict(
  context: PublishContext,
  subject: Subject,
  uploaded: NodeVersion,
  timeoutMs: number,
  progress: Stages,
): Promise<NodeVersion> {
  const { signal, output, flags } = context;
  if (flags.wait === false) return uploaded;
  context.interruption.hint = `It is uploaded, and the registry goes on. Look with: regen version bulk ${subject.nodeId}@${subject.version}`;
  await progress.stage('Waiting for the registry to check it');
  try {
    const version = await wait(async () => (await readVersion(subject)) ?? uploaded, {
      isDone: isSettled,
      onAnswer: ({ status_reason }) => status_reason && progress.update(`(${status_reason})`),
      timeoutMs,
      signal,
    });
    progress.end();
    if (version.status !== 'NodeVersionStatusActive') throw endedBadly(subject, version);
    if (version.status_reason) await output.warn(`The registry notes: ${shorten(version.status_reason)}`);
    await sayVerdict(context, subject, version);
    return version;
  } catch (error) {
    if (!(error instanceof StillRunningError)) throw error;
    throw new Failure(
      `${subject.nodeId} ${subject.version} is uploaded, and the registry is not through with it yet.`,
      {
        code: 'still_running',
        exit: exitCodes.stillGoing,
        hint: `Look again with: regen version bulk ${subject.nodeId}@${subject.version}`,
      },
    );
  }
}

/** After the upload nobody should have to guess: the state, and what the registry found in the pack. */
async function sayVerdict({ output }: PublishContext, subject: Subject, version: NodeVersion): Promise<void> {
  const found = await definitionsFound(subject, version);
  await output.note(`${subject.nodeId} ${subject.version} is Active${found}.`);
}

async function definitionsFound({ client, nodeId, signal }: Subject, version: NodeVersion): Promise<string> {
  if (version.host_node_extract_status === 'failed') return ', but its node definitions could not be read';
  try {
    const filters = { node_id: nodeId, node_version: version.version, pageSize: 1 };
    const { total } = await client.hostNodes.listAll(filters, { signal });
    return ` with ${total} node definition${total === 1 ? '' : 's'}`;
  } catch (error) {
    // It is published; a count that cannot be had is no reason to fail.
    if (error instanceof ClientError) return '';
    throw error;
  }
}

/** The whole reason is part of the answer; a person hears its beginning. */
function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

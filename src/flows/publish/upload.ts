import { createReadStream } from 'node:fs';
import type { Client } from '../../client/client.js';
import { NetworkError, ServiceError } from '../../client/errors.js';
import { regen, say } from '../../contract/schema/message.js';
import type { BuiltArchive } from '../../pack/archive.js';
import type { Manifest } from '../../pack/manifest.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { FlowError } from '../flow-error.js';
import type { PublishReport, Stages } from './pack.js';
import { type NodeVersion, requireVersion } from './published.js';

/** A registry, and the personal access token of the publisher. */
export interface Registry {
  readonly token: string;
  /** Returns a client whose bearer token is the publish token, unless there is another credential. */
  connect(token: string): Promise<Client>;
  /** Replaces a token that the registry no longer knows. */
  renewToken?(): Promise<string>;
}

/** A version to register. */
export interface Registration {
  readonly manifest: Manifest;
  readonly changelog: string | undefined;
  /** Whether an owner has to approve the version. */
  readonly stage?: boolean | undefined;
  readonly archive: BuiltArchive;
  readonly path: string;
}

export function buildPublishBody(
  { manifest, changelog, stage }: Pick<Registration, 'manifest' | 'changelog' | 'stage'>,
  token: string,
) {
  return {
    node: manifest.node,
    node_version: { ...manifest.version, ...(changelog !== undefined && { changelog }) },
    ...(stage && { stage }),
    personal_access_token: token,
  };
}

interface UploadContext {
  readonly progress: Stages;
  readonly report: PublishReport;
  readonly signal: AbortSignal;
}

export async function registerAndUpload(
  { progress, report, signal }: UploadContext,
  registry: Registry,
  registration: Registration,
): Promise<NodeVersion> {
  const { manifest, archive, path } = registration;
  await progress.stage(`Registering ${manifest.node.id} ${manifest.version.version}`);
  const { client, answer } = await registerVersion(signal, registry, registration);
  if (answer.token_expires_at !== undefined) {
    const create = regen('publisher token create', `${manifest.publisher} <name>`);
    await report.warn(
      say`The personal access token expires at ${answer.token_expires_at}. Create another one with: ${create}`,
    );
  }
  if (registration.stage && !answer.node_version.approve_by)
    throw new FlowError('stage_unsupported', 'The registry has no staged versions; nothing was uploaded.');
  await progress.stage(`Uploading ${formatBytes(archive.size)}`);
  await client.upload(answer.signedUrl, {
    openStream: () => createReadStream(path),
    size: archive.size,
    onProgress: (done, total) => progress.transferred(done, total),
    signal,
  });
  return answer.node_version;
}

async function registerVersion(signal: AbortSignal, registry: Registry, registration: Registration) {
  const { publisher: publisherId, node } = registration.manifest;
  const send = async (pat: string) => {
    const client = await registry.connect(pat);
    const body = buildPublishBody(registration, pat);
    const answer = await client.version.publish({ publisherId, nodeId: node.id, body }, { signal });
    const { version } = registration.manifest.version;
    requireVersion(client, { nodeId: node.id, version }, answer.node_version);
    return { client, answer };
  };
  try {
    return await send(registry.token);
  } catch (error) {
    const outdated =
      error instanceof ServiceError && ['invalid_personal_access_token', 'not_found'].includes(error.code);
    if (!outdated || !registry.renewToken) throw error;
    return send(await registry.renewToken());
  }
}

/**
 * Whether the state of the registry is unknown after a failure, so that it must be read again: after a lost response,
 * an expired upload URL, or another publish of the same version at the same time.
 */
export function isUncertain(error: unknown): boolean {
  if (error instanceof NetworkError) return error.sent !== false;
  if (!(error instanceof ServiceError)) return false;
  return ['version_exists', 'invalid_signature', 'upload_incomplete'].includes(error.code);
}

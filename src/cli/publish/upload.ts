import { createReadStream } from 'node:fs';
import type { Client } from '../../client/client.js';
import { NetworkError, ServiceError } from '../../client/errors.js';
import type { BuiltArchive } from '../../pack/archive.js';
import type { Manifest } from '../../pack/manifest.js';
import type { Connect } from '../connect/clients.js';
import type { Service } from '../connect/services.js';
import type { Stages } from '../terminal/progress.js';
import { formatBytes } from '../terminal/text.js';
import type { NodeVersion } from './published.js';
import type { PublishContext } from './publishing.js';
import { makeToken, type PublishToken } from './token.js';

/** What is registered. */
export interface Registration {
  readonly manifest: Manifest;
  readonly changelog: string | undefined;
  readonly archive: BuiltArchive;
  /** Where the archive lies on this disk. */
  readonly path: string;
}

/** The body of the publish request. */
export function publishBody(
  { manifest, changelog }: Pick<Registration, 'manifest' | 'changelog'>,
  token: string,
) {
  return {
    node: manifest.node,
    node_version: { ...manifest.version, ...(changelog !== undefined && { changelog }) },
    personal_access_token: token,
  };
}

type UploadContext = Pick<PublishContext, 'connect' | 'output' | 'signal'>;

/** Registers a version and uploads its archive; what it answers is still Pending. */
export async function registerAndUpload(
  context: UploadContext,
  service: Service,
  token: PublishToken,
  registration: Registration,
  progress: Stages,
): Promise<NodeVersion> {
  const { manifest, archive, path } = registration;
  const { signal } = context;
  await progress.stage(`Registering ${manifest.node.id} ${manifest.version.version}`);
  const { node_version, signedUrl } = await registerVersion(context, service, token, registration);
  await progress.stage(`Uploading ${formatBytes(archive.size)}`);
  await service.client.upload(signedUrl, {
    openStream: () => createReadStream(path),
    size: archive.size,
    onProgress: (done, total) => progress.transferred(done, total),
    signal,
  });
  return node_version;
}

async function registerVersion(
  context: UploadContext,
  service: Service,
  { token, replaceable }: PublishToken,
  registration: Registration,
) {
  const { publisher: publisherId, node } = registration.manifest;
  const send = async (pat: string) => {
    const client = await withBearer(context.connect, service, pat);
    const body = publishBody(registration, pat);
    return client.version.publish({ publisherId, nodeId: node.id, body }, { signal: context.signal });
  };
  try {
    return await send(token);
  } catch (error) {
    // The embedded service's data may have been removed, the token kept here belongs to what was there before.
    const outdated =
      error instanceof ServiceError && ['invalid_personal_access_token', 'not_found'].includes(error.code);
    if (!outdated || !replaceable) throw error;
    return send(await makeToken(context, service, publisherId));
  }
}

/** The publish token serves as the bearer where there is no other credential. */
async function withBearer(connect: Connect, service: Service, token: string): Promise<Client> {
  return service.credential ? service.client : connect(service.url, token);
}

/**
 * Whether a failure leaves open what the registry has now, so that looking again tells how to go on: a lost answer,
 * an upload URL that ran out, or another publish of the same version at the same time.
 */
export function isUncertain(error: unknown): boolean {
  if (error instanceof NetworkError) return error.sent !== false;
  if (!(error instanceof ServiceError)) return false;
  return ['version_exists', 'invalid_signature', 'upload_incomplete'].includes(error.code);
}

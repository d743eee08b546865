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

/** A version to register. */
export interface Registration {
  readonly manifest: Manifest;
  readonly changelog: string | undefined;
  readonly archive: BuiltArchive;
  /** The path of the archive. */
  readonly path: string;
}

/** The body of the publish request. */
export function buildPublishBody(
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

/** Registers a version and uploads its archive. The version is still Pending. */
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
    const client = await chooseBearer(context.connect, service, pat);
    const body = buildPublishBody(registration, pat);
    return client.version.publish({ publisherId, nodeId: node.id, body }, { signal: context.signal });
  };
  try {
    return await send(token);
  } catch (error) {
    // The data of the embedded service may have been removed, and the token with it.
    const outdated =
      error instanceof ServiceError && ['invalid_personal_access_token', 'not_found'].includes(error.code);
    if (!outdated || !replaceable) throw error;
    return send(await makeToken(context, service, publisherId));
  }
}

/** Uses the publish token as the bearer token if there is no other credential. */
async function chooseBearer(connect: Connect, service: Service, token: string): Promise<Client> {
  return service.credential ? service.client : connect(service.url, token);
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

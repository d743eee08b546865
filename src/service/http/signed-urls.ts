import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.js';

/** Which archive: the three segments of its object's path. */
export interface ArchiveName {
  readonly publisherId: string;
  readonly nodeId: string;
  readonly version: string;
}

type Signer = Pick<Context, 'keys' | 'now' | 'baseUrl' | 'configuration'>;

/** The storage key of an archive. */
export function archiveKey(name: ArchiveName): string {
  return `archives/${name.publisherId}/${name.nodeId}/${name.version}/node.zip`;
}

/**
 * Where the archive is downloaded. Computed for every answer and never stored, because the host may change.
 * @returns an absolute URL; a `+` of the version is encoded, since some clients read it as a space
 */
export function downloadUrl(context: Pick<Context, 'baseUrl'>, name: ArchiveName): string {
  return `${context.baseUrl()}/archives/${objectPath(name)}`;
}

/**
 * Where the archive is uploaded, with one PUT by whoever holds the URL.
 * @param upload `versionId` binds the URL to one row, so that it dies with it
 */
export function signUpload(context: Signer, upload: ArchiveName & { readonly versionId: string }): string {
  // Decided: an upload begins within 15 minutes.
  const lifetime = context.configuration.limits.uploadBeginSeconds;
  const expires = String(Math.floor(context.now() / 1000) + lifetime);
  const grant = { versionId: upload.versionId, expires };
  const query = new URLSearchParams({ ...grant, signature: signature(context, upload, grant) });
  return `${context.baseUrl()}/uploads/${objectPath(upload)}?${query}`;
}

/** The query of an upload URL, as it came. */
export type UploadGrant = Readonly<Record<string, unknown>>;

/** @returns the version's id, or undefined where the URL was changed or is no longer valid */
export function verifyUpload(context: Signer, name: ArchiveName, grant: UploadGrant): string | undefined {
  const { versionId, expires, signature: given } = grant;
  if (typeof versionId !== 'string' || typeof expires !== 'string' || typeof given !== 'string')
    return undefined;
  const genuine = Buffer.from(signature(context, name, { versionId, expires }));
  const claimed = Buffer.from(given);
  if (genuine.length !== claimed.length || !timingSafeEqual(genuine, claimed)) return undefined;
  return Number(expires) * 1000 > context.now() ? versionId : undefined;
}

function signature(
  context: Pick<Context, 'keys'>,
  name: ArchiveName,
  { versionId, expires }: { versionId: string; expires: string },
): string {
  const signed = ['regen-upload', 'PUT', objectPath(name), expires, versionId].join('\n');
  return createHmac('sha256', context.keys.url).update(signed).digest('base64url');
}

// Decided: the archive of a version is the single object {publisher}/{node}/{version}/node.zip.
function objectPath({ publisherId, nodeId, version }: ArchiveName): string {
  return `${[publisherId, nodeId, version].map(encodeURIComponent).join('/')}/node.zip`;
}

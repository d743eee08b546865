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
  if (!isEqual(signature(context, name, { versionId, expires }), given)) return undefined;
  return Number(expires) * 1000 > context.now() ? versionId : undefined;
}

function signature(
  context: Pick<Context, 'keys'>,
  name: ArchiveName,
  { versionId, expires }: { versionId: string; expires: string },
): string {
  return signed(context, ['regen-upload', 'PUT', objectPath(name), expires, versionId]);
}

/** Which file of which task. */
export interface ResultName {
  readonly taskId: string;
  readonly name: string;
}

// Decided: result URLs are signed, which makes them unguessable; each is good for 7 days after the answer it stands in.
const resultSeconds = 7 * 24 * 60 * 60;

/** Where a result is read by whoever holds the URL. Computed for every answer, as the host may change. */
export function resultUrl(
  context: Pick<Context, 'keys' | 'now' | 'baseUrl'>,
  { taskId, name }: ResultName,
): string {
  const expires = String(Math.floor(context.now() / 1000) + resultSeconds);
  const path = `${taskId}/${name}`;
  const query = new URLSearchParams({ expires, signature: resultSignature(context, path, expires) });
  return `${context.baseUrl()}/results/${path}?${query}`;
}

/** The query of a signed URL, as it came. */
export type ResultGrant = Readonly<Record<string, unknown>>;

/** Whether a result's URL is as it was given out, and still good. */
export function verifyResult(
  context: Pick<Context, 'keys' | 'now'>,
  { taskId, name }: ResultName,
  { expires, signature: given }: ResultGrant,
): boolean {
  if (typeof expires !== 'string' || typeof given !== 'string') return false;
  const genuine = resultSignature(context, `${taskId}/${name}`, expires);
  return isEqual(genuine, given) && Number(expires) * 1000 > context.now();
}

function resultSignature(context: Pick<Context, 'keys'>, path: string, expires: string): string {
  return signed(context, ['regen-result', 'GET', path, expires]);
}

/**
 * Where a vendor tells of a task that it does for this service. Good as long as the service's URL key, since a task may
 * take days.
 */
export function vendorCallbackUrl(context: Pick<Context, 'keys' | 'baseUrl'>, taskId: string): string {
  const query = new URLSearchParams({ signature: callbackSignature(context, taskId) });
  return `${context.baseUrl()}/vendor-callbacks/${taskId}?${query}`;
}

/** The query of a signed URL, as it came. */
export type SignedQuery = Readonly<Record<string, unknown>>;

/** Whether a vendor's URL is as it was given out. */
export function verifyVendorCallback(
  context: Pick<Context, 'keys'>,
  taskId: string,
  { signature: given }: SignedQuery,
): boolean {
  return typeof given === 'string' && isEqual(callbackSignature(context, taskId), given);
}

function callbackSignature(context: Pick<Context, 'keys'>, taskId: string): string {
  return signed(context, ['regen-vendor-callback', 'POST', taskId]);
}

function signed({ keys }: Pick<Context, 'keys'>, lines: readonly string[]): string {
  return createHmac('sha256', keys.url).update(lines.join('\n')).digest('base64url');
}

/** In constant time, so that nothing is learnt of a signature by guessing. */
function isEqual(genuine: string, given: string): boolean {
  const [one, other] = [Buffer.from(genuine), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

// Decided: the archive of a version is the single object {publisher}/{node}/{version}/node.zip.
function objectPath({ publisherId, nodeId, version }: ArchiveName): string {
  return `${[publisherId, nodeId, version].map(encodeURIComponent).join('/')}/node.zip`;
}

import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../wire/same-secret.js';
import type { Context } from './context.js';

/** Identifies an archive: the three segments of its path. */
export interface ArchiveName {
  readonly publisherId: string;
  readonly nodeId: string;
  readonly version: string;
}

type Signer = Pick<Context, 'keys' | 'now' | 'baseUrl' | 'configuration'>;

/** The folder of the storage keys of a version's uploads. */
export function getArchiveFolder(name: ArchiveName): string {
  return `archives/${name.publisherId}/${name.nodeId}/${name.version}`;
}

/**
 * Where the archive is downloaded. Computed for every answer and never stored, because the host may change.
 * @returns an absolute URL; a `+` in the version is encoded, because some clients decode it as a space
 */
export function getDownloadUrl(context: Pick<Context, 'baseUrl'>, name: ArchiveName): string {
  return `${context.baseUrl()}/archives/${getObjectPath(name)}`;
}

/** What an upload URL is bound to, so that it ends with any of them. */
export interface UploadGrant {
  readonly versionId: string;
  /** The user who registered the version. */
  readonly registrant: string;
  /** The personal access token of the registration. */
  readonly tokenId: string;
}

/** Where the archive is uploaded with one PUT. The URL is the only credential. */
export function createUploadUrl(context: Signer, name: ArchiveName, grant: UploadGrant): string {
  // Decided: an upload must begin within 15 minutes.
  const lifetime = context.configuration.limits.uploadBeginSeconds;
  const expires = String(Math.floor(context.now() / 1000) + lifetime);
  const query = new URLSearchParams({
    ...grant,
    expires,
    signature: signUpload(context, name, grant, expires),
  });
  return `${context.baseUrl()}/uploads/${getObjectPath(name)}?${query}`;
}

/** The query of a signed URL, not yet verified. */
export type SignedQuery = Readonly<Record<string, unknown>>;

/** @returns undefined if the URL was modified or has expired */
export function verifyUpload(
  context: Signer,
  name: ArchiveName,
  query: SignedQuery,
): UploadGrant | undefined {
  const values = [query.versionId, query.registrant, query.tokenId, query.expires, query.signature];
  if (!values.every((value) => typeof value === 'string')) return undefined;
  const [versionId = '', registrant = '', tokenId = '', expires = '', given = ''] = values;
  const grant = { versionId, registrant, tokenId };
  if (!isEqual(signUpload(context, name, grant, expires), given)) return undefined;
  return Number(expires) * 1000 > context.now() ? grant : undefined;
}

function signUpload(
  context: Pick<Context, 'keys'>,
  name: ArchiveName,
  { versionId, registrant, tokenId }: UploadGrant,
  expires: string,
): string {
  const lines = ['regen-upload', 'PUT', getObjectPath(name), expires, versionId, tokenId, registrant];
  return signLines(context, lines);
}

/** A file of a task. */
export interface TaskFile {
  readonly taskId: string;
  readonly name: string;
}

// Decided: result URLs are signed, which makes them unguessable, and valid for 7 days after their answer.
const RESULT_SECONDS = 7 * 24 * 60 * 60;

/**
 * What a URL of a task is for, which its signature covers: to read a result, for a vendor to read an image until the task
 * has ended, or to report on the task, which may take days and changes nothing once it has ended.
 */
type TaskUrl = 'result' | 'input' | 'vendor-callback';

/**
 * Creates a URL of a task that is its own credential. Computed per answer, because the host may change.
 * @param path the id of the task and, for a file, its name
 */
export function createTaskUrl(
  context: Pick<Context, 'keys' | 'now' | 'baseUrl'>,
  kind: TaskUrl,
  ...path: readonly string[]
): string {
  const expires = kind === 'result' ? String(Math.floor(context.now() / 1000) + RESULT_SECONDS) : undefined;
  const signature = signTaskUrl(context, kind, path, expires);
  const query = new URLSearchParams({ ...(expires !== undefined && { expires }), signature });
  return `${context.baseUrl()}/${kind}s/${path.join('/')}?${query}`;
}

/** Whether a URL of a task is unmodified and has not expired. */
export function verifyTaskUrl(
  context: Pick<Context, 'keys' | 'now'>,
  kind: TaskUrl,
  path: readonly string[],
  { expires, signature: given }: SignedQuery,
): boolean {
  if (kind !== 'result') return isEqual(signTaskUrl(context, kind, path), given);
  if (typeof expires !== 'string' || !isEqual(signTaskUrl(context, kind, path, expires), given)) return false;
  return Number(expires) * 1000 > context.now();
}

function signTaskUrl(
  context: Pick<Context, 'keys'>,
  kind: TaskUrl,
  path: readonly string[],
  expires?: string,
): string {
  const method = kind === 'vendor-callback' ? 'POST' : 'GET';
  return signLines(context, [
    `regen-${kind}`,
    method,
    path.join('/'),
    ...(expires === undefined ? [] : [expires]),
  ]);
}

function signLines({ keys }: Pick<Context, 'keys'>, lines: readonly string[]): string {
  return createHmac('sha256', keys.url).update(lines.join('\n')).digest('base64url');
}

function isEqual(genuine: string, given: unknown): boolean {
  return typeof given === 'string' && isSameSecret(genuine, given);
}

// Decided: the archive of a version is the single object {publisher}/{node}/{version}/node.zip.
function getObjectPath({ publisherId, nodeId, version }: ArchiveName): string {
  return `${[publisherId, nodeId, version].map(encodeURIComponent).join('/')}/node.zip`;
}

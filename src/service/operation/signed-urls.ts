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

/** Identifies a file of a task. */
export interface ResultName {
  readonly taskId: string;
  readonly name: string;
}

// Decided: result URLs are signed, which makes them unguessable, and valid for 7 days after their answer.
const RESULT_SECONDS = 7 * 24 * 60 * 60;

/** Where a result is read, without another credential. Computed per answer, because the host may change. */
export function createResultUrl(
  context: Pick<Context, 'keys' | 'now' | 'baseUrl'>,
  { taskId, name }: ResultName,
): string {
  const expires = String(Math.floor(context.now() / 1000) + RESULT_SECONDS);
  const path = `${taskId}/${name}`;
  const query = new URLSearchParams({ expires, signature: signResult(context, path, expires) });
  return `${context.baseUrl()}/results/${path}?${query}`;
}

/** Whether a result's URL is unmodified and has not expired. */
export function verifyResult(
  context: Pick<Context, 'keys' | 'now'>,
  { taskId, name }: ResultName,
  { expires, signature: given }: SignedQuery,
): boolean {
  if (typeof expires !== 'string') return false;
  const genuine = signResult(context, `${taskId}/${name}`, expires);
  return isEqual(genuine, given) && Number(expires) * 1000 > context.now();
}

function signResult(context: Pick<Context, 'keys'>, path: string, expires: string): string {
  return signLines(context, ['regen-result', 'GET', path, expires]);
}

/** Where a vendor reports on a task, which may take days. It changes nothing once the task has ended. */
export function createCallbackUrl(context: Pick<Context, 'keys' | 'baseUrl'>, taskId: string): string {
  const query = new URLSearchParams({ signature: signCallback(context, taskId) });
  return `${context.baseUrl()}/vendor-callbacks/${taskId}?${query}`;
}

/** Whether a vendor's URL is unmodified. */
export function verifyVendorCallback(
  context: Pick<Context, 'keys'>,
  taskId: string,
  { signature: given }: SignedQuery,
): boolean {
  return isEqual(signCallback(context, taskId), given);
}

function signCallback(context: Pick<Context, 'keys'>, taskId: string): string {
  return signLines(context, ['regen-vendor-callback', 'POST', taskId]);
}

/** An image of a task that has not ended. */
export interface InputName {
  readonly taskId: string;
  readonly name: string;
}

/** Where a vendor fetches an image of a task. It can be fetched until the task has ended. */
export function createInputUrl(context: Pick<Context, 'keys' | 'baseUrl'>, input: InputName): string {
  const query = new URLSearchParams({ signature: signInput(context, input) });
  return `${context.baseUrl()}/inputs/${input.taskId}/${input.name}?${query}`;
}

/** Whether the URL of an image is unmodified. */
export function verifyInput(
  context: Pick<Context, 'keys'>,
  input: InputName,
  { signature: given }: SignedQuery,
): boolean {
  return isEqual(signInput(context, input), given);
}

function signInput(context: Pick<Context, 'keys'>, { taskId, name }: InputName): string {
  return signLines(context, ['regen-input', 'GET', `${taskId}/${name}`]);
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

import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import { createFile } from '../../disk/part-file.js';
import { checkDigest, checkSha256, computeSha256 } from '../digest.js';
import { FlowError } from '../flow-error.js';
import { isStaged, toVerdictError } from '../publish/next-step.js';
import { findArchiveDigest, type NodeVersion, readVersion, requireVersion } from '../publish/published.js';
import type { SigningService } from '../trust/verify-statement.js';
import { readVersionStatement, requireVouched, type VersionStatement } from '../trust/version-statement.js';

/** What a version may be besides Active. */
export const DOUBTFUL_STATES = ['deprecated', 'flagged', 'banned'] as const;

export interface FindVersionOptions {
  readonly client: Client;
  readonly nodeId: string;
  /** Default: the latest version. */
  readonly version?: string | undefined;
  /** Whether the registry counts an install. Default true. */
  readonly counts?: boolean;
  /** Which of `DOUBTFUL_STATES` the version may have; `staged`: it may wait for an owner. */
  readonly allowed?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/**
 * Finds the version to download. The install operation counts the download; services without it are read.
 * @throws FlowError if there is none, or it may not be downloaded
 */
export async function findDownloadable(options: FindVersionOptions): Promise<NodeVersion> {
  const { client, nodeId, version, counts = true, signal } = options;
  let missing: ServiceError | undefined;
  if (counts) {
    try {
      const asked = { nodeId, ...(version !== undefined && { version }) };
      const found = await client.node.install(asked, { signal });
      return requireDownloadable(options, requireVersion(client, asked, found));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
      // Either the service lacks the operation, or the version is not active.
      missing = error.code === 'not_found' ? error : undefined;
    }
  }
  const read = await readWithoutCounting(options);
  if (read) return requireDownloadable(options, read);
  // A registry answers the same about a version that it hides. A node that does not exist is another error.
  if (version !== undefined) await client.node.get({ nodeId }, { signal });
  if (missing) throw new FlowError('nothing_to_download', missing.message, { subject: nodeId });
  throw toNothingToDownloadError(nodeId, version);
}

async function readWithoutCounting({
  client,
  nodeId,
  version,
  signal,
}: FindVersionOptions): Promise<NodeVersion | undefined> {
  if (version !== undefined) return readVersion({ client, nodeId, version, signal });
  const { latest_version } = await client.node.get({ nodeId }, { signal });
  return latest_version && requireVersion(client, { nodeId }, latest_version);
}

function requireDownloadable(
  { nodeId, allowed }: Pick<FindVersionOptions, 'nodeId' | 'allowed'>,
  found: NodeVersion,
): NodeVersion {
  // Not every registry says of which node it is.
  const version = { ...found, node_id: found.node_id ?? nodeId };
  switch (version.status) {
    case 'NodeVersionStatusFlagged':
    case 'NodeVersionStatusBanned': {
      const state = version.status === 'NodeVersionStatusFlagged' ? 'flagged' : 'banned';
      if (allowed?.has(state)) return version;
      const { message, facts } = toVerdictError({ nodeId }, version);
      throw new FlowError('version_refused', message, { ...facts, subject: state });
    }
    case 'NodeVersionStatusDeleted':
      throw toNothingToDownloadError(nodeId, version.version, ', because it was deleted');
    case 'NodeVersionStatusPending':
      if (allowed?.has('staged') && isStaged(version)) return version;
      throw new FlowError(
        'version_pending',
        `The registry has not finished checking ${nodeId} ${version.version}.`,
      );
    default:
      return version;
  }
}

/** The error for a version that has no archive, or for a node that has no version. */
function toNothingToDownloadError(nodeId: string, version: string | undefined, why = ''): FlowError {
  const name = `${nodeId}${version ? ` ${version}` : ''}`;
  return new FlowError('nothing_to_download', `${name} cannot be downloaded${why}.`, { subject: nodeId });
}

export interface DownloadOptions {
  /** The file to create. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Verifies what the registry signed. */
  readonly signer: SigningService;
  readonly onProgress?: (done: number, total: number | undefined) => void;
}

export interface DownloadedArchive {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Whether the registry publishes a digest of it, which it then has. */
  readonly isVerified: boolean;
  /** What the registry signed, unless it signs nothing. */
  readonly signed: VersionStatement | undefined;
}

/**
 * Downloads the archive of a version, and compares it with the digest that the registry publishes, and with what it signed.
 * @throws FlowError if it differs, if the registry publishes digests but none of this archive, or if it signs with an
 * unknown key
 */
export async function downloadArchive(
  client: Client,
  version: NodeVersion,
  { path, signal, signer, onProgress }: DownloadOptions,
): Promise<DownloadedArchive> {
  const { downloadUrl, node_id = '' } = version;
  if (!downloadUrl) throw toNothingToDownloadError(node_id, version.version);
  const name = { nodeId: node_id, version: version.version ?? '' };
  const readStatement = async () =>
    isSigned(version) && node_id ? readVersionStatement(signer, name) : undefined;
  // Beside the download. What is of the registry behind this one is signed once it is kept.
  const early = version.from_uplink ? undefined : readStatement();
  early?.catch(() => undefined);
  const digest = await findArchiveDigest(client, version, signal);
  const { bytes, headers } = await client.download(downloadUrl, {
    to: await createFile(path),
    credential: true,
    signal,
    onProgress,
  });
  const sha256 = await computeSha256(path);
  const signed = await (early ?? readStatement());
  if (signed) requireVouched(signed, sha256, `${node_id} ${name.version}`);
  if (digest !== undefined) checkSha256(digest, sha256);
  checkDigest(headers['repr-digest'], sha256);
  return { size: bytes, sha256, isVerified: digest !== undefined || signed !== undefined, signed };
}

/** Others than Active versions are downloaded only by those who allow it, and no one vouches for them. */
export function isSigned({ status }: NodeVersion): boolean {
  return status === undefined || status === 'NodeVersionStatusActive';
}

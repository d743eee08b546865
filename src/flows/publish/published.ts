import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import type { Client } from '../../client/client.js';
import type { NodeVersion as NodeVersionSchema } from '../../contract/node-version.js';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { completeVersion, LATEST } from '../../contract/schema/semantic-version.js';
import type { BuiltArchive } from '../../pack/archive.js';
import { readBody } from '../../wire/read-body.js';
import { parseDigest } from '../digest.js';
import { FlowError, requireSubject } from '../flow-error.js';

export type NodeVersion = z.output<typeof NodeVersionSchema>;

export interface VersionContext {
  readonly client: Client;
  readonly nodeId: string;
  /** The publisher of the manifest, if there is one. */
  readonly publisherId?: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

/**
 * Reads a version with the bulk operation, which every registry has.
 * @returns undefined if there is no such version
 * @throws FlowError if the registry refuses
 */
export async function readVersion({
  client,
  nodeId,
  version,
  signal,
}: VersionContext): Promise<NodeVersion | undefined> {
  const body = { node_versions: [{ node_id: nodeId, version }] };
  const { node_versions: items } = await client.version.bulk({ body }, { signal });
  const item = items[0];
  if (item?.status === 'success')
    return item.node_version && requireVersion(client, { nodeId, version }, item.node_version);
  if (item?.status === 'not_found') return undefined;
  throw new FlowError(
    'version_unreadable',
    `The registry refuses to show ${nodeId} ${version}: ${item?.error_message ?? 'no reason given'}`,
    { serviceCode: item?.status ?? 'error' },
  );
}

/**
 * Finds the version that a person means.
 * @throws FlowError if `latest` is asked for and there is none
 */
export async function resolveVersion(
  { client }: Pick<VersionContext, 'client'>,
  nodeId: string,
  version: string,
  signal: AbortSignal,
): Promise<string> {
  if (version !== LATEST) return version;
  const { latest_version } = await client.node.get({ nodeId }, { signal });
  if (latest_version?.version) return latest_version.version;
  throw new FlowError('no_active_version', `The node ${nodeId} has no active version.`, { subject: nodeId });
}

/** Says that a version is deprecated, and what its publisher says about it. */
export function describeDeprecation(nodeId: string, { version, deprecation_message }: NodeVersion): string {
  return `${nodeId} ${version} is deprecated${deprecation_message ? `: ${deprecation_message}` : '.'}`;
}

/**
 * Requires an answer to be about a version, which it may spell differently.
 * @param asked without a version, any of the node
 * @throws ResponseError
 */
export function requireVersion(
  { baseUrl }: Client,
  asked: { readonly nodeId: string; readonly version?: string | undefined },
  answer: NodeVersion,
): NodeVersion {
  const { node_id = asked.nodeId, version = '' } = answer;
  const expected = asked.version ?? version;
  requireSubject(
    baseUrl,
    `${asked.nodeId} ${completeVersion(expected)}`,
    `${node_id} ${completeVersion(version || expected)}`,
  );
  return answer;
}

const MAX_DOCUMENT_BYTES = 16 * 1024 ** 2;

/**
 * Finds the SHA-256 that the registry publishes for the archive of a version.
 * @returns hex; undefined from a service that publishes none
 * @throws FlowError if the service publishes them, but not for this version
 */
export async function findArchiveDigest(
  client: Client,
  { archive_sha256, from_uplink, node_id, version }: NodeVersion,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (archive_sha256) return archive_sha256;
  // Of an archive that the registry has not fetched yet.
  if (from_uplink || !(await findDeclaration(client, signal))) return undefined;
  const message = `The registry gives no digest for ${node_id} ${version}; nothing was downloaded.`;
  throw new FlowError('digest_missing', message);
}

/** What the services of clients declare, which is read once. */
const declarations = new WeakMap<Client, Promise<boolean>>();

function findDeclaration(client: Client, signal: AbortSignal): Promise<boolean> {
  const known = declarations.get(client) ?? declaresDigests(client, signal);
  declarations.set(client, known);
  known.catch(() => declarations.delete(client));
  return known;
}

/** Whether the versions of the service have a digest, according to its OpenAPI document if it has one. */
async function declaresDigests(client: Client, signal: AbortSignal): Promise<boolean> {
  const { status, body } = await client.raw({ path: '/openapi.json', signal });
  const text = (await readBody(body, MAX_DOCUMENT_BYTES)).toString();
  if (status !== 200) return false;
  try {
    const { NodeVersion, NodeVersionAnswer } = JSON.parse(text).components.schemas;
    return [NodeVersion, NodeVersionAnswer].some((schema) => schema?.properties?.archive_sha256);
  } catch {
    // It has no such document.
    return false;
  }
}

/** Parses the digest of the files of an archive, which not every registry gives. */
export function parseTree(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  return /^sha256=([0-9a-f]{64})$/.exec(headers['x-archive-tree'] ?? '')?.[1];
}

/** How an uploaded archive compares to the one that was built. */
export type UploadState = 'nothing' | 'same' | 'other';

/** Compares the file trees, by the digests that the service reports, or by downloading the archive. */
export async function compareUploaded(
  subject: VersionContext,
  downloadUrl: string | undefined,
  archive: BuiltArchive,
  scratch: string,
): Promise<UploadState> {
  if (!downloadUrl) return 'nothing';
  const { client, signal } = subject;
  const { status, headers } = await client.inspect(downloadUrl, { signal });
  if (status === 404) return 'nothing';
  const tree = parseTree(headers);
  if (tree) return tree === archive.tree ? 'same' : 'other';
  if (parseDigest(headers['repr-digest']) === archive.sha256) return 'same';
  return (await downloadTree(subject, downloadUrl, scratch)) === archive.tree ? 'same' : 'other';
}

async function downloadTree(
  { client, signal }: VersionContext,
  url: string,
  scratch: string,
): Promise<string | undefined> {
  const path = join(scratch, 'published.zip');
  await client.download(url, { to: createWriteStream(path), credential: true, signal });
  const { inspectArchive } = await import('../../pack/read-archive.js');
  const inspection = await inspectArchive(path, DEFAULT_LIMITS);
  return inspection.ok ? inspection.tree : undefined;
}

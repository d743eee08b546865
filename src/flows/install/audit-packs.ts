import { rmSync } from 'node:fs';
import { join } from 'node:path';
import gt from 'semver/functions/gt.js';
import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';
import { walkFiles } from '../../pack/walk.js';
import { FlowError } from '../flow-error.js';
import { readReason } from '../publish/next-step.js';
import { type NodeVersion, parseTree } from '../publish/published.js';
import { compareFiles, type FileDifference, readArchivedFiles } from '../trust/compare-files.js';
import type { SigningService } from '../trust/verify-statement.js';
import { sortVersions } from './choose-version.js';
import { WITHDRAWN } from './doubtful-versions.js';
import { DOUBTFUL_STATES, downloadArchive } from './download-archive.js';
import {
  computeInstalledTree,
  type InstalledPack,
  isTracking,
  listPacks,
  readFileStates,
} from './installed-packs.js';
import { runAll } from './run-all.js';

export interface AuditFinding {
  readonly folder: string;
  readonly node_id: string | null;
  readonly version: string | null;
  readonly finding:
    | 'changed'
    | 'missing'
    | 'added'
    | (typeof DOUBTFUL_STATES)[number]
    | 'withdrawn'
    | 'unknown';
  /** The file that it is about; null for the whole pack. */
  readonly file: string | null;
  readonly detail: string;
  /** A later version that is Active and not deprecated, if the finding is about this one. */
  readonly newer: string | null;
}

export interface AuditContext {
  readonly client: Client;
  /** Verifies what the registry signed. */
  readonly signer: SigningService;
  /** An empty folder. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  /** Called after each pack, with the number of packs. */
  onProgress(done: number, total: number): void;
}

/** Compares each pack of a folder of custom nodes with the registry. */
export async function auditPacks(
  context: AuditContext,
  customNodes: string,
): Promise<{ readonly packs: number; readonly findings: readonly AuditFinding[] }> {
  const packs = await listPacks(customNodes);
  let done = 0;
  const found = await runAll(context, packs.map(toItem), async ({ pack }) => {
    const { folder, id: node_id = null, version = null } = pack;
    const findings = await auditPack(context, pack);
    context.onProgress(++done, packs.length);
    return findings.map((one) => ({ folder, node_id, version, file: null, newer: null, ...one }));
  });
  return { packs: packs.length, findings: found.flat() };
}

const toItem = (pack: InstalledPack) => ({ nodeId: pack.folder, pack });

/** What is found, without what is the same for all findings of a pack. */
type Found = Pick<AuditFinding, 'finding' | 'detail'> & Partial<Pick<AuditFinding, 'file' | 'newer'>>;

async function auditPack(context: AuditContext, pack: InstalledPack): Promise<Found[]> {
  const { id, version, isForeign } = pack;
  if (isForeign) return [{ finding: 'unknown', detail: 'it is a git checkout or a link to another folder' }];
  if (id === undefined || version === undefined)
    return [{ finding: 'unknown', detail: 'it has no pyproject.toml with a name and a version' }];
  const published = await readPublished(context, id, version);
  if ('finding' in published) return [published];
  const { client, signal } = context;
  const about: Found[] = [];
  const state = DOUBTFUL_STATES.find((one) => published.status?.toLowerCase().endsWith(one));
  if (state || published.deprecated) {
    const { status_reason } = state ? await readReason({ client, nodeId: id, signal }, published) : published;
    const newer = (await findNewer(context, id, version)) ?? null;
    if (state) about.push({ finding: state, detail: status_reason || 'the registry gives no reason', newer });
    if (published.deprecated)
      about.push({ finding: 'deprecated', detail: published.deprecation_message ?? '', newer });
  }
  if (!published.downloadUrl) return about;
  try {
    return [...about, ...(await auditFiles(context, pack, published, published.downloadUrl))];
  } catch (error) {
    if (!(error instanceof FlowError)) throw error;
    return [...about, { finding: 'unknown', detail: `its files could not be compared: ${error.message}` }];
  }
}

/** What it means that the registry refuses to show a node or a version. */
const REFUSALS = {
  ...{ banned: 'banned', forbidden: 'withdrawn', not_offered: 'withdrawn', not_found: 'unknown' },
} as const satisfies Readonly<Record<string, AuditFinding['finding']>>;

/** @returns the answer, or a finding if the registry refuses */
async function readOrRefusal<Answer extends object>(reading: Promise<Answer>): Promise<Answer | Found> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof ServiceError) || !Object.hasOwn(REFUSALS, error.code)) throw error;
    return { finding: REFUSALS[error.code as keyof typeof REFUSALS], detail: error.message };
  }
}

/** Reads a version as the registry shows it to this caller: strangers see only those that are Active. */
async function readPublished(
  context: AuditContext,
  nodeId: string,
  version: string,
): Promise<NodeVersion | Found> {
  const { client, signal } = context;
  const read = await readOrRefusal(client.version.get({ nodeId, version }, { signal }));
  if (!('finding' in read) || read.finding !== 'unknown') return read;
  const node = await readOrRefusal(client.node.get({ nodeId }, { signal }));
  if ('finding' in node)
    return node.finding === 'unknown' ? { ...node, detail: 'the registry has no node with this id' } : node;
  if (node.status === 'NodeStatusBanned') return { finding: 'banned', detail: node.status_detail ?? '' };
  return {
    finding: 'withdrawn',
    detail: WITHDRAWN,
    newer: (await findNewer(context, nodeId, version)) ?? null,
  };
}

/** Finds the best later version of a node that can be installed. */
async function findNewer(
  { client, signal }: Pick<AuditContext, 'client' | 'signal'>,
  nodeId: string,
  version: string,
): Promise<string | undefined> {
  const listed = await client.version.list({ nodeId }, { signal });
  const safe = listed.filter(({ status, deprecated }) => status === 'NodeVersionStatusActive' && !deprecated);
  const isStable = (text: string) => !text.includes('-');
  return sortVersions(safe)
    .map((one) => completeVersion(one.version ?? ''))
    .find((one) => gt(one, version) && (isStable(one) || !isStable(version)));
}

/** Compares by tree digest; the archive is downloaded only if the trees differ, or the registry publishes none. */
async function auditFiles(
  { client, signer, scratch, signal }: AuditContext,
  pack: InstalledPack,
  published: NodeVersion,
  url: string,
): Promise<Found[]> {
  const { headers } = await client.inspect(url, { signal });
  const tree = parseTree(headers);
  const own = new Set(pack.files ?? (await walkFiles(pack.path)));
  if (tree !== undefined && computeInstalledTree(pack.path, own) === tree) return findAdded(pack, own, own);
  const path = join(scratch, `${pack.folder}.zip`);
  await downloadArchive(client, published, { path, signer, signal });
  const { files } = await readArchivedFiles(path, `${pack.id} ${pack.version}`).finally(() => rmSync(path));
  const archived = new Map([...files].filter(([name]) => !isTracking(name)));
  const all = new Set(archived.keys());
  const differing = compareFiles(readFileStates(pack.path, all), archived).flatMap(
    ({ path: file, difference }) => {
      const finding = FINDINGS[difference];
      return finding ? [{ file, finding, detail: '' }] : [];
    },
  );
  const unequal = new Set(differing.map(({ file }) => file));
  const trusted = new Set([...all].filter((file) => !unequal.has(file)));
  return [...differing, ...(await findAdded(pack, all, trusted))];
}

const FINDINGS: { readonly [Difference in FileDifference['difference']]?: Found['finding'] } = {
  'only in the archive': 'missing',
  'other content': 'changed',
};

// Decided: what programs write beside a pack, and models by their endings, are no findings.
const NO_FINDING = /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;
const MODEL = /\.(?:safetensors|sft|gguf|ckpt|pth?|bin|onnx|engine|tflite)$/i;

/** @param trusted the files whose rules of what to ignore count: others may hide themselves */
async function findAdded(
  { path: root }: InstalledPack,
  own: ReadonlySet<string>,
  trusted: ReadonlySet<string>,
): Promise<Found[]> {
  const present = await walkFiles(root, { trusted });
  const added = present.filter(
    (path) => !own.has(path) && !isTracking(path) && !NO_FINDING.test(path) && !MODEL.test(path),
  );
  return added.sort().map((file) => ({ file, finding: 'added', detail: '' }));
}

export interface OutdatedPack {
  readonly folder: string;
  readonly node_id: string | null;
  readonly version: string | null;
  /** Null if the registry has no later version, or does not have the pack. */
  readonly latest: string | null;
}

/**
 * Lists the packs of a folder of custom nodes of which the registry has a later version that is not deprecated.
 * @param listsAll whether the others are listed as well
 */
export async function listOutdated(
  context: Pick<AuditContext, 'client' | 'signal'>,
  customNodes: string,
  listsAll = false,
): Promise<{ readonly outdated: readonly OutdatedPack[]; readonly unknown: readonly string[] }> {
  const unknown: string[] = [];
  const items = (await listPacks(customNodes)).map(toItem);
  const rows = await runAll(context, items, async ({ pack }): Promise<OutdatedPack[]> => {
    const { folder, id: node_id = null, version = null } = pack;
    const found =
      node_id !== null && version !== null
        ? await readOrRefusal(findNewer(context, node_id, version).then((latest) => ({ latest })))
        : undefined;
    const latest = found && 'latest' in found ? (found.latest ?? null) : null;
    if (!found || 'finding' in found) unknown.push(folder);
    return latest || listsAll ? [{ folder, node_id, version, latest }] : [];
  });
  return { outdated: rows.flat(), unknown };
}

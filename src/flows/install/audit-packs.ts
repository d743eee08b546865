import { rmSync } from 'node:fs';
import { join } from 'node:path';
import gt from 'semver/functions/gt.js';
import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';
import { walkFiles } from '../../pack/walk.js';
import { FlowError } from '../flow-error.js';
import { readReason } from '../publish/next-step.js';
import type { NodeVersion } from '../publish/published.js';
import {
  type ComparedFiles,
  compareFiles,
  type FileDifference,
  readArchivedFiles,
} from '../trust/compare-files.js';
import type { SigningService } from '../trust/verify-statement.js';
import { sortVersions } from './choose-version.js';
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

export interface Audit {
  readonly packs: number;
  readonly findings: readonly AuditFinding[];
}

/** Compares each pack of a folder of custom nodes with the registry. */
export async function auditPacks(context: AuditContext, customNodes: string): Promise<Audit> {
  const packs = await listPacks(customNodes);
  let done = 0;
  const items = packs.map((pack) => ({ nodeId: pack.folder, pack }));
  const found = await runAll(context, items, async ({ pack }) => {
    const findings = await auditPack(context, pack);
    context.onProgress(++done, packs.length);
    return findings;
  });
  return { packs: packs.length, findings: found.flat() };
}

async function auditPack(context: AuditContext, pack: InstalledPack): Promise<AuditFinding[]> {
  const { folder, id: node_id = null, version = null } = pack;
  const toFinding = (finding: AuditFinding['finding'], detail: string, newer?: string, file?: string) => ({
    ...{ folder, node_id, version, finding, detail, file: file ?? null, newer: newer ?? null },
  });
  if (pack.isForeign) return [toFinding('unknown', 'it is a git checkout or a link to another folder')];
  if (node_id === null || version === null)
    return [toFinding('unknown', 'it has no pyproject.toml with a name and a version')];
  const read = await readPublished(context, node_id, version);
  if ('problem' in read) return [toFinding(read.finding, read.problem, read.newer)];
  const { published } = read;
  const state = DOUBTFUL_STATES.find((one) => published.status?.toLowerCase().endsWith(one));
  const { client, signal } = context;
  const { status_reason } = state
    ? await readReason({ client, nodeId: node_id, signal }, published)
    : published;
  const reason = status_reason || 'the registry gives no reason';
  const newer = async () => findNewer(context, node_id, version);
  const about = state ? [toFinding(state, reason, await newer())] : [];
  if (published.deprecated) about.push(toFinding('deprecated', '', await newer()));
  if (!published.downloadUrl) return about;
  try {
    const files = await auditFiles(context, pack, published);
    return [...about, ...files.map(({ path, finding }) => toFinding(finding, '', undefined, path))];
  } catch (error) {
    if (!(error instanceof FlowError)) throw error;
    return [...about, toFinding('unknown', `its files could not be compared: ${error.message}`)];
  }
}

type Published =
  | { readonly published: NodeVersion }
  | {
      readonly finding: 'banned' | 'withdrawn' | 'unknown';
      readonly problem: string;
      readonly newer?: string | undefined;
    };

/** Reads a version as the registry shows it to this caller: strangers see only those that are Active. */
async function readPublished(context: AuditContext, nodeId: string, version: string): Promise<Published> {
  const { client, signal } = context;
  try {
    return { published: await client.version.get({ nodeId, version }, { signal }) };
  } catch (error) {
    if (isCode(error, 'banned')) return { finding: 'banned', problem: (error as Error).message };
    if (!isCode(error, 'not_found')) throw error;
  }
  try {
    const { status, status_detail = '' } = await client.node.get({ nodeId }, { signal });
    if (status === 'NodeStatusBanned') return { finding: 'banned', problem: status_detail };
  } catch (error) {
    if (isCode(error, 'banned')) return { finding: 'banned', problem: (error as Error).message };
    if (!isCode(error, 'not_found')) throw error;
    return { finding: 'unknown', problem: 'the registry has no node with this id' };
  }
  const problem =
    'the registry does not offer this version: it was flagged, banned or deleted, or never published';
  return { finding: 'withdrawn', problem, newer: await findNewer(context, nodeId, version) };
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof ServiceError && error.code === code;
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

interface FileFinding {
  readonly path: string;
  readonly finding: 'changed' | 'missing' | 'added';
}

/** Compares by tree digest; the archive is downloaded only if the trees differ, or the registry publishes none. */
async function auditFiles(
  context: AuditContext,
  pack: InstalledPack,
  published: NodeVersion,
): Promise<FileFinding[]> {
  const { client, signal } = context;
  const { headers } = await client.inspect(published.downloadUrl as string, { signal });
  const tree = /^sha256=([0-9a-f]{64})$/.exec(headers['x-archive-tree'] ?? '')?.[1];
  const own = new Set(pack.files ?? (await walkFiles(pack.path)));
  if (tree !== undefined && computeInstalledTree(pack.path, own) === tree) return findAdded(pack, own, own);
  const archived = await downloadFiles(context, pack, published);
  const present = readFileStates(pack.path, archived.keys());
  const differing = compareFiles(present, archived).flatMap(({ path, difference }) => {
    const finding = FINDINGS[difference];
    return finding ? [{ path, finding }] : [];
  });
  const unequal = new Set(differing.map(({ path }) => path));
  const trusted = new Set([...archived.keys()].filter((path) => !unequal.has(path)));
  return [...differing, ...(await findAdded(pack, new Set(archived.keys()), trusted))];
}

const FINDINGS: { readonly [Difference in FileDifference['difference']]?: FileFinding['finding'] } = {
  'only in the archive': 'missing',
  'other content': 'changed',
};

async function downloadFiles(
  { client, signer, scratch, signal }: AuditContext,
  { folder, id, version }: InstalledPack,
  published: NodeVersion,
): Promise<ComparedFiles> {
  const path = join(scratch, `${folder}.zip`);
  await downloadArchive(client, published, { path, signer, signal });
  const { files } = await readArchivedFiles(path, `${id} ${version}`).finally(() => rmSync(path));
  return new Map([...files].filter(([name]) => !isTracking(name)));
}

// Decided: what programs write beside a pack, and models by their endings, are no findings.
const NO_FINDING = /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;
const MODEL = /\.(?:safetensors|sft|gguf|ckpt|pth?|bin|onnx|engine|tflite)$/i;

/** @param trusted the files whose rules of what to ignore count: others may hide themselves */
async function findAdded(
  { path: root }: InstalledPack,
  own: ReadonlySet<string>,
  trusted: ReadonlySet<string>,
): Promise<FileFinding[]> {
  const present = await walkFiles(root, { trusted });
  const added = present.filter(
    (path) => !own.has(path) && !isTracking(path) && !NO_FINDING.test(path) && !MODEL.test(path),
  );
  return added.sort().map((path) => ({ path, finding: 'added' }));
}

export interface OutdatedPack {
  readonly folder: string;
  readonly node_id: string;
  readonly version: string;
  readonly latest: string;
}

/** Lists the packs of a folder of custom nodes of which the registry has a later version that is not deprecated. */
export async function listOutdated(
  context: Pick<AuditContext, 'client' | 'signal'>,
  customNodes: string,
): Promise<{ readonly outdated: readonly OutdatedPack[]; readonly unknown: readonly string[] }> {
  const packs = await listPacks(customNodes);
  const items = packs.map((pack) => ({ nodeId: pack.folder, pack }));
  const unknown: string[] = [];
  const rows = await runAll(
    context,
    items,
    async ({ pack: { folder, id, version } }): Promise<OutdatedPack[]> => {
      try {
        const latest = id && version && (await findNewer(context, id, version));
        if (id && version) return latest ? [{ folder, node_id: id, version, latest }] : [];
      } catch (error) {
        if (!isCode(error, 'not_found') && !isCode(error, 'banned')) throw error;
      }
      unknown.push(folder);
      return [];
    },
  );
  return { outdated: rows.flat(), unknown };
}

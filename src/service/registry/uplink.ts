import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { getOperation, type OperationName } from '../../contract/index.js';
import { parseJson, removeNulls } from '../../contract/json.js';
import { Node } from '../../contract/node.js';
import type { Operation } from '../../contract/operation.js';
import { createOutline } from '../../contract/schema/create-outline.js';
import { NodeId } from '../../contract/schema/identifiers.js';
import { findWrongKind } from '../../contract/schema/kinds.js';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import { findJsonExcess, MAX_JSON_DEPTH } from '../../wire/json-limits.js';
import { FetchFailed, type FetchMediaOptions, fetchMedia } from '../network/fetch-media.js';
import type { OperationCall } from '../operation/call.js';
import { type Context, getOwnOrigin } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { createScratchFolder } from '../operation/scratch-folder.js';
import { foldNodeId } from './access.js';
import { toPlainId } from './names.js';
import { findKept, findPinned } from './uplink-kept.js';
import { type Adopt, MIRRORS } from './uplink-mirrors.js';
import { matchGlob, VersionRules } from './uplink-rules.js';
import { completeSpelling } from './version-order.js';
import type { NodeView, VersionView } from './views.js';

/** A read that goes to the registry behind this one. */
interface RemoteRead {
  readonly params: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: object | undefined;
}

interface NodeRead {
  readonly params: { readonly nodeId?: string; readonly version?: string };
  readonly query: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Asks the registry behind this one about a node that is not held here.
 * @returns the answer in the form of the contract; undefined if the read is not for it, or it has nothing
 * @throws Refused not_offered if a rule refuses the node; unavailable
 */
export async function askUplink(
  context: Context,
  name: OperationName,
  { params, query }: Pick<OperationCall<OperationName>, 'params' | 'query'>,
): Promise<unknown> {
  const { nodeId } = params as NodeRead['params'];
  const mirror = MIRRORS[name];
  if (!mirror || nodeId === undefined || !(await mayAsk(context, nodeId))) return undefined;
  const asked = { params, query } as NodeRead;
  const wanted = asked.params.version ?? (asked.query?.version as string | undefined);
  const adopt: Adopt = (version) => toOwnVersion(context, nodeId, version);
  const rules = new VersionRules(context, nodeId);
  const pinned =
    mirror.isPinned && wanted !== undefined && (await findPinned(context.database, nodeId, wanted));
  if (pinned) return adopt(rules.require(pinned));
  const answer = await readRemote(context, name, asked).catch(async (error: unknown) => {
    if (!(error instanceof FetchFailed)) throw error;
    if (error.code === 'banned')
      throw new Refused('banned', `The registry behind this one has banned the node ${nodeId}.`);
    const trouble = error.status === 404 ? undefined : reportTrouble(context, error);
    const kept = mirror.recall && (await findKept(context.database, nodeId));
    const spellings = wanted === undefined ? [] : [wanted, completeSpelling(context, wanted)];
    const versions = kept ? rules.select(kept.versions) : [];
    const offered = trouble === undefined ? versions.map(toWithdrawn) : versions;
    const known = kept && mirror.recall?.({ ...kept, versions: offered }, spellings);
    if (known !== undefined || (trouble === undefined && !mirror.recall)) return known;
    if (trouble !== undefined) throw new Refused('unavailable', trouble);
    const what = wanted === undefined ? `node ${nodeId}` : `version ${wanted} of the node ${nodeId}`;
    throw new Refused('not_found', `There is no ${what} here, nor in the registry behind this one.`);
  });
  if (answer === undefined || !mirror.adopt) return answer;
  const read = (other: OperationName) => readRemote(context, other, { params: { nodeId }, query: {} });
  const readAll = () => read('version.list').catch(toNone) as Promise<VersionView[]>;
  // A version that was asked for is offered as it is, or refused.
  const isOne = wanted !== undefined && !Array.isArray(answer);
  const offered = isOne ? rules.require(answer as VersionView) : await mirror.offer?.(answer, rules, readAll);
  return mirror.adopt(offered, adopt);
}

/** A version that is kept here, and that the other registry deleted or hides since. */
function toWithdrawn(version: VersionView): VersionView {
  const deprecation_message = 'The registry behind this one no longer offers this version.';
  return { ...version, deprecated: true, deprecation_message };
}

/** What the other registry cannot list is not offered. */
function toNone(error: unknown): [] {
  if (error instanceof FetchFailed) return [];
  throw error;
}

const BUSY = [408, 429];
/** A request in wrong names may be refused, lead nowhere, or be understood as another one. */
const MISUNDERSTOOD = [200, 400, 404, 405, 422];
const NAMING_HINT =
  'The setting uplink.naming may be wrong: comfy is for the ComfyUI registry, and a regen service needs none.';

/**
 * Describes what the registry behind this one does instead of giving what it was asked for.
 * @throws what is not its doing
 */
export function describeTrouble(error: unknown) {
  if (!(error instanceof FetchFailed)) throw error;
  const { message, status = 0 } = error;
  const isRefusal = status >= 400 && status < 500 && !BUSY.includes(status);
  const does =
    status === 0 ? 'does not answer' : isRefusal ? 'refuses the request' : 'gives no usable answer';
  return { does, message, isRefusal, ...(MISUNDERSTOOD.includes(status) && { hint: NAMING_HINT }) };
}

/**
 * Logs why the registry behind this one did not give what it was asked for.
 * @returns a sentence for those who asked this one
 */
export function reportTrouble({ log }: Pick<Context, 'log'>, error: unknown): string {
  const { does, message, isRefusal, ...rest } = describeTrouble(error);
  log('warn', `The uplink ${does}.`, { error: message, ...rest });
  const advice = isRefusal ? 'the operator of this one finds the reason in its log' : 'try again soon';
  return `The registry behind this one ${does}; ${advice}.`;
}

/** @throws Refused not_offered if a rule refuses the node */
export async function mayAsk(
  context: Pick<Context, 'configuration' | 'database'>,
  nodeId: string,
): Promise<boolean> {
  if (!context.configuration.uplink || (await findForeign(context, [nodeId])).size === 0) return false;
  if (isAllowed(context, nodeId)) return true;
  throw new Refused(
    'not_offered',
    `By its rules, this registry does not pass on ${nodeId} from the registry behind it.`,
  );
}

// Decided: an id that is held here, or looks like one that is, is never looked up elsewhere, in any status.
/** The ids that no node here has, in any spelling and status. */
export async function findForeign(
  { database }: Pick<Context, 'database'>,
  nodeIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const valid = nodeIds.filter((id) => NodeId.safeParse(id).success);
  if (valid.length === 0) return new Set();
  const rows = await database
    .selectFrom('nodes')
    .select(['folded_id', 'plain_id'])
    .where((node) =>
      node.or([node('folded_id', 'in', valid.map(foldNodeId)), node('plain_id', 'in', valid.map(toPlainId))]),
    )
    .execute();
  const held = new Set(rows.flatMap(({ folded_id, plain_id }) => [folded_id, plain_id]));
  return new Set(valid.filter((id) => !held.has(foldNodeId(id)) && !held.has(toPlainId(id))));
}

/** Whether the rules allow a node of the registry behind this one. */
export function isAllowed(
  { configuration: { uplink } }: Pick<Context, 'configuration'>,
  nodeId: string,
): boolean {
  const matches = (patterns: readonly string[] = []) => patterns.some((one) => matchGlob(one, nodeId));
  const denied = uplink?.deny.filter((rule) => splitNodeVersion(rule).length === 1);
  return matches(uplink?.allow) && !matches(denied);
}

/** Without a trailing slash. */
function getUplinkUrl({ configuration: { uplink } }: Pick<Context, 'configuration'>): string {
  return (uplink as NonNullable<typeof uplink>).url.replace(/\/+$/, '');
}

/** The other registry is not trusted: its answers have the limits of an anonymous body. */
const UPLINK_LIMITS = { bytes: 4 * 1024 ** 2, seconds: 20 };
const MAX_ANSWER_VALUES = 20_000;

/** @throws FetchFailed */
async function readRemote(context: Context, name: OperationName, read: NodeRead): Promise<unknown> {
  const operation = getOperation(name);
  const answer = await requestRemote(context, name, read as RemoteRead);
  if (operation.response && findWrongKind(operation.response, answer)) throw otherForm();
  requireSameNode(operation, answer, read.params.nodeId as string);
  return answer;
}

export const otherForm = () => new FetchFailed('it answered in another form than a registry', 200);

/**
 * Sends a read to the registry behind this one.
 * @returns its answer in the names of the contract, whose form is not checked
 * @throws FetchFailed
 */
export async function requestRemote(
  context: Context,
  name: OperationName,
  { params, query = {}, body }: RemoteRead,
): Promise<unknown> {
  // In the path of another registry, `..` would lead to other nodes, around the rules.
  if (Object.values(params).some((text) => /(^|[\\/])\.{1,2}([\\/]|$)/.test(text)))
    throw new FetchFailed('it cannot have that', 404);
  const operation = getOperation(name);
  const { uplink: names } = context.compatibility;
  // A page has parameters of its own, which a registry refuses.
  const known = operation.query?.shape ?? {};
  const given = Object.entries(query).filter(
    ([key, value]) => key in known && value !== undefined && value !== false,
  );
  const named = { name, method: operation.method, path: operation.path };
  const sent = { path: operation.path, query: Object.fromEntries(given), body };
  const request = names?.writeRequest(named, sent) ?? sent;
  const filled = request.path.replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(params[key] as string),
  );
  const url = new URL(getUplinkUrl(context) + filled);
  for (const [key, value] of Object.entries(request.query))
    for (const one of [value].flat()) url.searchParams.append(key, String(one));
  const folder = createScratchFolder(context);
  try {
    const file = join(folder.path, 'answer.json');
    const json = body && JSON.stringify(body);
    await fetchFromUplink(context, url, file, { ...UPLINK_LIMITS, media: 'json', json });
    const data = removeNulls(parseAnswer(await readFile(file)));
    // Each step may take tens of milliseconds; other requests come in between.
    await letOthersRun();
    if (!names) return data;
    const response = operation.response && createOutline(operation.response, 'output');
    const ours = names.readAnswer({ ...named, response }, data);
    await letOthersRun();
    return ours;
  } finally {
    await folder.remove();
  }
}

/**
 * A registry may answer about a node with a similar id, or send on to another one, to which other rules apply.
 * @throws FetchFailed
 */
function requireSameNode({ response }: Operation, answer: unknown, nodeId: string): void {
  const { id, latest_version, host_nodes } = answer as Readonly<Record<string, unknown>>;
  const parts = [answer, latest_version, host_nodes].flat() as ({ node_id?: string } | undefined)[];
  const ids = [response === Node ? id : undefined, ...parts.map((part) => part?.node_id)];
  if (ids.some((one) => one && String(one).toLowerCase() !== nodeId.toLowerCase()))
    throw new FetchFailed('it answered about another node', 404);
}

/** Fetches from the registry behind this one, or from where it says; only its own address may be private. */
export function fetchFromUplink(
  context: Pick<Context, 'configuration' | 'baseUrl'>,
  url: URL,
  path: string,
  options: Pick<FetchMediaOptions, 'bytes' | 'seconds' | 'media' | 'json' | 'minSpeed' | 'signal' | 'admit'>,
): Promise<void> {
  const { loopbackAllowed } = getOwnOrigin(context);
  const serviceOrigin = new URL(getUplinkUrl(context)).origin;
  return fetchMedia(url, path, { ...options, serviceOrigin, loopbackAllowed, httpsOnly: true });
}

function parseAnswer(json: Buffer): unknown {
  if (findJsonExcess(json, { maxDepth: MAX_JSON_DEPTH, maxValues: MAX_ANSWER_VALUES }))
    throw new FetchFailed('its answer is nested too deeply or has too many values', 200);
  const answer = parseJson(json.toString());
  if (answer === undefined) throw new FetchFailed('it did not answer with JSON', 200);
  return answer;
}

/** Archives are downloaded from here, so that they are kept. */
export function toOwnVersion(
  { baseUrl }: Pick<Context, 'baseUrl'>,
  nodeId: string,
  version: VersionView,
): VersionView {
  const path = [nodeId, version.version ?? ''].map(encodeURIComponent).join('/');
  const downloadUrl = `${baseUrl()}/uplink/${path}/node.zip`;
  return { ...version, from_uplink: true, node_id: nodeId, downloadUrl };
}

/**
 * Reads what is recorded with an archive: the version with the address of its archive there, and its node.
 * @throws FetchFailed
 */
export async function readForArchive(
  context: Context,
  nodeId: string,
  version: string,
): Promise<{ readonly version: VersionView; readonly node: NodeView }> {
  const read = (name: OperationName, query: NodeRead['query']) =>
    readRemote(context, name, { params: { nodeId, version }, query });
  const installed = (await read('node.install', { version })) as VersionView;
  const { latest_version: _, ...node } = (await read('node.get', {})) as NodeView;
  return { version: installed, node };
}

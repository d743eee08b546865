import { createHash } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { parse, stringify, TomlError } from 'smol-toml';
import { isRecord } from '../../contract/json.js';
import { isNodeId } from '../../contract/schema/node-id.js';
import { isSemanticVersion } from '../../contract/schema/semantic-version.js';
import { readFolderFile, UnfitFileError } from '../../disk/folder-file.js';
import { withLock } from '../../disk/lock.js';
import { replaceFolderFile } from '../../disk/private-file.js';
import { describeTomlError } from '../../pack/toml-error.js';
import { FlowError } from '../flow-error.js';

export const LOCK_FILE_NAME = 'regen.lock';

/** A version of a node as a lock file pins it. Digests are 64 lowercase hex digits. */
export interface LockedNode {
  readonly id: string;
  readonly version: string;
  /** SHA-256 of the archive. Absent until the archive was downloaded, if the registry publishes no digests. */
  readonly sha256?: string | undefined;
  /** The `computeTreeDigest` of the files of the archive. Absent until it was downloaded. */
  readonly tree?: string | undefined;
}

/** Where the nodes of a lock file come from. */
export interface LockSource {
  /** The address of the registry, without a credential; `local` for the embedded service. */
  readonly registry: string;
  /** `regen`, `comfy`, or `custom` for a naming of a file. */
  readonly naming: string;
}

export interface LockFile extends LockSource {
  /** Sorted by id, each id once in any letter case. */
  readonly nodes: readonly LockedNode[];
}

/** The format. A later one is refused, because writing this one would lose what it adds. */
const FORMAT = 1;
const MAX_LOCK_BYTES = 16 * 1024 ** 2;

const HEADER = `# The node packs of a host application, as \`regen node install\` and \`regen node sync\` install them.
# Written by regen. Commit this file; after a merge conflict, take either side and install again.
`;

/**
 * Reads a lock file.
 * @returns undefined if there is none
 * @throws FlowError if it is not valid, such as after a bad merge, or written by a later release
 */
export function readLockFile(path: string): LockFile | undefined {
  let text: string;
  try {
    text = readFolderFile(path, MAX_LOCK_BYTES).toString();
  } catch (error) {
    if (error instanceof UnfitFileError) throw toLockError(path, error.reason);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const conflict = text.split('\n').findIndex((line) => /^(?:<{7}|={7}|>{7}|\|{7})(?:[ \r]|$)/.test(line));
  if (conflict >= 0) throw toLockError(path, `has an unresolved merge conflict in line ${conflict + 1}`);
  return toLockFile(path, parseToml(path, text));
}

function parseToml(path: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw toLockError(path, `is not valid TOML in line ${error.line}: ${describeTomlError(error, text)}`);
  }
}

function toLockFile(path: string, document: Record<string, unknown>): LockFile {
  const { format, registry, naming, node = [], ...others } = document;
  if (typeof format === 'number' && format > FORMAT)
    throw toLockError(path, 'was written by a later release of regen; update regen');
  const problem =
    (format !== FORMAT && `has no format = ${FORMAT}`) ||
    (!isAddress(registry) && 'has no valid address of a registry') ||
    (!NAMINGS.includes(naming as string) && `has a naming that is none of ${NAMINGS.join(', ')}`) ||
    (!Array.isArray(node) && 'has a key node that is not a list of tables') ||
    findUnknown(others);
  if (problem) throw toLockError(path, problem);
  const nodes = (node as unknown[]).map((one, at) => toLockedNode(path, one, at));
  const seen = new Set<string>();
  for (const { id } of nodes) {
    if (seen.has(id.toLowerCase())) throw toLockError(path, `lists ${id} twice, as after a bad merge`);
    seen.add(id.toLowerCase());
  }
  return { registry: registry as string, naming: naming as string, nodes: sortById(nodes) };
}

const NAMINGS = ['regen', 'comfy', 'custom'];

function isAddress(value: unknown): boolean {
  if (value === 'local') return true;
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

function findUnknown(others: Record<string, unknown>): string | undefined {
  const [unknown] = Object.keys(others);
  return unknown === undefined ? undefined : `has the unknown key ${JSON.stringify(unknown.slice(0, 100))}`;
}

const DIGEST = /^[0-9a-f]{64}$/;

function toLockedNode(path: string, value: unknown, at: number): LockedNode {
  if (!isRecord(value)) throw toLockError(path, `has a node ${at + 1} that is not a table`);
  const { id, version, sha256, tree, ...others } = value;
  if (typeof id !== 'string' || !isNodeId(id))
    throw toLockError(path, `has a node ${at + 1} without a valid id`);
  const problem =
    ((typeof version !== 'string' || !isSemanticVersion(version)) && 'has no valid version') ||
    (!isDigest(sha256) && 'has a sha256 that is not 64 hex digits') ||
    (!isDigest(tree) && 'has a tree that is not 64 hex digits') ||
    findUnknown(others);
  if (problem) throw toLockError(path, `is not valid: ${id} ${problem}`);
  return value as unknown as LockedNode;
}

function isDigest(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && DIGEST.test(value));
}

/** The same lock file with other nodes in place of those with their ids, in any letter case. */
export function replaceNodes(
  lock: LockFile,
  nodes: readonly LockedNode[],
  removed: readonly string[] = [],
): LockFile {
  const gone = new Set([...nodes.map(({ id }) => id), ...removed].map((id) => id.toLowerCase()));
  const others = lock.nodes.filter(({ id }) => !gone.has(id.toLowerCase()));
  return { ...lock, nodes: sortById([...others, ...nodes]) };
}

export function findLocked(lock: LockFile | undefined, id: string): LockedNode | undefined {
  return lock?.nodes.find((one) => one.id.toLowerCase() === id.toLowerCase());
}

function sortById(nodes: readonly LockedNode[]): LockedNode[] {
  return [...nodes].sort((one, other) => (one.id.toLowerCase() < other.id.toLowerCase() ? -1 : 1));
}

/** @throws FlowError if a lock file names another registry than the one in use, or another naming */
export function requireSource(path: string, lock: LockSource, { registry, naming }: LockSource): void {
  if (trimSlash(lock.registry) !== trimSlash(registry))
    throw new FlowError(
      'other_registry',
      `${path} belongs to the registry ${lock.registry}, but this command uses ${registry}.`,
    );
  if (lock.naming !== naming)
    throw new FlowError(
      'other_registry',
      `${path} was written with the naming ${lock.naming}, but this command uses ${naming}.`,
    );
}

function trimSlash(address: string): string {
  return address.replace(/\/$/, '');
}

/** How long to wait for another process that changes the same lock file. */
const WAIT_MS = 30_000;

/**
 * Changes a lock file, atomically, and not at the same time as another process.
 * @param state the folder for state of the user
 * @param change gets the lock file as it is; undefined if there is none
 * @returns whether the file changed
 */
export async function changeLockFile(
  path: string,
  state: string,
  change: (lock: LockFile | undefined) => LockFile,
): Promise<boolean> {
  const name = createHash('sha256').update(resolve(path)).digest('hex').slice(0, 24);
  return withLock(join(state, 'lock-files', `${name}.lock`), WAIT_MS, () => {
    const before = readLockFile(path);
    const after = change(before);
    const text = formatLockFile(after);
    // What cannot be read back is a bug, and must not replace a good file.
    toLockFile(path, parse(text));
    if (before && formatLockFile(before) === text) return false;
    replaceFolderFile(path, text);
    return true;
  });
}

/** Writes each node as a table of its own, so that git merges changes of different nodes. */
export function formatLockFile({ registry, naming, nodes }: LockFile): string {
  const node = sortById(nodes).map(({ id, version, sha256, tree }) => ({
    ...{ id, version },
    ...(sha256 !== undefined && { sha256 }),
    ...(tree !== undefined && { tree }),
  }));
  return `${HEADER}${stringify({ format: FORMAT, registry, naming, node })}`;
}

function toLockError(path: string, problem: string): FlowError {
  return new FlowError('lock_invalid', `${basename(path)} ${problem}.`);
}

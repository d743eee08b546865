import { createHash } from 'node:crypto';
import { closeSync, lstatSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isSemanticVersion, suggestSemanticVersion } from '../../contract/schema/semantic-version.js';
import { openFolderFile, readFolderFile, UnfitFileError } from '../../disk/folder-file.js';
import { throwMachineTrouble } from '../../disk/machine-trouble.js';
import { findPathProblem } from '../../pack/path.js';
import { readPyproject } from '../../pack/pyproject.js';
import { computeTreeDigest, type FileMode, toFileMode } from '../../pack/tree.js';
import { FlowError } from '../flow-error.js';

/** The files that a registry's archive brought into the folder of a pack, as ComfyUI-Manager lists them. */
export const TRACKING_FILE = '.tracking';
const MAX_TRACKING_BYTES = 64 * 1024 ** 2;

/** A pack in a folder of custom nodes. */
export interface InstalledPack {
  readonly folder: string;
  readonly path: string;
  /** From its pyproject.toml. */
  readonly id: string | undefined;
  readonly version: string | undefined;
  /** What its archive brought; undefined for a pack that did not come from a registry, such as a git checkout. */
  readonly files: ReadonlySet<string> | undefined;
  /** Whether it is a checkout of git, or a link to another folder. */
  readonly isForeign: boolean;
}

/**
 * Lists the packs that the host loads from a folder of custom nodes. It ignores names that end in `.disabled`.
 * @throws FlowError if it is not a folder
 */
export async function listPacks(customNodes: string): Promise<InstalledPack[]> {
  if (!statSync(customNodes, { throwIfNoEntry: false })?.isDirectory())
    throw new FlowError('usage', `The folder ${customNodes} does not exist; pass the host's custom_nodes.`);
  const inside = join(customNodes, 'custom_nodes');
  if (basename(customNodes) !== 'custom_nodes' && statSync(inside, { throwIfNoEntry: false })?.isDirectory())
    throw new FlowError('usage', `${customNodes} is not the host's folder of custom nodes; pass ${inside}.`);
  const entries = readdirSync(customNodes, { withFileTypes: true });
  const folders = entries.filter(({ name }) => !/^\.|^__pycache__$|\.disabled$/.test(name));
  const packs: InstalledPack[] = [];
  for (const entry of folders.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(customNodes, entry.name);
    if (entry.isDirectory() || entry.isSymbolicLink()) packs.push(await readPack(entry.name, path));
  }
  return packs;
}

async function readPack(folder: string, path: string): Promise<InstalledPack> {
  const { project } = (await readPyproject(path)).value ?? {};
  const { name, version } = project ?? {};
  const isForeign = lstatSync(path).isSymbolicLink() || exists(join(path, '.git'));
  return {
    folder,
    path,
    id: name,
    version: version && (isSemanticVersion(version) ? version : suggestSemanticVersion(version)),
    files: isForeign ? undefined : readTracking(path),
    isForeign,
  };
}

export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Reads the list of files. Folders in it, and paths that no archive has, do not count. */
function readTracking(path: string): ReadonlySet<string> | undefined {
  try {
    const text = readFolderFile(join(path, TRACKING_FILE), MAX_TRACKING_BYTES).toString();
    const paths = text.split(/\r?\n/).filter((one) => !one.endsWith('/') && !findPathProblem(one));
    return new Set(paths.filter((one) => !isTracking(one)));
  } catch (error) {
    throwMachineTrouble(error);
    return undefined;
  }
}

/** An archive of an installed pack has this file as well, which then is not unpacked. */
export function isTracking(path: string): boolean {
  return path.toLowerCase() === TRACKING_FILE;
}

/**
 * Finds the folder that holds a pack, by the id in its manifest or by its name.
 * @throws FlowError if several do
 */
export function findPack(packs: readonly InstalledPack[], nodeId: string): InstalledPack | undefined {
  const isSame = (name: string | undefined) => name?.toLowerCase() === nodeId.toLowerCase();
  const found = packs.filter(({ id, folder }) => isSame(id) || isSame(folder));
  if (found.length < 2) return found[0];
  const names = found.map(({ folder }) => folder).join(' and ');
  throw new FlowError('usage', `The folders ${names} hold the same pack, ${nodeId}; remove all but one.`);
}

export interface FileState {
  readonly mode: FileMode;
  /** Hex. */
  readonly sha256: string;
}

const PART_BYTES = 1024 ** 2;

/** @returns undefined if there is no regular file at the path */
function readFileState(path: string): FileState | undefined {
  try {
    const { descriptor, stats } = openFolderFile(path, { links: false });
    try {
      const hash = createHash('sha256');
      const part = Buffer.allocUnsafe(Math.min(PART_BYTES, stats.size + 1));
      for (let length = readSync(descriptor, part); length > 0; length = readSync(descriptor, part))
        hash.update(part.subarray(0, length));
      return { mode: toFileMode(stats.mode), sha256: hash.digest('hex') };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (error instanceof UnfitFileError || ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) return undefined;
    throw error;
  }
}

/** Reads those files of an installed pack that are there. */
export function readFileStates(path: string, files: Iterable<string>): Map<string, FileState> {
  const states = [...files].map((file) => [file, readFileState(join(path, file))] as const);
  return new Map(states.flatMap(([file, state]) => (state ? [[file, state]] : [])));
}

/** Computes the tree digest of files of an installed pack; undefined if one of them is missing. */
export function computeInstalledTree(path: string, files: ReadonlySet<string>): string | undefined {
  const states = readFileStates(path, files);
  if (states.size < files.size) return undefined;
  return computeTreeDigest([...states].map(([file, state]) => ({ path: file, ...state })));
}

/** Whether the file system tells executable files from others: some report all as executable, or none. */
export function hasFileModes(path: string): boolean {
  const tracking = lstatSync(join(path, TRACKING_FILE), { throwIfNoEntry: false });
  return process.platform !== 'win32' && toFileMode(tracking?.mode ?? 0) === '100644';
}

import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { DEFAULT_LIMITS, isZipBomb } from '../contract/schema/limits.js';
import { throwMachineTrouble } from '../disk/machine-trouble.js';
import { isOwnOutput } from '../disk/own-outputs.js';
import { listTrackedFiles, listUntrackedFiles } from './git.js';
import { findCollisions, findPathProblem } from './path.js';
import type { PackProblem } from './problem.js';
import { runInOrder } from './run-in-order.js';
import { type FileMode, sortByPath, toFileMode } from './tree.js';
import { ignoreMissing, PatternMatching, readIgnoreFile, walkFiles } from './walk.js';

export interface PackFile {
  /** The path in the archive: relative, with `/`, in NFC. */
  readonly path: string;
  /** The file to read, with links resolved. */
  readonly absolute: string;
  /** Bytes. */
  readonly size: number;
  readonly mode: FileMode;
}

export interface ChosenFiles {
  /** Sorted by the bytes of their paths, without those in `problems`. */
  readonly files: readonly PackFile[];
  /** `where` is the path on disk. */
  readonly problems: readonly PackProblem[];
  /** `git`: files tracked by git; `folder`: all files that are not ignored. */
  readonly source: 'git' | 'folder';
  /** Files in a checkout that git neither tracks nor ignores. They are not packed, but may have been forgotten. */
  readonly untracked: readonly string[];
}

const MAX_INSPECTED = 16;

/**
 * Chooses the files of a pack's archive: the files that git tracks, including submodules, or outside a checkout all files
 * not in `.gitignore`; without those in `.regenignore` and `.comfyignore`; plus `includes`.
 *
 * A link to a file in the pack is packed as that file, so that it unpacks on every system. Any other link is a problem.
 *
 * @param includes files, folders or .gitignore patterns, relative to the pack, to pack even if they are ignored
 * @param isProduct whether a path was generated from the pack; such files are packed only if tracked by git or in `includes`
 */
export async function chooseFiles(
  folder: string,
  includes: readonly string[] = [],
  isProduct: (path: string) => boolean = () => false,
): Promise<ChosenFiles> {
  const root = await realpath(folder);
  const tracked = listTrackedFiles(root);
  const ignored = readIgnoreFiles(root);
  const matching = new PatternMatching();
  const found = tracked ?? (await walkFiles(root)).filter((path) => !isProduct(path));
  const chosen = new Set(matching.filter(found, (path) => !ignored.ignores(toIgnorePath(path))));

  const problems: PackProblem[] = [];
  for (const include of includes) {
    const included = await findIncluded(root, include, matching);
    if (included.length === 0)
      problems.push({ where: include, message: 'is listed in includes, but the pack has no such file' });
    for (const path of included) chosen.add(path);
  }

  const inspect = createInspector(root, tracked !== undefined);
  const inspected = async (path: string) => ({ path, found: await inspect(path) });
  const files: PackFile[] = [];
  let size = 0;
  let sizeOnDisk = 0;
  for await (const { path, found } of runInOrder(chosen, MAX_INSPECTED, inspected)) {
    if (typeof found === 'string') problems.push({ where: path, message: found });
    else if (found) {
      files.push(found.file);
      size += found.file.size;
      sizeOnDisk += found.sizeOnDisk;
    }
  }
  // Reading gigabytes of holes takes minutes. Some file systems say of every file that it takes nothing.
  if (sizeOnDisk > 0 && isZipBomb(sizeOnDisk, size, DEFAULT_LIMITS))
    problems.push({
      where: 'The pack',
      message: `has ${size} bytes that take only ${sizeOnDisk} on disk; an archive of more than ${DEFAULT_LIMITS.archiveRatio} times its size is refused`,
    });
  for (const { path, with: other, kind } of findCollisions(files.map((file) => file.path)))
    problems.push({ where: path, message: COLLISION_MESSAGES[kind](other) });
  if (!files.some((file) => file.path === 'pyproject.toml') && (await exists(root, 'pyproject.toml')))
    problems.push({
      where: 'pyproject.toml',
      message: `would be missing from the archive: ${tracked ? 'add it to git and ' : ''}do not ignore it`,
    });
  const untracked = tracked ? await listUntrackedFiles(root, new Set(tracked)) : [];
  return {
    files: sortByPath(files),
    problems,
    source: tracked ? 'git' : 'folder',
    untracked: untracked.filter((path) => !chosen.has(path) && !isProduct(path)),
  };
}

const COLLISION_MESSAGES = {
  same: (other: string) =>
    `has the same name as ${other}, but with different Unicode characters; rename one of them`,
  case: (other: string) =>
    `differs from ${other} only in case, which Windows and macOS do not support; rename one of them`,
  folder: (other: string) =>
    `is in the folder ${other}, which is also the name of a file; rename one of them`,
};

/** The `ignore` package throws for unusual paths; findPathProblem reports them later. */
function toIgnorePath(path: string): string {
  return ignore.isPathValid(path) ? path : '\0';
}

function readIgnoreFiles(root: string): Ignore {
  const rules = ignore({ ignorecase: false });
  for (const name of ['.regenignore', '.comfyignore']) rules.add(readIgnoreFile(root, name) ?? '');
  return rules;
}

async function findIncluded(root: string, include: string, matching: PatternMatching): Promise<string[]> {
  // `dist`, `/dist` and `./dist/` all mean the same folder in the root.
  const pattern = `/${include.replaceAll('\\', '/').replace(/^(?:\.?\/+)+/, '')}`;
  const wanted = ignore({ ignorecase: false }).add(pattern === '/' ? '/**' : pattern);
  const paths = await walkFiles(root, { everything: true });
  return matching.filter(paths, (path) => wanted.ignores(toIgnorePath(path)));
}

async function exists(root: string, name: string): Promise<boolean> {
  return stat(join(root, name)).then(
    () => true,
    () => false,
  );
}

interface InspectedFile {
  readonly file: PackFile;
  /** Bytes; less than the size if the file has holes. */
  readonly sizeOnDisk: number;
}

/** Inspects a path. Returns a file to pack, a problem, or undefined if git tracks the file but it does not exist. */
function createInspector(
  root: string,
  isTracked: boolean,
): (path: string) => Promise<InspectedFile | string | undefined> {
  const folders = new Map<string, Promise<string | undefined>>();
  const realFolder = (folder: string) => {
    const known = folders.get(folder) ?? realpath(folder).catch(ignoreMissing);
    folders.set(folder, known);
    return known;
  };
  return async (path) => {
    const problem = findPathProblem(path);
    if (problem) return problem;
    const onDisk = join(root, path);
    const folder = await realFolder(dirname(onDisk));
    if (folder === undefined) return undefined;
    if (!isInside(root, folder)) return 'is in a folder that is a link to a place outside the pack';
    const stats = await lstat(onDisk).catch(ignoreMissing);
    if (!stats) return undefined;
    const found = stats.isSymbolicLink() ? await followLink(root, onDisk) : { stats, absolute: onDisk };
    if (typeof found === 'string') return found;
    if (found.stats.isDirectory())
      return 'is a git submodule that is not checked out; run: git submodule update --init';
    if (!found.stats.isFile()) return 'is not a regular file';
    if (!isTracked && isOwnOutput(found.stats)) return undefined;
    const { mode, size, blocks } = found.stats;
    const file = { path: path.normalize('NFC'), absolute: found.absolute, size, mode: toFileMode(mode) };
    // Windows has no blocks. They have 512 bytes everywhere else.
    return { file, sizeOnDisk: process.platform === 'win32' ? size : blocks * 512 };
  };
}

async function followLink(root: string, link: string): Promise<{ stats: Stats; absolute: string } | string> {
  const absolute = await realpath(link).catch(throwMachineTrouble);
  if (absolute === undefined) return 'is a broken link';
  if (!isInside(root, absolute) || relative(root, absolute).split(sep).includes('.git'))
    return 'is a link to a place outside the pack; only links to files inside it can be packed';
  const stats = await stat(absolute);
  if (stats.isDirectory()) return 'is a link to a folder; only links to files can be packed';
  return { stats, absolute };
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

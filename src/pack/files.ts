import type { Stats } from 'node:fs';
import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { trackedFiles, untrackedFiles } from './git.js';
import { findCollisions, findPathProblem } from './path.js';
import type { PackProblem } from './problem.js';
import { type FileMode, sortByPath, toFileMode } from './tree.js';
import { walkFiles } from './walk.js';

export interface PackFile {
  /** As in the archive: relative, with `/`, in NFC. */
  readonly path: string;
  /** The ordinary file to read, links resolved. */
  readonly absolute: string;
  /** Bytes. */
  readonly size: number;
  readonly mode: FileMode;
}

export interface ChosenFiles {
  /** Sorted by the bytes of their paths. Without those that `problems` names. */
  readonly files: readonly PackFile[];
  /** `where` is the path as it is on disk. */
  readonly problems: readonly PackProblem[];
  /** `git`: what git tracks; `folder`: everything that no ignore file names. */
  readonly source: 'git' | 'folder';
  /** What lies in a checkout, is not packed, and was perhaps forgotten: git neither tracks nor ignores it. */
  readonly untracked: readonly string[];
}

/**
 * Chooses what a pack's archive holds: what git tracks, submodules too, or outside a checkout all that no `.gitignore`
 * names; minus what `.regenignore` and `.comfyignore` name; plus `includes`.
 *
 * A link to a file inside the pack is packed as that file, so that it unpacks on every system; any other link is a problem.
 *
 * @param includes files, folders or patterns as in .gitignore, from the pack's root, packed even if ignored
 * @param isProduct whether a path was made from the pack; they are packed only if git tracks or `includes` names them
 */
export async function chooseFiles(
  folder: string,
  includes: readonly string[] = [],
  isProduct: (path: string) => boolean = () => false,
): Promise<ChosenFiles> {
  const root = await realpath(folder);
  const tracked = await trackedFiles(root);
  const ignored = await ignoreFiles(root);
  const chosen = new Set<string>();
  for await (const path of tracked ?? walkFiles(root)) {
    if (!ignored.ignores(safePath(path)) && (tracked || !isProduct(path))) chosen.add(path);
  }

  const problems: PackProblem[] = [];
  for (const include of includes) {
    const matching = await included(root, include);
    if (matching.length === 0)
      problems.push({ where: include, message: 'is listed in includes, but no such file is in the pack' });
    for (const path of matching) chosen.add(path);
  }

  const look = lookAt(root);
  const files: PackFile[] = [];
  for (const path of chosen) {
    const found = await look(path);
    if (typeof found === 'string') problems.push({ where: path, message: found });
    else if (found) files.push(found);
  }
  for (const { path, with: other, kind } of findCollisions(files.map((file) => file.path)))
    problems.push({ where: path, message: COLLISION_MESSAGES[kind](other) });
  if (!files.some((file) => file.path === 'pyproject.toml') && (await exists(root, 'pyproject.toml')))
    problems.push({
      where: 'pyproject.toml',
      message: `would be missing from the archive: ${tracked ? 'add it to git, and ' : ''}do not ignore it`,
    });
  const untracked = tracked ? await untrackedFiles(root) : [];
  return {
    files: sortByPath(files),
    problems,
    source: tracked ? 'git' : 'folder',
    untracked: untracked.filter((path) => !chosen.has(path) && !isProduct(path)),
  };
}

const COLLISION_MESSAGES = {
  same: (other: string) => `has the same name as ${other} written with other Unicode characters; rename one`,
  case: (other: string) =>
    `differs only by case from ${other}; Windows and macOS can keep only one: rename one`,
  folder: (other: string) => `lies in a folder whose name ${other} is also a file's; rename one`,
};

/** The `ignore` package refuses paths that are not plain and relative; such names get a problem of their own later. */
function safePath(path: string): string {
  return ignore.isPathValid(path) ? path : '\0';
}

async function ignoreFiles(root: string): Promise<Ignore> {
  const rules = ignore({ ignorecase: false });
  for (const name of ['.regenignore', '.comfyignore'])
    rules.add(await readFile(join(root, name), 'utf8').catch(() => ''));
  return rules;
}

async function included(root: string, include: string): Promise<string[]> {
  // From the root, whether written `dist`, `/dist` or `./dist/`.
  const pattern = `/${include.replaceAll('\\', '/').replace(/^(?:\.?\/+)+/, '')}`;
  const wanted = ignore({ ignorecase: false }).add(pattern === '/' ? '/**' : pattern);
  const matching: string[] = [];
  for await (const path of walkFiles(root, { everything: true }))
    if (wanted.ignores(safePath(path))) matching.push(path);
  return matching;
}

async function exists(root: string, name: string): Promise<boolean> {
  return stat(join(root, name)).then(
    () => true,
    () => false,
  );
}

/** Looks at one path: a file to pack, a problem in words, or nothing where the file is gone though git tracks it. */
function lookAt(root: string): (path: string) => Promise<PackFile | string | undefined> {
  const folders = new Map<string, Promise<string | undefined>>();
  const realFolder = (folder: string) => {
    const known = folders.get(folder) ?? realpath(folder).catch(() => undefined);
    folders.set(folder, known);
    return known;
  };
  return async (path) => {
    const problem = findPathProblem(path);
    if (problem) return problem;
    const onDisk = join(root, path);
    const folder = await realFolder(dirname(onDisk));
    if (folder === undefined) return undefined;
    if (!isInside(root, folder)) return 'lies in a folder that is a link out of the pack';
    const stats = await lstat(onDisk).catch(ifGone);
    if (!stats) return undefined;
    const found = stats.isSymbolicLink() ? await followLink(root, onDisk) : { stats, absolute: onDisk };
    if (typeof found === 'string') return found;
    if (found.stats.isDirectory())
      return 'is a git submodule that is not checked out; run git submodule update --init';
    if (!found.stats.isFile()) return 'is not an ordinary file';
    const { mode, size } = found.stats;
    return { path: path.normalize('NFC'), absolute: found.absolute, size, mode: toFileMode(mode) };
  };
}

async function followLink(root: string, link: string): Promise<{ stats: Stats; absolute: string } | string> {
  const absolute = await realpath(link).catch(() => undefined);
  if (absolute === undefined) return 'is a link that leads nowhere';
  if (!isInside(root, absolute) || relative(root, absolute).split(sep).includes('.git'))
    return 'is a link out of the pack; only links to files inside it are packed';
  const stats = await stat(absolute);
  if (stats.isDirectory()) return 'is a link to a folder; only links to files are packed';
  return { stats, absolute };
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

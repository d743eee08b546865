import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readFolderFile, UnfitFileError } from '../disk/folder-file.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';
import { type IndexEntry, readIndex, SPARSE_FOLDER, SUBMODULE } from './git-index.js';
import { PackError } from './problem.js';
import { walkFiles } from './walk.js';

// git itself is never started: a checkout that another person made could have it run programs.

interface Checkout {
  /** The folder with `.git`, and the owners whose checkouts count below it. */
  readonly folder: string;
  readonly owners: ReadonlySet<number>;
  /** The folder with the index. */
  readonly gitFolder: string;
  /** The folder with the configuration; another one for a worktree that was added. */
  readonly commonFolder: string;
}

/** Larger than the index of any repository that holds a pack: half a million files. */
const MAX_INDEX_BYTES = 64 * 1024 ** 2;
const MAX_CONFIG_BYTES = 1024 ** 2;
const MAX_LINK_BYTES = 1024 ** 2;

/** The bytes of all indexes that are read for one list and of the paths in it. */
const MAX_LISTING_BYTES = 256 * 1024 ** 2;

interface Listing {
  readonly found: Set<string>;
  bytesLeft: number;
}

/**
 * Lists the files below a folder that git tracks, including submodules, relative and with `/`. Returns undefined if the
 * folder is not in a checkout, or git tracks nothing in it, such as in a pack that is inside the checkout of its host and
 * ignored there.
 *
 * @param folder without links
 * @throws PackError if the checkout cannot be read
 */
export function listTrackedFiles(folder: string): string[] | undefined {
  const checkout = findCheckout(folder);
  if (!checkout) return undefined;
  // During a merge, a path is listed once per side.
  const found = new Set<string>();
  collectTracked(checkout, toPrefix(checkout, folder), '', { found, bytesLeft: MAX_LISTING_BYTES });
  return found.size > 0 ? [...found] : undefined;
}

function collectTracked(checkout: Checkout, prefix: string, above: string, listing: Listing): void {
  for (const { path, mode } of readEntries(checkout, listing)) {
    if (mode === SPARSE_FOLDER && prefix.startsWith(path))
      throw new PackError(`${join(checkout.folder, prefix)} is outside the sparse checkout.`);
    // git never adds what is in `.git`, so an attacker named it: it may hold credentials.
    if (!path.startsWith(prefix) || mode === SPARSE_FOLDER || /(^|\/)\.git(\/|$)/i.test(path)) continue;
    const own = above + path.slice(prefix.length);
    const submodule = mode === SUBMODULE ? openSubmodule(checkout, path) : undefined;
    if (submodule) {
      collectTracked(submodule, '', `${own}/`, listing);
      continue;
    }
    listing.found.add(own);
    countBytes(listing, own.length);
  }
}

function countBytes(listing: Listing, bytes: number): void {
  listing.bytesLeft -= bytes;
  if (listing.bytesLeft < 0)
    throw new PackError('git tracks more files in this checkout than a pack can have.');
}

/** Lists the files below a folder that git neither tracks nor ignores; empty outside a checkout. */
export async function listUntrackedFiles(folder: string, tracked: ReadonlySet<string>): Promise<string[]> {
  const checkout = findCheckout(folder);
  if (!checkout) return [];
  const prefix = toPrefix(checkout, folder);
  const excluded = readGitFile(join(checkout.commonFolder, 'info/exclude'), MAX_CONFIG_BYTES);
  const present = await walkFiles(checkout.folder, { start: prefix, excluded: excluded?.toString() });
  return present.map((path) => path.slice(prefix.length)).filter((path) => !tracked.has(path));
}

/** Finds the address of the remote `origin`, or of any other remote, in the configuration of a checkout. */
export function findRemoteUrl(folder: string): string | undefined {
  const checkout = findCheckout(realpathSync(folder));
  if (!checkout) return undefined;
  const urls = readConfig(checkout).filter(({ name }) => /^remote\..+\.url$/s.test(name));
  return (urls.find(({ name }) => name === 'remote.origin.url') ?? urls[0])?.value;
}

/** Finds the checkout around a folder as git does, but for bare repositories: those have no files of their own. */
function findCheckout(folder: string): Checkout | undefined {
  const { dev, uid } = statSync(folder);
  // Who owns the folder decides over its files anyway, such as the user outside a container.
  const owners = new Set([uid, ...listOwnUserIds()]);
  for (let place = folder; statSync(place).dev === dev; place = dirname(place)) {
    const checkout = openCheckout(place, owners);
    if (checkout) return checkout;
    if (dirname(place) === place) break;
  }
  return undefined;
}

/** The user, or behind sudo the user who called it; none on Windows. */
function listOwnUserIds(): number[] {
  const own = process.geteuid?.();
  if (own === undefined) return [];
  const { SUDO_UID = '' } = process.env;
  return own === 0 && /^\d+$/.test(SUDO_UID) ? [own, Number(SUDO_UID)] : [own];
}

/** @returns undefined if the folder has no `.git`, or one that leads nowhere or that another user made */
function openCheckout(folder: string, owners: ReadonlySet<number>): Checkout | undefined {
  const link = join(folder, '.git');
  const stats = attempt(link, () => statSync(link));
  const isOwn = ({ uid }: Stats) => owners.has(uid);
  if (!stats || ![stats, lstatSync(link), statSync(folder)].every(isOwn)) return undefined;
  const gitFolder = stats.isDirectory() ? link : stats.isFile() ? readGitLink(folder, link) : undefined;
  const owner = gitFolder && attempt(gitFolder, () => statSync(gitFolder));
  if (!owner || !isOwn(owner)) return undefined;
  const commonFolder = findCommonFolder(gitFolder);
  return commonFolder === undefined ? undefined : { folder, owners, gitFolder, commonFolder };
}

/** A submodule that is checked out, and not behind a link. */
function openSubmodule({ folder, owners }: Checkout, path: string): Checkout | undefined {
  const place = join(folder, path);
  return attempt(place, () => realpathSync.native(place)) === place ? openCheckout(place, owners) : undefined;
}

/** Reads where a file `.git` says that the folder is. */
function readGitLink(folder: string, link: string): string | undefined {
  const target = /^gitdir: ([^\r\n]+)/.exec(readGitFile(link, MAX_LINK_BYTES)?.toString() ?? '')?.[1];
  return target === undefined ? undefined : resolve(folder, target);
}

/** @returns undefined if it is not the folder of a repository */
function findCommonFolder(gitFolder: string): string | undefined {
  const common = readGitFile(join(gitFolder, 'commondir'), MAX_LINK_BYTES)?.toString().trim();
  const commonFolder = resolve(gitFolder, common ?? '.');
  const parts = [join(gitFolder, 'HEAD'), join(commonFolder, 'objects'), join(commonFolder, 'refs')];
  return parts.every((path) => attempt(path, () => lstatSync(path))) ? commonFolder : undefined;
}

/** The path of a folder in its checkout: `packs/one/`, or nothing for all of it. */
function toPrefix(checkout: Checkout, folder: string): string {
  const path = relative(checkout.folder, folder).split(sep).join('/');
  return path && `${path}/`;
}

function readEntries(checkout: Checkout, listing: Listing): IndexEntry[] {
  const read = (name: string) => {
    const bytes = readGitFile(join(checkout.gitFolder, name), MAX_INDEX_BYTES);
    countBytes(listing, bytes?.length ?? 0);
    return bytes;
  };
  const bytes = read('index');
  if (!bytes) return [];
  const format = readConfig(checkout).findLast(({ name }) => name === 'extensions.objectformat')?.value;
  try {
    return readIndex(bytes, format === 'sha256' ? 32 : 20, (name) => read(name) ?? Buffer.alloc(0));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const reason = 'code' in error ? 'it is damaged' : error.message;
    throw new PackError(
      `git's index in ${checkout.gitFolder} cannot be read: ${reason}. See: git -C ${checkout.folder} status`,
    );
  }
}

/** Lists the values of the configuration, without the files that it includes. Sections and keys are in lower case. */
function readConfig({ commonFolder }: Checkout): { readonly name: string; readonly value: string }[] {
  const text = readGitFile(join(commonFolder, 'config'), MAX_CONFIG_BYTES)?.toString() ?? '';
  const values: { name: string; value: string }[] = [];
  let section = '';
  for (const line of text.split('\n').map((one) => one.trim())) {
    const [, name, inner] = /^\[([\w.-]+)(?:[ \t]+"(.*)")?\]/.exec(line) ?? [];
    if (name !== undefined)
      section = [name.toLowerCase(), inner].filter((part) => part !== undefined).join('.');
    const [, key, value = ''] = /^([a-z][\w-]*)[ \t]*=(.*)$/i.exec(line) ?? [];
    const quoted = /^"([^"]*)"$/.exec(value.trim())?.[1];
    if (key !== undefined)
      values.push({
        name: `${section}.${key.toLowerCase()}`,
        value: quoted ?? value.split(/[#;]/, 1)[0]?.trim() ?? '',
      });
  }
  return values;
}

/** @returns undefined if there is no such file */
function readGitFile(path: string, maxBytes: number): Buffer | undefined {
  return attempt(path, () => readFolderFile(path, maxBytes));
}

function attempt<Result>(path: string, work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (isMachineTrouble(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code ?? '')) return undefined;
    throw new PackError(
      error instanceof UnfitFileError ? `${message}.` : `${path} cannot be read (${code}).`,
    );
  }
}

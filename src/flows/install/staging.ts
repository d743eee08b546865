import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { openFolderFile } from '../../disk/folder-file.js';
import { LockTimeout, withLock } from '../../disk/lock.js';
import { FlowError } from '../flow-error.js';
import { exists, type InstalledPack, TRACKING_FILE } from './installed-packs.js';

/** Where packs are prepared, on the disk of the folder that they go to. The host ignores names with this ending. */
const STAGING_FOLDER = '.regen.disabled';
/** Where ComfyUI-Manager keeps packs that the host does not load. */
const DISABLED_FOLDER = '.disabled';

/** How long to wait for another process that installs into the same folder. */
const WAIT_MS = 5 * 60_000;

/** The places of one run. Nothing else is written until packs are complete. */
export interface Staging {
  readonly customNodes: string;
  readonly archives: string;
  /** Complete packs that are not in place yet, by folder. */
  readonly incoming: string;
  /** Packs that are being replaced or removed. */
  readonly outgoing: string;
  /** Folders that did not come from a registry, on their way to the disabled packs. */
  readonly aside: string;
}

/**
 * Runs work that changes a folder of custom nodes, one process at a time. What a killed process left is put in order first.
 * @throws FlowError if another process does not end its work
 */
export async function withStaging<Result>(
  customNodes: string,
  work: (staging: Staging) => Promise<Result>,
): Promise<Result> {
  const folder = join(customNodes, STAGING_FOLDER);
  const find = (name: string) => join(folder, name);
  const staging: Staging = {
    customNodes,
    archives: find('archives'),
    incoming: find('incoming'),
    outgoing: find('outgoing'),
    aside: find('aside'),
  };
  // All who may write to the folder may install into it.
  const { mode } = statSync(customNodes);
  if (mkdirSync(folder, { recursive: true })) chmodSync(folder, mode & 0o7777);
  // Work in another folder would remove what is there.
  if (lstatSync(folder).isSymbolicLink())
    throw new FlowError('folder_refused', `${folder} is a link; remove it.`, { subject: STAGING_FOLDER });
  const run = async () => {
    try {
      tidyUp(staging);
      for (const one of listPlaces(staging)) mkdirSync(one);
      return await work(staging);
    } finally {
      tidyUp(staging);
    }
  };
  return withLock(join(folder, 'lock'), WAIT_MS, run, mode & 0o666).catch((error: unknown) => {
    if (!(error instanceof LockTimeout)) throw error;
    throw new FlowError('busy', `Another process is installing into ${customNodes}.`);
  });
}

const listPlaces = ({ archives, incoming, outgoing, aside }: Staging) => [
  archives,
  incoming,
  outgoing,
  aside,
];

/** Puts back the pack that was taken away when a process was killed before the new one was in its place. */
function tidyUp(staging: Staging): void {
  const { customNodes, outgoing, aside } = staging;
  for (const place of [outgoing, aside]) {
    for (const folder of exists(place) ? readdirSync(place) : []) {
      const path = join(customNodes, folder);
      if (!exists(path)) renameSync(join(place, folder), path);
      else if (place === aside) renameSync(join(place, folder), findDisabledPath({ path, folder }));
    }
  }
  for (const one of listPlaces(staging)) rmSync(one, { recursive: true, force: true });
}

/**
 * Gives a complete pack of `incoming` what the folder that it replaces holds besides its own files, such as models and
 * settings. They are linked, so that the old folder stays whole until it is replaced.
 * @returns those that the new pack brings as well, and that it was not given
 */
export function prepareSuccessor({ incoming }: Staging, { path, folder, files }: InstalledPack): string[] {
  return files ? linkOthers(path, join(incoming, folder), files) : [];
}

/**
 * Puts a complete pack of `incoming` in its place. At any time the old or the new pack is there; between two renames,
 * `tidyUp` puts the old one back.
 * @param keepsOld whether the folder that it replaces is kept among the disabled packs
 * @returns where it is then
 */
export function placePack(
  staging: Staging,
  folder: string,
  before: InstalledPack | undefined,
  keepsOld: boolean,
): string | undefined {
  const [from, to] = [join(staging.incoming, folder), join(staging.customNodes, folder)];
  const old = join(keepsOld ? staging.aside : staging.outgoing, folder);
  if (before) renameSync(to, old);
  renameSync(from, to);
  const kept = before && keepsOld ? findDisabledPath(before) : undefined;
  if (kept) renameSync(old, kept);
  else rmSync(old, { recursive: true, force: true });
  return kept;
}

/**
 * Removes a pack from its place. What its folder holds besides its own files is kept among the disabled packs.
 * @param keepsAll whether its own files are kept, too
 * @returns where something was kept
 */
export function removePack(staging: Staging, pack: InstalledPack, keepsAll: boolean): string | undefined {
  const { path, folder, files } = pack;
  if (!files || keepsAll) {
    const kept = findDisabledPath(pack);
    renameSync(path, kept);
    return kept;
  }
  const [rest, old] = [join(staging.incoming, folder), join(staging.outgoing, folder)];
  mkdirSync(rest);
  linkOthers(path, rest, files);
  const kept = readdirSync(rest).length > 0 ? findDisabledPath(pack) : undefined;
  renameSync(path, old);
  if (kept) renameSync(rest, kept);
  rmSync(old, { recursive: true, force: true });
  return kept;
}

/** Finds a free name among the packs that the host does not load. */
function findDisabledPath({ path, folder }: Pick<InstalledPack, 'path' | 'folder'>): string {
  const disabled = join(dirname(path), DISABLED_FOLDER);
  mkdirSync(disabled, { recursive: true });
  for (let count = 1; ; count++) {
    const place = join(disabled, count === 1 ? folder : `${folder}-${count}`);
    if (!exists(place)) return place;
  }
}

function linkOthers(from: string, to: string, own: ReadonlySet<string>): string[] {
  const inTheWay: string[] = [];
  const visit = (folder: string) => {
    const entries = readdirSync(join(from, folder), { withFileTypes: true });
    if (entries.length === 0 && folder !== '') makeFolder(to, folder, inTheWay);
    for (const entry of entries) {
      const path = folder + entry.name;
      if (own.has(path) || path === TRACKING_FILE || entry.name === '__pycache__') continue;
      if (entry.isDirectory()) visit(`${path}/`);
      else if (exists(join(to, path))) inTheWay.push(path);
      else if (makeFolder(to, folder, inTheWay))
        linkFile(join(from, path), join(to, path), entry.isSymbolicLink());
    }
  };
  visit('');
  return inTheWay;
}

function makeFolder(root: string, folder: string, inTheWay: string[]): boolean {
  try {
    mkdirSync(join(root, folder), { recursive: true });
    return true;
  } catch (error) {
    if (!['EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    inTheWay.push(folder);
    return false;
  }
}

function linkFile(from: string, to: string, isLink: boolean): void {
  // On macOS, a hard link of a symbolic link is one of the file that it leads to.
  try {
    if (isLink) symlinkSync(readlinkSync(from), to);
    else linkSync(from, to);
  } catch (error) {
    // Some file systems have no links, or only so many.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(code)) throw error;
    copyFile(from, to);
  }
}

function copyFile(from: string, to: string): void {
  const { descriptor, stats } = openFolderFile(from, { links: false });
  try {
    writeFileSync(to, '', { flag: 'wx', mode: stats.mode });
    const part = Buffer.allocUnsafe(1024 ** 2);
    for (let length = readSync(descriptor, part); length > 0; length = readSync(descriptor, part))
      appendFileSync(to, part.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
}

import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { access, mkdir, open, opendir, readFile, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { ObjectMissing, type Range, type Storage, StorageAway, StorageMissing, TooLarge } from './storage.js';

/** No key begins with a dot, so it cannot collide with an object. */
const STAGING_FOLDER = '.staging';

interface DiskStorageOptions {
  /** `false` while another process may write to it. */
  readonly sweeps?: boolean;
  /** Files that were half written later may be another process's. Milliseconds since the epoch. */
  readonly before?: number | undefined;
}

/**
 * Stores objects as files below `root`. Removes files left half written by a crash.
 * @param root a folder only for this storage, created if necessary
 */
export function createDiskStorage(
  root: string,
  { sweeps = true, before = Number.POSITIVE_INFINITY }: DiskStorageOptions = {},
): Storage {
  const staging = join(root, STAGING_FOLDER);
  if (sweeps) {
    mkdirSync(staging, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(staging)) {
      const path = join(staging, name);
      const found = statSync(path, { throwIfNoEntry: false });
      if (found && found.mtimeMs < before) rmSync(path, { recursive: true, force: true });
    }
  }
  const toName = (key: string) => key.split('/').map(toFileName).join('/');
  const toFilePath = (key: string) => join(root, toName(key));

  const explain = (error: NodeJS.ErrnoException, key: string) => {
    if (error.code !== 'ENOENT') return error;
    return existsSync(root)
      ? new ObjectMissing(`There is no file for ${key}.`)
      : new StorageMissing(`${root} is missing.`);
  };

  return {
    write: async (key, source, maxBytes) => {
      // Reading it throws an error that comes earlier, such as for a file that cannot be opened.
      if (!Buffer.isBuffer(source)) source.on('error', () => {});
      try {
        // Never with its parent: a new folder would hide that the objects are gone.
        if (!existsSync(root)) throw new StorageMissing(`${root} is missing.`);
        if (!existsSync(staging)) mkdirSync(staging, { mode: 0o700 });
        return { key, ...(await writeFile(join(staging, randomUUID()), toFilePath(key), source, maxBytes)) };
      } catch (error) {
        if (!Buffer.isBuffer(source)) source.destroy();
        throw error;
      }
    },
    // Opened here, so that a missing object rejects this promise and not the stream.
    read: async (key, range?: Range) => {
      const file = await open(toFilePath(key)).catch((error) => {
        throw explain(error, key);
      });
      return file.createReadStream(range);
    },
    readWhole: (key) =>
      readFile(toFilePath(key)).catch((error) => {
        throw explain(error, key);
      }),
    borrow: async (key) => ({ path: toFilePath(key), release: async () => {} }),
    remove: async (key) => {
      const path = toFilePath(key);
      await unlink(path).catch((error) => {
        if (error.code !== 'ENOENT') throw error;
      });
      await removeEmptyFolders(dirname(path), root);
    },
    requireReady: () =>
      access(root, constants.R_OK | constants.W_OK).catch((error) => {
        if (error.code === 'ENOENT') throw new StorageMissing(`${root} is missing.`);
        throw new StorageAway(`${root} cannot be read and written (${error.code}).`);
      }),
    list: (folder) => listFiles(root, folder === undefined ? '' : toName(folder)),
    toName,
  };
}

/** Removes a folder and those above it as far as they are empty, and never the root. */
async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let left = folder; left.length > root.length; left = dirname(left)) {
    try {
      await rmdir(left);
    } catch (error) {
      // Another file is in it, or another remover was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
    }
  }
}

async function* listFiles(root: string, within: string): AsyncGenerator<string> {
  const opened = await opendir(join(root, within)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && within !== '') return [];
    throw error;
  });
  for await (const entry of opened) {
    const name = within === '' ? entry.name : `${within}/${entry.name}`;
    if (name === STAGING_FOLDER) continue;
    if (entry.isDirectory()) yield* listFiles(root, name);
    else yield name;
  }
}

/** Reserved device names of Windows. */
const DEVICE_NAME = /^(con|prn|aux|nul|(com|lpt)\d)(\.|$)/;
const PLAIN_NAME = /^[a-z0-9][a-z0-9._+-]{0,99}$/;
/** What `toFileName` makes of a segment; no segment of a key looks like this. */
const DIGEST_NAME = /^~[0-9a-f]{40}$/;

/**
 * The file name of one segment of a key: the segment itself if it is unique and valid on every file system,
 * else a digest, because of letter case, length and reserved names.
 */
function toFileName(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..' || segment.includes('\0')) {
    throw new TypeError('A storage key has an empty or parent segment.');
  }
  if (PLAIN_NAME.test(segment) && !segment.endsWith('.') && !DEVICE_NAME.test(segment)) return segment;
  if (DIGEST_NAME.test(segment)) return segment;
  return `~${createHash('sha256').update(segment).digest('hex').slice(0, 40)}`;
}

async function writeFile(
  temp: string,
  target: string,
  source: Readable | Buffer,
  maxBytes: number,
): Promise<{ size: number; sha256: string }> {
  try {
    const written = await writeStaged(temp, source, maxBytes);
    await syncFolders(dirname(target), await moveFile(temp, target));
    return written;
  } catch (error) {
    await rm(temp, { force: true });
    throw error;
  }
}

async function writeStaged(path: string, source: Readable | Buffer, maxBytes: number) {
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    let writing = Promise.resolve();
    for await (const chunk of Buffer.isBuffer(source) ? [source] : (source as AsyncIterable<Buffer>)) {
      size += chunk.length;
      if (size > maxBytes) throw new TooLarge(`The object is larger than ${maxBytes} bytes.`);
      hash.update(chunk);
      await writing;
      // The next chunk is received and hashed while this one is written.
      writing = file.writeFile(chunk);
      writing.catch(() => {});
    }
    await writing;
    await file.sync();
  } finally {
    await file.close();
  }
  return { size, sha256: hash.digest('hex') };
}

/** Each may meet another removal. */
const MAX_MOVES = 100;

/** @returns the first folder that was created for it */
async function moveFile(from: string, to: string): Promise<string | undefined> {
  let first: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const created = await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      if (first === undefined || (created && created.length < first.length)) first = created;
      await rename(from, to);
      return first;
    } catch (error) {
      // A folder was removed since, because its last file was. Making folders fails with any of these then.
      const isRemoved = ['ENOENT', 'ENOTDIR', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
      if (!isRemoved || attempt === MAX_MOVES || !existsSync(from)) throw error;
    }
  }
}

/** A rename is durable once its folder is synced, and a new folder once its parent is. */
async function syncFolders(folder: string, firstCreated: string | undefined): Promise<void> {
  if (process.platform === 'win32') return;
  await syncFolder(folder);
  for (let made = folder; firstCreated?.length && made.length >= firstCreated.length; made = dirname(made)) {
    await syncFolder(dirname(made));
  }
}

const syncFile = promisify(fsync);

async function syncFolder(path: string): Promise<void> {
  // Only syncing takes long; a thread for the others would take longer than they do.
  const folder = openSync(path, 'r');
  try {
    await syncFile(folder);
  } finally {
    closeSync(folder);
  }
}

import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Range, type Staged, type Storage, TooLarge } from './storage.js';

/** No key begins like this, so that it never lies in the way of an object. */
const stagingFolder = '.staging';

/**
 * Objects as files below `root`. One process at a time uses it: what a crash left half written is swept here.
 * @param root a folder of this storage alone, made if need be
 */
export function diskStorage(root: string): Storage {
  const staging = join(root, stagingFolder);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true, mode: 0o700 });
  const pathOf = (key: string) => join(root, ...key.split('/').map(fileName));

  return {
    stage: (key, source, maxBytes) => stage(join(staging, randomUUID()), pathOf(key), source, maxBytes),
    size: async (key) => {
      try {
        return (await stat(pathOf(key))).size;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    // Opened first, so that a missing object is this promise's failure and not the stream's.
    read: async (key, range?: Range) => (await open(pathOf(key))).createReadStream(range),
    borrow: async (key) => ({ path: pathOf(key), release: async () => {} }),
    remove: (key) => rm(pathOf(key), { force: true }),
  };
}

/** Names a device would answer to on Windows. */
const deviceName = /^(con|prn|aux|nul|(com|lpt)\d)(\.|$)/;
const plainName = /^[a-z0-9][a-z0-9._+-]{0,99}$/;

/**
 * The file name of one segment of a key: itself where every file system keeps it apart from all others, else a
 * digest, because of letters' case, length and reserved names.
 */
function fileName(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..' || segment.includes('\0')) {
    throw new TypeError('A storage key has an empty or climbing segment.');
  }
  if (plainName.test(segment) && !segment.endsWith('.') && !deviceName.test(segment)) return segment;
  return `~${createHash('sha256').update(segment).digest('hex').slice(0, 40)}`;
}

async function stage(temporary: string, target: string, source: Readable, maxBytes: number): Promise<Staged> {
  const discard = () => rm(temporary, { force: true });
  const hash = createHash('sha256');
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > maxBytes) return done(new TooLarge(`More than ${maxBytes} bytes came.`));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(source, measure, createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }));
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    size,
    sha256: hash.digest('hex'),
    discard,
    commit: async () => {
      const firstMade = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(temporary, target);
      await syncFolders(dirname(target), firstMade);
    },
  };
}

/** A rename is durable once its folder is, and a new folder once the folder above it is. */
async function syncFolders(folder: string, firstMade: string | undefined): Promise<void> {
  if (process.platform === 'win32') return;
  await syncFolder(folder);
  for (let made = folder; firstMade?.length && made.length >= firstMade.length; made = dirname(made)) {
    await syncFolder(dirname(made));
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

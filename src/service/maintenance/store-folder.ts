import { createWriteStream, existsSync, rmSync, statSync } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { openPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { isMachineTrouble } from '../../disk/machine-trouble.js';
import { DataUnusable } from '../database/data-unusable.js';
import { DATABASE } from '../storage/data-folder.js';

/**
 * Removes the files beside a closed database. SQLite does so only when the garbage of its handles is collected, which may be
 * while the folder is read.
 */
export function removeSidecars(file: string): void {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size)
    throw Object.assign(new Error(`${file} is not complete.`), { code: 'ENOSPC', path: file });
  for (const ending of ['-wal', '-shm']) {
    try {
      rmSync(`${file}${ending}`, { force: true });
    } catch {
      // Windows does not remove open files. What follows does not read them.
    }
  }
}

/** Lists the files of a store that is closed, and the folders below `objects`. */
export async function listStore(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'objects'), { recursive: true });
  return [DATABASE, ...names.map((name) => join('objects', name))];
}

/** Makes a file or folder outlast a power cut. */
export async function syncPath(path: string): Promise<void> {
  const isFolder = statSync(path).isDirectory();
  // Windows has nothing to sync of a folder.
  if (isFolder && process.platform === 'win32') return;
  const file = await open(path, isFolder ? 'r' : 'r+');
  await file.sync().finally(() => file.close());
}

/** Writes the files of a folder into a new zip archive that only its owner can read. */
export async function packFolder(folder: string, target: string): Promise<void> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error) => output.destroy(error));
  for (const name of await listStore(folder)) {
    if (statSync(join(folder, name)).isDirectory()) continue;
    // Archives, images and videos are compressed already.
    zip.addFile(join(folder, name), name.replaceAll('\\', '/'), { compress: false });
  }
  zip.end();
  await pipeline(output, createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true }));
}

/**
 * Extracts a zip archive into an existing folder, and compares each file with its checksum. yauzl refuses names that lead
 * out of it.
 * @throws DataUnusable
 */
export async function unpackFolder(archive: string, folder: string): Promise<void> {
  try {
    const zip = await openPromise(archive, { lazyEntries: true });
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      const path = join(folder, entry.fileName);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      let sum = 0;
      async function* addToSum(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          sum = crc32(chunk, sum);
          yield chunk;
        }
      }
      const output = createWriteStream(path, { flags: 'wx', mode: 0o600 });
      await pipeline(await zip.openReadStreamPromise(entry), addToSum, output);
      if (sum !== entry.crc32) throw new Error(`${entry.fileName} differs from its checksum`);
    }
    if (!existsSync(join(folder, DATABASE))) throw new Error(`it has no ${DATABASE}`);
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== undefined || isMachineTrouble(error)) throw error;
    throw new DataUnusable(`${archive} is not a complete backup: ${message.replace(/\.$/, '')}.`);
  }
}

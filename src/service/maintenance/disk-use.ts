import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceFile } from '../configuration/start-errors.js';

/** Bytes; absent where the data is in PostgreSQL or in a bucket. */
export interface DiskUse {
  readonly database_bytes?: number;
  readonly archive_bytes?: number;
  readonly task_bytes?: number;
  /** On the disk of the data folder. */
  readonly free_bytes: number;
}

/** Measures what the data of a service takes up on disks of this machine. */
export async function measureFolder(
  data: string,
  { database: url, storage = join(data, 'objects') }: Pick<ServiceFile, 'database' | 'storage'>,
): Promise<DiskUse> {
  const { bavail, bsize } = await statfs(data);
  const names = await readdir(data);
  const database = names.filter((name) => /^regen\.db(-wal|-shm)?$/.test(name));
  const sizes = await Promise.all(database.map((name) => measureFile(join(data, name))));
  return {
    ...(url === undefined && { database_bytes: sizes.reduce((sum, size) => sum + size, 0) }),
    ...(!storage.startsWith('s3:') && {
      archive_bytes:
        (await measureFiles(join(storage, 'archives'))) + (await measureFiles(join(storage, 'uplink'))),
      task_bytes: await measureFiles(join(storage, 'tasks')),
    }),
    free_bytes: bavail * bsize,
  };
}

async function measureFiles(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(ignoreMissing))
    bytes += await (entry.isDirectory() ? measureFiles : measureFile)(join(folder, entry.name));
  return bytes;
}

/** A service that runs may just have removed a file. */
async function measureFile(path: string): Promise<number> {
  const found = await stat(path).catch(ignoreMissing);
  return 'size' in found ? found.size : 0;
}

function ignoreMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

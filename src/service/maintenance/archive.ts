import { createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { ZipFile } from 'yazl';

/** Writes the files of a folder into a new zip archive that only its owner can read. */
export async function packFolder(folder: string, target: string): Promise<void> {
  const zip = new ZipFile();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length + 1).replaceAll('\\', '/');
    // Archives, images and videos are compressed already.
    zip.addFile(path, name, { compress: false });
  }
  zip.end();
  await pipeline(
    zip.outputStream as Readable,
    createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true }),
  );
}

/** Extracts a zip archive into an existing folder. yauzl refuses names that lead out of it. */
export async function unpackFolder(archive: string, folder: string): Promise<void> {
  const zip = await openPromise(archive, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const path = join(folder, entry.fileName);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(
      await zip.openReadStreamPromise(entry),
      createWriteStream(path, { flags: 'wx', mode: 0o600 }),
    );
  }
}

import { appendFile, mkdirSync, writeFile } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { quoteName } from './path.js';
import { type ArchiveLimits, type ArchiveWriter, type Inspection, inspectArchive } from './read-archive.js';
import { ArchiveRefusal } from './zip.js';

/**
 * Unpacks an untrusted archive into an empty folder that no one else writes to. If it is refused, the folder holds what
 * was unpacked before, and must be removed.
 *
 * @param skips whether a file is left out
 * @throws system errors, such as of a full disk
 */
export function unpackArchive(
  path: string,
  folder: string,
  limits: ArchiveLimits,
  skips: (path: string) => boolean = () => false,
): Promise<Inspection> {
  const made = new Set<string>();
  const makeFolder = (name: string, entry: string) => {
    if (made.has(name)) return;
    made.add(name);
    try {
      mkdirSync(name, { recursive: true });
    } catch (error) {
      throw toRefusal(entry, error);
    }
  };
  const writer: ArchiveWriter = {
    writeFolder: (name) => {
      refuseGit(name);
      makeFolder(join(folder, name), name);
    },
    // Threads create the files of several archives at the same time, which is most of the work.
    writePart: async (name, mode, part, isFirst) => {
      if (skips(name)) return;
      const file = join(folder, name);
      if (!isFirst) return promisify(appendFile)(file, part);
      refuseGit(name);
      makeFolder(dirname(file), name);
      const options = { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 };
      await promisify(writeFile)(file, part, options).catch((error) => {
        throw toRefusal(name, error);
      });
    },
  };
  return inspectArchive(path, limits, undefined, writer);
}

/** git runs programs that the files of a repository name, for anyone who asks it for the status of the folder. */
function refuseGit(path: string): void {
  // macOS ignores invisible characters in names, and Windows has short names.
  const names = path.replace(/\p{Cf}/gu, '').split('/');
  if (names.some((name) => /^(?:\.git|git~\d+)$/i.test(name)))
    throw new ArchiveRefusal(`The entry ${quoteName(path)} belongs to a git repository.`);
}

/** An entry may have the name of another one, at least for this file system; other errors are returned unchanged. */
function toRefusal(entry: string, error: unknown): unknown {
  if (!['EEXIST', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return error;
  return new ArchiveRefusal(`The entry ${quoteName(entry)} has the name of another entry.`);
}

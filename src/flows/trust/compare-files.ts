import { join } from 'node:path';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { createArchive } from '../../pack/archive.js';
import { type ArchivedFile, inspectArchive } from '../../pack/read-archive.js';
import { FlowError } from '../flow-error.js';
import type { Pack } from '../publish/pack.js';

/** Files by path, with what is compared of each. */
export type ComparedFiles = ReadonlyMap<string, Pick<ArchivedFile, 'sha256' | 'mode'>>;

/** A file in which a published archive differs from its source, and how. */
export interface FileDifference {
  readonly path: string;
  readonly difference: 'only in the archive' | 'only in the source' | 'other content' | 'other mode';
}

/** Lists the files in which a published archive differs from those of its source. */
export function compareFiles(source: ComparedFiles, published: ComparedFiles): FileDifference[] {
  const compare = (path: string): FileDifference['difference'] | undefined => {
    const [own, other] = [source.get(path), published.get(path)];
    if (!own) return 'only in the archive';
    if (!other) return 'only in the source';
    if (own.sha256 !== other.sha256) return 'other content';
    return own.mode === other.mode ? undefined : 'other mode';
  };
  return [...new Set([...source.keys(), ...published.keys()])].sort().flatMap((path) => {
    const difference = compare(path);
    return difference ? [{ path, difference }] : [];
  });
}

/** Reads the files of a published archive. @throws FlowError archive_refused if it is not valid */
export async function readArchivedFiles(
  path: string,
  about: string,
): Promise<{ readonly tree: string; readonly files: ComparedFiles }> {
  const read = await inspectArchive(path, DEFAULT_LIMITS);
  if (!read.ok) throw new FlowError('archive_refused', `The archive of ${about} is refused. ${read.reason}`);
  return { tree: read.tree, files: new Map(read.entries.map((entry) => [entry.path, entry])) };
}

/**
 * Packs a source as a publish would, and reads its files as those of a published archive.
 * @param scratch an empty folder
 */
export async function readSourceFiles(
  { files }: Pack,
  scratch: string,
  signal: AbortSignal,
): Promise<ComparedFiles> {
  const path = join(scratch, 'source.zip');
  await createArchive(files, path, { signal });
  return (await readArchivedFiles(path, 'the source')).files;
}

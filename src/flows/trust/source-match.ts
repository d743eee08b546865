import { join } from 'node:path';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { createArchive } from '../../pack/archive.js';
import { type ArchivedFile, inspectArchive } from '../../pack/read-archive.js';
import { FlowError } from '../flow-error.js';
import type { Pack } from '../publish/pack.js';

/** How a file of a published archive differs from that of its source. */
export interface FileDifference {
  readonly path: string;
  readonly difference: 'only in the archive' | 'only in the source' | 'other content' | 'other mode';
}

/** Reads the files of an archive. @throws FlowError if it is not valid */
export async function readArchivedFiles(
  path: string,
): Promise<{ readonly tree: string; readonly entries: readonly ArchivedFile[] }> {
  const read = await inspectArchive(path, DEFAULT_LIMITS);
  if (read.ok) return read;
  throw new FlowError('source_differs', `The published archive cannot be read: ${read.reason}`);
}

/**
 * Packs a source as a publish would, and compares it with a published archive.
 * @param scratch an empty folder
 */
export async function compareSource(
  { files }: Pack,
  published: Awaited<ReturnType<typeof readArchivedFiles>>,
  scratch: string,
  signal: AbortSignal,
): Promise<FileDifference[]> {
  const path = join(scratch, 'source.zip');
  const { tree } = await createArchive(files, path, { signal });
  if (tree === published.tree) return [];
  const source = await readArchivedFiles(path);
  const [here, there] = [source, published].map(
    ({ entries }) => new Map(entries.map((entry) => [entry.path, entry])),
  ) as [Map<string, ArchivedFile>, Map<string, ArchivedFile>];
  const paths = [...new Set([...here.keys(), ...there.keys()])].sort();
  return paths.flatMap((path) => {
    const difference = compareFile(here.get(path), there.get(path));
    return difference ? [{ path, difference }] : [];
  });
}

function compareFile(
  source: ArchivedFile | undefined,
  published: ArchivedFile | undefined,
): FileDifference['difference'] | undefined {
  if (!source) return 'only in the archive';
  if (!published) return 'only in the source';
  if (source.sha256 !== published.sha256) return 'other content';
  return source.mode === published.mode ? undefined : 'other mode';
}

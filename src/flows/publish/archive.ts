import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { type BuiltArchive, createArchive } from '../../pack/archive.js';
import { isZipBomb } from '../../pack/read-archive.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { FlowError } from '../flow-error.js';
import type { Pack } from './pack.js';
import type { Stages } from './report.js';

/**
 * Builds the archive of a pack at `path`.
 * @throws FlowError if the service would refuse it
 */
export async function buildArchive(
  { signal }: { readonly signal: AbortSignal },
  { files }: Pack,
  path: string,
  progress: Stages,
): Promise<BuiltArchive> {
  const archive = await createArchive(files, path, {
    signal,
    onProgress: ({ bytes: done, totalBytes }) => progress.transferred(done, totalBytes),
  });
  const problem = findLimitProblem(archive);
  if (!problem) return archive;
  throw new FlowError('archive_limit', `The archive ${problem}; nothing was sent.`);
}

function findLimitProblem({ size, unpacked }: BuiltArchive): string | undefined {
  if (size > DEFAULT_LIMITS.archive)
    return `is ${formatBytes(size)}; the limit is ${formatBytes(DEFAULT_LIMITS.archive)}`;
  if (isZipBomb(size, unpacked, DEFAULT_LIMITS)) {
    return `unpacks to more than ${DEFAULT_LIMITS.archiveRatio} times its size, which the registry refuses as a zip bomb`;
  }
  return undefined;
}

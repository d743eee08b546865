import { randomUUID } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskKind } from '../../../contract/operation.js';
import type { Limits } from '../../../contract/schema/limits.js';
import { isUrl } from '../../../contract/schema/values.js';
import { readFileType } from '../../../disk/file-type.js';
import { formatBytes } from '../../../wire/format-bytes.js';
import { FetchFailed, FileTooLarge, fetchMedia } from '../../network/fetch-media.js';
import type { OwnOrigin } from '../../network/guarded-agent.js';
import type { EngineFailure, EngineFile, EngineJob } from '../../operation/engine.js';

/** What may be returned for one task. */
export type ResultLimits = Pick<Limits, 'resultFiles' | 'resultBytes'>;

/** A file that was made elsewhere. */
export interface RemoteFile {
  /** May be a data URL. */
  readonly url: string;
  readonly role?: 'video' | 'cover';
}

/** Who made the results of a task. */
export interface ResultSource {
  readonly origin: OwnOrigin;
  /** Creates the failure of a task with unusable results. @param kind `empty` or `oversized` */
  readonly fail: (kind: 'empty' | 'oversized', made: string) => EngineFailure;
}

interface Download {
  readonly job: Pick<EngineJob, 'folder'>;
  readonly kind: TaskKind;
  readonly limits: ResultLimits;
  readonly signal: AbortSignal;
}

/** Decided: how long fetching one result may take. */
const FETCH_SECONDS = 600;

/** The types that this service can serve; TIFF is not one. */
export const ACCEPTED_TYPES = { image: /^image\/(?!tiff)/, video: /^video\// } as const;

/**
 * Downloads the results of a task into its folder, because their URLs expire.
 * @throws EngineFailure if there are none, or too many; FetchFailed if one cannot be had now
 */
export async function downloadResults(
  found: readonly RemoteFile[],
  { origin, fail }: ResultSource,
  { job, kind, limits, signal }: Download,
): Promise<EngineFile[]> {
  const { resultFiles, resultBytes } = limits;
  if (found.length === 0) throw fail('empty', `no ${kind}`);
  if (found.length > resultFiles)
    throw fail('oversized', `${found.length} files; the limit is ${resultFiles}`);
  const files: EngineFile[] = [];
  let left = resultBytes;
  for (const { url, role } of found) {
    const media = kind === 'video' && role === 'video' ? 'video' : 'image';
    const path = join(job.folder, randomUUID());
    const options = {
      ...origin,
      bytes: left,
      seconds: FETCH_SECONDS,
      httpsOnly: false,
      media,
      signal,
    } as const;
    await download(url, path, options).catch((error) => {
      throw error instanceof FileTooLarge
        ? fail('oversized', `files of more than ${formatBytes(resultBytes)}`)
        : error;
    });
    const contentType = (await readFileType(path))?.mediaType;
    if (contentType === undefined || !ACCEPTED_TYPES[media].test(contentType))
      throw new FetchFailed(`it is not ${media === 'image' ? 'an image' : 'a video'} that can be served`);
    files.push({ path, contentType, ...(role && { role }) });
    left -= (await stat(path)).size;
  }
  return files;
}

/** Private addresses other than the server's own are refused. */
async function download(url: string, path: string, options: Parameters<typeof fetchMedia>[2]): Promise<void> {
  if (!url.startsWith('data:')) {
    if (!isUrl(url)) throw new FetchFailed('its URL is invalid');
    return await fetchMedia(new URL(url), path, options);
  }
  const content = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  if (content.length > options.bytes) throw new FileTooLarge(options.bytes);
  await writeFile(path, content, { flag: 'wx', mode: 0o600 });
}

import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../contract/json.js';
import type { TaskKind } from '../../../contract/operation.js';
import { getPromisedType, readFileType } from '../../../disk/file-type.js';
import { formatBytes } from '../../../wire/format-bytes.js';
import { FetchFailed, FileTooLarge, fetchMedia } from '../../network/fetch-media.js';
import { EngineFailure, type EngineFile, type EngineJob } from '../../operation/engine.js';
import type { ResultLimits } from '../upstream/retry.js';
import type { ComfyUiHost } from './host.js';
import { stripPng } from './strip-png.js';

/** Decided: how long fetching one result may take. */
const FETCH_SECONDS = 600;

interface OutputFile {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
}

/** The files of a history entry that fit the kind of task: all that were saved, or without any, the previews. */
function listOutputs(outputs: unknown, kind: TaskKind): Pick<EngineFile, 'role'>[] & OutputFile[] {
  const lists = Object.values(isRecord(outputs) ? outputs : {}).flatMap((node) =>
    Object.values(isRecord(node) ? node : {}),
  );
  const all = lists.flat().flatMap((file): OutputFile[] => {
    if (!isRecord(file) || typeof file.filename !== 'string') return [];
    const { filename, subfolder = '', type = 'output' } = file;
    return [{ filename, subfolder: String(subfolder), type: String(type) }];
  });
  const saved = all.filter(({ type }) => type === 'output');
  const kept = saved.length > 0 ? saved : all;
  const find = (media: TaskKind) =>
    kept.filter(({ filename }) => getPromisedType(filename)?.startsWith(`${media}/`));
  if (kind === 'image') return find('image');
  const covers = find('image');
  return find('video').flatMap((video, at) => {
    const cover = covers[at];
    return [{ ...video, role: 'video' as const }, ...(cover ? [{ ...cover, role: 'cover' as const }] : [])];
  });
}

interface Download {
  readonly host: ComfyUiHost;
  readonly job: EngineJob;
  readonly kind: TaskKind;
  readonly limits: ResultLimits;
  readonly signal: AbortSignal;
}

/**
 * Downloads the results of a task into its folder.
 * @throws EngineFailure if there are none, or too many; FetchFailed if one cannot be had now
 */
export async function downloadResults(outputs: unknown, task: Download): Promise<EngineFile[]> {
  const { limits, kind } = task;
  const found = listOutputs(outputs, kind);
  if (found.length === 0)
    throw new EngineFailure(`The workflow saved no ${kind}.`, { code: 'workflow_empty' });
  if (found.length > limits.resultFiles)
    throw tooMuch(`${found.length} files; the limit is ${limits.resultFiles}`);
  const files: EngineFile[] = [];
  let left = limits.resultBytes;
  for (const one of found) {
    const file = await downloadFile(one, left, task);
    files.push(file);
    left -= (await stat(file.path)).size;
  }
  return files;
}

async function downloadFile(
  { filename, subfolder, type, role }: OutputFile & Pick<EngineFile, 'role'>,
  bytes: number,
  { host, job, kind, limits, signal }: Download,
): Promise<EngineFile> {
  const path = join(job.folder, randomUUID());
  const query = new URLSearchParams({ filename, subfolder, type });
  const media = kind === 'video' && role === 'video' ? 'video' : 'image';
  // Of what is not public, only this server: nothing else that it may lead to.
  const origin = { serviceOrigin: host.baseUrl, loopbackAllowed: false };
  const limit = { bytes, seconds: FETCH_SECONDS, httpsOnly: false };
  await fetchMedia(new URL(`${host.baseUrl}/view?${query}`), path, {
    ...origin,
    ...limit,
    media,
    signal,
  }).catch((error) => {
    throw error instanceof FileTooLarge ? tooMuch(`more than ${formatBytes(limits.resultBytes)}`) : error;
  });
  const contentType = (await readFileType(path))?.mediaType;
  if (!contentType?.startsWith(`${media}/`) || contentType === 'image/tiff')
    throw new FetchFailed(`it is not a${media === 'image' ? 'n image' : ' video'} that can be served`);
  const own = { contentType, ...(role && { role }) };
  return contentType === 'image/png' ? { ...own, path: await stripPng(path) } : { ...own, path };
}

function tooMuch(what: string): EngineFailure {
  return new EngineFailure(`The workflow made ${what}.`, { code: 'workflow_oversized' });
}

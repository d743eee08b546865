import { isRecord } from '../../../contract/json.js';
import type { TaskKind } from '../../../contract/operation.js';
import { getPromisedType } from '../../../disk/file-type.js';
import { EngineFailure, type EngineFile, type EngineJob } from '../../operation/engine.js';
import {
  downloadResults as download,
  type RemoteFile,
  type ResultLimits,
} from '../remote/download-results.js';
import type { ComfyUiHost } from './host.js';
import { stripPng } from './strip-png.js';

interface OutputFile {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
}

/** The files of a history entry that fit the kind of task: all that were saved, or without any, the previews. */
function listOutputs(outputs: unknown, kind: TaskKind): (Pick<EngineFile, 'role'> & OutputFile)[] {
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
export async function downloadOutputs(outputs: unknown, task: Download): Promise<EngineFile[]> {
  const { baseUrl } = task.host;
  const found = listOutputs(outputs, task.kind).map(({ role, filename, subfolder, type }): RemoteFile => {
    const url = `${baseUrl}/view?${new URLSearchParams({ filename, subfolder, type })}`;
    return { url, ...(role && { role }) };
  });
  const source = {
    // Of what is not public, only this server: nothing else that it may lead to.
    origin: { serviceOrigin: baseUrl, loopbackAllowed: false },
    fail: (what: 'empty' | 'oversized', made: string) =>
      new EngineFailure(`The workflow ${what === 'empty' ? 'saved' : 'made'} ${made}.`, {
        code: `workflow_${what}`,
      }),
  };
  const files = (await download(found, source, task)).map(async (file) =>
    file.contentType === 'image/png' ? { ...file, path: await stripPng(file.path) } : file,
  );
  return Promise.all(files);
}

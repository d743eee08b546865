import type { Context } from '../operation/context.js';
import type { EngineFile, EngineResult } from '../operation/engine.js';
import type { Staged } from '../storage/storage.js';
import { getResultKey, stageFile } from './task-files.js';

/** One file that a task made, as stored in its row. */
export interface TaskResult {
  /** `0.png`; unique within its task. */
  readonly name: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Of a video task. */
  readonly role?: EngineFile['role'];
}

/** The file types that are served from the service's origin: none that a browser would execute. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

export interface StagedResults {
  readonly results: readonly TaskResult[];
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** Writes the files of an engine to the storage, not yet visible. */
export async function stageResults(
  context: Context,
  taskId: string,
  { files }: EngineResult,
): Promise<StagedResults> {
  if (files.length === 0) throw new Error('The engine returned no files.');
  const staged: Staged[] = [];
  const results: TaskResult[] = [];
  const discard = async () => {
    for (const file of staged) await file.discard();
  };
  try {
    for (const [index, { path, contentType, role }] of files.entries()) {
      const extension = EXTENSIONS[contentType];
      if (!extension) throw new Error(`The engine returned a file of the unsupported type ${contentType}.`);
      const name = `${index}.${extension}`;
      const file = await stageFile(context, getResultKey(taskId, name), path);
      staged.push(file);
      results.push({ name, contentType, size: file.size, sha256: file.sha256, ...(role && { role }) });
    }
  } catch (error) {
    await discard();
    throw error;
  }
  const commit = async () => {
    for (const file of staged) await file.commit();
  };
  return { results, commit, discard };
}

/** @param json the column `results` of a task */
export function parseResults(json: string | null): readonly TaskResult[] {
  return json === null ? [] : JSON.parse(json);
}

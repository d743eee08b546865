import type { Context } from '../context.js';
import type { Staged } from '../storage/storage.js';
import type { EngineFile, EngineResult } from './engine.js';
import { resultKey, stageFile } from './files.js';

/** One file that a task made, as its row keeps it. */
export interface Result {
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

/** What is served back from the service's own origin: nothing a browser would run. */
const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

export interface StagedResults {
  readonly results: readonly Result[];
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** Writes what an engine made to the storage, not yet visible. */
export async function stageResults(
  context: Context,
  taskId: string,
  { files }: EngineResult,
): Promise<StagedResults> {
  if (files.length === 0) throw new Error('The engine made nothing.');
  const staged: Staged[] = [];
  const results: Result[] = [];
  const discard = async () => {
    for (const file of staged) await file.discard();
  };
  try {
    for (const [index, { path, contentType, role }] of files.entries()) {
      const extension = extensions[contentType];
      if (!extension) throw new Error(`The engine made a file of the type ${contentType}.`);
      const name = `${index}.${extension}`;
      const file = await stageFile(context, resultKey(taskId, name), path);
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
export function resultsOf(json: string | null): readonly Result[] {
  return json === null ? [] : JSON.parse(json);
}

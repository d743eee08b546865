import { randomUUID } from 'node:crypto';
import type { Context } from '../operation/context.js';
import type { EngineFile, EngineResult } from '../operation/engine.js';
import { storeFile } from './task-files.js';

/** One file that a task made, as stored in its row. */
export interface TaskResult {
  /** `0.png`; unique within its task. */
  readonly name: string;
  /** Tells the files of attempts apart; absent in tasks of earlier releases. */
  readonly attempt?: string;
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

/** The storage key of a result of a task. */
export function getResultKey(
  taskId: string,
  { name, attempt }: Pick<TaskResult, 'name' | 'attempt'>,
): string {
  return `tasks/${taskId}/results/${attempt === undefined ? '' : `${attempt}/`}${name}`;
}

/** Writes the files of an engine to the storage. */
export async function storeResults(
  context: Context,
  taskId: string,
  { files }: EngineResult,
): Promise<readonly TaskResult[]> {
  if (files.length === 0) throw new Error('The engine returned no files.');
  const attempt = randomUUID();
  const results: TaskResult[] = [];
  for (const [index, { path, contentType, role }] of files.entries()) {
    const extension = EXTENSIONS[contentType];
    if (!extension) throw new Error(`The engine returned a file of the unsupported type ${contentType}.`);
    const name = `${index}.${extension}`;
    const { size, sha256 } = await storeFile(context, getResultKey(taskId, { name, attempt }), path);
    results.push({ name, attempt, contentType, size, sha256, ...(role && { role }) });
  }
  return results;
}

/** @param json the column `results` of a task */
export function parseResults(json: string | null): readonly TaskResult[] {
  return json === null ? [] : JSON.parse(json);
}

import { randomUUID } from 'node:crypto';
import { RESULT_TYPES } from '../../disk/file-type.js';
import { type Database, findRow } from '../database/database.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import type { EngineFile, EngineResult } from '../operation/engine.js';
import { canSeeTask } from './task-access.js';
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

export function getResultKey(
  taskId: string,
  { name, attempt }: Pick<TaskResult, 'name' | 'attempt'>,
): string {
  return `tasks/${taskId}/results/${attempt === undefined ? '' : `${attempt}/`}${name}`;
}

export async function storeResults(
  context: Context,
  taskId: string,
  { files }: EngineResult,
): Promise<readonly TaskResult[]> {
  if (files.length === 0) throw new Error('The engine returned no files.');
  const attempt = randomUUID();
  const results: TaskResult[] = [];
  for (const [index, { path, contentType, role }] of files.entries()) {
    const extension = RESULT_TYPES.find(({ mediaType }) => mediaType === contentType)?.ext;
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

/** One video of a task and its cover image. */
interface Creation {
  readonly id: string;
  readonly taskId: string;
  readonly video: TaskResult;
  readonly cover?: TaskResult;
}

// Decided: a creation's id is its task's id, which cannot be guessed, and the video's index in the results.
export function listCreations(taskId: string, results: readonly TaskResult[]): Creation[] {
  return results.flatMap((video, at) => {
    if (video.role !== 'video') return [];
    const next = results[at + 1];
    return [{ id: `${taskId}-${at}`, taskId, video, ...(next?.role === 'cover' && { cover: next }) }];
  });
}

/** @returns undefined if there is no creation with this id that the caller may see */
export async function findCreation(
  database: Database,
  caller: Caller,
  creationId: string,
): Promise<Creation | undefined> {
  const task = await findRow(database, 'tasks', { id: creationId.replace(/-\d+$/, '') });
  if (!task || !(await canSeeTask(database, caller, task))) return undefined;
  return listCreations(task.id, parseResults(task.results)).find(({ id }) => id === creationId);
}

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../operation/context.js';
import type { Staged } from '../storage/storage.js';
import { INPUT_NAMES } from './task-inputs.js';

/** The limit of one file in storage; inputs are checked against stricter limits before. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;

/** The storage key of an input of a task. */
export function getInputKey(taskId: string, name: string): string {
  return `tasks/${taskId}/inputs/${name}`;
}

/** The storage key of a result of a task. */
export function getResultKey(taskId: string, name: string): string {
  return `tasks/${taskId}/results/${name}`;
}

/** @param path of a local file */
export function stageFile({ storage }: Context, key: string, path: string): Promise<Staged> {
  return storage.stage(key, createReadStream(path), MAX_FILE_BYTES);
}

/** Copies the object of another key. */
export async function stageCopy({ storage }: Context, key: string, source: string): Promise<Staged> {
  return storage.stage(key, await storage.read(source), MAX_FILE_BYTES);
}

/** Removes the inputs of a task. Does nothing if there are none. */
export async function removeInputs({ storage }: Context, taskId: string): Promise<void> {
  for (const name of INPUT_NAMES) await storage.remove(getInputKey(taskId, name));
}

/** Creates a folder for temporary files, until `remove`; after a crash the next start removes it. */
export async function createScratchFolder({
  scratch,
}: Pick<Context, 'scratch'>): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = join(scratch, randomUUID());
  await mkdir(path, { recursive: true, mode: 0o700 });
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

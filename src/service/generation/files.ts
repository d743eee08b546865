import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.js';
import type { Staged } from '../storage/storage.js';
import { inputNames } from './operations.js';

/** An input was checked before, a result lies in storage as its own file: no more than this. Bytes. */
const largestFile = 4 * 1024 ** 3;

/** The storage key of an image or video that a task was given. */
export function inputKey(taskId: string, name: string): string {
  return `tasks/${taskId}/inputs/${name}`;
}

/** The storage key of a file that a task made. */
export function resultKey(taskId: string, name: string): string {
  return `tasks/${taskId}/results/${name}`;
}

/** @param path of a file on this machine */
export function stageFile({ storage }: Context, key: string, path: string): Promise<Staged> {
  return storage.stage(key, createReadStream(path), largestFile);
}

/** Copies what lies under another key. */
export async function stageCopy({ storage }: Context, key: string, source: string): Promise<Staged> {
  return storage.stage(key, await storage.read(source), largestFile);
}

/** Removes what a task was given. Harmless where there is nothing. */
export async function removeInputs({ storage }: Context, taskId: string): Promise<void> {
  for (const name of inputNames) await storage.remove(inputKey(taskId, name));
}

/** A new folder for files that are not worth keeping, until `remove`; a crash leaves it to the next start. */
export async function scratchFolder({
  scratch,
}: Pick<Context, 'scratch'>): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = join(scratch, randomUUID());
  await mkdir(path, { recursive: true, mode: 0o700 });
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

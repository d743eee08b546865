import { createReadStream } from 'node:fs';
import type { Context } from '../operation/context.js';
import type { StoredObject } from '../storage/storage.js';

/** The limit of one file in storage; inputs are checked against stricter limits before. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;

/** The storage key of an input of a task. */
export function getInputKey(taskId: string, name: string): string {
  return `tasks/${taskId}/inputs/${name}`;
}

/** @param path of a local file */
export function storeFile({ storage }: Context, key: string, path: string): Promise<StoredObject> {
  return storage.write(key, createReadStream(path), MAX_FILE_BYTES);
}

/** Copies the object of another key. */
export async function copyObject({ storage }: Context, key: string, source: string): Promise<StoredObject> {
  return storage.write(key, await storage.read(source), MAX_FILE_BYTES);
}

import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { getOperation, getTaskFacts, type TaskOperation } from '../../contract/index.js';
import type { TaskKind } from '../../contract/operation.js';
import { findImageFields } from '../../contract/schema/image-rules.js';
import type { Context } from '../operation/context.js';
import type { StoredObject } from '../storage/storage.js';

/** The limit of one file in storage; inputs are checked against stricter limits before. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;

export function getInputKey(taskId: string, name: string): string {
  return `tasks/${taskId}/inputs/${name}`;
}

/** Larger files are streamed to save memory; for a small file, a stream takes longer than all else. */
const MAX_WHOLE_BYTES = 1024 ** 2;

/** @param content bytes, or the path of a local file */
export async function storeFile(
  { storage }: Context,
  key: string,
  content: Buffer | string,
): Promise<StoredObject> {
  if (typeof content !== 'string') return storage.write(key, content, MAX_FILE_BYTES);
  const isSmall = (await stat(content)).size <= MAX_WHOLE_BYTES;
  const source = isSmall ? await readFile(content) : createReadStream(content);
  return storage.write(key, source, MAX_FILE_BYTES);
}

export async function copyObject({ storage }: Context, key: string, source: string): Promise<StoredObject> {
  return storage.write(key, await storage.read(source), MAX_FILE_BYTES);
}

export function getTaskKind(operation: TaskOperation): TaskKind {
  return getTaskFacts(operation).kind;
}

/** The fields of a request that hold an image or its URL; `images` is a list. */
export function listImageFields(operation: TaskOperation): readonly string[] {
  const { body, task } = getOperation(operation);
  return [...(body ? findImageFields(body) : []), ...(task?.imageUrls ?? [])];
}

/** The name of the video that is extended; images are named after their fields. */
export const VIDEO_INPUT = 'video';

/** The name of the image in a field, or of each item of a list, for engines, storage and error messages. */
export function nameInput(field: string, held: unknown): string | string[] {
  return Array.isArray(held) ? held.map((_, at) => `${field}.${at}`) : field;
}

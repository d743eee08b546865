import { getOperation, getTaskFacts, type TaskOperation } from '../../contract/index.js';
import type { TaskKind } from '../../contract/operation.js';
import { findImageFields } from '../../contract/schema/image-rules.js';

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

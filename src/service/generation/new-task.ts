import { randomInt } from 'node:crypto';
import { getTaskFacts, type TaskOperation } from '../../contract/index.js';
import { resolveVideoFormat } from '../../contract/video-models.js';
import { getPrice } from './credits.js';
import type { StartCall } from './stage-inputs.js';
import { getTaskKind, listImageFields, nameInput } from './task-files.js';

type TaskRequest = Readonly<Record<string, unknown>>;

export interface NewTask {
  readonly id: string;
  readonly operation: TaskOperation;
  /** As given by the caller, with the video format that applies. */
  readonly request: TaskRequest;
  readonly seed: number;
  readonly credits: number;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** Describes the task that a request starts, at the current price. */
export function toNewTask({ body, context }: StartCall, id: string, operation: TaskOperation): NewTask {
  const { defaultModel } = getTaskFacts(operation);
  const request = defaultModel ? { ...body, ...resolveVideoFormat(body, defaultModel) } : body;
  const createdAt = new Date(context.now()).toISOString();
  const credits = getPrice(context, operation, request);
  return { id, operation, request, seed: chooseSeed(operation, body), credits, createdAt };
}

/** Replaces each image of a request by its name, except in fields for which vendors require a URL. */
export function replaceImages(operation: TaskOperation, request: TaskRequest): TaskRequest {
  const { imageUrls = [] } = getTaskFacts(operation);
  const isNamed = (field: string) => listImageFields(operation).includes(field) && !imageUrls.includes(field);
  const named = Object.entries(request).map(([field, held]) => [
    field,
    isNamed(field) ? nameInput(field, held) : held,
  ]);
  return Object.fromEntries(named);
}

/** Random, unless the request has a seed or asks for the same image from the same settings. */
function chooseSeed(
  operation: TaskOperation,
  { seed, fixed_generation, advanced_settings }: TaskRequest,
): number {
  if (getTaskKind(operation) === 'video') return (seed as number | undefined) ?? randomInt(2 ** 31);
  const advanced = advanced_settings as { fixed_generation?: boolean } | undefined;
  return fixed_generation || advanced?.fixed_generation ? 0 : randomInt(2 ** 32);
}

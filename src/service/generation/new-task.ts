import { randomInt } from 'node:crypto';
import { defaultExtendModel, defaultVideoModel, formatOf } from '../../contract/video-models.js';
import { priceOf } from './credits.js';
import type { TaskOperation } from './engine.js';
import { imageFields, kindOf, nameOf } from './operations.js';
import type { StartCall } from './take-inputs.js';

type Fields = Readonly<Record<string, unknown>>;

/** A task that is about to be. */
export interface NewTask {
  readonly id: string;
  readonly operation: TaskOperation;
  /** As the caller gave it, with what is made where a field is absent. */
  readonly request: Fields;
  readonly seed: number;
  readonly credits: number;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** What a request asks for, its price fixed now. */
export function newTask({ body, context }: StartCall, id: string, operation: TaskOperation): NewTask {
  const defaultModel = operation === 'video.extend' ? defaultExtendModel : defaultVideoModel;
  const request = kindOf(operation) === 'image' ? body : { ...body, ...formatOf(body, defaultModel) };
  const createdAt = new Date(context.now()).toISOString();
  const credits = priceOf(context, operation, request);
  return { id, operation, request, seed: seedOf(operation, body), credits, createdAt };
}

/** The request with the name of each image in its place. What can only be a URL stays one: a vendor takes nothing else. */
export function withNames(operation: TaskOperation, request: Fields): Fields {
  const isNamed = (field: string) => imageFields[operation].includes(field) && field !== 'wm_url';
  const named = Object.entries(request).map(([field, held]) => [
    field,
    isNamed(field) ? nameOf(field, held) : held,
  ]);
  return Object.fromEntries(named);
}

/** Random, unless the request has one, or wants the same image from the same settings. */
function seedOf(operation: TaskOperation, { seed, fixed_generation, advanced_settings }: Fields): number {
  if (kindOf(operation) === 'video') return (seed as number | undefined) ?? randomInt(2 ** 31);
  const advanced = advanced_settings as { fixed_generation?: boolean } | undefined;
  return fixed_generation || advanced?.fixed_generation ? 0 : randomInt(2 ** 32);
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { getOperation, getTaskFacts, listTaskOperations, type TaskOperation } from '../../contract/index.js';
import { parseJson } from '../../contract/json.js';
import { PLACEHOLDER } from '../../contract/placeholder.js';
import { checkValue } from '../../contract/schema/check.js';
import { describeFields, type FieldDescription } from '../../contract/schema/fields.js';
import { findImageFields } from '../../contract/schema/image-rules.js';
import { parseText } from '../../contract/schema/parse-text.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { readFolderFile } from '../../disk/folder-file.js';
import { findNearest } from '../../wire/nearest.js';

const MAX_WORKFLOW_BYTES = 8 * 1024 ** 2;

/** A graph as ComfyUI exports it in the API format. */
const Graph = z.record(
  z.string(),
  z.looseObject({ class_type: z.string().min(1), inputs: z.record(z.string(), z.json()) }),
);
export type Graph = z.output<typeof Graph>;

/** A placeholder in a text of a graph. */
export interface Placeholder {
  readonly name: string;
  readonly field: FieldDescription;
  readonly divisor: number;
  /** Used if the request does not have the field. */
  readonly otherwise: unknown;
}

export interface Workflow {
  readonly graph: Graph;
  /** By their text in the graph. */
  readonly placeholders: ReadonlyMap<string, Placeholder>;
  /** The fields of the operation that a placeholder may name. */
  readonly fields: ReadonlyMap<string, FieldDescription>;
}

interface LoadedWorkflows {
  readonly workflows: ReadonlyMap<TaskOperation, Workflow>;
  readonly problems: readonly Problem[];
}

/** Loads the workflows of operations from a folder with a file for each, such as `image.upscaler.json`. */
export function loadWorkflows(folder: string, operations: readonly TaskOperation[]): LoadedWorkflows {
  const workflows = new Map<TaskOperation, Workflow>();
  const fail = (message: Problem['message'], about = folder, path: readonly string[] = []) => ({
    path,
    about,
    message,
  });
  const names = listFiles(folder);
  if (!names) return { workflows, problems: [fail('is not a folder that can be read')] };
  const problems: Problem[] = [];
  const known: readonly string[] = listTaskOperations();
  for (const file of names.filter((name) => name.endsWith('.json'))) {
    const operation = file.slice(0, -'.json'.length) as TaskOperation;
    if (!known.includes(operation)) {
      const nearest = findNearest(operation.slice(0, 100), known);
      const hint =
        nearest === undefined ? `; they are ${known.join(', ')}` : ` (did you mean ${nearest}.json?)`;
      problems.push(fail(`is not named after an operation${hint}`, join(folder, file), [file]));
    } else if (operations.includes(operation)) {
      const read = readWorkflow(join(folder, file), operation);
      workflows.set(operation, read.workflow);
      problems.push(
        ...read.problems.map(({ path, message }) =>
          fail(message, [join(folder, file), ...path].join(', '), [file]),
        ),
      );
    }
  }
  if (workflows.size === 0 && problems.length === 0)
    problems.push(fail(`has none of ${operations.map((name) => `${name}.json`).join(', ')}`));
  return { workflows, problems };
}

function listFiles(folder: string): string[] | undefined {
  try {
    return readdirSync(folder).sort();
  } catch {
    return undefined;
  }
}

const AS_SAVED =
  'is a workflow as ComfyUI saves it; export it in the API format, with File > Export (API) in ComfyUI';

const NO_PLACEHOLDER =
  'which is not a placeholder; write it as {{name}}, {{name/100}} or {{name=2}}, without spaces';

function readWorkflow(
  path: string,
  operation: TaskOperation,
): { readonly workflow: Workflow; readonly problems: readonly Problem[] } {
  const fields = listFields(operation);
  const placeholders = new Map<string, Placeholder>();
  const read = readGraph(path);
  const workflow = { graph: 'graph' in read ? read.graph : {}, placeholders, fields };
  if ('problems' in read) return { workflow, problems: read.problems };
  const problems: Problem[] = [];
  for (const [node, { inputs }] of Object.entries(read.graph)) {
    for (const [input, value] of Object.entries(inputs)) {
      const place = [`node ${node}`, `input ${input}`];
      const source = findSource(value);
      if (source !== undefined && !Object.hasOwn(read.graph, source))
        problems.push({ path: place, message: `links to node ${source}, which the workflow does not have` });
      for (const text of listTexts(value)) {
        for (const [whole, ...parts] of text.matchAll(PLACEHOLDER)) {
          const found = parsePlaceholder(parts, fields);
          if (typeof found === 'object') placeholders.set(whole, found);
          else problems.push({ path: place, message: `has ${whole}, ${found}` });
        }
        const [other] = /\{\{[^{}]{0,60}\}{0,2}/.exec(text.replace(PLACEHOLDER, '')) ?? [];
        if (other !== undefined) problems.push({ path: place, message: `has ${other}, ${NO_PLACEHOLDER}` });
      }
    }
  }
  const used = new Set(Array.from(placeholders.values(), ({ name }) => name));
  const missing = [...fields].filter(([name, { required }]) => required && !used.has(name));
  for (const [name] of missing)
    problems.push({ path: [], message: `has no placeholder {{${name}}}, which every request has` });
  return { workflow, problems };
}

function readGraph(path: string): { readonly graph: Graph } | { readonly problems: readonly Problem[] } {
  const fail = (message: string) => ({ problems: [{ path: [], message }] });
  let text: string;
  try {
    text = readFolderFile(path, MAX_WORKFLOW_BYTES).toString();
  } catch (error) {
    return fail(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const value = parseJson(text);
  if (value === undefined) return fail('is not valid JSON');
  if (z.object({ nodes: z.array(z.unknown()) }).safeParse(value).success) return fail(AS_SAVED);
  const checked = checkValue(Graph, value);
  if (checked.ok) return { graph: checked.value };
  const name = ([node, ...rest]: Problem['path']) => [`node ${node}`, ...rest];
  return { problems: checked.problems.map(({ path, message }) => ({ path: name(path), message })) };
}

/** Finds the node that the value of an input links to. */
export function findSource(value: unknown): string | undefined {
  const [node, slot] = Array.isArray(value) && value.length === 2 ? value : [];
  return typeof node === 'string' && typeof slot === 'number' ? node : undefined;
}

/** The texts in the value of an input, at any depth. */
export function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}

/** @returns what is wrong with it, in words that continue its text */
function parsePlaceholder(
  [name = '', divisor, given]: readonly string[],
  fields: Workflow['fields'],
): Placeholder | string {
  const field = fields.get(name);
  if (!field) {
    const known = [...fields.keys()];
    const nearest = known.find((one) => one.endsWith(`.${name}`)) ?? findNearest(name.slice(0, 100), known);
    const hint = nearest === undefined ? `they are ${known.join(', ')}` : `did you mean ${nearest}?`;
    return `which is not a field of this operation (${hint})`;
  }
  const isNumber = field.type === 'integer' || field.type === 'number';
  if (divisor !== undefined && (!isNumber || Number(divisor) === 0)) return 'which cannot be divided';
  const otherwise = given === undefined ? field.default : parseText(field, given);
  if (given !== undefined && field.format === FILE) return 'which is a file and has no default';
  if (given !== undefined && !fitsField(otherwise, field)) return `whose default is not a value of ${name}`;
  return { name, field, divisor: Number(divisor ?? 1), otherwise };
}

function fitsField(value: unknown, { type, enum: choices, minimum, maximum }: FieldDescription): boolean {
  if (choices) return choices.includes(value as string);
  if (type === 'string') return true;
  if (type === 'boolean') return typeof value === 'boolean';
  return typeof value === 'number' && value >= (minimum ?? value) && value <= (maximum ?? value);
}

/** The format of fields whose placeholder is the name of an uploaded file. */
export const FILE = 'file';

/** What the service itself does, or what the video that is uploaded stands for. */
const NOT_IN_WORKFLOWS = ['webhook_url', 'callback_url', 'payload'];

/** The fields that placeholders may name: nested ones are dotted, and items of lists numbered. */
function listFields(operation: TaskOperation): ReadonlyMap<string, FieldDescription> {
  const { body } = getOperation(operation);
  const { videoFields = [], imageUrls = [] } = getTaskFacts(operation);
  const images = [...findImageFields(body as z.ZodObject), ...imageUrls];
  const file = (description: FieldDescription) => ({ ...description, type: 'string', format: FILE });
  const listField = ([name, field]: [string, FieldDescription]): [string, FieldDescription][] => {
    if (NOT_IN_WORKFLOWS.includes(name) || (videoFields as readonly string[]).includes(name)) return [];
    if (field.items)
      return Array.from({ length: field.maxItems ?? 1 }, (_, at) => [
        `${name}.${at}`,
        file({ ...field, required: field.required && at < (field.minItems ?? 0) }),
      ]);
    if (field.fields)
      return Object.entries(field.fields).map(([key, nested]) => [
        `${name}.${key}`,
        { ...nested, required: false },
      ]);
    return [[name, images.includes(name) ? file(field) : field]];
  };
  return new Map<string, FieldDescription>([
    ...Object.entries(describeFields(body as z.ZodObject)).flatMap(listField),
    ['seed', { type: 'integer', required: false }],
    ['task_id', { type: 'string', required: false }],
    ...(videoFields.length > 0 ? [['video', file({ required: true })] as const] : []),
  ]);
}

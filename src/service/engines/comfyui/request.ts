import { getTaskFacts, type TaskOperation } from '../../../contract/index.js';
import { PLACEHOLDER } from '../../../contract/placeholder.js';
import type { Problem } from '../../../contract/schema/schema-types.js';
import { resolveVideoFormat } from '../../../contract/video-models.js';
import { FILE, type Graph, type Placeholder, type Workflow } from '../../configuration/workflows.js';
import type { EngineJob } from '../../operation/engine.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Lists the options of a request that the workflow has no placeholder for, and those that it cannot do without: a
 * placeholder without a default makes its field required.
 */
export function checkOptions(
  { placeholders, fields }: Workflow,
  operation: TaskOperation,
  body: Fields,
): Problem[] {
  const { defaultModel, noun } = getTaskFacts(operation);
  const request = defaultModel ? { ...body, ...resolveVideoFormat(body, defaultModel) } : body;
  const used = new Map(Array.from(placeholders.values(), (placeholder) => [placeholder.name, placeholder]));
  const workflow = `the ${noun} workflow of this service`;
  const message = `is not an option of ${workflow}`;
  return [...fields].flatMap(([name, field]): Problem[] => {
    const path = name.split('.');
    const given = readField(body, name);
    if (!used.has(name)) return given === undefined || given === field.default ? [] : [{ path, message }];
    const isMissing = used.get(name)?.otherwise === undefined && !MADE.includes(name);
    return isMissing && readField(request, name) === undefined
      ? [{ path, message: `is required by ${workflow}` }]
      : [];
  });
}

/** What is not taken from the request as it is. */
export const MADE = ['seed', 'task_id', 'video'];

function readField(request: Fields, name: string): unknown {
  return name.split('.').reduce<unknown>((held, key) => {
    const isHeld = typeof held === 'object' && held !== null && Object.hasOwn(held, key);
    return isHeld ? (held as Fields)[key] : undefined;
  }, request);
}

/** What a placeholder stands for, before it is divided. */
export function readDefault(request: Fields, { name, otherwise }: Placeholder): unknown {
  return readField(request, name) ?? otherwise;
}

/** The names of the images that the workflow takes from a request. */
export function listFiles({ placeholders }: Workflow, { request }: Pick<EngineJob, 'request'>): string[] {
  const files = [...placeholders.values()].filter(({ field }) => field.format === FILE);
  const names = files.map(({ name }) => name);
  return [...new Set(names)].filter((name) => name === 'video' || readField(request, name) !== undefined);
}

/**
 * Fills the placeholders of a workflow. Nodes that save files get the id of the task into their names, because ComfyUI
 * answers the same graph again with the files of the first time.
 * @param files the names of the uploaded files
 */
export function fillWorkflow({ graph, placeholders }: Workflow, job: EngineJob, files: Fields): Graph {
  // Nodes take seeds from 0; those of videos may be negative.
  const made: Fields = { ...files, seed: job.seed >>> 0, task_id: job.id };
  const readValue = (placeholder: Placeholder): unknown => {
    const value = made[placeholder.name] ?? readDefault(job.request, placeholder);
    return typeof value === 'number' ? value / placeholder.divisor : value;
  };
  const fillText = (text: string): unknown => {
    const whole = placeholders.get(text);
    if (whole) return readValue(whole);
    // In one pass, so that what a user wrote is never a placeholder.
    return text.replace(PLACEHOLDER, (found) =>
      String(readValue(placeholders.get(found) as Placeholder) ?? ''),
    );
  };
  const fillValue = (value: unknown): unknown => {
    if (typeof value === 'string') return fillText(value);
    if (Array.isArray(value)) return value.map(fillValue);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fillValue(inner)]));
  };
  const fillNode = ({ inputs, ...node }: Graph[string]): Graph[string] => {
    const filled = fillValue(inputs) as Graph[string]['inputs'];
    const prefix = filled.filename_prefix;
    return {
      ...node,
      inputs: { ...filled, ...(typeof prefix === 'string' && { filename_prefix: `${prefix}_${job.id}` }) },
    };
  };
  return Object.fromEntries(Object.entries(graph).map(([id, node]) => [id, fillNode(node)]));
}

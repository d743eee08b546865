import { isRecord } from '../../../contract/json.js';
import { PLACEHOLDER } from '../../../contract/placeholder.js';
import type { Problem } from '../../../contract/schema/schema-types.js';
import { FILE, findSource, type Graph, type Workflow } from '../../configuration/workflows.js';
import type { ComfyUiHost } from './host.js';
import { MADE, readDefault } from './request.js';

/** What a value of an input may be. */
interface InputForm {
  readonly isRequired: boolean;
  /** Undefined if it has no fixed ones, or those that files give it. */
  readonly choices: readonly unknown[] | undefined;
  readonly min: unknown;
  readonly max: unknown;
}

interface NodeClass {
  readonly inputs: ReadonlyMap<string, InputForm>;
  /** Its nodes end a graph: what does not lead to one is not run. */
  readonly isOutput: boolean;
  /** Its nodes call a service that is paid. */
  readonly isPaid: boolean;
}

export type NodeClasses = ReadonlyMap<string, NodeClass>;

/**
 * Reads those classes of a workflow's nodes that the server has.
 * @throws NoAnswer; the signal's reason
 */
export async function readNodeClasses(
  host: ComfyUiHost,
  { graph }: Workflow,
  signal: AbortSignal,
): Promise<NodeClasses> {
  const names = [...new Set(Object.values(graph).map(({ class_type }) => class_type))];
  const found = names.map(async (name) => {
    // They would be parts of the path.
    const path = /\/|^\.{1,2}$/.test(name) ? '' : `/${encodeURIComponent(name)}`;
    const all = await host.read(`/object_info${path}`, signal);
    const info = isRecord(all) && Object.hasOwn(all, name) ? all[name] : undefined;
    return isRecord(info) ? [[name, parseNodeClass(info)] as const] : [];
  });
  return new Map((await Promise.all(found)).flat());
}

function parseNodeClass({ input, output_node, api_node }: Readonly<Record<string, unknown>>): NodeClass {
  const groups = isRecord(input) ? input : {};
  const inputs = ['required', 'optional'].flatMap((group) =>
    Object.entries(groups[group] ?? {}).map(
      ([name, form]) => [name, parseForm(form, group === 'required')] as const,
    ),
  );
  return { inputs: new Map(inputs), isOutput: output_node === true, isPaid: api_node === true };
}

/** @param form `["INT", {"min": 1}]`, and for choices `[["a", "b"]]` or `["COMBO", {"options": ["a", "b"]}]` */
function parseForm(form: unknown, isRequired: boolean): InputForm {
  const [type, given] = Array.isArray(form) ? form : [];
  const options = isRecord(given) ? given : {};
  const isUploaded = Object.entries(options).some(
    ([name, value]) => value === true && name.endsWith('_upload'),
  );
  const listed = type === 'COMBO' ? options.options : type;
  const choices = Array.isArray(listed) && !isUploaded && !options.remote ? listed : undefined;
  return { isRequired, choices, min: options.min, max: options.max };
}

/** @returns what a value must be; undefined if it is that, or is not known before it runs */
function findLimit(value: unknown, { choices, min, max }: InputForm, divisor = 1): string | undefined {
  if (choices && typeof value !== 'object' && !choices.includes(value))
    return `one of ${choices.slice(0, 10).join(', ')}${choices.length > 10 ? ', …' : ''}`;
  if (typeof value !== 'number') return undefined;
  if (typeof min === 'number' && value < min) return `at least ${min * divisor}`;
  return typeof max === 'number' && value > max ? `at most ${max * divisor}` : undefined;
}

/** Says what a workflow has that the server does not: classes, inputs and choices. */
export function checkNodes({ graph }: Workflow, classes: NodeClasses): string[] {
  const run = listRunNodes(graph, classes);
  const isKnown = Object.values(graph).every(({ class_type }) => classes.has(class_type));
  if (isKnown && run.size === 0) return ['no node of the workflow saves or previews anything'];
  return Object.entries(graph).flatMap(([id, { class_type, inputs }]) => {
    const known = classes.get(class_type);
    if (!known) return [`it has no node class ${class_type} (node ${id})`];
    if (!run.has(id)) return [];
    return [...known.inputs].flatMap(([name, form]) => {
      const value = inputs[name];
      if (value === undefined)
        return form.isRequired ? [`node ${id} (${class_type}) is not given its required input ${name}`] : [];
      const limit = String(value).search(PLACEHOLDER) >= 0 ? undefined : findLimit(value, form);
      return limit === undefined ? [] : [`${name} of node ${id} (${class_type}) must be ${limit}`];
    });
  });
}

/** The nodes that lead to one that ends the graph. */
function listRunNodes(graph: Graph, classes: NodeClasses): ReadonlySet<string> {
  const ids = Object.keys(graph).filter((id) => classes.get(graph[id]?.class_type as string)?.isOutput);
  const found = new Set(ids);
  // What is added during the loop is visited, too.
  for (const id of found)
    for (const value of Object.values(graph[id]?.inputs ?? {})) {
      const source = findSource(value);
      if (source !== undefined && Object.hasOwn(graph, source)) found.add(source);
    }
  return found;
}

/** Lists the fields of a request whose values a node does not take. */
export function checkValues(
  { graph, placeholders }: Workflow,
  classes: NodeClasses,
  request: Readonly<Record<string, unknown>>,
): Problem[] {
  return Object.values(graph).flatMap(({ class_type, inputs }) =>
    [...(classes.get(class_type)?.inputs ?? [])].flatMap(([name, form]): Problem[] => {
      const placeholder = placeholders.get(String(inputs[name]));
      if (!placeholder || placeholder.field.format === FILE || MADE.includes(placeholder.name)) return [];
      const value = readDefault(request, placeholder);
      const given = typeof value === 'number' ? value / placeholder.divisor : value;
      const limit = given === undefined ? undefined : findLimit(given, form, placeholder.divisor);
      const message = `must be ${limit} for the workflow of this service`;
      return limit === undefined ? [] : [{ path: placeholder.name.split('.'), message }];
    }),
  );
}

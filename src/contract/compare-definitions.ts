import { isRecord, parseJson } from './json.js';
/** A node definition as listed by the service; every field may be missing. */
export interface ListedDefinition {
  readonly host_node_name?: string | undefined;
  readonly input_types?: string | undefined;
  readonly return_types?: string | undefined;
  readonly return_names?: string | undefined;
  readonly deprecated?: boolean | undefined;
  readonly category?: string | undefined;
  readonly function?: string | undefined;
}

/** One difference of one definition. */
export interface Change {
  readonly host_node_name: string;
  /** `node added`, `node removed`, `input added`, `input removed`, `input type`, `choices removed`, `range narrowed`, `output` … */
  readonly change: string;
  readonly detail: string;
  /** Whether a workflow saved with the old version stops working or behaves differently. */
  readonly breaks: boolean;
}

/** Compares the definitions of two versions by name. */
export function compareDefinitions(
  before: readonly ListedDefinition[],
  after: readonly ListedDefinition[],
): Change[] {
  const old = groupByName(before);
  const now = groupByName(after);
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((host_node_name) => {
    const was = old.get(host_node_name);
    const is = now.get(host_node_name);
    const changes = was && is ? compareOne(was, is) : [was ? NODE_REMOVED : NODE_ADDED];
    return changes.map((change) => ({ host_node_name, ...change }));
  });
}

type Difference = Omit<Change, 'host_node_name'>;

const NODE_ADDED: Difference = { change: 'node added', detail: '', breaks: false };
const NODE_REMOVED: Difference = {
  change: 'node removed',
  detail: 'workflows that use it no longer load',
  breaks: true,
};

function groupByName(list: readonly ListedDefinition[]): Map<string, ListedDefinition> {
  return new Map(list.map((definition) => [definition.host_node_name ?? '', definition]));
}

function compareOne(was: ListedDefinition, is: ListedDefinition): Difference[] {
  return [...compareInputs(was, is), ...compareOutputs(was, is), ...compareRest(was, is)];
}

function compareInputs(was: ListedDefinition, is: ListedDefinition): Difference[] {
  const old = readInputs(was.input_types);
  const now = readInputs(is.input_types);
  // Inputs that are computed at run time cannot be compared.
  if (!old || !now) return [];
  const differences: Difference[] = [];
  const add = (change: string, breaks: boolean, name: string, what: string) =>
    differences.push({ change, detail: `${name}: ${what}`, breaks });
  for (const [name, input] of old) {
    const same = now.get(name);
    if (!same) {
      add('input removed', true, name, input.type);
      continue;
    }
    if (same.type !== input.type && ![same.type, input.type].includes(COMPUTED))
      add('input type', !acceptsValue(same.type, input.type), name, `${input.type} -> ${same.type}`);
    const gone = input.choices.filter((choice) => !same.choices.includes(choice));
    if (same.choices.length > 0 && gone.length > 0) add('choices removed', true, name, gone.join(', '));
    if (!same.required && input.required) add('input optional', false, name, same.type);
    if (isNarrower(same, input))
      add('range narrowed', true, name, `${describeRange(input)} -> ${describeRange(same)}`);
    const initial = [input.initial, same.initial].map(formatValue);
    if (same.type === input.type && initial[0] !== initial[1] && !initial.includes(COMPUTED))
      add('default', false, name, initial.join(' -> '));
    if (same.required && !input.required) add('input required', true, name, same.type);
  }
  const order = compareOrder(old, now);
  if (order) differences.push(order);
  // The host refuses prompts saved for its API that lack a required input, even if it has a default.
  for (const [name, { type, required }] of now)
    if (!old.has(name)) add('input added', required, name, `${type} (${required ? 'required' : 'optional'})`);
  return differences;
}

/** Lists the inputs that are edited in the node, in the order in which workflows save their values. */
export function listWidgets(inputs: ReadonlyMap<string, Input>): string[] {
  return [...inputs].filter(([, { isWidget }]) => isWidget).map(([name]) => name);
}

/** Workflows save the values of widgets by position, so only widgets that are added at the end keep them in place. */
function compareOrder(
  old: ReadonlyMap<string, Input>,
  now: ReadonlyMap<string, Input>,
): Difference | undefined {
  // Removed ones are reported as such.
  const before = listWidgets(old).filter((name) => now.get(name)?.isWidget);
  const after = listWidgets(now);
  if (before.every((name, index) => after[index] === name)) return undefined;
  return { change: 'input order', detail: `${before.join(', ')} -> ${after.join(', ')}`, breaks: true };
}

/** Whether a saved value can now be out of range. */
function isNarrower(is: Input, was: Input): boolean {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = was;
  return (is.min ?? min) > min || (is.max ?? max) < max;
}

function describeRange({ min, max }: Input): string {
  return `${min ?? 'any'} to ${max ?? 'any'}`;
}

function formatValue(initial: unknown): string {
  // A default that is computed at run time is listed as an object.
  if (isRecord(initial)) return COMPUTED;
  return initial === undefined ? 'none' : JSON.stringify(initial);
}

/** Types that match any other type. */
export const ANY_TYPES = ['*', 'COMFY_MATCHTYPE_V3'];

/** Whether an output of type `offered` can be connected to an input of type `wanted`; both may list several types. */
function acceptsValue(wanted: string, offered: string): boolean {
  if (ANY_TYPES.includes(wanted) || ANY_TYPES.includes(offered)) return true;
  const types = wanted.split(',');
  return offered.split(',').every((type) => types.includes(type));
}

function compareOutputs(was: ListedDefinition, is: ListedDefinition): Difference[] {
  const old = readList(was.return_types);
  const now = readList(is.return_types);
  if (!old || !now || old.join() === now.join()) return [];
  // Workflows refer to outputs by position, so only additions at the end are compatible.
  const breaks = old.some((type, index) => now[index] === undefined || !acceptsValue(type, now[index]));
  return [
    { change: 'outputs', detail: `${old.join(', ') || 'none'} -> ${now.join(', ') || 'none'}`, breaks },
  ];
}

function compareRest(was: ListedDefinition, is: ListedDefinition): Difference[] {
  const category = `${was.category ?? ''} -> ${is.category ?? ''}`;
  return [
    ...(is.deprecated && !was.deprecated ? [{ change: 'deprecated', detail: '', breaks: false }] : []),
    ...(was.category !== is.category ? [{ change: 'category', detail: category, breaks: false }] : []),
  ];
}

/** One input of a definition. */
export interface Input {
  readonly required: boolean;
  /** Type name; `COMBO` for a list of choices. */
  readonly type: string;
  readonly choices: readonly string[];
  /** Whether it is edited in the node. */
  readonly isWidget: boolean;
  /** The declared default value; undefined if there is none. */
  readonly initial: unknown;
  /** Whether some of its choices, or its type, are computed at run time. */
  readonly isOpen: boolean;
  /** Bounds of a number. */
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** The type of an input that is computed at run time. */
export const COMPUTED = 'computed';

/** Types that are edited in the node, so they always have a value. */
const WIDGET_TYPES = new Set(['INT', 'FLOAT', 'STRING', 'BOOLEAN', 'COMBO']);

/** Parses the JSON text of input_types; undefined if it is not an object. */
export function readInputs(text: string | undefined): Map<string, Input> | undefined {
  const whole = parseJson(text ?? 'null');
  if (!isRecord(whole)) return undefined;
  const inputs = new Map<string, Input>();
  for (const part of ['required', 'optional'] as const) {
    const group = whole[part];
    if (!isRecord(group)) continue;
    for (const [name, declared] of Object.entries(group))
      inputs.set(name, toInput(declared, part === 'required'));
  }
  return inputs;
}

function toInput(declared: unknown, required: boolean): Input {
  const [kind, options] = Array.isArray(declared) ? declared : [declared, undefined];
  const listed = Array.isArray(kind)
    ? kind
    : isRecord(options) && Array.isArray(options.options)
      ? options.options
      : [];
  const type = Array.isArray(kind) ? 'COMBO' : typeof kind === 'string' ? kind : COMPUTED;
  const settings = isRecord(options) ? options : {};
  return {
    required,
    type,
    choices: listed.map(String),
    // What is computed at run time is listed as an object.
    isOpen: type === COMPUTED || isRecord(settings.options) || listed.some(isRecord),
    isWidget: WIDGET_TYPES.has(type) && settings.forceInput !== true,
    initial: settings.default,
    min: toNumber(settings.min),
    max: toNumber(settings.max),
  };
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Parses the JSON text of a list of names; undefined if it is not a list. */
export function readList(text: string | undefined): string[] | undefined {
  const list = parseJson(text ?? 'null');
  return Array.isArray(list)
    ? list.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
    : undefined;
}

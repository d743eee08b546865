import { isRecord, parseJson } from './json.js';
import { createTypeCheck, type PackTypes, type TypeCheck } from './link-types.js';

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
  /** `node added`, `node removed`, `input added`, `input removed`, `input type`, `choices removed`, `choices added`, `range narrowed`, `output` … */
  readonly change: string;
  readonly detail: string;
  /** Whether a workflow saved with the old version stops working or behaves differently. */
  readonly breaks: boolean;
}

export function compareDefinitions(
  before: readonly ListedDefinition[],
  after: readonly ListedDefinition[],
): Change[] {
  const old = groupByName(before);
  const now = groupByName(after);
  const accepts = createTypeCheck(collectTypes(before), collectTypes(after));
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((host_node_name) => {
    const was = old.get(host_node_name);
    const is = now.get(host_node_name);
    const changes = was && is ? compareOne(was, is, accepts) : [was ? NODE_REMOVED : NODE_ADDED];
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

function compareOne(was: ListedDefinition, is: ListedDefinition, accepts: TypeCheck): Difference[] {
  const differences = [
    ...compareInputs(was, is, accepts),
    ...compareOutputs(was, is, accepts),
    ...compareRest(was, is),
  ];
  // No workflow has run with it.
  return isUnusable(was) ? differences.map((one) => ({ ...one, breaks: false })) : differences;
}

function compareInputs(was: ListedDefinition, is: ListedDefinition, accepts: TypeCheck): Difference[] {
  const old = readInputs(was.input_types);
  const now = readInputs(is.input_types);
  // Inputs that are computed at run time cannot be compared.
  if (!old || !now) return [];
  const wasOpen = hasComputedNames(was.input_types);
  const isOpen = hasComputedNames(is.input_types);
  // The host fills in hidden inputs, and links cannot lead to them.
  const hidden = new Set(Object.keys(readGroups(is.input_types).hidden ?? {}));
  const differences: Difference[] = [];
  for (const [name, input] of old) {
    const same = now.get(name);
    const add = (change: string, breaks: boolean, what: string) =>
      differences.push({ change, detail: `${name}: ${what}`, breaks });
    if (same) compareInput(input, same, accepts, add);
    else if (!isOpen) add('input removed', input.isWidget || !hidden.has(name), input.type);
  }
  const order = wasOpen || isOpen ? undefined : compareOrder(old, now);
  if (order) differences.push(order);
  // The host refuses prompts saved for its API that lack a required input, even if it has a default.
  for (const [name, { type, required }] of now) {
    if (old.has(name) || wasOpen) continue;
    const detail = `${name}: ${type} (${required ? 'required' : 'optional'})`;
    differences.push({ change: 'input added', detail, breaks: required });
  }
  return differences;
}

function compareInput(
  was: Input,
  is: Input,
  accepts: TypeCheck,
  add: (change: string, breaks: boolean, what: string) => void,
): void {
  if (is.type !== was.type && ![is.type, was.type].includes(COMPUTED))
    add('input type', !accepts(is.type, was.type), `${was.type} -> ${is.type}`);
  const gone = was.choices.filter((choice) => !is.choices.includes(choice));
  if (is.choices.length > 0 && !is.isOpen && gone.length > 0) add('choices removed', true, gone.join(', '));
  const more = is.choices.filter((choice) => !was.choices.includes(choice));
  if (was.choices.length > 0 && !was.isOpen && more.length > 0) add('choices added', false, more.join(', '));
  if (!is.required && was.required) add('input optional', false, is.type);
  const range = `${describeRange(was)} -> ${describeRange(is)}`;
  if (isNarrower(is, was)) add('range narrowed', true, range);
  else if (isNarrower(was, is)) add('range widened', false, range);
  const initial = [was.initial, is.initial].map(formatValue);
  if (is.type === was.type && initial[0] !== initial[1] && !initial.includes(COMPUTED))
    add('default', false, initial.join(' -> '));
  if (is.required && !was.required) add('input required', true, is.type);
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

/** Whether a value that was in range can now be out of it. A bound that is computed at run time cannot be compared. */
function isNarrower(is: Input, was: Input): boolean {
  if (is.type !== was.type) return false;
  const isLess = (low: Bound | undefined, high: Bound | undefined) =>
    typeof low === 'number' && typeof high === 'number' && low < high;
  return isLess(was.min ?? HOST_RANGE.min, is.min) || isLess(is.max, was.max ?? HOST_RANGE.max);
}

/** What the host lets people enter in a number without bounds. */
const HOST_RANGE = { min: 0, max: 2048 };

function describeRange({ min, max }: Input): string {
  return `${min ?? 'any'} to ${max ?? 'any'}`;
}

function formatValue(initial: unknown): string {
  if (isRecord(initial)) return COMPUTED;
  return initial === undefined ? 'none' : JSON.stringify(initial);
}

function collectTypes(definitions: readonly ListedDefinition[]): PackTypes {
  const outputs = definitions.flatMap(({ return_types }) => readList(return_types) ?? []);
  const inputs = definitions.flatMap(({ input_types }) => [...(readInputs(input_types)?.values() ?? [])]);
  return { outputs: new Set(outputs), all: new Set([...outputs, ...inputs.map(({ type }) => type)]) };
}

function compareOutputs(was: ListedDefinition, is: ListedDefinition, accepts: TypeCheck): Difference[] {
  const old = readList(was.return_types);
  const now = readList(is.return_types);
  if (!old || !now || old.join() === now.join()) return [];
  if ([...old, ...now].includes(COMPUTED)) return [];
  // Workflows refer to outputs by position, so only additions at the end are compatible.
  const breaks = old.some((type, index) => now[index] === undefined || !accepts(type, now[index]));
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
  readonly isWidget: boolean;
  /** The declared default value; undefined if there is none. */
  readonly initial: unknown;
  /** Whether some of its choices, or its type, are computed at run time. */
  readonly isOpen: boolean;
  /** Bounds of a number. */
  readonly min: Bound | undefined;
  readonly max: Bound | undefined;
}

type Bound = number | typeof COMPUTED;

/** What is computed at run time: the type of an input, a bound, an output. */
export const COMPUTED = 'computed';
/** The key of what stands for it in a definition; beside other keys, it means that there are more. */
export const COMPUTED_KEY = '$computed';

export function isComputed(value: unknown): boolean {
  return isRecord(value) && COMPUTED_KEY in value;
}

function readGroups(text: string | undefined): Readonly<Record<string, unknown>> {
  const whole = parseJson(text ?? 'null');
  return isRecord(whole) ? whole : {};
}

/** Whether inputs may have names that are known only at run time. */
export function hasComputedNames(text: string | undefined): boolean {
  const groups = readGroups(text);
  return [groups, groups.required, groups.optional].some(isComputed);
}

/** Whether a definition requires what is not an input, as if a tooltip stood beside the inputs. */
function isUnusable({ input_types }: ListedDefinition): boolean {
  return Object.values(readGroups(input_types).required ?? {}).some(
    (declared) => typeof declared === 'string',
  );
}

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
      if (name !== COMPUTED_KEY && isDeclaration(declared))
        inputs.set(name, toInput(declared, part === 'required'));
  }
  return inputs;
}

/** Groups within groups and texts are not inputs, but there are packs with them. */
function isDeclaration(declared: unknown): boolean {
  return Array.isArray(declared) || isComputed(declared);
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
  const toBound = (value: unknown) =>
    isComputed(options) || isComputed(value) ? COMPUTED : typeof value === 'number' ? value : undefined;
  return {
    required,
    type,
    choices: listed.filter((choice) => !isComputed(choice)).map(String),
    isOpen: type === COMPUTED || isRecord(settings.options) || listed.some(isRecord),
    isWidget: WIDGET_TYPES.has(type) && settings.forceInput !== true,
    initial: isComputed(options) ? options : settings.default,
    min: toBound(settings.min),
    max: toBound(settings.max),
  };
}

/** Parses the JSON text of a list of types; undefined if it is not a list. */
export function readList(text: string | undefined): string[] | undefined {
  const list = parseJson(text ?? 'null');
  return Array.isArray(list) ? list.map(toOutputType) : undefined;
}

function toOutputType(type: unknown): string {
  if (typeof type === 'string') return type;
  // What takes one of a list of choices has the same list, and changes with it.
  return Array.isArray(type) ? 'COMBO' : isComputed(type) ? COMPUTED : JSON.stringify(type);
}

import {
  COMPUTED,
  hasComputedNames,
  type Input,
  type ListedDefinition,
  listWidgets,
  readInputs,
  readList,
} from '../../contract/compare-definitions.js';
import { ANY_TYPES, HOST_TYPES } from '../../contract/link-types.js';
import { PLACEHOLDER } from '../../contract/placeholder.js';
import type { Link, WorkflowNode } from './parse-workflow.js';

export interface NodeProblem {
  readonly problem:
    | 'input missing'
    | 'input unknown'
    | 'output missing'
    | 'link type'
    | 'link'
    | 'choice'
    | 'range'
    | 'value'
    | 'position';
  readonly detail: string;
  /** False if it may not matter, because nothing may run the node. */
  readonly breaks?: boolean;
}

/** A definition as far as it is known. */
export interface ReadDefinition {
  /** Undefined if they are computed at run time. */
  readonly inputs: ReadonlyMap<string, Input> | undefined;
  readonly outputs: readonly string[] | undefined;
  /** Whether there may be more inputs than are listed. */
  readonly isOpen: boolean;
}

export function readDefinition(listed: ListedDefinition): ReadDefinition {
  const inputs = readInputs(listed.input_types);
  const outputs = readList(listed.return_types);
  const isDynamic = [...(inputs ?? [])].some(([, { type }]) => DYNAMIC.test(type));
  return { inputs, outputs, isOpen: isDynamic || hasComputedNames(listed.input_types) };
}

/** Inputs that bring others, which the editor adds. */
const DYNAMIC = /^COMFY_(?:AUTOGROW|DYNAMIC)/;

/** What a node is checked against. */
export interface NodeCheck {
  readonly node: WorkflowNode;
  readonly definition: ReadDefinition;
  /** The definition of the version that the workflow was saved with, if it is another one. */
  readonly before: ReadDefinition | undefined;
  readonly find: (id: string) => ReadDefinition | undefined;
}

/** Lists what the host would refuse, or read as something else than was saved. */
export function checkNode({ node, definition, before, find }: NodeCheck): NodeProblem[] {
  const { inputs } = definition;
  // A muted or bypassed node is loaded and does not run.
  if (!inputs || !node.isActive) return [];
  const values = nameValues(node, before ?? definition);
  return [
    ...checkInputs(node, values, definition, before),
    ...[...node.links].flatMap(([name, link]) => {
      const source = link.from === undefined ? undefined : find(link.from);
      return checkLink(name, inputs.get(name), source?.outputs, link);
    }),
    ...(node.list ? checkPositions(node, definition, before) : []),
    ...[...(values ?? [])].flatMap(([name, value]) => {
      const input = inputs.get(name);
      return input && !node.links.has(name) ? checkValue(name, input, value) : [];
    }),
  ];
}

function checkInputs(
  node: WorkflowNode,
  values: ReadonlyMap<string, unknown> = new Map(),
  { inputs = new Map<string, Input>(), isOpen }: ReadDefinition,
  before: ReadDefinition | undefined,
): NodeProblem[] {
  const problems: NodeProblem[] = [];
  for (const [name, input] of inputs) {
    const { required, type } = input;
    if (!required || node.links.has(name) || values.has(name) || DYNAMIC.test(type)) continue;
    // What leads to no result is not run, but a new input was connected nowhere.
    const isNew = before?.inputs !== undefined && !before.inputs.has(name);
    if (node.sockets && (!isSocket(node, name, input) || (node.isUsed === false && !isNew))) continue;
    const breaks = !node.sockets || node.isUsed !== undefined || isNew;
    problems.push({ problem: 'input missing', detail: `${name}: ${type} is required and not given`, breaks });
  }
  // Packs add inputs in the editor, so one is lost only if the version that the workflow was saved with had it.
  const lost = (name: string) => !isOpen && !inputs.has(name) && before?.inputs?.has(name);
  for (const name of new Set([...node.links.keys(), ...values.keys()]))
    if (lost(name))
      problems.push({ problem: 'input unknown', detail: `${name}: this version has no such input` });
  return problems;
}

/** Whether an input can only be connected. Packs edit types of their own in the node, which the file then has no socket for. */
function isSocket({ sockets }: WorkflowNode, name: string, { type, isWidget }: Input): boolean {
  return !isWidget && (sockets?.has(name) || HOST_TYPES.has(type));
}

/** Lists the links of a file of the API to nodes that it does not have; the editor drops such links. */
export function findBrokenLinks(
  { links, sockets }: WorkflowNode,
  has: (id: string) => boolean,
): NodeProblem[] {
  return [...links].flatMap(([name, { from }]) => {
    if (sockets || from === undefined || has(from)) return [];
    return [{ problem: 'link', detail: `${name}: links to node ${from}, which the workflow does not have` }];
  });
}

function checkLink(
  name: string,
  input: Input | undefined,
  outputs: readonly string[] | undefined,
  { slot, type }: Link,
): NodeProblem[] {
  const offered = outputs ? outputs[slot] : type;
  // A node whose last output is of any type often adds more in the editor.
  if (outputs && outputs.length > 0 && offered === undefined && outputs.at(-1) !== '*') {
    const detail = `${name}: connected to output ${slot + 1} of a node with ${outputs.length}`;
    return [{ problem: 'output missing', detail }];
  }
  if (!input || offered === undefined || overlaps(input.type, offered)) return [];
  return [{ problem: 'link type', detail: `${name}: takes ${input.type}, and is connected to ${offered}` }];
}

/** As the host compares types: one in common is enough. Lists of choices and what is computed match everything. */
function overlaps(wanted: string, offered: string): boolean {
  const own = wanted.split(',').map((type) => type.trim());
  const other = offered.split(',').map((type) => type.trim());
  const isOpen = (type: string) =>
    ANY_TYPES.includes(type) || type === COMPUTED || type === 'COMBO' || /^[[{]|^COMFY_/.test(type);
  return [...own, ...other].some(isOpen) || own.some((type) => other.includes(type));
}

/** What the editor saves after the value of a widget that it changes on its own. */
const CONTROLS = new Set(['fixed', 'increment', 'decrement', 'randomize', 'increment-wrap']);

/** The values of the editor's file by input; undefined if it is not certain to which inputs they belong. */
function nameValues(node: WorkflowNode, saved: ReadDefinition): ReadonlyMap<string, unknown> | undefined {
  if (node.values) return node.values;
  const names = listSavedWidgets(node, saved);
  return names && node.list ? alignValues(names, node.list, saved) : undefined;
}

/** The inputs whose values the file has, in order. The file names them all, or only those that were made sockets. */
function listSavedWidgets(node: WorkflowNode, { inputs }: ReadDefinition): readonly string[] | undefined {
  const { widgets, list = [] } = node;
  const declared =
    inputs && [...inputs].filter(([name, input]) => !isSocket(node, name, input)).map(([name]) => name);
  if (widgets && widgets.length >= list.filter((value) => !isControl(value)).length) return widgets;
  return declared;
}

function isControl(value: unknown): boolean {
  return typeof value === 'string' && CONTROLS.has(value);
}

function alignValues(
  names: readonly string[],
  list: readonly unknown[],
  { inputs }: ReadDefinition,
): ReadonlyMap<string, unknown> | undefined {
  const values = new Map<string, unknown>();
  let at = 0;
  for (const [index, name] of names.entries()) {
    const input = inputs?.get(name);
    if (at >= list.length) break;
    if (input && !fits(input, list[at])) return undefined;
    values.set(name, list[at]);
    at += 1;
    const takesControl = !input || ['INT', 'COMBO', COMPUTED].includes(input.type);
    // The next widget may be one of choices with the same words.
    const isNext = inputs?.get(names[index + 1] ?? '')?.choices.includes(String(list[at]));
    if (takesControl && isControl(list[at]) && (!isNext || /(?:^|_)seed$/.test(name))) at += 1;
  }
  // More values than widgets: the pack adds widgets in the editor, and they may stand anywhere.
  const rest = list.slice(at).filter((value) => value !== null && value !== '' && !UPLOADS.has(value));
  return rest.length > 0 ? undefined : values;
}

/** What the button that uploads a file saves. */
const UPLOADS = new Set<unknown>(['image', 'video', 'audio', 'upload', 'file']);

/** Whether a saved value can be one of an input; what is not known to be wrong can. */
function fits({ type, choices, isOpen }: Input, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (type === 'INT' || type === 'FLOAT') return typeof value === 'number' || Number.isFinite(Number(value));
  if (type === 'BOOLEAN')
    return typeof value !== 'object' && (typeof value !== 'string' || isBooleanText(value));
  if (type === 'COMBO' && !isOpen && choices.length > 0)
    return typeof value !== 'object' || Array.isArray(value);
  return true;
}

function isBooleanText(value: string): boolean {
  return /^(?:true|false|enabled?|disabled?|yes|no|on|off)$/i.test(value);
}

/** Values are saved by position: in a version with other widgets they are read as those of other inputs. */
function checkPositions(
  node: WorkflowNode,
  definition: ReadDefinition,
  before: ReadDefinition | undefined,
): NodeProblem[] {
  if (!definition.inputs || !before?.inputs || !node.list || node.list.length === 0) return [];
  const saved = listWidgets(before.inputs);
  const now = listWidgets(definition.inputs);
  // Widgets that a pack adds in the editor shift all in the same way, so the declared ones are compared.
  const at = saved.findIndex((name, index) => now[index] !== name);
  if (at < 0 || at >= node.list.length) return [];
  // Those at the end that are gone leave the others in place.
  if (at >= now.length) return [];
  const detail = `saved as ${describeNames(saved)}, and read as ${describeNames(now)}`;
  return [{ problem: 'position', detail }];
}

function describeNames(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown || 'nothing';
}

function checkValue(name: string, input: Input, value: unknown): NodeProblem[] {
  if (value === null || value === undefined) return [];
  const { type, choices, isOpen, min, max } = input;
  const shown = JSON.stringify(value)?.slice(0, 60);
  // A request fills what is a placeholder, and then the choice or number is known.
  const rest = typeof value === 'string' ? value.replace(PLACEHOLDER, '') : value;
  if (rest === '' && value !== '') return [];
  if (!fits(input, value))
    return [{ problem: 'value', detail: `${name}: ${shown} is not a value of ${type}` }];
  if (rest !== value) return [];
  // A single choice is often a placeholder for those that the editor adds.
  if (type === 'COMBO' && !isOpen && choices.length > 1) {
    const gone = [value].flat().filter((one) => !choices.includes(String(one)));
    if (gone.length === 0) return [];
    const list = choices.length > 6 ? `${choices.slice(0, 6).join(', ')} …` : choices.join(', ');
    return [{ problem: 'choice', detail: `${name}: ${shown} is none of ${list}` }];
  }
  if (type !== 'INT' && type !== 'FLOAT') return [];
  const number = Number(value);
  if (typeof min === 'number' && number < min)
    return [{ problem: 'range', detail: `${name}: ${shown} is below ${min}` }];
  if (typeof max === 'number' && number > max)
    return [{ problem: 'range', detail: `${name}: ${shown} is above ${max}` }];
  return [];
}

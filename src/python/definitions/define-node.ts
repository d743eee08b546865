import { findAttribute, listAncestry } from './ancestry.js';
import { measureSize } from './costs.js';
import { addAll, addRest } from './dicts.js';
import type { Interpreter } from './interpreter.js';
import { listItems } from './items.js';
import { Definition, describeValue, getKnownItems } from './render.js';
import {
  DYNAMIC_TYPES,
  getInputOrder,
  getOutputOrder,
  getUsualOptions,
  isWidget,
  RENAMED,
  SCHEMA_ORDER,
  SCHEMA_TYPES,
  UPLOADS,
} from './schema-types.js';
import {
  type Arguments,
  type ClassValue,
  createArguments,
  createDict,
  createList,
  createUnknown,
  type DictValue,
  type ExternalValue,
  isKind,
  isMany,
  type Machine,
  type Value,
} from './values.js';

/** The definition of a class that states it in attributes: CATEGORY, FUNCTION, INPUT_TYPES and their like. */
export function defineFromAttributes(name: string, node: ClassValue, interpreter: Interpreter): Definition {
  const definition = new Definition(name, interpreter);
  const value = (attribute: string): Value | undefined =>
    findAttribute(node, attribute) === undefined
      ? undefined
      : interpreter.attribute(node, attribute, attribute);
  definition.text('category', value('CATEGORY'));
  definition.text('function', value('FUNCTION'));
  definition.text('description', value('DESCRIPTION'));
  definition.flag('deprecated', value('DEPRECATED'));
  definition.flag('experimental', value('EXPERIMENTAL'));
  readInputTypes(definition, node, interpreter);
  readReturnTypes(definition, value('RETURN_TYPES'), value('RETURN_NAMES'), value('OUTPUT_IS_LIST'));
  if (hasForeignBase(node)) {
    // What it does not state itself comes from a class that is not here.
    if (findAttribute(node, 'CATEGORY') === undefined) definition.missing('category');
    if (findAttribute(node, 'FUNCTION') === undefined) definition.missing('function');
    if (findAttribute(node, 'INPUT_TYPES') === undefined) definition.missing('input_types');
    if (findAttribute(node, 'RETURN_TYPES') === undefined) {
      definition.computed('return_types', 'RETURN_TYPES of a base class');
      definition.computed('return_names', 'RETURN_TYPES of a base class');
    }
  }
  return definition;
}

function hasForeignBase(node: ClassValue): boolean {
  return listAncestry(node).some((one) =>
    one.kind === 'external'
      ? !/^(builtins|abc|typing|enum)\./.test(one.name)
      : one.bases.some((base) => isKind(base, 'unknown')),
  );
}

function readInputTypes(definition: Definition, node: ClassValue, interpreter: Interpreter): void {
  if (findAttribute(node, 'INPUT_TYPES') === undefined) return;
  const stated = interpreter.attribute(node, 'INPUT_TYPES', 'INPUT_TYPES');
  const types = isKind(stated, 'dict') ? stated : callOnClass(node, 'INPUT_TYPES', interpreter);
  if (isKind(types, 'dict')) definition.json('input_types', types);
  else definition.missing('input_types');
}

function readReturnTypes(
  definition: Definition,
  types: Value | undefined,
  names: Value | undefined,
  lists: Value | undefined,
): void {
  if (types === undefined) return;
  // `RETURN_TYPES = ("IMAGE")` lacks its comma and is one output all the same.
  const returned = typeof types === 'string' ? [types] : getKnownItems(types);
  if (!returned) {
    definition.computed('return_types', describeValue(types));
    if (isKind(types, 'list')) definition.json('return_types', types);
  } else {
    definition.json('return_types', createList(returned, 'tuple'));
  }
  const named = typeof names === 'string' ? [names] : getKnownItems(names);
  // The host shows an output without a name by its type.
  if (named) definition.json('return_names', createList(named, 'tuple'));
  else if (names !== undefined && names !== null) definition.computed('return_names', describeValue(names));
  else if (!returned) definition.computed('return_names', describeValue(types));
  else if (returned) definition.json('return_names', createList(returned, 'tuple'));
  const flags = getKnownItems(lists);
  if (flags) definition.lists(flags);
  else if (lists !== undefined) definition.missing('output_is_list');
  else if (returned) definition.lists(returned.map(() => false));
}

/** Calls a method as the host does: on the class, whether or not it says @classmethod. */
function callOnClass(node: ClassValue, name: string, interpreter: Interpreter): Value {
  const method = interpreter.attribute(node, name, name);
  const self: Value[] = isKind(method, 'method') ? [] : [node];
  return interpreter.call(method, createArguments(self, `${node.name}.${name}()`));
}

/** The definition of a class that states it as one schema. `name` is absent where the schema's node_id is the name. */
export function defineFromSchema(
  name: string | undefined,
  node: ClassValue,
  interpreter: Interpreter,
): Definition | undefined {
  const stated = findCall(callOnClass(node, 'define_schema', interpreter), 'Schema');
  if (!stated) {
    if (name === undefined) return undefined;
    const definition = new Definition(name, interpreter);
    definition.missing('category', 'input_types', 'return_types');
    return definition;
  }
  const given = nameArguments(stated, SCHEMA_ORDER);
  const id = name ?? given.get('node_id');
  if (typeof id !== 'string') return undefined;
  const definition = new Definition(id, interpreter);
  definition.text('category', given.get('category'));
  definition.text('description', given.get('description'));
  definition.flag('deprecated', given.get('is_deprecated'));
  definition.flag('experimental', given.get('is_experimental'));
  // Decided: the entry point of a schema's class is its `execute`, which the host wraps under a name of its own.
  if (findAttribute(node, 'execute') !== undefined) definition.fields.function = 'execute';
  definition.json('input_types', readInputs(given, interpreter));
  readOutputs(definition, given.get('outputs'));
  if (stated.uncertain) definition.missing('input_types');
  return definition;
}

/** The arguments of a call to `….<last>(…)` of another package. */
function findCall(value: Value | undefined, last: string): Arguments | undefined {
  if (!isKind(value, 'external') || !value.called) return undefined;
  return value.name === last || value.name.endsWith(`.${last}`) ? value.called : undefined;
}

function nameArguments(given: Arguments, order: readonly string[]): Map<string, Value> {
  const named = new Map(given.named);
  for (const [index, value] of given.list.entries()) {
    const name = order[index];
    if (name !== undefined && !named.has(name)) named.set(name, value);
  }
  return named;
}

/** The type a port is of: its name in the host's table, and its word in a workflow. */
function getPortType(port: ExternalValue): { name: string; word: Value } {
  const name = port.name.split('.').at(-2) ?? '';
  const parent = port.of;
  // `io.Image.Input(…)` was called on `io.Image.Input`, which was taken from `io.Image`.
  const type = isKind(parent, 'external') ? parent.of : undefined;
  return { name, word: getTypeWord(name, type) };
}

function getTypeWord(name: string, type: Value | undefined): Value {
  if (name === 'Custom' && isKind(type, 'external'))
    return type.called?.list[0] ?? type.called?.named.get('io_type') ?? createUnknown('io.Custom');
  return Object.hasOwn(SCHEMA_TYPES, name) ? (SCHEMA_TYPES[name] ?? null) : createUnknown(`io.${name}`);
}

function readInputs(given: Map<string, Value>, machine: Machine): Value {
  const required = createDict();
  const optional = createDict();
  const inputs = given.get('inputs');
  const items = inputs === undefined || inputs === null ? [] : listItems(inputs, machine);
  for (const item of items ?? [createUnknown(describeValue(inputs ?? null))]) {
    const input = !isMany(item) && readInput(item, machine);
    if (!input) addRest(required, createUnknown(describeValue(item)), item);
    else (input.optional ? optional : required).entries.set(input.id, input.value);
  }
  const result = createDict([['required', required]]);
  if (optional.entries.size > 0) result.entries.set('optional', optional);
  const hidden = readHidden(given, machine);
  if (hidden.entries.size > 0 || hidden.rest.length > 0) result.entries.set('hidden', hidden);
  return result;
}

function readInput(
  item: Value,
  machine: Machine,
): { id: string; optional: boolean; value: Value } | undefined {
  const given = findCall(item, 'Input');
  if (!given || !isKind(item, 'external')) return undefined;
  const { name, word: type } = getPortType(item);
  const named = nameArguments(given, getInputOrder(name));
  machine.spend(50);
  const id = named.get('id');
  if (name === 'MultiType') return readMultiType(named, machine);
  if (typeof id !== 'string') return undefined;
  const options = readOptions(name, named, machine);
  if (given.uncertain) addRest(options, createUnknown(given.text), createUnknown(given.text));
  return { id, optional: named.get('optional') === true, value: createList([type, options], 'tuple') };
}

function readMultiType(named: Map<string, Value>, machine: Machine): ReturnType<typeof readInput> {
  const own = named.get('id');
  // A loop can nest inputs without end.
  const inner = own === undefined ? undefined : machine.nest(() => readInput(own, machine));
  const id = typeof own === 'string' ? own : inner?.id;
  if (id === undefined) return undefined;
  const types = (listItems(named.get('types'), machine) ?? []).map((type) =>
    isKind(type, 'external')
      ? getTypeWord(type.name.split('.').at(-1) ?? '', type)
      : createUnknown(describeValue(type)),
  );
  const first = inner && isKind(inner.value, 'list') ? inner.value.items : [];
  const words = [...(first[0] === undefined ? [] : [first[0]]), ...types];
  const known = words.length > 0 && words.every((one) => typeof one === 'string');
  const type = known ? [...new Set(words)].join(',') : createUnknown(`io.MultiType of ${id}`);
  const optional = named.get('optional') === true || inner?.optional === true;
  // The options of the input that it is, then its own.
  const options = createDict();
  if (isKind(first[1], 'dict')) addAll(options, first[1], machine);
  const kind = isKind(own ?? null, 'external') ? getPortType(own as ExternalValue).name : '';
  if (isWidget(kind) && first[0] !== undefined) options.entries.set('widgetType', first[0]);
  for (const [key, value] of readOptions('MultiType', named, machine).entries)
    if (!options.entries.has(key)) options.entries.set(key, value);
  return { id, optional, value: createList([type, options], 'tuple') };
}

function readOptions(name: string, named: Map<string, Value>, machine: Machine): DictValue {
  const options = createDict(Object.entries(getUsualOptions(name)));
  for (const [key, value] of named) {
    if (['id', 'optional', 'types', 'extra_dict'].includes(key) || value === null) continue;
    if (DYNAMIC_TYPES.has(name) && (key === 'template' || key === 'options'))
      options.entries.set(key, createUnknown(describeValue(value)));
    else if (key === 'upload') options.entries.set(UPLOADS[getLastWord(value)] ?? 'upload', true);
    else if (key === 'image_folder' || key === 'display_mode')
      options.entries.set(
        RENAMED[key] ?? key,
        typeof value === 'string' ? value : getLastWord(value) || createUnknown(describeValue(value)),
      );
    else options.entries.set(RENAMED[key] ?? key, key === 'options' ? readMembers(value, machine) : value);
  }
  const extra = named.get('extra_dict');
  if (isKind(extra, 'dict')) {
    machine.spend(measureSize(extra));
    for (const [key, value] of extra.entries) if (value !== null) options.entries.set(key, value);
  }
  return options;
}

/** A combo's options may be an Enum, whose values are meant. */
function readMembers(value: Value, machine: Machine): Value {
  if (!isKind(value, 'class')) return value;
  const items = listItems(value, machine)?.map((one) =>
    isKind(one, 'instance') ? one.attributes.get('value') : one,
  );
  return items ? createList(items.map((one) => one ?? null)) : createUnknown(value.name);
}

function getLastWord(value: Value): string {
  return isKind(value, 'external') && !value.called ? (value.name.split('.').at(-1) ?? '') : '';
}

function readHidden(given: Map<string, Value>, machine: Machine): DictValue {
  const hidden = createDict();
  const add = (name: string) => hidden.entries.set(name, createList([name.toUpperCase()], 'tuple'));
  for (const item of listItems(given.get('hidden'), machine) ?? []) {
    const name = getLastWord(item);
    if (name) add(name);
    else addRest(hidden, createUnknown(describeValue(item)), item);
  }
  if (given.get('is_api_node') === true)
    for (const name of ['auth_token_comfy_org', 'api_key_comfy_org']) add(name);
  if (given.get('is_output_node') === true) for (const name of ['prompt', 'extra_pnginfo']) add(name);
  return hidden;
}

function readOutputs(definition: Definition, value: Value | undefined): void {
  const items = value === undefined || value === null ? [] : getKnownItems(value);
  if (!items) {
    definition.missing('return_types', 'return_names', 'output_is_list');
    return;
  }
  const ports = items.map((item) => {
    definition.machine.spend(10);
    const given = findCall(item, 'Output');
    const unknown = createUnknown(describeValue(item));
    if (!given || !isKind(item, 'external')) return { type: unknown, name: unknown, isList: unknown };
    const { name, word: type } = getPortType(item);
    const named = nameArguments(given, getOutputOrder(name));
    const shown = named.get('display_name') || named.get('id') || (name === 'MatchType' ? 'MATCHTYPE' : type);
    return { type, name: shown, isList: named.get('is_output_list') ?? false };
  });
  definition.json('return_types', createList(ports.map(({ type }) => type)));
  definition.json('return_names', createList(ports.map(({ name }) => name)));
  definition.lists(ports.map(({ isList }) => isList));
}

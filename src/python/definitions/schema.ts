import { Definition, itemsOf } from './host-node.js';
import type { Interpreter } from './interpreter.js';
import { iterate } from './items.js';
import { textOf } from './render.js';
import {
  dynamicTypes,
  inputOrder,
  plainInputOrder,
  renamed,
  schemaOrder,
  schemaTypes,
  uploads,
} from './schema-types.js';
import {
  type Arguments,
  addRest,
  args,
  type ClassValue,
  type DictValue,
  dict,
  type ExternalValue,
  find,
  isMany,
  isObject,
  list,
  type Machine,
  sizeOf,
  unknown,
  type Value,
} from './values.js';

/** The definition of a class that states it as one schema. `name` is absent where the schema's node_id is the name. */
export function fromSchema(
  name: string | undefined,
  node: ClassValue,
  interpreter: Interpreter,
): Definition | undefined {
  const method = interpreter.attribute(node, 'define_schema', 'define_schema');
  const self: Value[] = isObject(method) && method.kind === 'method' ? [] : [node];
  const schema = interpreter.call(method, args(self, `${node.name}.define_schema()`));
  const stated = called(schema, 'Schema');
  if (!stated) {
    if (name === undefined) return undefined;
    const definition = new Definition(name, interpreter);
    definition.missing('category', 'input_types', 'return_types');
    return definition;
  }
  const given = byName(stated, schemaOrder);
  const id = name ?? given.get('node_id');
  if (typeof id !== 'string') return undefined;
  const definition = new Definition(id, interpreter);
  definition.text('category', given.get('category'));
  definition.text('description', given.get('description'));
  definition.flag('deprecated', given.get('is_deprecated'));
  definition.flag('experimental', given.get('is_experimental'));
  // Decided: the entry point of a schema's class is its `execute`, which the host wraps under a name of its own.
  if (find(node, 'execute') !== undefined) definition.fields.function = 'execute';
  definition.json('input_types', inputsOf(given, interpreter));
  outputs(definition, given.get('outputs'));
  if (stated.uncertain) definition.missing('input_types');
  return definition;
}

/** The arguments of a call to `….<last>(…)` of another package. */
function called(value: Value | undefined, last: string): Arguments | undefined {
  if (value === undefined || !isObject(value) || value.kind !== 'external' || !value.called) return undefined;
  return value.name === last || value.name.endsWith(`.${last}`) ? value.called : undefined;
}

function byName(given: Arguments, order: readonly string[]): Map<string, Value> {
  const named = new Map(given.named);
  for (const [index, value] of given.list.entries()) {
    const name = order[index];
    if (name !== undefined) named.set(name, value);
  }
  return named;
}

/** The type a port is of: its name in the host's table, and its word in a workflow. */
function typeOf(port: ExternalValue): { name: string; word: Value } {
  const name = port.name.split('.').at(-2) ?? '';
  const parent = port.of;
  // `io.Image.Input(…)` was called on `io.Image.Input`, which was taken from `io.Image`.
  const type = parent !== undefined && isObject(parent) && parent.kind === 'external' ? parent.of : undefined;
  return { name, word: word(name, type) };
}

function word(name: string, type: Value | undefined): Value {
  if (name === 'Custom' && type !== undefined && isObject(type) && type.kind === 'external')
    return type.called?.list[0] ?? type.called?.named.get('io_type') ?? unknown('io.Custom');
  return Object.hasOwn(schemaTypes, name) ? (schemaTypes[name] ?? null) : unknown(`io.${name}`);
}

function inputsOf(given: Map<string, Value>, machine: Machine): Value {
  const required = dict();
  const optional = dict();
  const inputs = given.get('inputs');
  const items = inputs === undefined || inputs === null ? [] : iterate(inputs, machine);
  for (const item of items ?? [unknown(textOf(inputs ?? null))]) {
    const input = !isMany(item) && inputOf(item, machine);
    if (!input) addRest(required, unknown(textOf(item)), item);
    else (input.optional ? optional : required).entries.set(input.id, input.value);
  }
  const result = dict([['required', required]]);
  if (optional.entries.size > 0) result.entries.set('optional', optional);
  const hidden = hiddenOf(given, machine);
  if (hidden.entries.size > 0 || hidden.rest.length > 0) result.entries.set('hidden', hidden);
  return result;
}

function inputOf(item: Value, machine: Machine): { id: string; optional: boolean; value: Value } | undefined {
  const given = called(item, 'Input');
  if (!given || !isObject(item) || item.kind !== 'external') return undefined;
  const { name, word: type } = typeOf(item);
  const named = byName(
    given,
    (Object.hasOwn(inputOrder, name) ? inputOrder[name] : undefined) ?? plainInputOrder,
  );
  machine.spend(50);
  const id = named.get('id');
  if (name === 'MultiType') return multiType(named, machine);
  if (typeof id !== 'string') return undefined;
  const options = optionsOf(name, named, machine);
  if (given.uncertain) addRest(options, unknown(given.text), unknown(given.text));
  return { id, optional: named.get('optional') === true, value: list([type, options], 'tuple') };
}

function multiType(named: Map<string, Value>, machine: Machine): ReturnType<typeof inputOf> {
  const own = named.get('id');
  const inner = own === undefined ? undefined : inputWithin(own, machine);
  const id = typeof own === 'string' ? own : inner?.id;
  if (id === undefined) return undefined;
  const types = (iterate(named.get('types'), machine) ?? []).map((type) =>
    isObject(type) && type.kind === 'external'
      ? word(type.name.split('.').at(-1) ?? '', type)
      : unknown(textOf(type)),
  );
  const first = inner && isObject(inner.value) && inner.value.kind === 'list' ? inner.value.items : [];
  const words = [...(first[0] === undefined ? [] : [first[0]]), ...types];
  const known = words.length > 0 && words.every((one) => typeof one === 'string');
  const type = known ? [...new Set(words)].join(',') : unknown(`io.MultiType of ${id}`);
  const optional = named.get('optional') === true || inner?.optional === true;
  return { id, optional, value: list([type, first[1] ?? optionsOf('MultiType', named, machine)], 'tuple') };
}

/** An input that another is made of; a loop can nest them without end. */
function inputWithin(own: Value, machine: Machine): ReturnType<typeof inputOf> {
  if (!machine.enter()) return undefined;
  try {
    return inputOf(own, machine);
  } finally {
    machine.leave();
  }
}

function optionsOf(name: string, named: Map<string, Value>, machine: Machine): DictValue {
  const options = dict();
  // The host always says these two.
  if (name === 'String') options.entries.set('multiline', false);
  if (name === 'Combo' || name === 'MultiCombo') options.entries.set('multiselect', name === 'MultiCombo');
  for (const [key, value] of named) {
    if (['id', 'optional', 'types', 'extra_dict'].includes(key) || value === null) continue;
    if (dynamicTypes.has(name) && (key === 'template' || key === 'options'))
      options.entries.set(key, unknown(textOf(value)));
    else if (key === 'upload') options.entries.set(uploads[lastWord(value)] ?? 'upload', true);
    else if (key === 'image_folder' || key === 'display_mode')
      options.entries.set(
        renamed[key] ?? key,
        typeof value === 'string' ? value : lastWord(value) || unknown(textOf(value)),
      );
    else options.entries.set(renamed[key] ?? key, key === 'options' ? members(value, machine) : value);
  }
  const extra = named.get('extra_dict');
  if (extra !== undefined && isObject(extra) && extra.kind === 'dict') {
    machine.spend(sizeOf(extra));
    for (const [key, value] of extra.entries) if (value !== null) options.entries.set(key, value);
  }
  return options;
}

/** A combo's options may be an Enum, whose values are meant. */
function members(value: Value, machine: Machine): Value {
  if (!isObject(value) || value.kind !== 'class') return value;
  const items = iterate(value, machine)?.map((one) =>
    isObject(one) && one.kind === 'instance' ? one.attributes.get('value') : one,
  );
  return items ? list(items.map((one) => one ?? null)) : unknown(value.name);
}

function lastWord(value: Value): string {
  return isObject(value) && value.kind === 'external' && !value.called
    ? (value.name.split('.').at(-1) ?? '')
    : '';
}

function hiddenOf(given: Map<string, Value>, machine: Machine): DictValue {
  const hidden = dict();
  const add = (name: string) => hidden.entries.set(name, list([name.toUpperCase()], 'tuple'));
  for (const item of iterate(given.get('hidden'), machine) ?? []) {
    const name = lastWord(item);
    if (name) add(name);
    else addRest(hidden, unknown(textOf(item)), item);
  }
  if (given.get('is_api_node') === true)
    for (const name of ['auth_token_comfy_org', 'api_key_comfy_org']) add(name);
  if (given.get('is_output_node') === true) for (const name of ['prompt', 'extra_pnginfo']) add(name);
  return hidden;
}

function outputs(definition: Definition, value: Value | undefined): void {
  const items = value === undefined || value === null ? [] : itemsOf(value);
  if (!items) {
    definition.missing('return_types', 'return_names', 'output_is_list');
    return;
  }
  const ports = items.map((item) => {
    definition.machine.spend(10);
    const given = called(item, 'Output');
    if (!given || !isObject(item) || item.kind !== 'external')
      return { type: unknown(textOf(item)), name: unknown(textOf(item)), isList: unknown(textOf(item)) };
    const { name, word: type } = typeOf(item);
    const order =
      name === 'MatchType'
        ? ['template', 'id', 'display_name', 'tooltip', 'is_output_list']
        : name === 'Combo'
          ? ['id', 'display_name', 'options', 'tooltip', 'is_output_list']
          : ['id', 'display_name', 'tooltip', 'is_output_list'];
    const named = byName(given, order);
    return { type, name: named.get('display_name') || type, isList: named.get('is_output_list') ?? false };
  });
  definition.json('return_types', list(ports.map(({ type }) => type)));
  definition.json('return_names', list(ports.map(({ name }) => name)));
  definition.lists(ports.map(({ isList }) => isList));
}

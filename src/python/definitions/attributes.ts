import type { Interpreter } from './interpreter.js';
import { Definition, getKnownItems } from './render.js';
import {
  type ClassValue,
  createArguments,
  findAttribute,
  isKind,
  listAncestry,
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
  readInputs(definition, node, interpreter);
  readOutputs(definition, value('RETURN_TYPES'), value('RETURN_NAMES'), value('OUTPUT_IS_LIST'));
  if (hasForeignBase(node)) {
    // What it does not state itself comes from a class that is not here.
    if (findAttribute(node, 'CATEGORY') === undefined) definition.missing('category');
    if (findAttribute(node, 'FUNCTION') === undefined) definition.missing('function');
    if (findAttribute(node, 'INPUT_TYPES') === undefined) definition.missing('input_types');
    if (findAttribute(node, 'RETURN_TYPES') === undefined) definition.missing('return_types', 'return_names');
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

function readInputs(definition: Definition, node: ClassValue, interpreter: Interpreter): void {
  if (findAttribute(node, 'INPUT_TYPES') === undefined) return;
  const method = interpreter.attribute(node, 'INPUT_TYPES', 'INPUT_TYPES');
  // The host calls it on the class, whether or not it says @classmethod.
  const self: Value[] = isKind(method, 'method') ? [] : [node];
  const types = isKind(method, 'dict')
    ? method
    : interpreter.call(method, createArguments(self, `${node.name}.INPUT_TYPES()`));
  if (isKind(types, 'dict')) definition.json('input_types', types);
  else definition.missing('input_types');
}

function readOutputs(
  definition: Definition,
  types: Value | undefined,
  names: Value | undefined,
  lists: Value | undefined,
): void {
  if (types === undefined) return;
  // `RETURN_TYPES = ("IMAGE")` lacks its comma and is one output all the same.
  const returned = typeof types === 'string' ? [types] : getKnownItems(types);
  if (!returned) {
    definition.missing('return_types');
    if (isKind(types, 'list')) definition.json('return_types', types);
  } else {
    definition.json('return_types', { kind: 'list', of: 'tuple', items: returned });
  }
  const named = typeof names === 'string' ? [names] : getKnownItems(names);
  // The host shows an output without a name by its type.
  if (named) definition.json('return_names', { kind: 'list', of: 'tuple', items: named });
  else if (names !== undefined && names !== null) definition.missing('return_names');
  else if (returned) definition.json('return_names', { kind: 'list', of: 'tuple', items: returned });
  const flags = getKnownItems(lists);
  if (flags) definition.lists(flags);
  else if (lists !== undefined) definition.missing('output_is_list');
  else if (returned) definition.lists(returned.map(() => false));
}

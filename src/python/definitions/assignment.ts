import { evaluate } from './evaluate.js';
import { bindTarget, putEntry } from './names.js';
import { applyOperator, mergeAlternatives } from './operators.js';
import { type Expression, type Statement, showPlace } from './syntax.js';
import {
  type ClassValue,
  createArguments,
  createUnknown,
  type EvaluationContext,
  getNames,
  isKind,
  isObject,
  replaceMissing,
  type Value,
} from './values.js';

/**
 * How sure it is that a statement runs. `maybe`: under a condition that cannot be known, so a name that has another value
 * already becomes unknown. `fallback`: the handler of an error we assume not to happen, which only fills what is missing.
 */
type Certainty = 'certain' | 'maybe' | 'fallback';

export interface Frame extends EvaluationContext {
  readonly returned: Value[];
  readonly certainty: Certainty;
  readonly owner?: ClassValue;
}

export function executeAssignment(statement: Statement & { kind: 'assign' }, frame: Frame): void {
  const { machine } = frame;
  let value = evaluate(statement.value, frame);
  if (statement.operator !== undefined) {
    const [target] = statement.targets;
    if (!target) return;
    const before = evaluate(target, frame);
    const update = isKind(before, 'dict') ? 'update' : 'extend';
    // `+=` and `|=` change a list or dict in place, which other names for it must see.
    if (isObject(before) && (before.kind === 'dict' || (before.kind === 'list' && before.of !== 'tuple'))) {
      machine.call(
        machine.attribute(before, update, showPlace(target)),
        createArguments([value], showPlace(statement.value)),
      );
      return;
    }
    value = replaceMissing(
      applyOperator(statement.operator, before, value, machine),
      createUnknown(showPlace(statement.value)),
    );
  }
  for (const target of statement.targets) setTarget(target, value, frame);
}

export function setTarget(target: Expression, value: Value, frame: Frame): void {
  if (target.kind === 'tuple' || target.kind === 'list') {
    bindTarget(target, value, frame, (one, inner) => setTarget(one, inner, frame));
  } else if (target.kind === 'name') {
    setName(target.id, value, showPlace(target), frame);
  } else if (target.kind === 'item') {
    setItem(evaluate(target.object, frame), evaluate(target.key, frame), value, target, frame);
  } else if (target.kind === 'attribute') {
    const object = evaluate(target.object, frame);
    const names = getNames(object);
    if (names) settleName(names, target.name, value, showPlace(target), frame);
  }
}

export function setName(name: string, value: Value, text: string, frame: Frame): void {
  const scope = frame.scope.elsewhere.get(name) ?? frame.scope;
  settleName(scope.names, name, value, text, frame);
}

function settleName<Key>(
  names: Map<Key, Value>,
  key: Key,
  value: Value,
  text: string,
  { certainty, machine }: Frame,
): void {
  machine.spend(2);
  const before = names.get(key);
  if (before === undefined || certainty === 'certain') names.set(key, value);
  else if (certainty === 'maybe') names.set(key, mergeAlternatives(before, value, text, machine));
  else if (isKind(before, 'unknown')) names.set(key, value);
}

function setItem(
  object: Value,
  key: Value,
  value: Value,
  target: Expression & { kind: 'item' },
  frame: Frame,
): void {
  if (!isObject(object)) return;
  if (object.kind === 'dict') {
    if (isObject(key)) putEntry(object, key, value, showPlace(target.key), frame.machine);
    else settleName(object.entries, key, value, showPlace(target), frame);
  } else if (object.kind === 'list' && typeof key === 'bigint') {
    const at = Number(key) < 0 ? object.items.length + Number(key) : Number(key);
    if (at >= 0 && at < object.items.length) object.items[at] = value;
  }
}

export function removeTarget(target: Expression, frame: Frame): void {
  const { scope, machine } = frame;
  machine.spend(1);
  if (target.kind === 'name') scope.names.delete(target.id);
  if (target.kind !== 'item') return;
  const object = evaluate(target.object, frame);
  const key = evaluate(target.key, frame);
  if (isKind(object, 'dict') && !isObject(key)) object.entries.delete(key);
  if (isKind(object, 'list') && typeof key === 'bigint') object.items.splice(Number(key), 1);
}

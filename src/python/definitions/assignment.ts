import { putEntry, touchDict } from './dicts.js';
import { evaluate } from './evaluate.js';
import { bindTarget } from './names.js';
import { applyOperator } from './operators.js';
import { type Expression, type Statement, showPlace } from './syntax.js';
import {
  type ClassValue,
  createArguments,
  createUnknown,
  type EvaluationContext,
  getNames,
  isKind,
  isObject,
  type Machine,
  replaceMissing,
  toAttributeKey,
  type Value,
} from './values.js';

export interface Frame extends EvaluationContext {
  readonly returned: Value[];
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
    setName(target.id, value, frame);
  } else if (target.kind === 'item') {
    setItem(evaluate(target.object, frame), evaluate(target.key, frame), value, target, frame);
  } else if (target.kind === 'attribute') {
    const object = evaluate(target.object, frame);
    const names = getNames(object);
    if (names) setEntry(names, toAttributeKey(object, target.name), value, frame.machine);
  }
}

export function setName(name: string, value: Value, { scope, machine }: Frame): void {
  setEntry((scope.elsewhere.get(name) ?? scope).names, name, value, machine);
}

function setEntry<Key>(names: Map<Key, Value>, key: Key, value: Value, machine: Machine): void {
  machine.spend(2);
  machine.branches.touch(names);
  names.set(key, value);
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
    putEntry(object, key, value, showPlace(target.key), frame.machine);
  } else if (object.kind === 'list' && typeof key === 'bigint') {
    const at = Number(key) < 0 ? object.items.length + Number(key) : Number(key);
    if (at < 0 || at >= object.items.length) return;
    frame.machine.branches.touch(object.items, object.serial);
    object.items[at] = value;
  }
}

export function removeTarget(target: Expression, frame: Frame): void {
  const { scope, machine } = frame;
  machine.spend(1);
  if (target.kind === 'name') {
    machine.branches.touch(scope.names);
    scope.names.delete(target.id);
  }
  if (target.kind !== 'item') return;
  const object = evaluate(target.object, frame);
  const key = evaluate(target.key, frame);
  if (isKind(object, 'dict') && !isObject(key)) {
    touchDict(object, machine);
    object.entries.delete(key);
  } else if (isKind(object, 'list') && typeof key === 'bigint') {
    machine.branches.touch(object.items, object.serial);
    object.items.splice(Number(key), 1);
  }
}

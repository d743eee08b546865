import { builtinNames } from './builtins.js';
import { hasMany, measureSize } from './costs.js';
import { addRest } from './dicts.js';
import { type Expression, showPlace } from './syntax.js';
import {
  type Arguments,
  createDict,
  createList,
  createUnknown,
  type DictValue,
  type EvaluationContext,
  type FunctionValue,
  isKind,
  isObject,
  type Machine,
  type ModuleValue,
  replaceMissing,
  type Scope,
  type Value,
} from './values.js';

/** What making a list, or a dict or scope of names, costs besides what it holds. */
export const LIST_STEPS = 4;
export const NAMES_STEPS = 16;

export function lookUpName(id: string, scope: Scope): Value | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const found = at.names.get(id);
    if (found !== undefined) return found;
  }
  const special = getModuleSpecial(scope.module, id);
  if (special !== undefined) return special;
  return builtinNames.has(id) ? { kind: 'external', name: `builtins.${id}` } : undefined;
}

/** What every module has without stating it. */
export function getModuleSpecial(module: ModuleValue, id: string): Value | undefined {
  switch (id) {
    case '__file__':
      return { kind: 'path', path: module.path };
    case '__name__':
      return module.name;
    case '__package__':
      return module.isPackage ? module.name : module.name.split('.').slice(0, -1).join('.');
    case '__path__':
      return module.isPackage ? createList([{ kind: 'path', path: module.folder }]) : undefined;
    default:
      return undefined;
  }
}

/** `globals()` shares the module's names, so that `globals()[name] = value` can be seen. */
export function shareNames(scope: Scope): DictValue {
  scope.rest ??= [];
  return {
    kind: 'dict',
    entries: scope.names as Map<string | bigint | number | boolean | null, Value>,
    rest: scope.rest,
  };
}

/** Gives names their values, taking tuples apart. `set` handles targets that are not names. */
export function bindTarget(
  target: Expression,
  value: Value,
  context: EvaluationContext,
  set: (target: Expression, value: Value) => void = (one, inner) => {
    if (one.kind !== 'name') return;
    context.machine.branches.touch(context.scope.names);
    context.scope.names.set(one.id, inner);
  },
): void {
  const { machine } = context;
  machine.spend(1);
  if (target.kind !== 'tuple' && target.kind !== 'list') {
    set(target, value);
    return;
  }
  const isPlain = isKind(value, 'list') && !hasMany(value.items, machine);
  const items = isPlain ? value.items : undefined;
  const otherwise = createUnknown(isObject(value) && 'text' in value ? value.text : showPlace(target));
  const starred = target.items.findIndex((one) => one.kind === 'spread');
  for (const [index, one] of target.items.entries()) {
    if (one.kind === 'spread') {
      const after = target.items.length - index - 1;
      const rest = items && createList(items.slice(index, Math.max(index, items.length - after)));
      machine.spend(measureSize(rest));
      bindTarget(one.value, rest ?? createUnknown(showPlace(target)), context, set);
      continue;
    }
    const at = starred !== -1 && index > starred ? index - target.items.length : index;
    bindTarget(one, replaceMissing(items?.at(at), otherwise), context, set);
  }
}

/** Gives a function's parameters their values, as a call does. */
export function bindParameters(
  callee: FunctionValue,
  given: Arguments,
  machine: Machine,
): Map<string, Value> {
  machine.spend(NAMES_STEPS + callee.parameters.length * 4 + given.list.length / 2 + given.named.size * 8);
  const names = new Map<string, Value>();
  let next = 0;
  const named = new Map(given.named);
  for (const [index, { name, spread }] of callee.parameters.entries()) {
    if (spread === '*') {
      names.set(name, createList(given.list.slice(next), 'tuple'));
      next = given.list.length;
    } else if (spread === '**') {
      const rest = createDict(named);
      if (given.uncertain) addRest(rest, createUnknown(given.text), createUnknown(given.text));
      names.set(name, rest);
    } else {
      const fallback = given.uncertain ? undefined : callee.defaults[index];
      const value = named.has(name)
        ? named.get(name)
        : next < given.list.length
          ? given.list[next++]
          : fallback;
      named.delete(name);
      names.set(name, value === undefined ? createUnknown(name) : value);
    }
  }
  return names;
}

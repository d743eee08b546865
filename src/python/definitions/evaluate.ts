import { builtinNames } from './builtins.js';
import { iterate } from './iterate.js';
import { binary, compare, MAX_ITEMS, MAX_TEXT, merged, unary } from './operators.js';
import { item, slice } from './subscripts.js';
import { type Argument, type Clause, type Expression, shown } from './syntax.js';
import {
  type Arguments,
  type DictValue,
  dict,
  type FunctionValue,
  isAbsent,
  isMany,
  isObject,
  isUnknown,
  known,
  list,
  type Machine,
  type Scope,
  sizeOf,
  truth,
  type UnknownValue,
  unknown,
  type Value,
} from './values.js';

/** Works out what an expression is worth. Never throws but for the machine's own end of steps. */
export function evaluate(expression: Expression, scope: Scope, machine: Machine): Value {
  machine.spend(1);
  if (!machine.enter()) return unknownAt(expression);
  try {
    return known(value(expression, scope, machine), unknownAt(expression));
  } finally {
    machine.leave();
  }
}

function unknownAt(expression: Expression): UnknownValue {
  return { kind: 'unknown', text: shown(expression), at: expression };
}

function value(expression: Expression, scope: Scope, machine: Machine): Value | undefined {
  const of = (inner: Expression) => evaluate(inner, scope, machine);
  switch (expression.kind) {
    case 'constant':
      return expression.value;
    case 'name':
      return lookup(expression.id, scope);
    case 'attribute':
      return machine.attribute(of(expression.object), expression.name, shown(expression));
    case 'item':
      return item(searched(of(expression.object), machine), of(expression.key));
    case 'slice':
      return slice(
        searched(of(expression.object), machine),
        expression.from ? of(expression.from) : null,
        expression.to ? of(expression.to) : null,
      );
    case 'call':
      return call(expression, scope, machine);
    case 'list':
    case 'tuple':
    case 'set':
      return list(spreadAll(expression.items, scope, machine), expression.kind);
    case 'dict':
      return dictionary(expression.entries, scope, machine);
    case 'format':
      return format(expression.parts, of);
    case 'binary':
      return charged(binary(expression.operator, of(expression.left), of(expression.right)), machine);
    case 'boolean':
      return logical(expression.operator, of(expression.left), () => of(expression.right));
    case 'compare':
      return compare(expression.operator, of(expression.left), searched(of(expression.right), machine));
    case 'unary': {
      const operand = of(expression.operand);
      if (expression.operator !== 'not') return unary(expression.operator, operand);
      const known = truth(operand);
      return known === undefined ? undefined : !known;
    }
    case 'conditional': {
      const test = truth(of(expression.test));
      return test === undefined ? undefined : of(test ? expression.value : expression.otherwise);
    }
    case 'comprehension':
      return comprehension(expression, scope, machine);
    case 'lambda':
      return lambda(expression, scope, machine);
    default:
      return undefined;
  }
}

function searched(value: Value, machine: Machine): Value {
  machine.spend(sizeOf(value) >> 3);
  return value;
}

/** What was built costs steps by its size, or doubling it would be cheap. */
function charged(result: Value | undefined, machine: Machine): Value | undefined {
  machine.spend(sizeOf(result));
  return result;
}

export function lookup(id: string, scope: Scope): Value | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const found = at.names.get(id);
    if (found !== undefined) return found;
  }
  const { module } = scope;
  if (id === '__file__') return { kind: 'path', path: module.path };
  if (id === '__name__' || id === '__package__') return { kind: 'external', name: '__name__', of: module };
  return builtinNames.has(id) ? { kind: 'external', name: `builtins.${id}` } : undefined;
}

export function callArguments(given: Argument[], text: string, scope: Scope, machine: Machine): Arguments {
  const result: Arguments = { list: [], named: new Map(), uncertain: false, text };
  let uncertain = false;
  for (const argument of given) {
    const one = evaluate(argument.value, scope, machine);
    if (argument.name !== undefined) result.named.set(argument.name, one);
    else if (argument.spread === '*') {
      if (isObject(one) && one.kind === 'list' && !one.items.some(isMany)) result.list.push(...one.items);
      else uncertain = true;
    } else if (argument.spread === '**') {
      if (!isObject(one) || one.kind !== 'dict') uncertain = true;
      else {
        for (const [key, inner] of one.entries) if (typeof key === 'string') result.named.set(key, inner);
        if (one.rest.length > 0) uncertain = true;
      }
    } else result.list.push(one);
  }
  return { ...result, uncertain };
}

function call(expression: Expression & { kind: 'call' }, scope: Scope, machine: Machine): Value | undefined {
  const { callee } = expression;
  const given = callArguments(expression.args, shown(expression), scope, machine);
  if (callee.kind === 'name' && callee.id === 'super' && given.list.length !== 1) {
    const owner = lookup('__class__', scope);
    const self = lookup('__self__', scope);
    if (owner !== undefined && isObject(owner) && owner.kind === 'class' && self !== undefined)
      return { kind: 'super', owner, self };
  }
  if (callee.kind === 'name' && given.list.length === 0) {
    if (callee.id === 'globals') return named(scope.module.scope);
    if (callee.id === 'locals') return named(scope);
  }
  return machine.call(evaluate(callee, scope, machine), given);
}

/** `globals()` shares the module's names, so that `globals()[name] = value` can be seen. */
function named(scope: Scope): Value {
  return {
    kind: 'dict',
    entries: scope.names as Map<string | bigint | number | boolean | null, Value>,
    rest: [],
  };
}

function spreadAll(items: Expression[], scope: Scope, machine: Machine): Value[] {
  const result: Value[] = [];
  for (const one of items) {
    if (one.kind !== 'spread') {
      result.push(placed(evaluate(one, scope, machine), one));
      continue;
    }
    const inner = iterate(evaluate(one.value, scope, machine));
    machine.spend(inner?.length ?? 1);
    if (inner) result.push(...inner.slice(0, MAX_ITEMS));
    else result.push(unknown(shown(one), true));
  }
  return result;
}

function dictionary(
  entries: { readonly key?: Expression; readonly value: Expression }[],
  scope: Scope,
  machine: Machine,
): Value {
  let result = dict();
  for (const entry of entries) {
    const inner = placed(evaluate(entry.value, scope, machine), entry.value);
    if (entry.key) put(result, evaluate(entry.key, scope, machine), inner, shown(entry.key));
    else if (isObject(inner) && inner.kind === 'dict') {
      machine.spend(sizeOf(result) + sizeOf(inner));
      result = merged(result, inner);
    } else if (!isAbsent(inner)) result.rest.push({ key: unknown(`**${shown(entry.value)}`), value: inner });
  }
  return result;
}

/** Where something unknown was named, so that a report can point at it. */
function placed(inner: Value, at: Expression): Value {
  return isUnknown(inner) && !inner.at ? { ...inner, at } : inner;
}

export function put(target: DictValue, key: Value, value: Value, text: string): void {
  if (!isObject(key)) target.entries.set(key, value);
  else target.rest.push({ key: unknown(key.kind === 'unknown' ? key.text : text), value });
}

function format(parts: (string | Expression)[], of: (inner: Expression) => Value): string | undefined {
  let text = '';
  for (const part of parts) {
    const one = typeof part === 'string' ? part : of(part);
    if (typeof one !== 'string' && typeof one !== 'bigint') return undefined;
    text += one;
    if (text.length > MAX_TEXT) return undefined;
  }
  return text;
}

function logical(operator: string, left: Value, right: () => Value): Value | undefined {
  const known = truth(left);
  if (known === undefined) {
    // One unknown side can still decide: `x and False`, `x or True`.
    const other = truth(right());
    return other !== undefined && other === (operator === 'or') ? other : undefined;
  }
  return known === (operator === 'or') ? left : right();
}

function lambda(expression: Expression & { kind: 'lambda' }, scope: Scope, machine: Machine): FunctionValue {
  const defaults = expression.parameters.map((one) => one.fallback && evaluate(one.fallback, scope, machine));
  return {
    kind: 'function',
    name: '<lambda>',
    parameters: expression.parameters,
    defaults,
    body: expression.body,
    scope,
  };
}

function comprehension(
  expression: Expression & { kind: 'comprehension' },
  scope: Scope,
  machine: Machine,
): Value {
  const inner: Scope = { names: new Map(), parent: scope, module: scope.module, elsewhere: new Map() };
  const text = shown(expression);
  const items: Value[] = [];
  const result = dict();
  const add = () => {
    const one = evaluate(expression.value, inner, machine);
    if (expression.key) put(result, evaluate(expression.key, inner, machine), one, text);
    else if (items.length < MAX_ITEMS) items.push(one);
  };
  loop(expression.clauses, 0, inner, machine, text, add, (key) => {
    if (expression.key) result.rest.push({ key, value: key });
    else items.push(key);
  });
  return expression.of === 'dict' ? result : list(items, expression.of);
}

function loop(
  clauses: Clause[],
  depth: number,
  scope: Scope,
  machine: Machine,
  text: string,
  add: () => void,
  addUnknown: (mark: UnknownValue) => void,
): void {
  const clause = clauses[depth];
  if (!clause) {
    add();
    return;
  }
  const mark = { ...unknown(text), many: true };
  const items = iterate(evaluate(clause.iterable, scope, machine));
  if (!items) {
    addUnknown(mark);
    return;
  }
  for (const one of items) {
    if (isMany(one)) {
      addUnknown(mark);
      continue;
    }
    bind(clause.target, one, scope);
    const answers = clause.conditions.map((condition) => truth(evaluate(condition, scope, machine)));
    if (answers.includes(false)) continue;
    if (answers.includes(undefined)) addUnknown(mark);
    else loop(clauses, depth + 1, scope, machine, text, add, addUnknown);
  }
}

/** Gives names their values, taking tuples apart. Targets that are no names are the statement's business. */
export function bind(
  target: Expression,
  value: Value,
  scope: Scope,
  set: (target: Expression, value: Value) => void = (one, inner) => {
    if (one.kind === 'name') scope.names.set(one.id, inner);
  },
): void {
  if (target.kind !== 'tuple' && target.kind !== 'list') {
    set(target, value);
    return;
  }
  const items =
    isObject(value) && value.kind === 'list' && !value.items.some(isMany) ? value.items : undefined;
  const starred = target.items.findIndex((one) => one.kind === 'spread');
  for (const [index, one] of target.items.entries()) {
    if (one.kind === 'spread') {
      const after = target.items.length - index - 1;
      const rest = items ? list(items.slice(index, items.length - after)) : unknown(shown(target));
      bind(one.value, rest, scope, set);
      continue;
    }
    const at = starred !== -1 && index > starred ? index - target.items.length : index;
    bind(
      one,
      known(items?.at(at), unknown(isObject(value) && 'text' in value ? value.text : shown(target))),
      scope,
      set,
    );
  }
}

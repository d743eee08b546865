import { compareValues } from './comparison.js';
import { hasMany, MAX_ITEMS, MAX_TEXT, measureSize, payFor } from './costs.js';
import { addAll, addRest, putEntry } from './dicts.js';
import { getItem, getSlice, listItems } from './items.js';
import { bindTarget, LIST_STEPS, lookUpName, NAMES_STEPS, shareNames } from './names.js';
import { applyOperator, applyUnary } from './operators.js';
import { writePath } from './paths.js';
import { type Argument, type Clause, type Expression, showPlace } from './syntax.js';
import {
  type Arguments,
  createDict,
  createList,
  createUnknown,
  type EvaluationContext,
  type FunctionValue,
  findTruth,
  isAbsent,
  isKind,
  isMany,
  isUnknown,
  type Scope,
  type Value,
} from './values.js';

/** Works out what an expression is worth. Never throws but for the machine's own end of steps. */
export function evaluate(expression: Expression, context: EvaluationContext): Value {
  const { machine } = context;
  machine.spend(1);
  const known = machine.nest(() => evaluateKind(expression, context));
  return known === undefined ? { kind: 'unknown', text: showPlace(expression), at: expression } : known;
}

function evaluateKind(expression: Expression, context: EvaluationContext): Value | undefined {
  const { scope, machine } = context;
  const of = (inner: Expression) => evaluate(inner, context);
  switch (expression.kind) {
    case 'constant':
      return expression.value;
    case 'name':
      return lookUpName(expression.id, scope);
    case 'attribute':
      return machine.attribute(of(expression.object), expression.name, showPlace(expression));
    case 'item':
      return getItem(of(expression.object), of(expression.key), machine);
    case 'slice':
      return getSlice(
        of(expression.object),
        expression.from ? of(expression.from) : null,
        expression.to ? of(expression.to) : null,
        machine,
      );
    case 'call':
      return evaluateCall(expression, context);
    case 'list':
    case 'tuple':
    case 'set':
      return evaluateItems(expression, context);
    case 'dict':
      return evaluateDict(expression.entries, context);
    case 'format':
      return payFor(joinParts(expression.parts, of), machine);
    case 'binary':
      return applyOperator(expression.operator, of(expression.left), of(expression.right), machine);
    case 'boolean':
      return evaluateLogical(expression.operator, of(expression.left), () => of(expression.right));
    case 'compare':
      return compareValues(expression.operator, of(expression.left), of(expression.right), machine);
    case 'unary': {
      const operand = of(expression.operand);
      if (expression.operator !== 'not') return applyUnary(expression.operator, operand);
      const known = findTruth(operand);
      return known === undefined ? undefined : !known;
    }
    case 'conditional': {
      const { test, value, otherwise } = expression;
      const known = findTruth(of(test));
      if (known !== undefined) return of(known ? value : otherwise);
      const choice = { ...createUnknown(showPlace(test)), at: test };
      return machine.branches.chooseValue([() => of(value), () => of(otherwise)], choice);
    }
    case 'comprehension':
      return evaluateComprehension(expression, context);
    case 'named': {
      const value = of(expression.value);
      bindTarget(expression.target, value, context);
      return value;
    }
    case 'yield':
      return yieldValue(of(expression.value), expression, context);
    case 'lambda':
      return createLambda(expression, context);
    default:
      return undefined;
  }
}

/** A generator is taken for the list of what it yields. */
function yieldValue(
  value: Value,
  { isMany }: Expression & { kind: 'yield' },
  { scope, machine }: EvaluationContext,
): Value {
  scope.yields ??= createList([]);
  const { items, serial } = scope.yields;
  machine.branches.touch(items, serial);
  const more = isMany ? (listItems(value, machine) ?? [createUnknown('yield', true)]) : [value];
  for (const one of more) if (items.length < MAX_ITEMS) items.push(one);
  return null;
}

function evaluateArguments(given: Argument[], at: Expression, context: EvaluationContext): Arguments {
  const { machine } = context;
  const result: Arguments = { list: [], named: new Map(), uncertain: false, text: showPlace(at), at };
  let uncertain = false;
  for (const argument of given) {
    const one = evaluate(argument.value, context);
    if (argument.name !== undefined) result.named.set(argument.name, one);
    else if (argument.spread === '*') {
      const isPlain = isKind(one, 'list') && !hasMany(one.items, machine);
      if (!isPlain || result.list.length + one.items.length > MAX_ITEMS) uncertain = true;
      else {
        machine.spend(measureSize(one));
        for (const inner of one.items) result.list.push(inner);
      }
    } else if (argument.spread === '**') {
      if (!isKind(one, 'dict')) uncertain = true;
      else {
        machine.spend(measureSize(one));
        for (const [key, inner] of one.entries) if (typeof key === 'string') result.named.set(key, inner);
        if (one.rest.length > 0) uncertain = true;
      }
    } else result.list.push(one);
  }
  return { ...result, uncertain };
}

function evaluateCall(
  expression: Expression & { kind: 'call' },
  context: EvaluationContext,
): Value | undefined {
  const { scope, machine } = context;
  const { callee } = expression;
  const given = evaluateArguments(expression.args, expression, context);
  if (callee.kind === 'name' && callee.id === 'super' && given.list.length !== 1) {
    const owner = lookUpName('__class__', scope);
    const self = lookUpName('__self__', scope);
    if (isKind(owner, 'class') && self !== undefined) return { kind: 'super', owner, self };
  }
  if (callee.kind === 'name' && given.list.length === 0) {
    if (callee.id === 'globals') return shareNames(scope.module.scope);
    if (callee.id === 'locals') return shareNames(scope);
  }
  return machine.call(evaluate(callee, context), given);
}

function evaluateItems(
  expression: Expression & { kind: 'list' | 'tuple' | 'set' },
  context: EvaluationContext,
): Value | undefined {
  const { machine } = context;
  const result: Value[] = [];
  machine.spend(LIST_STEPS);
  for (const one of expression.items) {
    if (one.kind !== 'spread') {
      result.push(addPlace(evaluate(one, context), one));
      continue;
    }
    for (const inner of listItems(evaluate(one.value, context), machine) ?? [
      createUnknown(showPlace(one), true),
    ])
      if (result.length < MAX_ITEMS) result.push(inner);
  }
  return payFor(createList(result, expression.kind), machine);
}

function evaluateDict(
  entries: { readonly key?: Expression; readonly value: Expression }[],
  context: EvaluationContext,
): Value {
  const { machine } = context;
  const result = createDict();
  machine.spend(NAMES_STEPS);
  for (const entry of entries) {
    const inner = addPlace(evaluate(entry.value, context), entry.value);
    if (entry.key) putEntry(result, evaluate(entry.key, context), inner, showPlace(entry.key), machine);
    else if (isKind(inner, 'dict')) addAll(result, inner, machine);
    else if (!isAbsent(inner)) addRest(result, createUnknown(`**${showPlace(entry.value)}`), inner);
  }
  return result;
}

/** Where something unknown was named, so that a report can point at it. */
function addPlace(inner: Value, at: Expression): Value {
  return isUnknown(inner) && !inner.at ? { ...inner, at } : inner;
}

function joinParts(parts: (string | Expression)[], of: (inner: Expression) => Value): string | undefined {
  let text = '';
  for (const part of parts) {
    const one = typeof part === 'string' ? part : of(part);
    if (typeof one !== 'string' && typeof one !== 'bigint' && !isKind(one, 'path')) return undefined;
    text += isKind(one, 'path') ? writePath(one) : one;
    if (text.length > MAX_TEXT) return undefined;
  }
  return text;
}

function evaluateLogical(operator: string, left: Value, right: () => Value): Value | undefined {
  const known = findTruth(left);
  if (known === undefined) {
    // One unknown side can still decide: `x and False`, `x or True`.
    const other = findTruth(right());
    return other !== undefined && other === (operator === 'or') ? other : undefined;
  }
  return known === (operator === 'or') ? left : right();
}

function createLambda(
  expression: Expression & { kind: 'lambda' },
  context: EvaluationContext,
): FunctionValue {
  const { scope, machine } = context;
  machine.spend(8 + expression.parameters.length / 4);
  const defaults = expression.parameters.map((one) => one.fallback && evaluate(one.fallback, context));
  return {
    kind: 'function',
    name: '<lambda>',
    parameters: expression.parameters,
    defaults,
    body: expression.body,
    scope,
  };
}

function evaluateComprehension(
  expression: Expression & { kind: 'comprehension' },
  { scope: outer, machine }: EvaluationContext,
): Value {
  const scope: Scope = { names: new Map(), parent: outer, module: outer.module, elsewhere: new Map() };
  const context = { scope, machine };
  const text = showPlace(expression);
  const items: Value[] = [];
  const result = createDict();
  machine.spend(2 * NAMES_STEPS);
  const add = () => {
    const one = evaluate(expression.value, context);
    if (expression.key) putEntry(result, evaluate(expression.key, context), one, text, machine);
    else if (items.length < MAX_ITEMS) items.push(one);
  };
  runClauses(expression.clauses, context, add, () => {
    const mark = createUnknown(text, true);
    if (expression.key) addRest(result, mark, mark);
    else if (items.length < MAX_ITEMS) items.push(mark);
  });
  return expression.of === 'dict' ? result : createList(items, expression.of);
}

/** Loops of one comprehension that are followed. */
const MAX_CLAUSES = 10;

function runClauses(
  clauses: Clause[],
  context: EvaluationContext,
  add: () => void,
  addUnknown: () => void,
  depth = 0,
): void {
  const { machine } = context;
  const clause = clauses[depth];
  if (!clause) {
    add();
    return;
  }
  const items = depth < MAX_CLAUSES ? listItems(evaluate(clause.iterable, context), machine) : undefined;
  if (!items) addUnknown();
  for (const one of items ?? []) {
    if (isMany(one)) {
      addUnknown();
      continue;
    }
    bindTarget(clause.target, one, context);
    const answers = clause.conditions.map((condition) => findTruth(evaluate(condition, context)));
    if (answers.includes(false)) continue;
    if (answers.includes(undefined)) addUnknown();
    else runClauses(clauses, context, add, addUnknown, depth + 1);
  }
}

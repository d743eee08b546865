import { executeAssignment, type Frame, removeTarget, setName, setTarget } from './assignment.js';
import { evaluate } from './evaluate.js';
import { listItems } from './items.js';
import { NAMES_STEPS } from './names.js';
import { CLASS_STEPS } from './reflection.js';
import { type ClassSyntax, type FunctionSyntax, type Statement, showPlace } from './syntax.js';
import {
  type ClassValue,
  createArguments,
  createUnknown,
  descendsFrom,
  type FunctionValue,
  findTruth,
  type InstanceValue,
  isKind,
  isMany,
  isObject,
  type Scope,
  type Value,
} from './values.js';

export type Ending = 'return' | 'break' | 'continue' | 'raise' | undefined;

const MAX_ROUNDS = 5000;

/** Runs statements as far as they can be known; says how they ended. */
export function execute(statements: readonly Statement[], frame: Frame): Ending {
  for (const statement of statements) {
    frame.machine.spend(1);
    const ending = frame.machine.nest(() => executeStatement(statement, frame));
    if (ending) return ending;
  }
  return undefined;
}

function executeStatement(statement: Statement, frame: Frame): Ending {
  const { scope, machine } = frame;
  switch (statement.kind) {
    case 'expression':
      evaluate(statement.value, frame);
      return undefined;
    case 'assign':
      executeAssignment(statement, frame);
      return undefined;
    case 'import':
      machine.runImport(statement, scope, frame.certainty === 'fallback');
      return undefined;
    case 'class':
      setName(statement.name, makeClass(statement, frame), statement.name, frame);
      return undefined;
    case 'function':
      setName(statement.name, makeFunction(statement, frame), statement.name, frame);
      return undefined;
    case 'if':
      return executeBranch(statement, frame);
    case 'for':
      return executeLoop(statement, frame);
    case 'while':
      return executeWhile(statement, frame);
    case 'try':
      return executeTry(statement, frame);
    case 'with':
      for (const item of statement.items) {
        const value = evaluate(item.value, frame);
        if (item.as)
          setTarget(item.as, isObject(value) ? createUnknown(showPlace(item.value)) : value, frame);
      }
      return execute(statement.body, frame);
    case 'return':
      frame.returned.push(statement.value ? evaluate(statement.value, frame) : null);
      return 'return';
    case 'delete':
      for (const target of statement.targets) removeTarget(target, frame);
      return undefined;
    case 'global':
      machine.spend(statement.names.length);
      for (const name of statement.names) scope.elsewhere.set(name, scope.module.scope);
      return undefined;
    case 'nonlocal':
      machine.spend(statement.names.length * 4);
      for (const name of statement.names) {
        let at = scope.parent;
        while (at && !at.names.has(name)) at = at.parent;
        if (at) scope.elsewhere.set(name, at);
      }
      return undefined;
    default:
      return statement.kind;
  }
}

/** Branches that may or may not run end nothing outside of them. */
function executeBranch(statement: Statement & { kind: 'if' }, frame: Frame): Ending {
  const test = statement.test && findTruth(evaluate(statement.test, frame));
  if (test !== undefined) return execute(test ? statement.body : statement.otherwise, frame);
  const maybe: Frame = { ...frame, certainty: frame.certainty === 'fallback' ? 'fallback' : 'maybe' };
  const endings = frame.machine.maybe(() => [
    execute(statement.body, maybe),
    execute(statement.otherwise, maybe),
  ]);
  return endings[0] && endings[0] === endings[1] ? endings[0] : undefined;
}

function executeLoop(statement: Statement & { kind: 'for' }, frame: Frame): Ending {
  const { machine } = frame;
  const iterable = evaluate(statement.iterable, frame);
  const items = listItems(iterable, machine) ?? [createUnknown(showPlace(statement.iterable), true)];
  for (const item of items) {
    const round: Frame = isMany(item) ? { ...frame, certainty: 'maybe' } : frame;
    setTarget(statement.target, isMany(item) ? createUnknown(showPlace(statement.iterable)) : item, round);
    const ending = execute(statement.body, round);
    if (ending === 'break') break;
    if (ending && ending !== 'continue' && round === frame) return ending;
  }
  return undefined;
}

function executeWhile(statement: Statement & { kind: 'while' }, frame: Frame): Ending {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const test = findTruth(evaluate(statement.test, frame));
    if (test === false) return undefined;
    const sure = test === true;
    const ending = execute(statement.body, sure ? frame : { ...frame, certainty: 'maybe' });
    if (!sure || ending === 'break') return undefined;
    if (ending && ending !== 'continue') return ending;
  }
  return undefined;
}

function executeTry(statement: Statement & { kind: 'try' }, frame: Frame): Ending {
  const ending = execute(statement.body, frame);
  if (ending === 'return') return ending;
  const handlers: Frame = ending === 'raise' ? frame : { ...frame, certainty: 'fallback', returned: [] };
  const endings = statement.handlers.map((handler) => execute(handler, handlers));
  return ending === 'raise' ? endings[0] : ending;
}

function makeFunction(syntax: FunctionSyntax, frame: Frame): FunctionValue {
  const { scope, machine } = frame;
  machine.spend(8 + syntax.parameters.length / 4 + syntax.decorators.length / 4);
  const marks = syntax.decorators.map((decorator) =>
    decorator.kind === 'name' ? decorator.id : decorator.kind === 'attribute' ? decorator.name : '',
  );
  const binding = marks.includes('classmethod')
    ? 'class'
    : marks.includes('staticmethod')
      ? 'static'
      : marks.some((mark) => mark.endsWith('property'))
        ? 'property'
        : undefined;
  return {
    kind: 'function',
    name: syntax.name,
    parameters: syntax.parameters,
    defaults: syntax.parameters.map((one) => one.fallback && evaluate(one.fallback, frame)),
    body: syntax,
    scope,
    ...(frame.owner && { owner: frame.owner }),
    ...(binding && { binding }),
  };
}

function makeClass(syntax: ClassSyntax, frame: Frame): Value {
  const { scope, machine } = frame;
  machine.spend(CLASS_STEPS);
  const attributes = new Map<string, Value>();
  const made: ClassValue = {
    kind: 'class',
    name: syntax.name,
    path: scope.module.path,
    line: syntax.line,
    bases: syntax.bases.filter((base) => base.name === undefined).map((base) => evaluate(base.value, frame)),
    attributes,
  };
  const own: Scope = { names: attributes, parent: scope, module: scope.module, elsewhere: new Map() };
  execute(syntax.body, { ...frame, scope: own, certainty: 'certain', owner: made });
  const [first] = syntax.body;
  if (first?.kind === 'expression' && first.value.kind === 'constant' && !attributes.has('__doc__'))
    attributes.set('__doc__', first.value.value);
  if (descendsFrom(made, 'Enum', 'StrEnum', 'IntEnum', 'Flag')) {
    machine.spend(NAMES_STEPS * attributes.size);
    becomeMembers(made);
  }
  return syntax.decorators.reduceRight((value: Value, decorator) => {
    const wrapped = machine.call(evaluate(decorator, frame), createArguments([value], showPlace(decorator)));
    return isKind(wrapped, 'class') ? wrapped : value;
  }, made);
}

/** In an Enum each attribute is an instance with a name and a value. */
function becomeMembers(made: ClassValue): void {
  for (const [name, value] of made.attributes) {
    if (name.startsWith('_') || isKind(value, 'function')) continue;
    const member: InstanceValue = {
      kind: 'instance',
      class: made,
      attributes: new Map<string, Value>([
        ['name', name],
        ['value', value],
      ]),
    };
    made.attributes.set(name, member);
  }
}

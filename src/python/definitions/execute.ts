import { descendsFrom } from './ancestry.js';
import { executeAssignment, type Frame, removeTarget, setName, setTarget } from './assignment.js';
import { becomeMembers, tellBases } from './classes.js';
import { evaluate } from './evaluate.js';
import { listItems } from './items.js';
import { NAMES_STEPS } from './names.js';
import { CLASS_STEPS } from './reflection.js';
import {
  type ClassSyntax,
  type Expression,
  type FunctionSyntax,
  type Statement,
  showPlace,
} from './syntax.js';
import {
  type ClassValue,
  createArguments,
  createUnknown,
  type Ending,
  type FunctionValue,
  findTruth,
  isKind,
  isMany,
  isObject,
  isUnknown,
  type Scope,
  type UnknownValue,
  type Value,
  type Way,
} from './values.js';

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
      machine.runImport(statement, scope);
      return undefined;
    case 'class':
      setName(statement.name, makeClass(statement, frame), frame);
      return undefined;
    case 'function':
      setName(statement.name, decorateFunction(statement, frame), frame);
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

function executeBranch(statement: Statement & { kind: 'if' }, frame: Frame): Ending {
  const { test, body, otherwise } = statement;
  const truth = test && findTruth(evaluate(test, frame));
  if (truth !== undefined) return execute(truth ? body : otherwise, frame);
  return executeAlternatives([body, otherwise], test, frame);
}

/** Runs statements of which one block or another is taken, depending on what cannot be known. */
function executeAlternatives(
  blocks: readonly (readonly Statement[])[],
  choice: Expression | undefined,
  frame: Frame,
): Ending {
  const own = frame.scope.names;
  const ways = blocks.map((block): Way => ({ run: () => execute(block, frame), own }));
  return frame.machine.branches.runAlternatives(ways, createChoice(choice));
}

function createChoice(choice: Expression | undefined): UnknownValue {
  return { ...createUnknown(choice ? showPlace(choice) : 'match'), ...(choice && { at: choice }) };
}

function executeLoop(statement: Statement & { kind: 'for' }, frame: Frame): Ending {
  const { machine } = frame;
  const iterable = evaluate(statement.iterable, frame);
  const items = listItems(iterable, machine) ?? [createUnknown(showPlace(statement.iterable), true)];
  for (const item of items) {
    if (isMany(item)) {
      const run = () => {
        setTarget(statement.target, createUnknown(showPlace(statement.iterable)), frame);
        return execute(statement.body, frame);
      };
      machine.branches.runAlternatives([{ run }, { run: () => undefined }], createChoice(statement.iterable));
      continue;
    }
    setTarget(statement.target, item, frame);
    const ending = execute(statement.body, frame);
    if (ending === 'break') break;
    if (ending && ending !== 'continue') return ending;
  }
  return undefined;
}

function executeWhile(statement: Statement & { kind: 'while' }, frame: Frame): Ending {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const test = findTruth(evaluate(statement.test, frame));
    if (test === false) return undefined;
    if (test === undefined) {
      executeAlternatives([statement.body, []], statement.test, frame);
      return undefined;
    }
    const ending = execute(statement.body, frame);
    if (ending === 'break') return undefined;
    if (ending && ending !== 'continue') return ending;
  }
  frame.machine.giveUp('a loop is left after many rounds', statement.test);
  return undefined;
}

function executeTry(statement: Statement & { kind: 'try' }, frame: Frame): Ending {
  const ending = execute(statement.body, frame);
  if (ending === 'return') return ending;
  if (ending === 'raise')
    return statement.handlers.length > 0 ? executeAlternatives(statement.handlers, undefined, frame) : ending;
  for (const handler of statement.handlers)
    frame.machine.branches.runFallback(() => execute(handler, { ...frame, returned: [] }));
  return ending;
}

/** A function as its decorators leave it: those of the pack are followed, and all others taken to keep it as it is. */
function decorateFunction(syntax: FunctionSyntax, frame: Frame): Value {
  return syntax.decorators.reduceRight(
    (value: Value, decorator) => {
      const wrapper = evaluate(decorator, frame);
      if (isUnknown(wrapper) || !isObject(wrapper)) return value;
      return frame.machine.call(wrapper, createArguments([value], showPlace(decorator)));
    },
    makeFunction(syntax, frame),
  );
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
    heirs: [],
  };
  const own: Scope = { names: attributes, parent: scope, module: scope.module, elsewhere: new Map() };
  execute(syntax.body, { ...frame, scope: own, owner: made });
  const [first] = syntax.body;
  if (first?.kind === 'expression' && first.value.kind === 'constant' && !attributes.has('__doc__'))
    attributes.set('__doc__', first.value.value);
  if (descendsFrom(made, 'Enum', 'StrEnum', 'IntEnum', 'Flag')) {
    machine.spend(NAMES_STEPS * attributes.size);
    becomeMembers(made);
  }
  const named = syntax.bases.filter((base) => base.name !== undefined);
  tellBases(made, new Map(named.map(({ name = '', value }) => [name, evaluate(value, frame)])), machine);
  return syntax.decorators.reduceRight((value: Value, decorator) => {
    const wrapped = machine.call(evaluate(decorator, frame), createArguments([value], showPlace(decorator)));
    return isKind(wrapped, 'class') ? wrapped : value;
  }, made);
}

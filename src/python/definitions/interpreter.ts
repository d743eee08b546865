import { descendsFrom, findAttribute } from './ancestry.js';
import { Branches } from './branches.js';
import { builtins } from './builtins.js';
import type { Unresolved } from './definitions.js';
import { evaluate } from './evaluate.js';
import { execute } from './execute.js';
import type { ParsePython } from './grammar.js';
import { callImitation, findImitation, loaders, patterns } from './imitation.js';
import { copyAll, createModule, findValueAttribute, MAX_NAME } from './lookup.js';
import { bindParameters, NAMES_STEPS } from './names.js';
import { mergeAlternatives } from './operators.js';
import type { PackModules, PythonModule } from './pack-modules.js';
import { pathFunctions } from './paths.js';
import { payLookup } from './reflection.js';
import { readFunction } from './statements.js';
import { type FunctionSyntax, findLine, type ImportSyntax, type Place, type Statement } from './syntax.js';
import {
  type Arguments,
  type ClassValue,
  createUnknown,
  type ExternalValue,
  type FunctionValue,
  isKind,
  isObject,
  type Machine,
  type ModuleValue,
  replaceMissing,
  type Scope,
  type Value,
} from './values.js';

/** Thrown when a pack exceeds its step budget; `within` catches it. */
export class OutOfSteps extends Error {}

/** How deep expressions, statements and calls may nest together: well inside of the engine's stack. */
const MAX_DEPTH = 800;
const MAX_CALLS = 40;
/** What is given to these is only shown or copied. */
const HARMLESS = /^(?:logging|logger|log|json|copy|pprint|typing)\b/;
const MAX_GAPS = 100;

/** Follows a pack's code as far as it is plain, without running any of it. */
export class Interpreter implements Machine {
  #steps = 0;
  #depth = 0;
  #calls = 0;
  readonly branches = new Branches(this);
  readonly gaps: Unresolved[] = [];
  /** Dicts that functions of other packages were given, which may add to them. */
  readonly handedOn = new Map<unknown, Arguments>();
  readonly #running = new Set<FunctionValue['body']>();
  readonly #loaded = new Map<string, ModuleValue>();
  readonly #bodies = new WeakMap<FunctionSyntax, Statement[]>();

  constructor(
    readonly modules: PackModules,
    readonly parse: ParsePython,
  ) {}

  /** Runs `work` with at most `steps` steps; undefined if they were not enough. `spent` receives how many it took. */
  within<Result>(steps: number, work: () => Result, spent?: (steps: number) => void): Result | undefined {
    const before = { steps: this.#steps, depth: this.#depth, calls: this.#calls };
    this.#steps = steps;
    try {
      return work();
    } catch (error) {
      if (error instanceof OutOfSteps) return undefined;
      throw error;
    } finally {
      spent?.(Math.min(steps, steps - this.#steps));
      this.#steps = before.steps;
      this.#depth = before.depth;
      this.#calls = before.calls;
    }
  }

  spend(cost: number): void {
    this.#steps -= cost;
    if (this.#steps < 0) throw new OutOfSteps();
  }

  nest<Result>(work: () => Result, levels = 1): Result | undefined {
    if (this.#depth >= MAX_DEPTH) return undefined;
    this.#depth += levels;
    try {
      return work();
    } finally {
      this.#depth -= levels;
    }
  }

  giveUp(what: string, at: Place | undefined): void {
    const gap = { file: at?.source.path ?? '__init__.py', line: at ? findLine(at) : 1, what };
    if (this.gaps.length < MAX_GAPS) this.gaps.push(gap);
  }

  /** The files that were run. */
  get loaded(): PythonModule[] {
    return [...this.#loaded.keys()].flatMap((path) => this.modules.file(path) ?? []);
  }

  entries(folder: string): string[] {
    const found = this.modules.entries(folder);
    this.spend(10 + found.length);
    return [...found];
  }

  /** A module of the pack, run at its first import; in a cycle what it has so far, as in Python. */
  loadFile(path: string, name?: string): ModuleValue | undefined {
    const known = this.#loaded.get(path);
    if (known) return known;
    const file = this.modules.file(path);
    if (!file && this.modules.entries(path).length === 0) return undefined;
    const module = createModule(path, file !== undefined, name);
    this.#loaded.set(path, module);
    if (file)
      this.#fresh(() => execute(file.statements, { scope: module.scope, machine: this, returned: [] }));
    return module;
  }

  /** A module runs as if nothing had called for it, so its own calls have their own allowance. */
  #fresh(work: () => void): void {
    const calls = this.#calls;
    this.#calls = 0;
    try {
      this.branches.runApart(work);
    } finally {
      this.#calls = calls;
    }
  }

  /** `name` may begin with dots. Modules of other packages become externals. */
  importModule(name: string, from: ModuleValue | undefined, at?: Place): Value {
    this.spend(10);
    if (name.length > MAX_NAME) return createUnknown('a module with a long name');
    const level = /^\.*/.exec(name)?.[0].length ?? 0;
    const path = this.modules.resolve(level, name.slice(level), from?.folder ?? '');
    const module = path === undefined ? undefined : this.loadFile(path);
    if (!module && level > 0)
      this.giveUp(`the module ${name} is imported, and is not among the Python files of the pack`, at);
    return module ?? { kind: 'external', name: name.slice(level) };
  }

  runImport(syntax: ImportSyntax, scope: Scope): void {
    this.branches.touch(scope.names);
    const set = (name: string, value: Value) => scope.names.set(name, value);
    const module = this.importModule('.'.repeat(syntax.level) + syntax.module, scope.module, syntax.at);
    if (!syntax.names) {
      const [top = ''] = syntax.module.split('.');
      if (syntax.as) set(syntax.as, module);
      else set(top, syntax.module.includes('.') ? this.importModule(top, scope.module) : module);
      return;
    }
    this.spend(4 * syntax.names.length);
    for (const { name, as } of syntax.names) {
      if (name !== '*') set(as, this.attribute(module, name, name));
      else if (isKind(module, 'module')) copyAll(module, this, set);
      // Marks the scope, so that names it lacks are known to be possible.
      else scope.names.set('*', createUnknown(syntax.module));
    }
  }

  attribute(object: Value, name: string, text: string): Value {
    if (isKind(object, 'unknown') && object.options) {
      const choice = createUnknown(text);
      const found = object.options.map((option) => this.attribute(option, name, text));
      return found.reduce((all, one) => mergeAlternatives(all, one, choice, this));
    }
    return replaceMissing(findValueAttribute(object, name, text, this), createUnknown(text));
  }

  loadSubmodule(module: ModuleValue, name: string): Value | undefined {
    if (!module.isPackage) return undefined;
    const path = this.modules.resolve(1, name, module.folder);
    return path === undefined ? undefined : this.loadFile(path);
  }

  call(callee: Value, given: Arguments): Value {
    this.spend(1 + given.list.length / 4);
    return replaceMissing(this.#call(callee, given), createUnknown(given.text));
  }

  #call(callee: Value, given: Arguments): Value | undefined {
    if (!isObject(callee)) return undefined;
    switch (callee.kind) {
      case 'native':
        return callee.call(given, this);
      case 'function':
        return this.#run(callee, given);
      case 'method':
        return this.#run(callee.function, prependSelf(callee.self, given), callee.self);
      case 'class':
        return this.#instance(callee, given);
      case 'instance': {
        const method = findAttribute(callee.class, '__call__');
        return isKind(method, 'function') ? this.#run(method, prependSelf(callee, given), callee) : undefined;
      }
      case 'external':
        return this.#external(callee, given);
      case 'unknown': {
        const calls = callee.options?.map((option) => () => this.call(option, given));
        return calls && this.branches.chooseValue(calls, createUnknown(given.text));
      }
      default:
        return undefined;
    }
  }

  #external(callee: ExternalValue, given: Arguments): Value | undefined {
    const plain = callee.name.startsWith('builtins.') ? callee.name.slice(9) : '';
    const imitation =
      findImitation(builtins, plain) ??
      findImitation(pathFunctions, callee.name) ??
      findImitation(patterns, callee.name) ??
      findImitation(loaders, callee.name);
    if (imitation) return callImitation(imitation, given, this, callee);
    if (plain === '' && !HARMLESS.test(callee.name))
      for (const one of given.list) if (isKind(one, 'dict')) this.handedOn.set(one.entries, given);
    return { kind: 'external', name: callee.name, called: given, of: callee };
  }

  #instance(callee: ClassValue, given: Arguments): Value | undefined {
    const [first] = given.list;
    payLookup(callee, this);
    this.spend(NAMES_STEPS);
    // `class AnyType(str)` and the like: the text itself is what the host sees.
    if (descendsFrom(callee, 'str')) return typeof first === 'string' ? first : undefined;
    if (descendsFrom(callee, 'Enum', 'StrEnum', 'IntEnum', 'Flag')) return undefined;
    const made: Value = { kind: 'instance', class: callee, attributes: new Map() };
    const start = findAttribute(callee, '__init__');
    const plain =
      start === undefined ? ['dict', 'tuple', 'list'].find((name) => descendsFrom(callee, name)) : undefined;
    if (plain) return builtins[plain]?.(given, this);
    if (isKind(start, 'function')) this.#run(start, prependSelf(made, given), made);
    return made;
  }

  #run(callee: FunctionValue, given: Arguments, self?: Value): Value | undefined {
    // A call that a module makes may use up half of what is left; then it is unknown, and the rest still readable.
    if (this.#calls > 0) return this.#enterFunction(callee, given, self);
    const share = Math.floor(this.#steps / 2);
    let taken = 0;
    const result = this.within(
      share,
      () => ({ value: this.#enterFunction(callee, given, self) }),
      (steps) => {
        taken = steps;
      },
    );
    this.#steps -= taken;
    if (!result) this.giveUp(`${callee.name}() takes too many steps to follow`, given.at);
    return result?.value;
  }

  #enterFunction(callee: FunctionValue, given: Arguments, self?: Value): Value | undefined {
    const { body } = callee;
    const again = this.#running.has(body);
    if (this.#calls >= MAX_CALLS) this.giveUp(`${callee.name}() is called too deep to follow`, given.at);
    // Recursion that nothing known will end would only multiply.
    if (this.#calls >= MAX_CALLS || (again && this.branches.isOpen)) return undefined;
    this.#calls++;
    this.#running.add(body);
    try {
      return this.nest(() => this.#result(callee, given, self));
    } finally {
      this.#calls--;
      if (!again) this.#running.delete(body);
    }
  }

  #result(callee: FunctionValue, given: Arguments, self?: Value): Value | undefined {
    const scope: Scope = {
      names: bindParameters(callee, given, this),
      parent: callee.scope,
      module: callee.scope.module,
      elsewhere: new Map(),
    };
    if (callee.owner) scope.names.set('__class__', callee.owner).set('__self__', self ?? callee.owner);
    if (callee.body.kind !== 'function') return evaluate(callee.body, { scope, machine: this });
    const returned: Value[] = [];
    const ending = execute(this.#body(callee.body), { scope, machine: this, returned });
    if (scope.yields) return scope.yields;
    if (returned.length === 0) return ending === 'raise' ? undefined : null;
    const choice = createUnknown(given.text);
    return returned.reduceRight((last, earlier) => mergeAlternatives(last, earlier, choice, this));
  }

  #body(syntax: FunctionSyntax): Statement[] {
    let body = this.#bodies.get(syntax);
    if (!body) {
      this.spend(syntax.source.text.length >> 3);
      body = this.parse(syntax.source.text, (root) => readFunction(root, syntax.source)) ?? [];
      this.#bodies.set(syntax, body);
    }
    return body;
  }
}

function prependSelf(self: Value, given: Arguments): Arguments {
  return { ...given, list: [self, ...given.list] };
}

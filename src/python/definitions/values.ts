import type { PackModules } from './pack-modules.js';
import type { Expression, FunctionSyntax, ImportSyntax, Parameter, Place } from './syntax.js';

/** What an expression is worth as far as it can be known without running it. */
export type Value =
  | string
  | bigint
  | number
  | boolean
  | null
  | ListValue
  | DictValue
  | ClassValue
  | FunctionValue
  | MethodValue
  | NativeValue
  | InstanceValue
  | ModuleValue
  | PathValue
  | ExternalValue
  | SuperValue
  | UnknownValue;

/** Computed at run time. As an item of a list it stands for any number of items when `many`. */
export interface UnknownValue {
  readonly kind: 'unknown';
  readonly text: string;
  readonly many?: boolean;
  /** Known to be missing: Python would stop here. */
  readonly absent?: boolean;
  /** What it may be, where code that may take several ways sets it. */
  readonly options?: readonly Value[];
  readonly at?: Place;
}

export interface ListValue {
  readonly kind: 'list';
  readonly of: 'list' | 'tuple' | 'set';
  readonly items: Value[];
  /** Later lists have higher numbers. */
  readonly serial: number;
  /** Names of the items of a named tuple. */
  readonly fields?: readonly string[];
}

export interface DictValue {
  readonly kind: 'dict';
  readonly entries: Map<string | bigint | number | boolean | null, Value>;
  /** Entries whose key is computed, with their value. */
  readonly rest: { readonly key: UnknownValue; readonly value: Value }[];
}

export interface Scope {
  readonly names: Map<string, Value>;
  readonly parent?: Scope;
  readonly module: ModuleValue;
  /** Names that `global` and `nonlocal` bind in another scope. */
  readonly elsewhere: Map<string, Scope>;
  /** Names that `globals()` is given under computed names. */
  rest?: DictValue['rest'];
  /** What a generator has yielded. */
  yields?: ListValue;
}

export interface ClassValue {
  readonly kind: 'class';
  readonly name: string;
  readonly path: string;
  readonly line: number;
  readonly bases: Value[];
  readonly attributes: Map<string, Value>;
  /** Classes that name it as a base. */
  readonly heirs: ClassValue[];
  metaclass?: Value | undefined;
}

export interface FunctionValue {
  readonly kind: 'function';
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly defaults: readonly (Value | undefined)[];
  /** A definition, or the expression of a lambda. */
  readonly body: FunctionSyntax | Expression;
  readonly scope: Scope;
  readonly owner?: ClassValue;
  readonly binding?: 'class' | 'static' | 'property';
}

export interface MethodValue {
  readonly kind: 'method';
  readonly self: Value;
  readonly function: FunctionValue;
}

/** Imitates one function of Python's own; undefined where its result cannot be known. */
export type Imitation = (given: Arguments, machine: Machine, callee?: ExternalValue) => Value | undefined;

export type Native = (args: Arguments, machine: Machine) => Value;

/** A function of Python's own that is imitated here. */
export interface NativeValue {
  readonly kind: 'native';
  readonly call: Native;
}

export interface InstanceValue {
  readonly kind: 'instance';
  readonly class: ClassValue;
  readonly attributes: Map<string, Value>;
}

export interface ModuleValue {
  readonly kind: 'module';
  /** File of the pack; empty for a folder without `__init__.py`. */
  readonly path: string;
  /** The folder its relative imports start from. */
  readonly folder: string;
  readonly scope: Scope;
  readonly isPackage: boolean;
  /** Its `__name__`. */
  readonly name: string;
}

/** A file or folder of the pack. */
export interface PathValue {
  readonly kind: 'path';
  /** Relative to the pack's root; to another folder of it where `isRelative`. */
  readonly path: string;
  readonly isRelative?: boolean;
}

/** Something of another package, or what it returned when called. */
export interface ExternalValue {
  readonly kind: 'external';
  readonly name: string;
  readonly called?: Arguments;
  /** What the call or attribute was taken from. */
  readonly of?: Value;
  readonly at?: Place;
}

export interface SuperValue {
  readonly kind: 'super';
  readonly owner: ClassValue;
  readonly self: Value;
}

export interface Arguments {
  readonly list: Value[];
  readonly named: Map<string, Value>;
  /** True when an argument's place or name is computed. */
  readonly uncertain: boolean;
  readonly text: string;
  readonly at?: Place;
}

/** What can be changed in place: names, attributes, entries of a dict; items of a list, entries under computed keys. */
export type Container = Map<unknown, Value> | unknown[];

export type Ending = 'return' | 'break' | 'continue' | 'raise' | undefined;

/** One of the ways that code may take. */
export interface Way {
  readonly run: () => Ending;
  /** Its names, which no other code sees once it has returned. */
  readonly own?: Container;
}

/** What builtins need from the interpreter. */
export interface Machine {
  call(callee: Value, args: Arguments): Value;
  attribute(object: Value, name: string, text: string): Value;
  spend(cost: number): void;
  /** Runs what nests one level deeper; undefined where that is too deep. */
  nest<Result>(work: () => Result, levels?: number): Result | undefined;
  readonly branches: {
    /** Must be called before a container is changed that others may see. */
    touch(container: Container, serial?: number): void;
    runAlternatives(ways: readonly Way[], choice: UnknownValue): Ending;
    chooseValue(works: readonly (() => Value)[], choice: UnknownValue): Value;
    runFallback(run: () => Ending): void;
  };
  importModule(name: string, from: ModuleValue | undefined): Value;
  /** @param name what it is called where it is not imported by its place in the pack */
  loadFile(path: string, name?: string): ModuleValue | undefined;
  loadSubmodule(module: ModuleValue, name: string): Value | undefined;
  readonly modules: PackModules;
  /** Remembers that something could not be followed, by which nodes may be lost. */
  giveUp(what: string, at: Place | undefined): void;
  /** The names in a folder of the pack, paid by their number. */
  entries(folder: string): string[];
  runImport(syntax: ImportSyntax, scope: Scope): void;
}

/** The names that an expression sees, and what follows it. */
export interface EvaluationContext {
  readonly scope: Scope;
  readonly machine: Machine;
}

export function createUnknown(text: string, many = false): UnknownValue {
  return many ? { kind: 'unknown', text, many } : { kind: 'unknown', text };
}

/** Like `??`, which must not be used on values: it would take Python's None for nothing at all. */
export function replaceMissing(value: Value | undefined, otherwise: Value): Value {
  return value === undefined ? otherwise : value;
}

export function createList(items: Value[], of: ListValue['of'] = 'list'): ListValue {
  listsMade++;
  return { kind: 'list', of, items, serial: listsMade };
}

let listsMade = 0;

export function countLists(): number {
  return listsMade;
}

export function createDict(
  entries?: Iterable<readonly [string | bigint | number | boolean | null, Value]>,
): DictValue {
  return { kind: 'dict', entries: new Map(entries), rest: [] };
}

export function createArguments(values: Value[], text: string): Arguments {
  return { list: values, named: new Map(), uncertain: false, text };
}

export type ObjectValue = Extract<Value, { readonly kind: string }>;

export function isObject(value: Value | undefined): value is ObjectValue {
  return typeof value === 'object' && value !== null;
}

export function isKind<Kind extends ObjectValue['kind']>(
  value: Value | undefined,
  kind: Kind,
): value is Extract<Value, { readonly kind: Kind }> {
  return isObject(value) && value.kind === kind;
}

export function isUnknown(value: Value): value is UnknownValue | ExternalValue {
  return isObject(value) && (value.kind === 'unknown' || value.kind === 'external');
}

/** Items of a list that decide its truth; all others are unknown numbers of items. */
const MAX_DECISIVE = 50;

/** Python's truth of a value; undefined when it cannot be known. */
export function findTruth(value: Value): boolean | undefined {
  if (!isObject(value)) return Boolean(value);
  switch (value.kind) {
    case 'list':
      if (value.items.slice(0, MAX_DECISIVE).some((item) => !isMany(item))) return true;
      return value.items.length === 0 ? false : undefined;
    case 'dict':
      return value.entries.size > 0 ? true : value.rest.length === 0 ? false : undefined;
    case 'class':
    case 'function':
    case 'method':
    case 'module':
    case 'path':
      return true;
    default:
      return undefined;
  }
}

export function isAbsent(value: Value): boolean {
  return isKind(value, 'unknown') && value.absent === true;
}

export function isMany(value: Value): boolean {
  return isKind(value, 'unknown') && value.many === true;
}

/** The key of an attribute: `__name__` that is set on a class is its name, and in its body an attribute as any other. */
export function toAttributeKey(object: Value, name: string): string {
  return isKind(object, 'class') && (name === '__name__' || name === '__qualname__') ? `type.${name}` : name;
}

/** The names that an assignment to an attribute changes. */

export function getNames(object: Value): Map<string, Value> | undefined {
  if (!isObject(object)) return undefined;
  if (object.kind === 'class' || object.kind === 'instance') return object.attributes;
  // `schema.node_id = …` replaces what the call was given.
  if (object.kind === 'external') return object.called?.named;
  return object.kind === 'module' ? object.scope.names : undefined;
}

import { findAttribute, listAncestry } from './ancestry.js';
import { measureSize } from './costs.js';
import { createNative } from './imitation.js';
import { findMethod } from './methods.js';
import { getModuleSpecial, shareNames } from './names.js';
import { nameModule } from './pack-modules.js';
import { getPathAttribute } from './paths.js';
import { copyAttributes, payLookup } from './reflection.js';
import {
  type ClassValue,
  createArguments,
  createList,
  createUnknown,
  isKind,
  isObject,
  type Machine,
  type ModuleValue,
  replaceMissing,
  type Scope,
  toAttributeKey,
  type Value,
} from './values.js';

/** Characters of a dotted name; longer ones are put together by a loop. */
export const MAX_NAME = 500;

/** What an attribute of a value is; undefined where that cannot be known. */
export function findValueAttribute(
  object: Value,
  name: string,
  text: string,
  machine: Machine,
): Value | undefined {
  const method = findMethod(object, name);
  if (method) return createNative(method, text);
  if (!isObject(object)) return undefined;
  payLookup(object, machine);
  switch (object.kind) {
    case 'module':
      if (object.scope.names.has(name)) return object.scope.names.get(name);
      return (
        machine.loadSubmodule(object, name) ??
        (name === '__dict__' ? shareNames(object.scope) : getModuleSpecial(object, name)) ??
        createAbsent(object, text)
      );
    case 'class':
      return findClassAttribute(object, name, text, machine);
    case 'instance':
      if (name === '__class__') return object.class;
      if (object.attributes.has(name)) return object.attributes.get(name);
      return bindMethod(findAttribute(object.class, name), object, object.class, machine);
    case 'super':
      return bindMethod(findInherited(object.owner, object.self, name), object.self, object.owner, machine);
    case 'path':
      return getPathAttribute(object, name, text);
    case 'list': {
      const at = object.fields?.indexOf(name) ?? -1;
      return at === -1 ? undefined : object.items[at];
    }
    case 'function':
      return name === '__name__' ? object.name : undefined;
    case 'method':
      return name === '__func__' ? object.function : name === '__self__' ? object.self : undefined;
    case 'external':
      if (object.name.length > MAX_NAME) return undefined;
      // What a call was given is what `schema.inputs` and the like hold afterwards.
      return replaceMissing(object.called?.named.get(name) ?? findHostConstant(`${object.name}.${name}`), {
        kind: 'external',
        name: `${object.name}.${name}`,
        of: object,
      });
    default:
      return undefined;
  }
}

function findClassAttribute(
  object: ClassValue,
  name: string,
  text: string,
  machine: Machine,
): Value | undefined {
  const key = toAttributeKey(object, name);
  if (key !== name) return object.attributes.get(key) ?? object.name;
  if (name === '__doc__') return object.attributes.get('__doc__') ?? null;
  if (name === '__module__') return object.path === '' ? undefined : machine.loadFile(object.path)?.name;
  if (name === '__subclasses__') return createNative(() => createList([...object.heirs]), text);
  if (name === '__dict__') return copyAttributes(object, machine);
  return bindMethod(findAttribute(object, name), object, object, machine);
}

function bindMethod(
  value: Value | undefined,
  self: Value,
  owner: ClassValue,
  machine: Machine,
): Value | undefined {
  if (!isKind(value, 'function') || value.binding === 'static') return value;
  const onClass = isKind(self, 'class');
  if (value.binding === 'property')
    return machine.call({ kind: 'method', self, function: value }, createArguments([], value.name));
  if (value.binding === 'class')
    return {
      kind: 'method',
      self: onClass ? self : isKind(self, 'instance') ? self.class : owner,
      function: value,
    };
  return onClass ? value : { kind: 'method', self, function: value };
}

function findInherited(owner: ClassValue, self: Value, name: string): Value | undefined {
  const of = isKind(self, 'class') ? self : isKind(self, 'instance') ? self.class : owner;
  const line = listAncestry(of);
  for (const one of line.slice(line.indexOf(owner) + 1)) {
    const found = one.kind === 'class' ? one.attributes.get(name) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Members of the host's `IO` whose text is not their name. Source: `comfy/comfy_types/node_typing.py` of ComfyUI. */
const SPECIAL_TYPES: Record<string, string> = {
  ANY: '*',
  NUMBER: 'FLOAT,INT',
  PRIMITIVE: 'STRING,FLOAT,INT,BOOLEAN',
};

/** Values of other packages that every host agrees on, by their full name. */
function findHostConstant(name: string): Value | undefined {
  if (name === 'sys.maxsize') return 9223372036854775807n;
  if (name === 'os.sep' || name === 'os.path.sep') return '/';
  const type = /(?:^|\.)comfy_types\.(?:node_typing\.)?IO\.([A-Z][A-Z_]*)$/.exec(name)?.[1];
  return type === undefined ? undefined : Object.hasOwn(SPECIAL_TYPES, type) ? SPECIAL_TYPES[type] : type;
}

/** A module before any of it has run. `path` is a folder if the module has no file. */
export function createModule(path: string, isFile: boolean, name = nameModule(path)): ModuleValue {
  const isPackage = !isFile || path === '__init__.py' || path.endsWith('/__init__.py');
  const folder = isFile ? path.split('/').slice(0, -1).join('/') : path;
  const scope = { names: new Map(), elsewhere: new Map() } as { module: ModuleValue } & Scope;
  scope.module = { kind: 'module', path: isFile ? path : '', folder, scope, isPackage, name };
  return scope.module;
}

/** In Python this fails; nothing is known only where the module took everything from another package. */
function createAbsent(module: ModuleValue, text: string): Value | undefined {
  return module.scope.names.has('*') ? undefined : { ...createUnknown(text), absent: true };
}

/** `from module import *`. */
export function copyAll(
  module: ModuleValue,
  machine: Machine,
  set: (name: string, value: Value) => void,
): void {
  const all = module.scope.names.get('__all__');
  machine.spend(4 * module.scope.names.size + measureSize(all));
  const chosen = isKind(all, 'list') ? new Set(all.items.filter((n) => typeof n === 'string')) : undefined;
  for (const [name, value] of module.scope.names)
    if (chosen ? chosen.has(name) : !name.startsWith('_') || name === '*') set(name, value);
}

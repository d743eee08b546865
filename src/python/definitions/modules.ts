import { copyAttributes } from './reflection.js';
import {
  createUnknown,
  isKind,
  type Machine,
  type ModuleValue,
  measureSize,
  type Scope,
  type Value,
} from './values.js';

/** A module before any of it has run. `path` is a folder if the module has no file. */
export function createModule(path: string, isFile: boolean): ModuleValue {
  const isPackage = !isFile || path === '__init__.py' || path.endsWith('/__init__.py');
  const folder = isFile ? path.split('/').slice(0, -1).join('/') : path;
  const scope: { names: Map<string, Value>; elsewhere: Map<string, Scope>; module?: ModuleValue } = {
    names: new Map(),
    elsewhere: new Map(),
  };
  const module: ModuleValue = {
    kind: 'module',
    path: isFile ? path : '',
    folder,
    scope: scope as Scope,
    isPackage,
  };
  scope.module = module;
  return module;
}

/** In Python this fails; nothing is known only where the module took everything from another package. */
export function createAbsent(module: ModuleValue, text: string): Value | undefined {
  return module.scope.names.has('*') ? undefined : { ...createUnknown(text), absent: true };
}

/** What every module has without stating it. */
export function getModuleSpecial(module: ModuleValue, name: string, machine: Machine): Value | undefined {
  if (name === '__file__') return { kind: 'path', path: module.path };
  if (name === '__dict__') return copyAttributes(module, machine);
  return name === '__name__' ? { kind: 'external', name: '__name__', of: module } : undefined;
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

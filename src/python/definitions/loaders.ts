import { builtins } from './builtins.js';
import { createList, type Imitation, isKind, type Machine, type Value } from './values.js';

/** Ways to load a module by name or by file. */
export const loaders: Record<string, Imitation> = {
  'importlib.import_module': ({ list: [name, at], named }, machine) => {
    const anchor = at ?? named.get('package');
    if (typeof name !== 'string') return undefined;
    const from = isKind(anchor, 'external') ? anchor.of : undefined;
    return machine.importModule(name, isKind(from, 'module') ? from : undefined);
  },
  'importlib.util.module_from_spec': ({ list: [spec] }, machine) => {
    if (!isKind(spec, 'external')) return undefined;
    const file = spec.called?.list[1] ?? spec.called?.named.get('location');
    if (!isKind(file, 'path')) return undefined;
    return machine.loadFile(file.path) ?? machine.loadFile(`${file.path}/__init__.py`);
  },
  'inspect.isclass': ({ list: [value] }) => isKind(value, 'class'),
  'inspect.getmembers': ({ list: [object], text }, machine) => {
    const names =
      object === undefined
        ? undefined
        : builtins.vars?.({ list: [object], named: new Map(), uncertain: false, text }, machine);
    if (!isKind(names, 'dict')) return undefined;
    // Packs ask for classes; what else a module holds is of no interest here.
    const classes = [...names.entries].filter(([, value]) => isKind(value, 'class'));
    machine.spend(8 * classes.length);
    return createList(classes.map(([name, value]) => createList([name, value], 'tuple')));
  },
  'sys.path.append': ({ list: [at] }, machine) => addPath(at, machine),
  'sys.path.insert': ({ list: [, at] }, machine) => addPath(at, machine),
};

function addPath(at: Value | undefined, machine: Machine): Value {
  if (isKind(at, 'path')) machine.addSearchPath(at.path);
  return null;
}

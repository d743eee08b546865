import { MAX_TEXT, payFor } from './costs.js';
import { listItems } from './items.js';
import { shareNames } from './names.js';
import { readPath } from './paths.js';
import { copyAttributes } from './reflection.js';
import {
  type Arguments,
  createList,
  createUnknown,
  type ExternalValue,
  type Imitation,
  isKind,
  type Machine,
  replaceMissing,
  type Value,
} from './values.js';

export function findImitation(table: Record<string, Imitation>, name: string): Imitation | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

export function createNative(method: Imitation, text: string): Value {
  return {
    kind: 'native',
    call: (given, machine) =>
      replaceMissing(callImitation(method, given, machine), createUnknown(given.text || text)),
  };
}

/** Calls what is imitated, paid by the length of its texts, and by what it makes. */
export function callImitation(
  imitation: Imitation,
  given: Arguments,
  machine: Machine,
  callee?: ExternalValue,
): Value | undefined {
  for (const one of given.list) if (typeof one === 'string') machine.spend(one.length >> 5);
  return payFor(imitation(given, machine, callee), machine);
}

/** Ways to load a module by name or by file. */
export const loaders: Record<string, Imitation> = {
  'importlib.import_module': ({ list: [name, at], named, at: place }, machine) => {
    if (typeof name !== 'string') machine.giveUp('a module is imported under a computed name', place);
    if (typeof name !== 'string') return undefined;
    const anchor = at ?? named.get('package');
    const from = typeof anchor === 'string' ? machine.importModule(anchor, undefined) : undefined;
    return machine.importModule(name, isKind(from, 'module') ? from : undefined);
  },
  'importlib.reload': ({ list: [module] }) => module,
  'importlib.util.module_from_spec': ({ list: [spec] }, machine) => loadSpec(spec, machine),
  'importlib.machinery.SourceFileLoader.load_module': (_, machine, callee) => loadSpec(callee?.of, machine),
  'imp.load_source': (given, machine) => loadFrom(given, machine),
  'runpy.run_path': ({ list: [file] }, machine) => {
    const path = readPath(file);
    const module = path === undefined ? undefined : machine.loadFile(path);
    return module && shareNames(module.scope);
  },
  'pkgutil.iter_modules': (given, machine) => listModules(given, machine, false),
  'pkgutil.walk_packages': (given, machine) => listModules(given, machine, true),
  'sys.modules.get': ({ list: [name] }, machine) =>
    typeof name === 'string' ? machine.importModule(name, undefined) : undefined,
  'inspect.isclass': ({ list: [value] }) => isKind(value, 'class'),
  'inspect.getmembers': ({ list: [object] }, machine) => {
    const names = copyAttributes(object, machine);
    if (!names) return undefined;
    // Packs ask for classes; other members of a module are skipped.
    const classes = [...names.entries].filter(([, value]) => isKind(value, 'class'));
    machine.spend(8 * classes.length);
    return createList(classes.map(([name, value]) => createList([name, value], 'tuple')));
  },
  'inspect.getmodule': ({ list: [value] }, machine) =>
    isKind(value, 'class') ? machine.loadFile(value.path) : undefined,
  'site.addsitedir': ({ list: [at] }, machine) => addPath(at, machine),
  'sys.path.append': ({ list: [at] }, machine) => addPath(at, machine),
  'sys.path.insert': ({ list: [, at] }, machine) => addPath(at, machine),
};

/** The module that a spec or a loader is for, both of which are only kept as the calls that made them. */
function loadSpec(spec: Value | undefined, machine: Machine): Value | undefined {
  if (!isKind(spec, 'external') || !spec.called) return undefined;
  const [name, loader] = spec.called.list;
  if (spec.name === 'importlib.util.find_spec')
    return typeof name === 'string' ? machine.importModule(name, undefined) : undefined;
  return isKind(loader, 'external')
    ? machine.nest(() => loadSpec(loader, machine))
    : loadFrom(spec.called, machine);
}

function loadFrom({ list: [called, at], named }: Arguments, machine: Machine): Value | undefined {
  const file = readPath(at ?? named.get('location') ?? named.get('path'));
  if (file === undefined) return undefined;
  const name = called ?? named.get('name');
  const own = typeof name === 'string' ? name : undefined;
  return machine.loadFile(file, own) ?? machine.loadFile(`${file}/__init__.py`, own);
}

/** What pkgutil tells of each module in some folders. */
function listModules(
  { list: [at, before], named }: Arguments,
  machine: Machine,
  isDeep: boolean,
): Value | undefined {
  const folders = listItems(at ?? named.get('path'), machine)?.map(readPath);
  const prefix = before ?? named.get('prefix') ?? '';
  if (!folders?.every((one) => one !== undefined) || typeof prefix !== 'string') return undefined;
  const list = (folder: string, prefix: string): Value[] =>
    machine.entries(folder).flatMap((entry): Value[] => {
      const path = folder === '' ? entry : `${folder}/${entry}`;
      const isPackage = machine.modules.file(`${path}/__init__.py`) !== undefined;
      const name = `${prefix}${entry.replace(/\.py$/, '')}`;
      if (entry === '__init__.py' || !(isPackage || entry.endsWith('.py'))) return [];
      const items = [createUnknown('module_finder'), name, isPackage];
      const found = { ...createList(items, 'tuple'), fields: ['module_finder', 'name', 'ispkg'] };
      return [found, ...(isPackage && isDeep ? (machine.nest(() => list(path, `${name}.`)) ?? []) : [])];
    });
  return createList(folders.flatMap((folder) => list(folder, prefix)));
}

function addPath(at: Value | undefined, machine: Machine): Value {
  const path = readPath(at);
  if (path !== undefined) machine.modules.addSearchPath(path);
  return null;
}

/** Steps that one pattern may take; what could take more is not tried. */
const MAX_PATTERN_STEPS = 100_000;

/**
 * Packs split class names into words with regular expressions. A pattern is the pack's own, so only those run that cannot
 * be slow: short, on short texts, at most two open repetitions, none of a group, no references back.
 */
function findMatches(pattern: Value | undefined, text: Value | undefined, machine: Machine) {
  if (typeof pattern !== 'string' || typeof text !== 'string' || pattern.length > 80 || text.length > 100)
    return undefined;
  const plain = pattern.replace(/\\./g, '_');
  if (/\)[*+?{]|\(\?P|\(\?[a-zA-Z]|\(\?<[^=!]/.test(plain) || /\\[1-9AZk]/.test(pattern)) return undefined;
  const open = (plain.match(/[*+]|\{\d*,/g) ?? []).length;
  // What is optional or has alternatives is tried in two ways, and each of them with all ways that follow.
  const choices = (plain.match(/[^(]\?|\|/g) ?? []).length;
  // A start at each character, and an end at each for every repetition.
  const steps = 100 + text.length ** (open + 1) * 2 ** choices;
  if (open > 2 || steps > 20 * MAX_PATTERN_STEPS) return undefined;
  machine.spend(steps / 20);
  try {
    return { text, found: findAllMatches(pattern, text, machine) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** As Python finds them: after an empty match, another one that is not empty may begin at the same place. */
function findAllMatches(pattern: string, text: string, machine: Machine): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  const plain = new RegExp(pattern, 'g');
  let at = 0;
  let least = 0;
  while (at <= text.length) {
    machine.spend(least > 0 ? 50 : 1);
    // Lookbehind holds the end of a match to at least `least` characters into the text.
    const from = least > 0 ? new RegExp(`(?:${pattern})(?<=^[^]{${least},})`, 'g') : plain;
    from.lastIndex = at;
    const match = from.exec(text);
    if (!match) break;
    found.push(match);
    const end = match.index + match[0].length;
    least = match[0] === '' ? end + 1 : 0;
    at = end;
  }
  return found;
}

function replaceMatches(
  { list: [pattern, replacement, text, ...more], named }: Arguments,
  machine: Machine,
): string | undefined {
  if (typeof replacement !== 'string' || replacement.length > 100 || /\\[^1-9]/.test(replacement))
    return undefined;
  const matches = more.length === 0 && named.size === 0 ? findMatches(pattern, text, machine) : undefined;
  if (!matches) return undefined;
  let result = '';
  let at = 0;
  for (const match of matches.found) {
    const put = replacement.replace(/\\([1-9])/g, (_, group) => match[Number(group)] ?? '');
    result += matches.text.slice(at, match.index) + put;
    at = match.index + match[0].length;
  }
  result += matches.text.slice(at);
  return result.length > MAX_TEXT ? undefined : result;
}

export const patterns: Record<string, Imitation> = {
  're.sub': replaceMatches,
  're.findall': ({ list: [pattern, text, ...more] }, machine) => {
    // With groups the result would be the groups; packs do not name nodes that way.
    if (more.length > 0 || /\((?!\?)/.test(String(pattern).slice(0, 100).replace(/\\./g, '')))
      return undefined;
    const matches = findMatches(pattern, text, machine);
    return matches && createList(matches.found.map(([whole]) => whole));
  },
};

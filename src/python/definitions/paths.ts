import { MAX_TEXT, payFor } from './costs.js';
import { joinPath } from './operators.js';
import { PACK_NAME } from './pack-modules.js';
import {
  type Arguments,
  createList,
  createUnknown,
  type Imitation,
  isKind,
  type Machine,
  type PathValue,
  replaceMissing,
  type Value,
} from './values.js';

/** Where the host keeps the pack: known well enough to find files by. */
const ROOT = `/${PACK_NAME}`;

/** A path of the pack as Python's text. */
export function writePath({ path, isRelative }: PathValue): string {
  return isRelative ? path : path === '' ? ROOT : `${ROOT}/${path}`;
}

/** The path of the pack that a path or a text is. */
export function readPath(value: Value | undefined): string | undefined {
  if (typeof value !== 'string') return isKind(value, 'path') ? value.path : undefined;
  if (value !== ROOT && !value.startsWith(`${ROOT}/`)) return undefined;
  return value.slice(ROOT.length + 1).replace(/(?<!\/)\/+$/, '');
}

/*
 * Packs find their own modules by listing folders. The files of a pack are known, so these answer for paths that start at
 * `__file__`, and for nothing else.
 */

function createPath(at: string | undefined): PathValue | undefined {
  return at === undefined ? undefined : { kind: 'path', path: at };
}

/** A path below another; undefined where it is not. */
function removeParent(at: string, parent: string): string | undefined {
  if (parent === '' || at === parent) return at === parent ? '.' : at;
  return at.startsWith(`${parent}/`) ? at.slice(parent.length + 1) : undefined;
}

const getParent = (at: string): string => at.split('/').slice(0, -1).join('/');
const getName = (at: string): string => (at === '' ? PACK_NAME : at.slice(at.lastIndexOf('/') + 1));
const getSuffix = (at: string): string => /(?<=[^.])\.[^.]*$/.exec(getName(at))?.[0] ?? '';
const removeSuffix = (at: string): string => at.slice(0, at.length - getSuffix(at).length);

function joinSegments(at: string, { list: segments }: Arguments): Value | undefined {
  if (!segments.every((segment) => typeof segment === 'string' && !segment.startsWith('/'))) return undefined;
  return createPath(joinPath(at, ...segments.map(String)));
}

function listMatches(at: string, pattern: string, machine: Machine): Value[] {
  // Patterns of a folder or two: `*.py`, `nodes/*.py`, `**/*.py`. Recursion goes as deep as packs do.
  const [first = '', ...others] = pattern.split('/');
  const here = machine.entries(at);
  if (first === '**')
    return [
      ...listMatches(at, others.join('/') || '*', machine),
      ...here
        .filter((entry) => !/\.py$/.test(entry))
        .flatMap((entry) => listMatches(joinPath(at, entry) ?? '', pattern, machine)),
    ];
  const matches = here.filter((entry) => matchesWildcard(first, entry));
  if (others.length === 0) return matches.map((entry) => ({ kind: 'path', path: joinPath(at, entry) ?? '' }));
  return matches.flatMap((entry) => listMatches(joinPath(at, entry) ?? '', others.join('/'), machine));
}

/** `*` in a name, without a regular expression that a hostile pattern could slow down. */
function matchesWildcard(pattern: string, entry: string): boolean {
  const [start = '', ...pieces] = pattern.split('*');
  if (pieces.length === 0) return entry === start;
  if (!entry.startsWith(start)) return false;
  let at = start.length;
  const end = pieces.pop() ?? '';
  for (const piece of pieces) {
    const found = entry.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return entry.length - end.length >= at && entry.endsWith(end);
}

function matchPattern(at: string, pattern: Value | undefined, machine: Machine): Value | undefined {
  if (typeof pattern !== 'string' || pattern.length > 200) return undefined;
  machine.spend(1000);
  return createList(listMatches(at, pattern, machine));
}

type PathMethod = (at: string, given: Arguments, machine: Machine) => Value | undefined;

// Only Python files are seen here, so the absence of others proves nothing.
const findExistence: PathMethod = (at, _, machine) =>
  machine.entries(getParent(at)).includes(getName(at)) || undefined;
const isFolder: PathMethod = (at, _, machine) =>
  machine.entries(at).length > 0 || (at.endsWith('.py') ? false : undefined);
const isFile: PathMethod = (at) => at.endsWith('.py') || undefined;

function walkFolder(at: string, machine: Machine): Value[] {
  machine.spend(100);
  const entries = machine.entries(at);
  const folders = entries.filter((entry) => !entry.endsWith('.py'));
  const files = entries.filter((entry) => entry.endsWith('.py'));
  const root = writePath({ kind: 'path', path: at });
  const here = createList([root, createList(folders), createList(files)], 'tuple');
  return [here, ...folders.flatMap((folder) => walkFolder(joinPath(at, folder) ?? '', machine))];
}

/** Methods of a path, as pathlib and as text have them. */
const pathMethods: Record<string, PathMethod> = {
  resolve: createPath,
  absolute: createPath,
  joinpath: joinSegments,
  iterdir: (at, _, machine) => matchPattern(at, '*', machine),
  glob: (at, { list: [pattern] }, machine) => matchPattern(at, pattern, machine),
  rglob: (at, { list: [pattern] }, machine) =>
    matchPattern(at, typeof pattern === 'string' ? `**/${pattern}` : pattern, machine),
  relative_to: (at, { list: [parent] }) => {
    const from = readPath(parent);
    const rest = from === undefined ? undefined : removeParent(at, from);
    return rest === undefined ? undefined : { kind: 'path', path: rest, isRelative: true };
  },
  is_relative_to: (at, { list: [parent] }) => {
    const from = readPath(parent);
    return from === undefined ? undefined : removeParent(at, from) !== undefined;
  },
  exists: findExistence,
  is_dir: isFolder,
  is_file: isFile,
  with_suffix: (at, { list: [end] }) =>
    typeof end === 'string' ? createPath(joinPath(removeSuffix(at) + end)) : undefined,
};

/** Makes a function of the method of a path, which its first argument is; functions of os give texts. */
function toFunction(method: PathMethod): Imitation {
  return ({ list: [first, ...list], ...rest }, machine) => {
    const at = readPath(first);
    const found = at === undefined ? undefined : method(at, { list, ...rest }, machine);
    if (isKind(found, 'path')) return writePath(found);
    if (!isKind(found, 'list')) return found;
    return createList(found.items.map((one) => (isKind(one, 'path') ? writePath(one) : one)));
  };
}

const keepPath = toFunction(createPath);
const joinPaths: Imitation = (given, machine) => {
  const [first, ...others] = given.list;
  if (readPath(first) !== undefined) return toFunction(joinSegments)(given, machine);
  const segments = [first, ...others].map((one) => (isKind(one, 'path') ? writePath(one) : one));
  if (!segments.every((segment) => typeof segment === 'string')) return undefined;
  const length = segments.reduce((sum, segment) => sum + segment.length + 1, 0);
  return length <= MAX_TEXT ? segments.join('/') : undefined;
};

/** Makes a function of one that takes a path apart as a text. */
function toTextFunction(take: (text: string) => Value | undefined): Imitation {
  return ({ list: [at] }) => {
    const text = isKind(at, 'path') ? writePath(at) : at;
    return typeof text === 'string' && text !== '' ? take(text) : undefined;
  };
}

const findFiles = toFunction((at, _, machine) =>
  at.includes('*') ? matchPattern('', at, machine) : undefined,
);

/** Functions of os, os.path, glob and pathlib, by their full names. */
export const pathFunctions: Record<string, Imitation> = {
  'os.path.abspath': keepPath,
  'os.path.realpath': keepPath,
  'os.path.normpath': keepPath,
  'os.fspath': keepPath,
  'pathlib.Path': (given, machine) => {
    const at = readPath((given.list.length > 1 ? joinPaths : keepPath)(given, machine));
    return createPath(at);
  },
  'os.path.join': joinPaths,
  'os.path.dirname': toTextFunction((text) => getParent(text) || undefined),
  'os.path.basename': toTextFunction(getName),
  'os.path.split': toTextFunction((text) => createList([getParent(text), getName(text)], 'tuple')),
  'os.path.splitext': toTextFunction((text) => createList([removeSuffix(text), getSuffix(text)], 'tuple')),
  'os.path.relpath': ({ list: [at, parent] }) => {
    const [known, from] = [readPath(at), readPath(parent)];
    return known === undefined || from === undefined ? undefined : removeParent(known, from);
  },
  'os.path.exists': toFunction(findExistence),
  'os.path.isdir': toFunction(isFolder),
  'os.path.isfile': toFunction(isFile),
  'os.listdir': toFunction((at, _, machine) => createList(machine.entries(at))),
  'os.scandir': (given, machine) => {
    const at = readPath(given.list[0]);
    return at === undefined ? undefined : matchPattern(at, '*', machine);
  },
  'os.walk': toFunction((at, _, machine) => createList(walkFolder(at, machine))),
  'glob.glob': findFiles,
  'glob.iglob': findFiles,
  'fnmatch.fnmatch': ({ list: [name, pattern] }) =>
    typeof name === 'string' && typeof pattern === 'string' ? matchesWildcard(pattern, name) : undefined,
};

/** The folders above a path, as far as they are the pack's. */
function listParents(at: string): PathValue[] {
  const segments = at.split('/').slice(0, -1);
  return segments.map((_, index) => ({
    kind: 'path',
    path: segments.slice(0, segments.length - index).join('/'),
  }));
}

export function getPathAttribute(value: PathValue, wanted: string, text: string): Value | undefined {
  const { path: at, isRelative } = value;
  if (isRelative && wanted === 'parts') return createList(at.split('/'), 'tuple');
  if (wanted === 'as_posix') return { kind: 'native', call: () => writePath(value) };
  if (isRelative && wanted === 'with_suffix' && at !== '.')
    return {
      kind: 'native',
      call: ({ list: [end] }) => ({ ...value, path: removeSuffix(at) + String(end ?? '') }),
    };
  if (wanted === 'path') return writePath(value);
  if (wanted === 'parents') return createList(listParents(at));
  if (wanted === 'parent') return at === '' ? undefined : { ...value, path: getParent(at) };
  if (wanted === 'name') return getName(at);
  if (wanted === 'stem') return getName(removeSuffix(at));
  if (wanted === 'suffix') return getSuffix(at);
  const method = Object.hasOwn(pathMethods, wanted) ? pathMethods[wanted] : undefined;
  return (
    method && {
      kind: 'native',
      call: (given, machine) =>
        replaceMissing(payFor(method(at, given, machine), machine), createUnknown(text)),
    }
  );
}

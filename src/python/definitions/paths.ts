import { joinPath } from './operators.js';
import {
  type Arguments,
  createList,
  createUnknown,
  type Imitation,
  isKind,
  MAX_TEXT,
  type Machine,
  payFor,
  replaceMissing,
  type Value,
} from './values.js';

/*
 * Packs find their own modules by listing folders. The files of a pack are known, so these answer for paths that start at
 * `__file__`, and for nothing else.
 */

function toPathText(value: Value | undefined): string | undefined {
  return isKind(value, 'path') ? value.path : undefined;
}

function createPath(at: string | undefined): Value | undefined {
  return at === undefined ? undefined : { kind: 'path', path: at };
}

const getParent = (at: string): string => at.split('/').slice(0, -1).join('/');
const getName = (at: string): string => at.slice(at.lastIndexOf('/') + 1);
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
        .flatMap((entry) => listMatches(`${at}/${entry}`, pattern, machine)),
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
  const here = createList([{ kind: 'path', path: at }, createList(folders), createList(files)], 'tuple');
  return [here, ...folders.flatMap((folder) => walkFolder(joinPath(at, folder) ?? '', machine))];
}

/** Methods of a path, as pathlib and as text have them. */
const pathMethods: Record<string, PathMethod> = {
  resolve: createPath,
  absolute: createPath,
  as_posix: createPath,
  joinpath: joinSegments,
  iterdir: (at, _, machine) => matchPattern(at, '*', machine),
  glob: (at, { list: [pattern] }, machine) => matchPattern(at, pattern, machine),
  rglob: (at, { list: [pattern] }, machine) =>
    matchPattern(at, typeof pattern === 'string' ? `**/${pattern}` : pattern, machine),
  exists: findExistence,
  is_dir: isFolder,
  is_file: isFile,
  endswith: (at, { list: [end] }) => (typeof end === 'string' ? at.endsWith(end) : undefined),
  with_suffix: (at, { list: [end] }) =>
    typeof end === 'string' ? createPath(joinPath(removeSuffix(at) + end)) : undefined,
};

/** Makes a function of the method of a path, which its first argument is. */
function toFunction(method: PathMethod): Imitation {
  return ({ list: [first, ...list], ...rest }, machine) => {
    const at = toPathText(first);
    return at === undefined ? undefined : method(at, { list, ...rest }, machine);
  };
}

const keepPath = toFunction(createPath);
const joinPaths: Imitation = (given, machine) => {
  const { list: segments } = given;
  const length = segments.reduce<number>((sum, segment) => sum + String(segment).length + 1, 0);
  const isText = segments.length > 0 && segments.every((segment) => typeof segment === 'string');
  if (isText) return length <= MAX_TEXT ? segments.join('/') : undefined;
  return toFunction(joinSegments)(given, machine);
};

/** Functions of os, os.path, glob and pathlib, by their full names. */
export const pathFunctions: Record<string, Imitation> = {
  'os.path.abspath': keepPath,
  'os.path.realpath': keepPath,
  'os.path.normpath': keepPath,
  'os.fspath': keepPath,
  'pathlib.Path': (given, machine) => (given.list.length > 1 ? joinPaths : keepPath)(given, machine),
  'os.path.join': joinPaths,
  'os.path.dirname': toFunction((at) => (at === '' ? undefined : createPath(getParent(at)))),
  'os.path.basename': ({ list: [at] }) => {
    const known = toPathText(at) ?? at;
    return typeof known === 'string' && known !== '' ? getName(known) : undefined;
  },
  'os.path.splitext': ({ list: [at] }) => {
    if (typeof at === 'string') return createList([removeSuffix(at), getSuffix(at)], 'tuple');
    const known = toPathText(at);
    if (known === undefined) return undefined;
    return createList([{ kind: 'path', path: removeSuffix(known) }, getSuffix(known)], 'tuple');
  },
  'os.path.exists': toFunction(findExistence),
  'os.path.isdir': toFunction(isFolder),
  'os.path.isfile': toFunction(isFile),
  'os.listdir': toFunction((at, _, machine) => createList(machine.entries(at))),
  'os.walk': toFunction((at, _, machine) => createList(walkFolder(at, machine))),
  'glob.glob': toFunction((at, _, machine) => (at.includes('*') ? matchPattern('', at, machine) : undefined)),
};

/** Attributes and methods of a path. */
export function getPathAttribute(at: string, wanted: string, text: string): Value | undefined {
  if (wanted === 'parent') return at === '' ? undefined : createPath(getParent(at));
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

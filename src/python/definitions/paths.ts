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

const getParent = (at: string): Value | undefined =>
  createPath(at === '' ? undefined : at.split('/').slice(0, -1).join('/'));
const getName = (at: string): string => at.slice(at.lastIndexOf('/') + 1);
const getSuffix = (at: string): string => /(?<=[^.])\.[^.]*$/.exec(getName(at))?.[0] ?? '';
const getStem = (at: string): string => getName(at).slice(0, getName(at).length - getSuffix(at).length);

const keepPath: Imitation = ({ list: [at] }) => createPath(toPathText(at));

function joinSegments({ list: segments }: Arguments): Value | undefined {
  const [first, ...others] = segments;
  const at = toPathText(first);
  if (at === undefined) {
    const texts = segments.every((segment) => typeof segment === 'string');
    const length = segments.reduce<number>((sum, segment) => sum + String(segment).length + 1, 0);
    return texts && segments.length > 0 && length <= MAX_TEXT ? segments.join('/') : undefined;
  }
  if (!others.every((segment) => typeof segment === 'string' && !segment.startsWith('/'))) return undefined;
  return createPath(joinPath(at, ...others.map(String)));
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

const findExistence = (at: Value | undefined, machine: Machine): boolean | undefined => {
  const known = toPathText(at);
  if (known === undefined) return undefined;
  // Only Python files are seen here, so the absence of others proves nothing.
  return machine.entries(getParentText(known)).includes(getName(known)) || undefined;
};
const getParentText = (at: string) => at.split('/').slice(0, -1).join('/');
const isFolder = (at: Value | undefined, machine: Machine): boolean | undefined => {
  const known = toPathText(at);
  return known === undefined
    ? undefined
    : machine.entries(known).length > 0 || (known.endsWith('.py') ? false : undefined);
};
const isFile = (at: Value | undefined): boolean | undefined =>
  toPathText(at)?.endsWith('.py') ? true : undefined;

/** Functions of os, os.path, glob and pathlib, by their full names. */
export const pathFunctions: Record<string, Imitation> = {
  'os.path.abspath': keepPath,
  'os.path.realpath': keepPath,
  'os.path.normpath': keepPath,
  'os.fspath': keepPath,
  'pathlib.Path': (given, machine) =>
    given.list.length > 1 ? joinSegments(given) : keepPath(given, machine),
  'os.path.join': joinSegments,
  'os.path.dirname': ({ list: [at] }) => {
    const known = toPathText(at);
    return known === undefined ? undefined : getParent(known);
  },
  'os.path.basename': ({ list: [at] }) => {
    const known = toPathText(at) ?? (typeof at === 'string' ? at : undefined);
    return known === undefined || known === '' ? undefined : getName(known);
  },
  'os.path.splitext': ({ list: [at] }) => {
    const text = typeof at === 'string' ? at : undefined;
    if (text !== undefined)
      return createList([text.slice(0, text.length - getSuffix(text).length), getSuffix(text)], 'tuple');
    const known = toPathText(at);
    if (known === undefined) return undefined;
    return createList(
      [{ kind: 'path', path: known.slice(0, known.length - getSuffix(known).length) }, getSuffix(known)],
      'tuple',
    );
  },
  'os.path.exists': ({ list: [at] }, machine) => findExistence(at, machine),
  'os.path.isdir': ({ list: [at] }, machine) => isFolder(at, machine),
  'os.path.isfile': ({ list: [at] }) => isFile(at),
  'os.listdir': ({ list: [at] }, machine) => {
    const known = toPathText(at);
    return known === undefined ? undefined : createList(machine.entries(known));
  },
  'os.walk': ({ list: [at] }, machine) => {
    const known = toPathText(at);
    return known === undefined ? undefined : createList(walkFolder(known, machine));
  },
  'glob.glob': ({ list: [pattern] }, machine) => {
    const known = toPathText(pattern);
    return known?.includes('*') ? matchPattern('', known, machine) : undefined;
  },
};

function walkFolder(at: string, machine: Machine): Value[] {
  machine.spend(100);
  const entries = machine.entries(at);
  const folders = entries.filter((entry) => !entry.endsWith('.py'));
  const files = entries.filter((entry) => entry.endsWith('.py'));
  const here = createList([{ kind: 'path', path: at }, createList(folders), createList(files)], 'tuple');
  return [here, ...folders.flatMap((folder) => walkFolder(joinPath(at, folder) ?? '', machine))];
}

/** Attributes and methods of a path, as pathlib and as text have them. */
export function getPathAttribute(at: string, wanted: string, text: string): Value | undefined {
  switch (wanted) {
    case 'parent':
      return getParent(at);
    case 'name':
      return getName(at);
    case 'stem':
      return getStem(at);
    case 'suffix':
      return getSuffix(at);
  }
  const methods: Record<string, Imitation> = {
    resolve: () => createPath(at),
    absolute: () => createPath(at),
    as_posix: () => createPath(at),
    joinpath: ({ list: segments, ...rest }) =>
      joinSegments({ ...rest, list: [{ kind: 'path', path: at }, ...segments] }),
    iterdir: (_, machine) =>
      createList(machine.entries(at).map((entry) => ({ kind: 'path', path: joinPath(at, entry) ?? '' }))),
    glob: ({ list: [pattern] }, machine) => matchPattern(at, pattern, machine),
    rglob: ({ list: [pattern] }, machine) =>
      matchPattern(at, typeof pattern === 'string' ? `**/${pattern}` : pattern, machine),
    exists: (_, machine) => findExistence({ kind: 'path', path: at }, machine),
    is_dir: (_, machine) => isFolder({ kind: 'path', path: at }, machine),
    is_file: () => isFile({ kind: 'path', path: at }),
    endswith: ({ list: [end] }) => (typeof end === 'string' ? at.endsWith(end) : undefined),
    with_suffix: ({ list: [end] }) =>
      createPath(
        typeof end === 'string' ? joinPath(at.slice(0, at.length - getSuffix(at).length) + end) : undefined,
      ),
  };
  const method = Object.hasOwn(methods, wanted) ? methods[wanted] : undefined;
  return (
    method && {
      kind: 'native',
      call: (given, machine) => replaceMissing(payFor(method(given, machine), machine), createUnknown(text)),
    }
  );
}

import { joinPath } from './operators.js';
import {
  type Arguments,
  type Imitation,
  isObject,
  known,
  list,
  MAX_TEXT,
  type Machine,
  paid,
  unknown,
  type Value,
} from './values.js';

/*
 * Packs find their own modules by listing folders. The files of a pack are known, so these answer for paths that start at
 * `__file__`, and for nothing else.
 */

function pathOf(value: Value | undefined): string | undefined {
  return value !== undefined && isObject(value) && value.kind === 'path' ? value.path : undefined;
}

function path(at: string | undefined): Value | undefined {
  return at === undefined ? undefined : { kind: 'path', path: at };
}

const parent = (at: string): Value | undefined =>
  path(at === '' ? undefined : at.split('/').slice(0, -1).join('/'));
const name = (at: string): string => at.slice(at.lastIndexOf('/') + 1);
const suffix = (at: string): string => /(?<=[^.])\.[^.]*$/.exec(name(at))?.[0] ?? '';
const stem = (at: string): string => name(at).slice(0, name(at).length - suffix(at).length);

const same: Imitation = ({ list: [at] }) => path(pathOf(at));

function join({ list: segments }: Arguments): Value | undefined {
  const [first, ...others] = segments;
  const at = pathOf(first);
  if (at === undefined) {
    const texts = segments.every((segment) => typeof segment === 'string');
    const length = segments.reduce<number>((sum, segment) => sum + String(segment).length + 1, 0);
    return texts && segments.length > 0 && length <= MAX_TEXT ? segments.join('/') : undefined;
  }
  if (!others.every((segment) => typeof segment === 'string' && !segment.startsWith('/'))) return undefined;
  return path(joinPath(at, ...others.map(String)));
}

function listed(at: string, pattern: string, machine: Machine): Value[] {
  // Patterns of a folder or two: `*.py`, `nodes/*.py`, `**/*.py`. Recursion goes as deep as packs do.
  const [first = '', ...others] = pattern.split('/');
  const here = machine.entries(at);
  if (first === '**')
    return [
      ...listed(at, others.join('/') || '*', machine),
      ...here
        .filter((entry) => !/\.py$/.test(entry))
        .flatMap((entry) => listed(`${at}/${entry}`, pattern, machine)),
    ];
  const matches = here.filter((entry) => wild(first, entry));
  if (others.length === 0) return matches.map((entry) => ({ kind: 'path', path: joinPath(at, entry) ?? '' }));
  return matches.flatMap((entry) => listed(joinPath(at, entry) ?? '', others.join('/'), machine));
}

/** `*` in a name, without a regular expression that a hostile pattern could slow down. */
function wild(pattern: string, entry: string): boolean {
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

function matching(at: string, pattern: Value | undefined, machine: Machine): Value | undefined {
  if (typeof pattern !== 'string' || pattern.length > 200) return undefined;
  machine.spend(1000);
  return list(listed(at, pattern, machine));
}

const exists = (at: Value | undefined, machine: Machine): boolean | undefined => {
  const known = pathOf(at);
  if (known === undefined) return undefined;
  // Files that are no Python are not seen here, so their absence proves nothing.
  return machine.entries(parentText(known)).includes(name(known)) || undefined;
};
const parentText = (at: string) => at.split('/').slice(0, -1).join('/');
const isFolder = (at: Value | undefined, machine: Machine): boolean | undefined => {
  const known = pathOf(at);
  return known === undefined
    ? undefined
    : machine.entries(known).length > 0 || (known.endsWith('.py') ? false : undefined);
};
const isFile = (at: Value | undefined): boolean | undefined =>
  pathOf(at)?.endsWith('.py') ? true : undefined;

/** Functions of os, os.path, glob and pathlib, by their full names. */
export const pathFunctions: Record<string, Imitation> = {
  'os.path.abspath': same,
  'os.path.realpath': same,
  'os.path.normpath': same,
  'os.fspath': same,
  'pathlib.Path': (given, machine) => (given.list.length > 1 ? join(given) : same(given, machine)),
  'os.path.join': join,
  'os.path.dirname': ({ list: [at] }) => {
    const known = pathOf(at);
    return known === undefined ? undefined : parent(known);
  },
  'os.path.basename': ({ list: [at] }) => {
    const known = pathOf(at) ?? (typeof at === 'string' ? at : undefined);
    return known === undefined || known === '' ? undefined : name(known);
  },
  'os.path.splitext': ({ list: [at] }) => {
    const text = typeof at === 'string' ? at : undefined;
    if (text !== undefined)
      return list([text.slice(0, text.length - suffix(text).length), suffix(text)], 'tuple');
    const known = pathOf(at);
    if (known === undefined) return undefined;
    return list(
      [{ kind: 'path', path: known.slice(0, known.length - suffix(known).length) }, suffix(known)],
      'tuple',
    );
  },
  'os.path.exists': ({ list: [at] }, machine) => exists(at, machine),
  'os.path.isdir': ({ list: [at] }, machine) => isFolder(at, machine),
  'os.path.isfile': ({ list: [at] }) => isFile(at),
  'os.listdir': ({ list: [at] }, machine) => {
    const known = pathOf(at);
    return known === undefined ? undefined : list(machine.entries(known));
  },
  'os.walk': ({ list: [at] }, machine) => {
    const known = pathOf(at);
    return known === undefined ? undefined : list(walk(known, machine));
  },
  'glob.glob': ({ list: [pattern] }, machine) => {
    const known = pathOf(pattern);
    return known?.includes('*') ? matching('', known, machine) : undefined;
  },
};

function walk(at: string, machine: Machine): Value[] {
  machine.spend(100);
  const entries = machine.entries(at);
  const folders = entries.filter((entry) => !entry.endsWith('.py'));
  const files = entries.filter((entry) => entry.endsWith('.py'));
  const here = list([{ kind: 'path', path: at }, list(folders), list(files)], 'tuple');
  return [here, ...folders.flatMap((folder) => walk(joinPath(at, folder) ?? '', machine))];
}

/** Attributes and methods of a path, as pathlib and as text have them. */
export function pathAttribute(at: string, wanted: string, text: string): Value | undefined {
  switch (wanted) {
    case 'parent':
      return parent(at);
    case 'name':
      return name(at);
    case 'stem':
      return stem(at);
    case 'suffix':
      return suffix(at);
  }
  const methods: Record<string, Imitation> = {
    resolve: () => path(at),
    absolute: () => path(at),
    as_posix: () => path(at),
    joinpath: ({ list: segments, ...rest }) =>
      join({ ...rest, list: [{ kind: 'path', path: at }, ...segments] }),
    iterdir: (_, machine) =>
      list(machine.entries(at).map((entry) => ({ kind: 'path', path: joinPath(at, entry) ?? '' }))),
    glob: ({ list: [pattern] }, machine) => matching(at, pattern, machine),
    rglob: ({ list: [pattern] }, machine) =>
      matching(at, typeof pattern === 'string' ? `**/${pattern}` : pattern, machine),
    exists: (_, machine) => exists({ kind: 'path', path: at }, machine),
    is_dir: (_, machine) => isFolder({ kind: 'path', path: at }, machine),
    is_file: () => isFile({ kind: 'path', path: at }),
    endswith: ({ list: [end] }) => (typeof end === 'string' ? at.endsWith(end) : undefined),
    with_suffix: ({ list: [end] }) =>
      path(typeof end === 'string' ? joinPath(at.slice(0, at.length - suffix(at).length) + end) : undefined),
  };
  const method = Object.hasOwn(methods, wanted) ? methods[wanted] : undefined;
  return (
    method && {
      kind: 'native',
      call: (given, machine) => known(paid(method(given, machine), machine), unknown(text)),
    }
  );
}

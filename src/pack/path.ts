/** Limits of paths in an archive, so that it unpacks equally on every system and never outside its folder. */
const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 255;

// C0, C1 and DEL, line and paragraph separators, and marks that reverse the reading direction.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const FORBIDDEN_ON_WINDOWS = /[<>:"|?*]/;
const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Finds a problem of a relative path inside a pack, as a sentence without its subject. Used for choosing files and for
 * reading archives, so that everything that is packed can be read back.
 */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'has no name';
  if (UNPRINTABLE.test(path)) return 'has a control character in its name';
  if (path.includes('\uFFFD')) return 'has a name that is not valid UTF-8';
  if (path.includes('\\')) return "has a backslash in its name; use '/' to separate folders";
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'has an absolute path';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `has a path of more than ${MAX_PATH_BYTES} bytes`;
  for (const name of path.split('/')) {
    const problem = findNameProblem(name);
    if (problem) return problem;
  }
  return undefined;
}

function findNameProblem(name: string): string | undefined {
  if (name === '..') return 'leads out of the folder';
  if (name === '' || name === '.') return 'has an empty part in its path';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `has a name of more than ${MAX_NAME_BYTES} bytes`;
  const forbidden = FORBIDDEN_ON_WINDOWS.exec(name);
  if (forbidden) return `has a name that Windows cannot store (${forbidden[0]})`;
  if (RESERVED_ON_WINDOWS.test(name)) return `has a name that is reserved on Windows (${name})`;
  if (name.endsWith('.') || name.endsWith(' '))
    return 'has a name that ends in a dot or a space, which Windows removes';
  return undefined;
}

/** Two paths that cannot coexist: equal names (`case`: only the case differs), or a file with the name of a folder. */
export interface Collision {
  readonly path: string;
  readonly with: string;
  readonly kind: 'same' | 'case' | 'folder';
}

export function findCollisions(paths: Iterable<string>): Collision[] {
  // NUL, the lowest character, replaces '/', so that a file sorts directly before the paths that use it as a folder.
  const sorted = Array.from(paths, (path) => ({
    path,
    // replaceAll would keep a piece of memory for each part of a path: half a gigabyte for 50,000 deep ones.
    key: path.normalize('NFC').toLowerCase().split('/').join('\0'),
  })).sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  const found: Collision[] = [];
  for (const [index, { path, key }] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before?.key === key)
      found.push({ path, with: before.path, kind: before.path === path ? 'same' : 'case' });
    else if (before && key.startsWith(`${before.key}\0`))
      found.push({ path, with: before.path, kind: 'folder' });
  }
  return found;
}

/** Quotes an untrusted name for printing: hidden characters are escaped, and at most 200 characters are shown. */
export function quoteName(name: string): string {
  const shown = name.length > 200 ? `${name.slice(0, 200)}…` : name;
  return `'${shown.replace(/[\p{C}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)}'`;
}

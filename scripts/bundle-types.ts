import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

/**
 * Copies the types of a package that is bundled into `folder/<name>`, and makes the types in `folder` refer
 * to the copy. Only what the package's entry reaches is copied.
 */
export function bundleTypes(name: string, folder: string): void {
  const own = listTypes(folder);
  const copied = new Set<string>();
  const copy = (path: string) => {
    if (copied.has(path)) return;
    copied.add(path);
    // Without its comments for callers, which are a quarter of it.
    const text = readFileSync(join('node_modules', name, path), 'utf8').replace(
      /\/\*(?:(?!\*\/|@ts-)[\s\S])*\*\//g,
      '',
    );
    const target = join(folder, name, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    for (const [, from] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.js"/g)) {
      copy(posix.join(posix.dirname(path), `${from}.d.ts`));
    }
  };
  copy('index.d.ts');
  for (const file of own) {
    const text = readFileSync(file, 'utf8');
    const up = relative(dirname(file), folder).split(sep).join('/') || '.';
    const copyOf = (path = '') => `${up.startsWith('.') ? up : `./${up}`}/${name}${path}/index.js`;
    const changed = text.replaceAll(new RegExp(`(["'])${name}(/[\\w/]+)?\\1`, 'g'), (_, quote, path) => {
      copy(`${path?.slice(1) ?? '.'}/index.d.ts`.replace(/^\.\//, ''));
      return quote + copyOf(path) + quote;
    });
    if (changed !== text) writeFileSync(file, changed);
  }
}

/** Removes the types that no entry reaches. @param entries paths within the folder */
export function removeUnreached(folder: string, entries: readonly string[]): void {
  const reached = new Set<string>();
  const visit = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const [, from] of readFileSync(path, 'utf8').matchAll(
      /(?:from |import\(|import )["'](\.[^"']+)\.js["']/g,
    ))
      visit(join(dirname(path), `${from}.d.ts`));
  };
  for (const entry of entries) visit(join(folder, entry));
  for (const path of listTypes(folder)) if (!reached.has(path)) rmSync(path);
}

function listTypes(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.d.ts'))
    .map((path) => join(folder, path));
}

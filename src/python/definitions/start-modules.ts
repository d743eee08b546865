import type { PackModules } from './pack-modules.js';
import type { ImportSyntax } from './syntax.js';

/**
 * Lists the files that certainly run when the pack is imported: `__init__.py`, and what the statements of such files import
 * that are in no other statement.
 * @param broken files whose own imports are not certain
 */
export function listStartModules(modules: PackModules, broken: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const open = ['__init__.py'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    const folder = path.split('/').slice(0, -1).join('/');
    for (const one of broken.has(path) ? [] : (modules.file(path)?.statements ?? []))
      if (one.kind === 'import' && one.level > 0)
        open.push(...listImported(one).flatMap((name) => modules.resolve(one.level, name, folder) ?? []));
  }
  return found;
}

/** Each package on the way to a module runs, too. A name of another module is not certain to be a module itself. */
function listImported({ module, names = [] }: ImportSyntax): string[] {
  if (module === '') return names.map(({ name }) => name);
  const segments = module.split('.');
  return segments.map((_, at) => segments.slice(0, at + 1).join('.'));
}

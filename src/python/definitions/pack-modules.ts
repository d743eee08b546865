import type { Statement } from './syntax.js';

export interface PythonModule {
  readonly path: string;
  readonly statements: readonly Statement[];
  /** Whether it may set names in ways that are not followed. */
  readonly isDynamic?: boolean;
}

/**
 * Stands for the name under which the host imports the pack, and for that of its folder: a character that no text of a
 * pack should hold. What contains it is known well enough to import by, and is not shown.
 */
export const PACK_NAME = '\u{f0000}';

/** What Python calls a module of the pack. */
export function nameModule(path: string): string {
  return [PACK_NAME, ...path.replace(/(?:(?:^|\/)__init__)?\.py$/, '').split('/')].filter(Boolean).join('.');
}

/** The Python files of a pack and where Python would look for them. */
export class PackModules {
  readonly #files = new Map<string, PythonModule>();
  readonly #folders = new Map<string, Set<string>>();
  readonly #sorted = new Map<string, readonly string[]>();
  readonly #searched = new Set(['']);

  add(module: PythonModule): void {
    this.#sorted.clear();
    this.#files.set(module.path, module);
    let entry = module.path;
    for (let slash = entry.lastIndexOf('/'); ; slash = entry.lastIndexOf('/')) {
      const folder = slash === -1 ? '' : entry.slice(0, slash);
      const entries = this.#folders.get(folder) ?? new Set();
      entries.add(entry.slice(slash + 1));
      this.#folders.set(folder, entries);
      if (slash === -1) return;
      entry = folder;
    }
  }

  file(path: string): PythonModule | undefined {
    return this.#files.get(path);
  }

  paths(): string[] {
    return [...this.#files.keys()].sort();
  }

  /** Names of the Python files and of the folders that hold some, in a fixed order. */
  entries(folder: string): readonly string[] {
    let sorted = this.#sorted.get(folder);
    if (!sorted) {
      sorted = [...(this.#folders.get(folder) ?? [])].sort();
      if (sorted.length > 0) this.#sorted.set(folder, sorted);
    }
    return sorted;
  }

  /** A folder the pack itself puts on Python's search path. */
  addSearchPath(folder: string): void {
    if (this.#searched.size < 50) this.#searched.add(folder);
  }

  /** The file or folder a module name means; undefined for modules of other packages. */
  resolve(level: number, name: string, folder: string): string | undefined {
    const segments = name === '' ? [] : name.split('.');
    if (level > 0) {
      const base = folder === '' ? [] : folder.split('/');
      if (level - 1 > base.length) return undefined;
      return this.#at([...base.slice(0, base.length - (level - 1)), ...segments].join('/'));
    }
    const [first, ...inner] = segments;
    if (first === PACK_NAME) return this.#at(inner.join('/'));
    // Some name their own folder by the place of all packs.
    if (first === 'custom_nodes') return this.#at(inner.slice(1).join('/'));
    // A name both here and installed means the installed one, unless the pack changed the search path; we look here first.
    for (const root of this.#searched) {
      const found = this.#at([...(root === '' ? [] : [root]), ...segments].join('/'));
      if (found !== undefined && found !== root) return found;
    }
    return undefined;
  }

  #at(path: string): string | undefined {
    const init = path === '' ? '__init__.py' : `${path}/__init__.py`;
    if (this.#files.has(init)) return init;
    if (this.#files.has(`${path}.py`)) return `${path}.py`;
    return this.#folders.has(path) ? path : undefined;
  }
}

import { CpuBudget, CpuBudgetSpent } from '../disk/cpu-budget.js';
import type { ReadText } from './pack-text.js';
import type { Pyproject } from './pyproject.js';

export type FoundVersion = { readonly version: string } | { readonly problem: string };

/**
 * Finds the version of a pack with `dynamic = ["version"]` like its build tool, but without running code: from a text
 * file or a plain assignment.
 *
 * @returns the version as written, or a problem as a sentence without its subject
 */
export async function readDynamicVersion(pyproject: Pyproject, read: ReadText): Promise<FoundVersion> {
  const { hostui, comfy, setuptools, hatch, pdm, flit, poetry } = pyproject.tool;
  const named = hostui?.version?.path ?? comfy?.version?.path;
  if (named) return fromSource(named, matchAssignment('__version__|VERSION'), read);
  if (poetry?.version) return { version: poetry.version };
  const dynamic = setuptools?.dynamic?.version;
  if (dynamic?.file) return fromTextFile(dynamic.file[0] ?? 'VERSION', read);
  if (dynamic?.attr) return fromAttribute(dynamic.attr, setuptools?.['package-dir'] ?? {}, read);
  if (hatch?.version?.path) return fromHatch(hatch.version.path, hatch.version.pattern, read);
  if (pdm?.version?.path) return fromSource(pdm.version.path, matchAssignment('__version__'), read);
  if (flit) {
    const module = flit.module?.name ?? pyproject.project.name?.replaceAll('-', '_') ?? '';
    return fromAttribute(`${module}.__version__`, {}, read);
  }
  return {
    problem:
      pyproject.tool.setuptools_scm !== undefined || hatch?.version?.source || pdm?.version?.source
        ? 'is computed when the pack is built; set it directly, such as version = "1.0.0"'
        : 'is dynamic, but its source is not declared; set it directly, such as version = "1.0.0"',
  };
}

/** Matches `name = "1.2.3"` at the start of a line, with or without a type. The group `version` is the value. */
function matchAssignment(names: string): RegExp {
  return new RegExp(
    `^(?:${names})[ \\t]*(?::[^=\\n]{0,100})?=[ \\t]*(["'])(?<version>[^"'\\\\\\n]*)\\1`,
    'm',
  );
}

async function fromSource(path: string, pattern: RegExp, read: ReadText): Promise<FoundVersion> {
  const found = await read(path);
  if ('problem' in found) return found;
  const match = new CpuBudget(2000).run(() => pattern.exec(found.text));
  const version = match?.groups?.version?.trim();
  if (version) return { version };
  return {
    problem: `has no plain assignment in ${path}, such as __version__ = "1.0.0"; code is not run`,
  };
}

async function fromTextFile(path: string, read: ReadText): Promise<FoundVersion> {
  const found = await read(path);
  if ('problem' in found) return found;
  const version = found.text.trim();
  return version ? { version } : { problem: `is missing, because ${path} is empty` };
}

/** `pack.about.__version__` is in `pack/about.py` or `pack/about/__init__.py`, maybe below `src`. */
async function fromAttribute(
  attribute: string,
  packageFolders: Readonly<Record<string, string>>,
  read: ReadText,
): Promise<FoundVersion> {
  const parts = attribute.split('.');
  const name = parts.pop() ?? '';
  if (![...parts, name].every((part) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(part)))
    return { problem: `is declared as ${attribute}, which is not a valid attribute name` };
  const roots = [...new Set([packageFolders[''] ?? '.', '.', 'src'])];
  const modules = parts.length === 0 ? ['__init__'] : [parts.join('/'), `${parts.join('/')}/__init__`];
  for (const root of roots) {
    for (const module of modules) {
      const found = await fromSource(
        `${root}/${module}.py`.replace(/^\.\//, ''),
        matchAssignment(name),
        read,
      );
      if ('version' in found) return found;
    }
  }
  return {
    problem: `is declared as ${attribute}, but there is no plain assignment such as ${name} = "1.0.0"`,
  };
}

async function fromHatch(path: string, pattern: string | undefined, read: ReadText): Promise<FoundVersion> {
  if (!pattern)
    return fromSource(
      path,
      /^(?:__version__|VERSION)[^=\n]{0,100}=\s*(["'])v?(?<version>[^"'\n]+)\1/im,
      read,
    );
  try {
    // Python writes a named group as (?P<version>…), and hatch searches every line.
    return await fromSource(path, new RegExp(pattern.replaceAll('(?P<', '(?<'), 'm'), read);
  } catch (error) {
    const isSlow = error instanceof CpuBudgetSpent;
    const what = isSlow ? 'takes too long to match' : 'is not a valid regular expression';
    return { problem: `is declared with the pattern ${pattern}, which ${what}` };
  }
}

import type { ReadText } from './pack-text.js';
import type { Pyproject } from './pyproject.js';

export type FoundVersion = { readonly version: string } | { readonly problem: string };

/**
 * The version of a pack that says `dynamic = ["version"]`, read as its build tool would, but never by running code: from
 * a file's text or a plain assignment.
 *
 * @returns a version as it stands there, or a sentence without its subject
 */
export async function readDynamicVersion(pyproject: Pyproject, read: ReadText): Promise<FoundVersion> {
  const { hostui, comfy, setuptools, hatch, pdm, flit, poetry } = pyproject.tool;
  const named = hostui?.version?.path ?? comfy?.version?.path;
  if (named) return fromSource(named, assigned('__version__|VERSION'), read);
  if (poetry?.version) return { version: poetry.version };
  const dynamic = setuptools?.dynamic?.version;
  if (dynamic?.file) return fromTextFile(dynamic.file[0] ?? 'VERSION', read);
  if (dynamic?.attr) return fromAttribute(dynamic.attr, setuptools?.['package-dir'] ?? {}, read);
  if (hatch?.version?.path) return fromHatch(hatch.version.path, hatch.version.pattern, read);
  if (pdm?.version?.path) return fromSource(pdm.version.path, assigned('__version__'), read);
  if (flit) {
    const module = flit.module?.name ?? pyproject.project.name?.replaceAll('-', '_') ?? '';
    return fromAttribute(`${module}.__version__`, {}, read);
  }
  return {
    problem:
      pyproject.tool.setuptools_scm !== undefined || hatch?.version?.source || pdm?.version?.source
        ? 'is computed when the pack is built; write the number itself, such as version = "1.0.0"'
        : 'is dynamic, but nothing says where it stands; write the number itself, such as version = "1.0.0"',
  };
}

/** `name = "1.2.3"` at the start of a line, with or without a type. The value is the group `version`. */
function assigned(names: string): RegExp {
  return new RegExp(
    `^(?:${names})[ \\t]*(?::[^=\\n]{0,100})?=[ \\t]*(["'])(?<version>[^"'\\\\\\n]*)\\1`,
    'm',
  );
}

async function fromSource(path: string, pattern: RegExp, read: ReadText): Promise<FoundVersion> {
  const found = await read(path);
  if ('problem' in found) return found;
  const match = pattern.exec(found.text);
  const version = match?.groups?.version?.trim();
  if (version) return { version };
  return {
    problem: `is not written plainly in ${path}; a line such as __version__ = "1.0.0" is needed, for no code is run`,
  };
}

async function fromTextFile(path: string, read: ReadText): Promise<FoundVersion> {
  const found = await read(path);
  if ('problem' in found) return found;
  const version = found.text.trim();
  return version ? { version } : { problem: `is missing in ${path}, which is empty` };
}

/** `pack.about.__version__` stands in `pack/about.py` or `pack/about/__init__.py`, perhaps below `src`. */
async function fromAttribute(
  attribute: string,
  packageFolders: Readonly<Record<string, string>>,
  read: ReadText,
): Promise<FoundVersion> {
  const parts = attribute.split('.');
  const name = parts.pop() ?? '';
  if (![...parts, name].every((part) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(part)))
    return { problem: `is to be read from ${attribute}, which is not the name of an attribute` };
  const roots = [...new Set([packageFolders[''] ?? '.', '.', 'src'])];
  const modules = parts.length === 0 ? ['__init__'] : [parts.join('/'), `${parts.join('/')}/__init__`];
  for (const root of roots) {
    for (const module of modules) {
      const found = await fromSource(`${root}/${module}.py`.replace(/^\.\//, ''), assigned(name), read);
      if ('version' in found) return found;
    }
  }
  return { problem: `is to be read from ${attribute}, but no plain ${name} = "1.0.0" was found there` };
}

async function fromHatch(path: string, pattern: string | undefined, read: ReadText): Promise<FoundVersion> {
  if (!pattern)
    return fromSource(
      path,
      /^(?:__version__|VERSION)[^=\n]{0,100}=\s*(["'])v?(?<version>[^"'\n]+)\1/im,
      read,
    );
  try {
    // Python names a group (?P<version>…), and hatch looks in every line.
    return await fromSource(path, new RegExp(pattern.replaceAll('(?P<', '(?<'), 'm'), read);
  } catch {
    return { problem: `is to be found by the pattern ${pattern}, which cannot be read as an expression` };
  }
}

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { fitsOutline, type Outline } from '../contract/schema/outline.js';
import type { Problem } from '../contract/schema/schema-types.js';
import { completeVersion } from '../contract/schema/semantic-version.js';
import { readDynamicVersion } from './dynamic-version.js';
import outlines from './manifest.generated.json' with { type: 'json' };
import { adviseOnKeys, adviseOnValues } from './manifest-advice.js';
import type { MANIFEST_SCHEMAS } from './manifest-schemas.js';
import { createTextReader, type ReadText } from './pack-text.js';
import type { PackProblem } from './problem.js';
import { formatKeyPath, type Pyproject, readPyproject } from './pyproject.js';
import { readRequirements } from './requirements.js';

type Schemas = typeof MANIFEST_SCHEMAS;

/** A pack as described by its `pyproject.toml`, in the form that publishing sends. Missing keys are missing fields. */
export interface Manifest {
  readonly publisher: string;
  readonly node: z.output<Schemas['node']>;
  readonly version: z.output<Schemas['version']>;
  /** `includes` as written: what to pack even if it is ignored. */
  readonly includes: readonly string[];
  /** Which table describes the pack; undefined if there is neither. */
  readonly table: 'hostui' | 'comfy' | undefined;
  /** Problems that do not prevent publishing. */
  readonly warnings: readonly PackProblem[];
}

type ReadManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problems: readonly PackProblem[] };

export interface ManifestOptions {
  /** The publisher to publish under, instead of `PublisherId`. */
  readonly publisher?: string | undefined;
  /** Whether the registry has other rules for ids of publishers. */
  readonly anyPublisherId?: boolean | undefined;
  /** Whether the registry takes `1.2` as `1.2.0`. */
  readonly completesVersions?: boolean | undefined;
}

/**
 * Reads a pack's `pyproject.toml`, and the files with its version and dependencies. No code of the pack is run.
 *
 * @returns the manifest, or all problems; `where` is the key, such as `[project] version`
 */
export async function readManifest(folder: string, options: ManifestOptions = {}): Promise<ReadManifest> {
  const pyproject = await readPyproject(folder);
  if (!pyproject.value) return { ok: false, problems: pyproject.problems };
  const { project, tool } = pyproject.value;
  // Existing packs have [tool.comfy]; it is read if [tool.hostui] is missing.
  const table = tool.hostui ? 'hostui' : tool.comfy ? 'comfy' : undefined;
  const pack = tool.hostui ?? tool.comfy;

  const problems: PackProblem[] = [];
  const warnings: PackProblem[] = [];
  const read = createTextReader(folder);
  const written = await findVersion(pyproject.value, read, problems);
  const versionText = options.completesVersions && written ? completeVersion(written) : written;
  if (versionText !== written)
    warnings.push({
      where: '[project] version',
      message: `is ${written}; the registry makes it ${versionText}`,
    });
  const listed = await findDependencies(pyproject.value, read, problems, warnings);
  const { dependencies, frontend } = splitFrontend(listed);
  const supported = {
    supported_os: selectClassifiers(project.classifiers ?? [], 'Operating System :: ', /./),
    supported_accelerators: selectClassifiers(project.classifiers ?? [], 'Environment :: ', /^[GN]PU :: /),
    supported_hostui_version: pack?.['requires-hostui'] ?? pack?.['requires-comfyui'],
    supported_hostui_frontend_version: frontend,
  };
  if (project.license?.file && !(await isFile(folder, project.license.file)))
    warnings.push({
      where: '[project] license',
      message: `refers to ${project.license.file}, which does not exist`,
    });

  warnings.push(...adviseOnValues(pyproject.value, table ?? 'comfy', dependencies));

  const validate = createValidator(table ?? 'comfy', problems);
  const publisher = await validate(
    options.anyPublisherId ? 'anyPublisher' : 'publisher',
    omitUndefined({ publisher: options.publisher ?? pack?.PublisherId }),
  );
  const node = await validate(
    'node',
    omitUndefined({
      id: project.name,
      name: pack?.DisplayName ?? project.name,
      description: project.description,
      author: project.authors?.[0]?.name,
      license: project.license?.file ?? project.license?.text ?? findLicenseFile(project['license-files']),
      category: pack?.Category,
      tags: project.keywords?.length ? project.keywords : undefined,
      repository: findRepository(project.urls ?? {}),
      icon: pack?.Icon,
      banner_url: pack?.Banner,
      ...supported,
    }),
  );
  const version = await validate(
    'version',
    omitUndefined({ version: versionText, dependencies, ...supported }),
  );
  const merged = mergeProblems(pyproject.problems, problems);
  const { problems: all, warnings: ignored } = adviseOnKeys(pyproject.document, merged);
  if (all.length > 0 || !publisher || !node || !version) return { ok: false, problems: all };
  return {
    ok: true,
    manifest: {
      publisher: publisher.publisher,
      node,
      version,
      includes: pack?.includes ?? [],
      table,
      warnings: [...ignored, ...warnings],
    },
  };
}

function toKey(field: string, table: string): Problem['path'] {
  const keys: Record<string, Problem['path']> = {
    id: ['project', 'name'],
    tags: ['project', 'keywords'],
    publisher: ['tool', table, 'PublisherId'],
    name: ['tool', table, 'DisplayName'],
    icon: ['tool', table, 'Icon'],
    banner_url: ['tool', table, 'Banner'],
    category: ['tool', table, 'Category'],
  };
  return keys[field] ?? ['project', field];
}

/**
 * Creates a function that checks values as the service does, and collects problems by key. Values that fit an outline
 * are accepted without the schemas, which are only loaded to say what is wrong.
 */
function createValidator(table: string, problems: PackProblem[]) {
  return async <Name extends keyof Schemas>(
    name: Name,
    value: Record<string, unknown>,
  ): Promise<z.output<Schemas[Name]> | undefined> => {
    if (fitsOutline(outlines[name] as Outline, value, [])) return value as z.output<Schemas[Name]>;
    const [{ MANIFEST_SCHEMAS }, { checkValue }] = await Promise.all([
      import('./manifest-schemas.js'),
      import('../contract/schema/check.js'),
    ]);
    const checked = checkValue(MANIFEST_SCHEMAS[name], value);
    if (checked.ok) return checked.value as z.output<Schemas[Name]>;
    for (const { path, message } of checked.problems) {
      // Without [project] name there is no display name either, and a version that is not found is already reported.
      if (message === 'is required' && ['name', 'version'].includes(String(path[0]))) continue;
      problems.push({
        where: formatKeyPath([...toKey(String(path[0]), table), ...path.slice(1)]),
        message: String(message),
      });
    }
    return undefined;
  };
}

async function findVersion(
  pyproject: Pyproject,
  read: ReadText,
  problems: PackProblem[],
): Promise<string | undefined> {
  const where = '[project] version';
  const { version, dynamic } = pyproject.project;
  if (version) return version;
  if (!dynamic?.includes('version')) {
    problems.push({ where, message: 'is required, such as version = "1.0.0"' });
    return undefined;
  }
  const found = await readDynamicVersion(pyproject, read);
  if ('version' in found) return found.version;
  problems.push({ where, message: found.problem });
  return undefined;
}

async function findDependencies(
  { project, tool }: Pyproject,
  read: ReadText,
  problems: PackProblem[],
  warnings: PackProblem[],
): Promise<readonly string[]> {
  const where = '[project] dependencies';
  if (project.dependencies || !project.dynamic?.includes('dependencies')) return project.dependencies ?? [];
  const files = tool.setuptools?.dynamic?.dependencies?.file ?? ['requirements.txt'];
  const { dependencies, problems: found, skipped } = await readRequirements(files, read);
  problems.push(...found.map((message) => ({ where, message })));
  warnings.push(
    ...skipped.map((line) => ({ where, message: `leaves out ${line}, which only pip understands` })),
  );
  return dependencies;
}

function omitUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A key of the wrong type is not reported as missing as well. */
function mergeProblems(shape: readonly PackProblem[], others: readonly PackProblem[]): PackProblem[] {
  const misshapen = new Set(shape.map(({ where }) => where));
  // Node and version share fields, and report the same problems.
  const unique = new Map(others.map((problem) => [`${problem.where} ${problem.message}`, problem]));
  return [...shape, ...[...unique.values()].filter(({ where }) => !misshapen.has(where))];
}

async function isFile(folder: string, path: string): Promise<boolean> {
  return stat(join(folder, path)).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** Separates the host's frontend, which is not a package to install: its version states the supported frontends. */
function splitFrontend(dependencies: readonly string[]) {
  const frontendPackage = /^[a-z0-9._-]+-frontend-package(?![a-z0-9._-])\s*(?:\[[^\]]*\])?([^;]*)/i;
  const frontend = dependencies.map((dependency) => frontendPackage.exec(dependency.trim())?.[1]);
  return {
    dependencies: dependencies.filter((dependency) => !frontendPackage.test(dependency.trim())),
    frontend: frontend.find((version) => version !== undefined)?.replaceAll(/[\s()]/g, '') || undefined,
  };
}

/** `Operating System :: POSIX :: Linux` becomes `POSIX :: Linux`. Returns undefined if there are none. */
function selectClassifiers(
  classifiers: readonly string[],
  prefix: string,
  wanted: RegExp,
): string[] | undefined {
  const values = classifiers
    .filter((classifier) => classifier.startsWith(prefix))
    .map((classifier) => classifier.slice(prefix.length).trim())
    .filter((value) => wanted.test(value));
  return values.length > 0 ? [...new Set(values)] : undefined;
}

/** Labels are compared like in package indexes: case, spaces and punctuation are ignored. */
function findRepository(urls: Readonly<Record<string, string>>): string | undefined {
  const byLabel = new Map(
    Object.entries(urls).map(([label, url]) => [
      label.toLowerCase().replaceAll(/[^a-z0-9]/g, ''),
      url.trim(),
    ]),
  );
  const labels = ['repository', 'repo', 'source', 'sourcecode', 'github', 'code'];
  const found = labels.map((label) => byLabel.get(label)).find(Boolean);
  const homepage = byLabel.get('homepage');
  return (
    found ??
    (homepage && /^https:\/\/(?:github|gitlab|codeberg)\.(?:com|org)\//.test(homepage) ? homepage : undefined)
  );
}

/** Finds the first of PEP 639's `license-files` if it is a plain path; older tools use other types. */
function findLicenseFile(licenseFiles: unknown): string | undefined {
  const first: unknown = Array.isArray(licenseFiles) ? licenseFiles[0] : undefined;
  return typeof first === 'string' && !/[*?[]/.test(first) ? first : undefined;
}

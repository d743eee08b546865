import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { isRecord } from '../contract/json.js';
import type { Problem } from '../contract/schema/schema-types.js';
import { suggestSemanticVersion } from '../contract/schema/semantic-version.js';
import { readFolderFile, UnfitFileError } from '../disk/folder-file.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';
import { MAX_TEXT_BYTES } from './pack-text.js';
import type { PackProblem } from './problem.js';
import { describeTomlError } from './toml-error.js';

type Path = Problem['path'];

/** Reads a value that is present. One of another type is reported, and counts as absent. */
type Read<Value> = (value: unknown, path: Path, problems: Problem[]) => Value | undefined;

type ReadValue<One> = One extends Read<infer Value> ? Value : never;

function fail(problems: Problem[], path: Path, message: string): undefined {
  problems.push({ path, message });
}

const string: Read<string> = (value, path, problems) =>
  typeof value === 'string' ? value : fail(problems, path, 'must be a string');

/** Templates leave unknown values empty, so `Icon = ""` means that there is no icon. */
const text: Read<string> = (...given) => string(...given)?.trim() || undefined;

/** The maximum of a list or map in a request, too. */
const MAX_ENTRIES = 1000;

/** A list with an item of another type counts as absent as a whole. */
const list =
  <Item>(item: Read<Item>, maxItems = MAX_ENTRIES): Read<Item[]> =>
  (value, path, problems) => {
    if (!Array.isArray(value)) return fail(problems, path, 'must be a list');
    if (value.length > maxItems) return fail(problems, path, `must have at most ${maxItems} items`);
    const before = problems.length;
    const items = value.map((one, at) => item(one, [...path, at], problems));
    return problems.length > before ? undefined : (items as Item[]);
  };
const texts = list(string);

/** Texts by any keys but `__proto__`, which is ignored. */
const map: Read<Record<string, string>> = (value, path, problems) => {
  // A date is an object, too.
  if (!isRecord(value) || value instanceof Date) return fail(problems, path, 'must be an object');
  const named = Object.entries(value).filter(([key]) => key !== '__proto__');
  if (named.length > MAX_ENTRIES) return fail(problems, path, `must have at most ${MAX_ENTRIES} entries`);
  const entries = named.map(([key, one]) => [key, string(one, [...path, key], problems)]);
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
};

/** The keys of a table; others are left out. */
const table =
  <Keys extends Record<string, Read<unknown>>>(
    keys: Keys,
  ): Read<{ readonly [Key in keyof Keys]?: ReadValue<Keys[Key]> | undefined }> =>
  (value, path, problems) => {
    if (!isRecord(value)) return fail(problems, path, 'must be an object');
    const present = Object.entries(keys).filter(([key]) => value[key] !== undefined);
    return Object.fromEntries(
      present.map(([key, read]) => [key, read(value[key], [...path, key], problems)]),
    ) as never;
  };

/** One of several types, or else one problem. */
const either =
  <Value>(message: string, ...types: readonly Read<Value>[]): Read<Value> =>
  (value, path, problems) => {
    for (const read of types) {
      const others: Problem[] = [];
      const found = read(value, path, others);
      if (others.length === 0) return found;
    }
    return fail(problems, path, message);
  };

const anything: Read<unknown> = (value) => value;

const files = either('must be a path or a list of paths', list(string, Infinity), (value, path, problems) => {
  const one = string(value, path, problems);
  return one === undefined ? undefined : [one];
});

const packKeys = {
  PublisherId: text,
  DisplayName: text,
  Icon: text,
  Banner: text,
  Category: text,
  includes: texts,
  'requires-hostui': text,
  'requires-comfyui': text,
  version: table({ path: text }),
};
const PackTable = table(packKeys);
export const PACK_KEYS: readonly string[] = Object.keys(packKeys);

const License = table({ file: text, text });

/** A number in place of a version is the usual slip. */
const version: Read<string> = (value, path, problems) => {
  if (typeof value === 'string') return value.trim() || undefined;
  const spelling = suggestSemanticVersion(String(value)) ?? '1.0.0';
  return fail(problems, path, `must be a string, such as version = "${spelling}"`);
};

const projectKeys = {
  name: text,
  description: text,
  version,
  dynamic: texts,
  dependencies: texts,
  license: either(
    'must be a string such as "MIT", or { file = "LICENSE" }',
    (...given): ReadValue<typeof License> => ({ text: text(...given) }),
    License,
  ),
  'license-files': anything,
  keywords: texts,
  authors: list(table({ name: text, email: text })),
  urls: map,
  classifiers: texts,
};
const Project = table(projectKeys);
export const PROJECT_KEYS: readonly string[] = Object.keys(projectKeys);

const dynamic = table({ attr: text, file: files });

const Tool = table({
  hostui: PackTable,
  comfy: PackTable,
  setuptools: table({
    dynamic: table({ version: dynamic, dependencies: dynamic }),
    'package-dir': map,
  }),
  setuptools_scm: anything,
  hatch: table({ version: table({ path: text, pattern: text, source: text }) }),
  pdm: table({ version: table({ source: text, path: text }) }),
  flit: table({ module: table({ name: text }) }),
  poetry: table({ version: text }),
});

/** The keys of a `pyproject.toml` that describe a pack. Other keys are ignored. */
const Document = table({ project: Project, tool: Tool });

export interface Pyproject {
  readonly project: ReadValue<typeof Project>;
  readonly tool: ReadValue<typeof Tool>;
}

/** Decided: at most a hundred problems are reported. */
const MAX_PROBLEMS = 100;

export interface ReadPyproject {
  /** The valid keys; undefined if the file could not be read at all. */
  readonly value?: Pyproject | undefined;
  /** All that is written in the file. */
  readonly document?: unknown;
  readonly problems: readonly PackProblem[];
}

/** Reads a folder's `pyproject.toml`, and lists all keys of the wrong type. */
export async function readPyproject(folder: string): Promise<ReadPyproject> {
  const failed = (message: string, place = '') => ({
    problems: [{ where: `pyproject.toml${place}`, message }],
  });
  let parsed: unknown;
  let text = '';
  try {
    const bytes = readFolderFile(join(folder, 'pyproject.toml'), MAX_TEXT_BYTES);
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    parsed = parse(text);
  } catch (error) {
    if (isMachineTrouble(error)) throw error;
    if (error instanceof UnfitFileError) return failed(error.reason);
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return failed(`is missing in ${folder}`);
    if (syscall) return failed(`cannot be read (${code})`);
    if (!(error instanceof TomlError)) return failed('is not UTF-8 text');
    return failed(`is not valid TOML: ${describeTomlError(error, text)}`, `:${error.line}:${error.column}`);
  }
  const found: Problem[] = [];
  const { project = {}, tool = {} } = Document(parsed, [], found) ?? {};
  const problems = found.slice(0, MAX_PROBLEMS);
  return {
    value: { project, tool },
    document: parsed,
    problems: problems.map(({ path, message }) => ({ where: formatKeyPath(path), message: String(message) })),
  };
}

/** Formats `['tool', 'hostui', 'includes', 2]` as `[tool.hostui] includes[2]`. */
export function formatKeyPath(path: Problem['path']): string {
  const depth = path[0] === 'tool' ? 2 : 1;
  const keys = path.slice(depth).map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
  return `[${path.slice(0, depth).join('.')}] ${keys.join('').replace(/^\./, '')}`.trim();
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { checkValue } from '../contract/schema/check.js';
import type { Problem } from '../contract/schema/schema-types.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';
import { MAX_TEXT_BYTES } from './pack-text.js';
import type { PackProblem } from './problem.js';

/** Templates leave unknown values empty, so `Icon = ""` means that there is no icon. */
const text = z
  .string()
  .transform((value) => value.trim() || undefined)
  .optional();
const texts = z.array(z.string()).default([]);

const files = z.union([z.string().transform((path) => [path]), z.array(z.string())], {
  error: 'must be a path or a list of paths',
});

const PackTable = z.looseObject({
  PublisherId: text,
  DisplayName: text,
  Icon: text,
  Banner: text,
  Category: text,
  includes: texts,
  'requires-hostui': text,
  'requires-comfyui': text,
  version: z.looseObject({ path: text }).optional(),
});

const project = z.looseObject({
  name: text,
  description: text,
  version: text,
  dynamic: texts,
  dependencies: z.array(z.string()).optional(),
  license: z
    .union(
      [
        z.string().transform((value) => ({ file: undefined, text: value.trim() || undefined })),
        z.looseObject({ file: text, text }),
      ],
      { error: 'must be a string such as "MIT", or { file = "LICENSE" }' },
    )
    .optional(),
  'license-files': z.unknown().optional(),
  keywords: texts,
  authors: z.array(z.looseObject({ name: text, email: text })).default([]),
  urls: z.record(z.string(), z.string()).default({}),
  classifiers: texts,
});

const dynamic = z.looseObject({ attr: text, file: files.optional() });

const tool = z.looseObject({
  hostui: PackTable.optional(),
  comfy: PackTable.optional(),
  setuptools: z
    .looseObject({
      dynamic: z.looseObject({ version: dynamic.optional(), dependencies: dynamic.optional() }).optional(),
      'package-dir': z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  setuptools_scm: z.unknown().optional(),
  hatch: z
    .looseObject({
      version: z.looseObject({ path: text, pattern: text, source: text }).optional(),
    })
    .optional(),
  pdm: z.looseObject({ version: z.looseObject({ source: text, path: text }).optional() }).optional(),
  flit: z.looseObject({ module: z.looseObject({ name: text }).optional() }).optional(),
  poetry: z.looseObject({ version: text }).optional(),
});

/** The keys of a `pyproject.toml` that describe a pack. Other keys are ignored. */
const Pyproject = z.looseObject({
  project: project.prefault({}),
  tool: tool.prefault({}),
});

export type Pyproject = z.output<typeof Pyproject>;

export interface ReadPyproject {
  /** The valid keys; undefined if the file could not be read at all. */
  readonly value?: Pyproject | undefined;
  readonly problems: readonly PackProblem[];
}

/** Reads a folder's `pyproject.toml`, and lists all keys of the wrong type. */
export async function readPyproject(folder: string): Promise<ReadPyproject> {
  const failed = (message: string, place = '') => ({
    problems: [{ where: `pyproject.toml${place}`, message }],
  });
  const bytes = await readFile(join(folder, 'pyproject.toml')).catch((error: NodeJS.ErrnoException) => error);
  if (isMachineTrouble(bytes)) throw bytes;
  if (bytes instanceof Error)
    return failed(bytes.code === 'ENOENT' ? `is missing in ${folder}` : `cannot be read (${bytes.code})`);
  if (bytes.length > MAX_TEXT_BYTES) return failed('is larger than 1 MiB');
  let parsed: unknown;
  try {
    parsed = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (!(error instanceof TomlError)) return failed('is not UTF-8 text');
    const [sentence = ''] = error.message.replace('Invalid TOML document: ', '').split('\n');
    return failed(`is not valid TOML: ${sentence}`, `:${error.line}:${error.column}`);
  }
  const checked = checkValue(Pyproject, parsed);
  if (checked.ok) return { value: checked.value, problems: [] };
  // The invalid keys are removed so that the rest can be checked, and all problems are reported together.
  for (const { path } of checked.problems) removeKey(parsed, path);
  const rest = checkValue(Pyproject, parsed);
  return {
    value: rest.ok ? rest.value : undefined,
    problems: checked.problems.map(({ path, message }) => ({ where: formatKeyPath(path), message })),
  };
}

/** Removes the key at a path, or the whole list that contains it. */
function removeKey(table: unknown, path: Problem['path']): void {
  const [key, ...rest] = path;
  if (key === undefined || typeof table !== 'object' || table === null) return;
  const inner = (table as Record<string, unknown>)[key];
  if (rest.length === 0 || Array.isArray(inner)) delete (table as Record<string, unknown>)[key];
  else removeKey(inner, rest);
}

/** Formats `['tool', 'hostui', 'includes', 2]` as `[tool.hostui] includes[2]`. */
export function formatKeyPath(path: Problem['path']): string {
  const depth = path[0] === 'tool' ? 2 : 1;
  const keys = path.slice(depth).map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
  return `[${path.slice(0, depth).join('.')}] ${keys.join('').replace(/^\./, '')}`.trim();
}

import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readFolderFile } from '../../disk/folder-file.js';
import { MAX_TEXT_BYTES } from '../../pack/pack-text.js';
import { findSecretFileKind } from '../../pack/secrets.js';
import { findNearest } from '../../wire/nearest.js';
import type { Flag, FlagValues } from '../command/command.js';
import { usage } from '../terminal/failure.js';

/** The defaults of a project: the table `[tool.regen]` of its pyproject.toml. */
export interface Project {
  /** Where they are, such as `pyproject.toml`. */
  readonly path: string;
  readonly profile: string | undefined;
  /** Flags of the commands that read the folder, by name. */
  readonly flags: FlagValues;
}

/**
 * Reads the defaults of a project.
 * @param paths the pyproject.toml of each folder of the command
 * @param listFlags the flags that may have defaults
 * @throws Failure if they are invalid, or differ between the folders
 */
export async function readProject(
  paths: readonly string[],
  listFlags: () => readonly Flag[],
): Promise<Project | undefined> {
  const [first, ...others] = await Promise.all(paths.map((path) => readDefaults(path, listFlags)));
  const odd = others.findIndex((other) => !isDeepStrictEqual({ ...other, path: '' }, { ...first, path: '' }));
  if (odd >= 0)
    throw usage(
      `${paths[0]} and ${paths[odd + 1]} have different defaults in [tool.regen].`,
      'Run the command for each folder.',
    );
  return first;
}

async function readDefaults(path: string, listFlags: () => readonly Flag[]): Promise<Project | undefined> {
  const text = readText(path);
  if (!/^[ \t]*\[\s*tool\s*\.\s*regen\s*\]/m.test(text)) return undefined;
  const { parse } = await import('smol-toml');
  let table: Record<string, unknown>;
  try {
    table = (parse(text) as { tool: { regen: Record<string, unknown> } }).tool.regen;
  } catch {
    // Commands that read the manifest report what is wrong with it.
    return undefined;
  }
  const { profile, ...defaults } = table;
  if (profile !== undefined && typeof profile !== 'string')
    throw usage(`profile in [tool.regen] of ${path} must be the name of a profile.`);
  return { path, profile, flags: readFlags(path, defaults, listFlags()) };
}

/** Reads a pyproject.toml, if it can be read. The command reports what is wrong with it. */
function readText(path: string): string {
  try {
    return readFolderFile(path, MAX_TEXT_BYTES).toString();
  } catch {
    return '';
  }
}

// Decided: a folder may be another person's work, so nothing in it publishes secrets, silences a check, writes files or
// says who publishes.
const NEVER_BY_DEFAULT = [
  ...[
    'allow-secrets',
    'allow-findings',
    'allow-breaking',
    'output',
    'force',
    'list',
    'id-token-file',
    'audience',
  ],
];

function readFlags(path: string, defaults: Record<string, unknown>, known: readonly Flag[]): FlagValues {
  const flags: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(defaults)) {
    const flag = known.find((one) => one.name === name && !NEVER_BY_DEFAULT.includes(name));
    if (!flag)
      throw usage(`${name} in [tool.regen] of ${path} cannot be set there.`, explainKnown(name, known));
    const isValid = flag.value ? ['string', 'number'].includes(typeof value) : typeof value === 'boolean';
    if (!isValid)
      throw usage(`${name} in [tool.regen] of ${path} must be ${flag.value ? 'a text' : 'true or false'}.`);
    if (value === false && !name.startsWith('no-')) continue;
    if (flag.name === 'changelog-file') flags[name] = findOwnFile(path, String(value));
    else flags[name.replace(/^no-/, '')] = flag.value ? String(value) : !name.startsWith('no-');
  }
  return flags;
}

/**
 * Finds a file of the project: what it publishes must be its own.
 * @throws Failure if it is elsewhere, through links too, or does not exist
 */
function findOwnFile(path: string, file: string): string {
  const folder = dirname(path);
  const found = join(folder, file);
  const real = existsSync(found) ? realpathSync(found) : '';
  const isOwn = real.startsWith(realpathSync(folder) + sep);
  if (!isOwn) throw usage(`changelog-file in [tool.regen] of ${path} must be a file in that folder.`);
  if (real.split(sep).includes('.git') || findSecretFileKind(basename(real)))
    throw usage(`changelog-file in [tool.regen] of ${path} must not be a file with secrets.`);
  return real;
}

function explainKnown(name: string, known: readonly Flag[]): string {
  const open = known.filter((one) => !one.hidden && !NEVER_BY_DEFAULT.includes(one.name));
  const names = ['profile', ...new Set(open.map((one) => one.name))];
  const near = findNearest(name, names);
  return `${near ? `Did you mean ${near}? ` : ''}Keys are ${names.join(', ')}.`;
}

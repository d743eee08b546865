import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import inc from 'semver/functions/inc.js';
import lte from 'semver/functions/lte.js';
import valid from 'semver/functions/valid.js';
import { z } from 'zod';
import { readFolderFile } from '../../disk/folder-file.js';
import { replaceFolderFile } from '../../disk/private-file.js';
import { readManifest } from '../../pack/manifest.js';
import { MAX_TEXT_BYTES } from '../../pack/pack-text.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { Text } from '../views/answers.js';
import { dirExplain } from '../views/flags.js';
import type { View } from '../views/view.js';

export const view = (): View => ({
  usage: 'version bump [to] [dir]',
  local: true,
  summary: 'Raise the version in the pyproject.toml of a node pack',
  explain: {
    to: 'major, minor, patch, prerelease, or the new version (default: patch)',
    ...dirExplain,
  },
  examples: ['regen version bump minor', 'regen version bump 2.0.0 packs/light'],
  answer: z.object({ path: Text, from: Text, version: Text }),
});

const PARTS = ['major', 'minor', 'patch', 'prerelease'] as const;
type Part = (typeof PARTS)[number];

/** Raises the version in the manifest of a node pack; everything else in the file stays as it is. */
export async function run({ args, system, output }: Needs<'args' | 'system' | 'output'>): Promise<void> {
  const { to = 'patch', dir } = args as Readonly<Record<string, string | undefined>>;
  const folder = resolve(system.cwd, dir ?? '.');
  const path = join(folder, 'pyproject.toml');
  const read = await readManifest(folder);
  if (!read.ok && !existsSync(path))
    throw usage(`pyproject.toml is missing in ${folder}.`, 'Create one with: regen node init');
  if (!read.ok) throw usage(`The manifest ${path} is not valid.`, 'See what is wrong: regen version check');
  const from = read.manifest.version.version;
  const version = (PARTS as readonly string[]).includes(to) ? inc(from, to as Part) : valid(to);
  if (!version || (to !== version && !(PARTS as readonly string[]).includes(to)))
    throw usage(`'${to}' is neither ${PARTS.join(', ')} nor a semantic version.`);
  if (lte(version, from)) throw usage(`${version} is not higher than ${from}.`);
  const text = replaceVersion(readFolderFile(path, MAX_TEXT_BYTES).toString(), from, version);
  if (text === undefined)
    throw usage(
      `${path} has no version in [project].`,
      `Change it where it is defined; the next one is ${version}.`,
    );
  replaceFolderFile(path, text);
  await output.answer({ path, from, version }, { only: 'version' });
  await output.note(`${from} -> ${version}. Next: regen version publish`);
}

/** Replaces `version = "…"` in the table `[project]`; undefined if it is not there. */
function replaceVersion(text: string, from: string, version: string): string | undefined {
  let table = '';
  let isReplaced = false;
  const lines = text.split('\n').map((line) => {
    table = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1]?.trim() ?? table;
    const [, before = '', quote = '', old, after = ''] =
      /^(\s*version\s*=\s*)(["'])([^"']*)\2(.*)$/s.exec(line) ?? [];
    if (table !== 'project' || isReplaced || old !== from) return line;
    isReplaced = true;
    return `${before}${quote}${version}${quote}${after}`;
  });
  return isReplaced ? lines.join('\n') : undefined;
}

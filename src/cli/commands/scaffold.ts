import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { regen, say } from '../../contract/schema/message.js';
import { replaceFolderFile } from '../../disk/private-file.js';
import { formatPyproject } from '../../pack/infer-manifest.js';
import { createScaffold } from '../../pack/scaffold.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { Text, Texts } from '../views/answers.js';
import type { View } from '../views/view.js';
import { collectFacts, FIRST_VERSION, manifestFlags } from './init.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'services' | 'mayAsk'>;

export const view = (): View => ({
  usage: 'node scaffold [dir]',
  local: true,
  summary: 'Create a node pack with one working node, a manifest, a license and a README in an empty folder',
  explain: { dir: 'Folder for the new pack; created if it does not exist (default: the current folder)' },
  flags: manifestFlags(['id', 'name', 'publisher', 'version', 'description', 'repository']),
  examples: [
    'regen node scaffold light-tools',
    'regen node scaffold light-tools --publisher my-team --no-input',
  ],
  answer: z.object({ path: Text, files: Texts }),
});

const DESCRIPTION = 'Custom nodes for ComfyUI';

export async function run(context: Context): Promise<void> {
  const { args, system, output } = context;
  const folder = resolve(system.cwd, (args.dir as string | undefined) ?? '.');
  requireEmpty(folder);
  mkdirSync(folder, { recursive: true });
  const { facts, dependencies } = await collectFacts(context, folder, {
    description: DESCRIPTION,
    license: 'LICENSE',
    version: FIRST_VERSION,
    repository: '',
  });
  const { id = '', name = '', publisher = '', version = '', description = '', repository } = facts;
  const year = new Date(system.now()).getUTCFullYear();
  const license = { file: 'LICENSE' };
  const files = {
    ...createScaffold({ id, name, publisher, description, year }),
    'pyproject.toml': formatPyproject({
      ...{ id, name, publisher, version, description, license, repository, dependencies },
    }),
  };
  for (const [path, text] of Object.entries(files)) replaceFolderFile(join(folder, path), text);
  await output.answer(
    { path: folder, files: Object.keys(files) },
    system.stdout.isTTY ? {} : { only: 'path' },
  );
  await output.note(say`Next: ${regen('version check')}, then ${regen('version publish')}`);
}

/** What a new repository has. */
const ALLOWED = ['.git', '.gitignore', '.gitattributes', '.DS_Store'];

function requireEmpty(folder: string): void {
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') throw usage(`${folder} is a file; name a folder.`);
    if (code !== 'ENOENT') throw error;
  }
  const taken = names.filter((name) => !ALLOWED.includes(name));
  if (taken.length === 0) return;
  throw usage(
    `${basename(folder)} is not empty: it has ${taken.slice(0, 3).join(', ')}${taken.length > 3 ? ' and more' : ''}.`,
    say`Name a new folder. For a folder that has code already: ${regen('node init')}`,
  );
}

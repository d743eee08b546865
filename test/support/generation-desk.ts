import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { homeForTest, type Ran, regen, type Surroundings } from './cli.js';
import { type DoubleOptions, generationDoubleForTest, png } from './generation-double.js';
import { folderForTest } from './service.js';

const PHOTOS = { 'photo.png': png, 'other.png': Buffer.concat([png, Buffer.from('x')]) };

/** A person signed in to a service that generates nothing, in a folder with images. */
export async function generationDeskForTest(
  options: DoubleOptions = {},
  images: Readonly<Record<string, Buffer>> = PHOTOS,
) {
  const double = await generationDoubleForTest(options);
  const home = homeForTest();
  const cwd = folderForTest();
  for (const [name, bytes] of Object.entries(images)) writeFileSync(join(cwd, name), bytes);
  const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
  const run = (argv: readonly string[], more: Surroundings = {}): Promise<Ran> =>
    regen(argv, { home, cwd, ...more, env: { ...env, ...more.env } });
  const ledgerFolder = join(home, '.local/state/regen/tasks');
  const readEntries = () =>
    (existsSync(ledgerFolder) ? readdirSync(ledgerFolder) : []).map((name) =>
      JSON.parse(readFileSync(join(ledgerFolder, name), 'utf8')),
    );
  return { double, home, cwd, env, run, ledgerFolder, readEntries };
}

/** A task that was started with --no-wait, and everything around it. */
export async function startedTaskForTest(
  options: DoubleOptions = {},
  argv = ['image', 'relight', 'photo.png'],
) {
  const { double, home, cwd, env } = await generationDeskForTest(options, { 'photo.png': png });
  const run = (words: readonly string[], more: Surroundings = {}): Promise<Ran> =>
    regen(words, { home, cwd, env, ...more });
  const begun = await run([...argv, '--no-wait']);
  expect(begun.exit, begun.stderr).toBe(0);
  const [id = ''] = double.tasks.keys();
  return { double, home, cwd, run, id };
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { homeForTest, regen, start } from '../support/cli.js';
import { generationDouble, png } from '../support/generation-double.js';
import { folderForTest } from '../support/service.js';

const preload = pathToFileURL(resolve('test/support/die-at-write.mjs')).href;

/** Runs a command that dies before its n-th write, then does what a person would; true where it did not die. */
async function survives(point: number): Promise<boolean> {
  const double = await generationDouble();
  const home = homeForTest();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.png'), png);
  const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
  const argv = ['image', 'relight', 'photo.png', '-o', 'out.png', '--receipt'];
  const dying = { DIE_AT: String(point), DIE_IN: `${home}:${cwd}`, NODE_OPTIONS: `--import=${preload}` };
  const first = await start(argv, { cwd, home, env: { ...env, ...dying } }).ended;
  if (first.exit === 0) return true;
  expect(first.exit, first.stderr).toBe(137);

  const run = (words: readonly string[]) => regen(words, { cwd, home, env });
  const [entry] = JSON.parse((await run(['task', 'list', '--json'])).stdout);
  const known = entry?.task_id as string | undefined;
  const rest = ['-o', 'out.png', '--receipt', '--force'];
  const second = known ? await run(['task', 'wait', known, ...rest]) : await run(argv);
  expect(second.exit, `${point}: ${second.stderr}`).toBe(0);
  expect({ point, tasks: double.tasks.size }).toEqual({ point, tasks: 1 });
  expect(readFileSync(join(cwd, 'out.png')).equals(png)).toBe(true);
  const files = readdirSync(cwd).filter((name) => !name.endsWith('.part'));
  expect(files.sort()).toEqual(['out.png', 'out.png.receipt.json', 'photo.png']);
  expect(JSON.parse((await run(['task', 'list', '--json'])).stdout)).toHaveLength(1);
  return false;
}

test('a command killed before any of its writes leads to one task and one result', {
  timeout: 120_000,
}, async () => {
  let point = 1;
  while (!(await survives(point))) point += 1;
  // The ledger three times at least, the file and its receipt.
  expect(point).toBeGreaterThan(8);
});

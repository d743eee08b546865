import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen } from '../support/cli.js';
import { filesForTest } from '../support/packs.js';
import { folderForTest, serviceForTest } from '../support/service.js';

test.each([[[]], [['node']], [['version', 'publish']]])(
  'help %j is the help of those words',
  async (words) => {
    const { exit, stdout } = await regen(['help', ...words]);
    expect(exit).toBe(0);
    expect(stdout).toBe((await regen([...words, '--help'])).stdout);
  },
);

test('a token for a terminal is asked for, so that the screen does not show it', async () => {
  const { url, ownerToken } = await serviceForTest();
  const { exit, stderr } = await regen(['auth', 'login', '--with-token'], {
    env: { REGEN_BASE_URL: url },
    answers: [ownerToken],
  });
  expect(exit, stderr).toBe(0);
  expect(stderr).not.toContain(ownerToken);
});

test('node init says which publisher it chose, and what became of a name that is no id', async () => {
  const kept = '{"publish_tokens":{"acme":"pat_1"}}';
  const home = filesForTest({ '.config/regen/credentials/local.json': kept }, homeForTest());
  const cwd = join(folderForTest(), 'Lichtmaß');
  mkdirSync(cwd);
  const { exit, stderr } = await regen(['node', 'init'], { home, cwd });
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain('The publisher is acme.');
  expect(stderr).toContain("The node id 'lichtma' is derived from the folder name 'Lichtmaß'");
});

test.each([
  ['publish', 'version publish'],
  ['login', 'auth login'],
  ['whoami', 'auth status'],
  ['search', 'node search'],
  ['init', 'node init'],
])('%s is told to be %s', async (word, command) => {
  const { exit, stderr } = await regen([word, '--x']);
  expect(exit).toBe(2);
  expect(stderr).toContain(`hint: Did you mean: regen ${command}\n`);
});

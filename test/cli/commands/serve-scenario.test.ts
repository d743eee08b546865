import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { entry, homeForTest, regen, startRegen } from '../../support/cli.js';
import { folderForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const refusing = '[[rules]]\noperations = "node.search"\nnth = 1\nrefuse = "unavailable"\n';

function writeScenario(name: string, text: string): string {
  const path = join(folderForTest(), name);
  writeFileSync(path, text);
  return path;
}

it('serve --scenario prints the seed of the scenario and plays it', async () => {
  const path = writeScenario('scenario.toml', refusing);
  const serving = startRegen(['serve', '--port', '0', '--data', folderForTest(), '--scenario', path]);
  onTestFinished(() => void serving.child.kill('SIGKILL'));
  let url = '';
  serving.child.stdout?.on('data', (chunk) => {
    url += chunk;
  });
  await waitFor(() => {
    expect(serving.said()).toMatch(/A scenario is on: .* Repeat it with --seed \d+\./);
    expect(url).toContain('http');
  });
  const statuses = [await fetch(`${url.trim()}/nodes`), await fetch(`${url.trim()}/nodes`)];
  expect(statuses.map(({ status }) => status)).toEqual([503, 200]);
  serving.child.kill('SIGTERM');
  expect((await serving.ended).stdout).toBe(url);
});

it('serve --detach passes the scenario and its seed on', async () => {
  const home = homeForTest();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'scenario.json'), JSON.stringify({ rules: [{ refuse: 'unavailable' }] }));
  const flags = ['--port', '0', '--data', join(cwd, 'data')];
  const detach = ['serve', ...flags, '--scenario', 'scenario.json', '--detach'];
  const first = await startRegen([...detach, '--seed', '7'], { home, cwd }).ended;
  onTestFinished(
    async () => void (await startRegen(['serve', 'stop', '--data', join(cwd, 'data')], { home }).ended),
  );
  expect(first.exit).toBe(0);
  expect(first.stderr).toContain('with --seed 7.');
  expect((await fetch(`${first.stdout.trim()}/nodes`)).status).toBe(503);
  const again = await startRegen(detach, { home, cwd }).ended;
  expect(again.stderr).toContain('already running; the scenario is not applied.');
});

it('serve --check reports all problems of a scenario', async () => {
  const text = '[[rules]]\nrefuse = "teapot"\n[[rules]]\noperations = "image.relite"\nrefuse = "internal"\n';
  const flags = ['serve', '--check', '--scenario', writeScenario('scenario.toml', text)];
  const { exit, stderr } = await regen(flags);
  expect(exit).toBe(2);
  expect(stderr).toContain('scenario.rules.0.refuse must be');
  expect(stderr).toContain('scenario.rules.1.operations.0 must be the name of an operation');
  expect((await regen(['serve', '--check', '--scenario', writeScenario('s.toml', refusing)])).exit).toBe(0);
});

it.each([
  [['--seed', '1'], '--seed requires --scenario.'],
  [['--scenario', entry, '--seed', '-1'], '--seed must be a whole number'],
  [['--scenario', entry, '--seed', '12345678901234567'], 'a whole number from 0 to 9007199254740991, not'],
  [['--scenario', 'missing.toml'], 'File not found'],
  [['--scenario', entry], 'is not valid JSON'],
])('serve %j fails with a message', async (flags, sentence) => {
  const { exit, stderr } = await regen(['serve', ...flags]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeWithService, regen, startRegen } from '../support/cli.js';
import { folderForTest } from '../support/service.js';

/** A folder of packs, by name and node id; one without an id has no manifest. */
function packsForTest(packs: Readonly<Record<string, string | undefined>>): string {
  const cwd = folderForTest();
  for (const [dir, id] of Object.entries(packs)) {
    mkdirSync(join(cwd, 'packs', dir), { recursive: true });
    writeFileSync(join(cwd, 'packs', dir, '__init__.py'), 'class A: pass\nNODE_CLASS_MAPPINGS = {"A": A}\n');
    if (id === undefined) continue;
    const manifest = `[project]\nname = "${id}"\nversion = "1.0.0"\n[tool.hostui]\nPublisherId = "acme"\n`;
    writeFileSync(join(cwd, 'packs', dir, 'pyproject.toml'), manifest);
  }
  return cwd;
}

test('several packs are published with one report, publisher and token, and failures do not stop the others', async () => {
  const home = homeWithService();
  const cwd = packsForTest({ one: 'pack-one', two: 'pack-two', three: 'pack-three', none: undefined });
  const dirs = ['one', 'two', 'three', 'none'].map((name) => `packs/${name}`);
  const mixed = await startRegen(['version', 'publish', ...dirs, './packs/one/', '--concurrency', '4'], {
    cwd,
    home,
  }).ended;
  expect(mixed.exit, mixed.stderr).toBe(9);
  expect(mixed.stdout.split('\n')).toEqual([
    'packs/one\tpack-one\t1.0.0\tNodeVersionStatusActive\t',
    'packs/two\tpack-two\t1.0.0\tNodeVersionStatusActive\t',
    'packs/three\tpack-three\t1.0.0\tNodeVersionStatusActive\t',
    expect.stringMatching(/^packs\/none\t\t\t\tpyproject.toml is missing/),
    '',
  ]);
  expect(mixed.stderr.match(/Created the publisher acme/g)).toHaveLength(1);
  expect(mixed.stderr).toContain('error: packs/none: pyproject.toml is missing');
  expect(mixed.stderr).toContain('hint: Create one with: regen node init packs/none\n');
  expect(mixed.stderr).toContain('\n1 of 4 packs failed.\n');

  const publish = (...argv: string[]) => regen(['version', 'publish', ...argv], { cwd, home });
  const again = await publish(...dirs.slice(0, 3));
  expect(again.exit, again.stderr).toBe(5);
  const skipped = await publish(...dirs.slice(0, 3), '--skip-existing', '--json');
  expect(skipped.exit, skipped.stderr).toBe(0);
  expect(JSON.parse(skipped.stdout)).toMatchObject([
    { dir: 'packs/one', node_version: { version: '1.0.0' }, skipped: true, error: null },
    { dir: 'packs/two' },
    { dir: 'packs/three' },
  ]);
  const shown = await publish(...dirs.slice(0, 2), '--skip-existing');
  expect(shown.stdout).toContain('\tNodeVersionStatusActive\talready published\n');
  mkdirSync(join(cwd, 'empty'));
  const none = await publish('packs/none', 'empty');
  expect(none.exit, none.stderr).toBe(2);
  expect(none.stderr).toContain('\n2 of 2 packs failed.\n');
  expect(none.stderr).not.toContain('Publishing');
  const dry = await publish(...dirs.slice(0, 2), '--dry-run', '--skip-existing', '--json');
  expect(JSON.parse(dry.stdout)).toMatchObject([{ method: 'POST' }, { method: 'POST' }]);
});

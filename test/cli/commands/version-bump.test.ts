import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';

test('version bump raises the version in [project] and leaves the rest of the file unchanged', async () => {
  const cwd = packForTest({ version: '1.2.3' });
  const path = join(cwd, 'pyproject.toml');
  const before = `# kept\n${readFileSync(path, 'utf8')}\n[tool.other]\nversion = "1.2.3" # not this one\n`;
  writeFileSync(path, before);
  expect(await regen(['version', 'bump', 'minor'], { cwd })).toMatchObject({ exit: 0, stdout: '1.3.0\n' });
  expect(readFileSync(path, 'utf8')).toBe(before.replace('"1.2.3"', '"1.3.0"'));
  expect((await regen(['version', 'bump', '2.0.0-rc.1', cwd])).stdout).toBe('2.0.0-rc.1\n');
  for (const to of ['1.0.0', 'odd', 'v3.0.0']) {
    expect((await regen(['version', 'bump', to, cwd])).exit).toBe(2);
  }
  expect(readFileSync(path, 'utf8')).toContain('version = "2.0.0-rc.1"');
});

test('version bump recognizes a folder in the place of the version', async () => {
  const home = homeForTest();
  packForTest({ name: 'mood', folder: join(home, 'mood') });
  for (const [argv, advice] of [
    [['.', 'auto'], 'auto .'],
    [['mood', '2.0.0'], '2.0.0 mood'],
    [['mood'], 'auto mood'],
  ] as const) {
    const { exit, stderr } = await regen(['version', 'bump', ...argv], { cwd: home });
    expect([exit, stderr]).toEqual([
      2,
      `error: '${argv[0]}' is in the place of the version.\nhint: The version comes first: regen version bump ${advice}\n`,
    ]);
  }
  expect((await regen(['version', 'bump', 'mayor'], { cwd: join(home, 'mood') })).stderr).toContain(
    "'mayor' is neither major",
  );
});

test('in the folder above some packs, commands name one of them', async () => {
  const home = homeForTest();
  packForTest({ folder: join(home, 'packs', 'my pack') });
  const run = async (cwd: string, ...argv: string[]) =>
    (await regen(['version', ...argv], { cwd: join(home, cwd) })).stderr.split('hint: ')[1];
  const advise = (command: string) => `Name the folder of a pack: regen version ${command}\n`;
  expect(await run('packs', 'publish')).toBe(advise("publish 'my pack'"));
  expect(await run('packs', 'check', '.')).toBe(advise("check 'my pack'"));
  expect(await run('', 'publish', 'packs', '--profile', 'local')).toBe(
    advise("publish --profile local 'packs/my pack'"),
  );
  expect(await run('packs', 'bump', 'minor')).toBe(advise("bump auto 'my pack'"));
  expect(await run('packs', 'diff', '.')).toBe(advise("diff './my pack'"));
  expect(await run('', 'pack')).toBe('Create one with: regen node init\n');
});

test('version bump fails in a folder without a manifest', async () => {
  const { exit, stderr } = await regen(['version', 'bump', 'patch', 'pack'], { cwd: homeForTest() });
  expect(exit).toBe(2);
  expect(stderr).toMatch(
    /pyproject\.toml is missing in .*pack\.\nhint: Create one with: regen node init pack\n/,
  );
});

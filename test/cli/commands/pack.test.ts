import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { createPartPath } from '../../../src/disk/part-file.js';
import { createArchive } from '../../../src/pack/archive.js';
import { chooseFiles } from '../../../src/pack/files.js';
import { entry, regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest } from '../../support/service.js';

const listPacked = async (cwd: string) =>
  (await regen(['version', 'pack', '--list'], { cwd })).stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[1]);

test('an archive that pack wrote is not packed into a later one', async () => {
  const cwd = packForTest({ files: { 'pack-data.zip': 'x', 'assets/pack-1.0.0.zip': 'x' } });
  const before = await listPacked(cwd);
  expect(before).toContain('pack-data.zip');
  expect((await regen(['version', 'pack'], { cwd })).exit).toBe(0);
  expect(existsSync(join(cwd, 'pack-1.0.0.zip'))).toBe(true);
  expect(await listPacked(cwd)).toEqual(before);
});

test('a partial archive of a killed pack is not packed into a later one', async () => {
  const cwd = packForTest();
  const before = await listPacked(cwd);
  writeFileSync(createPartPath(cwd), 'half');
  expect(await listPacked(cwd)).toEqual(before);
});

test.runIf(process.platform === 'linux')('files that a script writes its output to are not packed', () => {
  const cwd = packForTest();
  const outside = folderForTest();
  const script = join(outside, 'script (1).sh');
  writeFileSync(
    script,
    `found=$("${process.execPath}" "${entry}" version pack --list 2> "${outside}/err")\necho "$found"\n`,
  );
  const command = `sh "${script}" >> ci.log 2>> ci.err`;
  for (let round = 0; round < 2; round += 1)
    execFileSync('sh', ['-c', command], { cwd, env: { PATH: process.env.PATH, HOME: outside } });
  const said = readFileSync(join(cwd, 'ci.log'), 'utf8');
  expect(said).toContain('__init__.py');
  expect(said).not.toMatch(/ci\.(log|err)/);
});

test('files that a command is writing its output to are not packed, unless git tracks them', () => {
  const cwd = packForTest();
  const list = () => {
    const command = `"${process.execPath}" "${entry}" version pack --list > out.txt 2> err.txt`;
    execFileSync('sh', ['-c', command], { cwd, env: { PATH: process.env.PATH, HOME: cwd } });
    const lines = readFileSync(join(cwd, 'out.txt'), 'utf8').trim().split('\n');
    return lines.map((line) => line.split('\t')[1]);
  };
  expect(list()).toEqual(['__init__.py', 'pyproject.toml']);
  execFileSync('git', ['init', '-q'], { cwd });
  execFileSync('git', ['add', '-A'], { cwd });
  expect(list()).toEqual(['__init__.py', 'err.txt', 'out.txt', 'pyproject.toml']);
});

test('an unfinished archive has a temporary name, and a later command removes it', async () => {
  const to = folderForTest();
  const names = new Set<string>();
  const { files } = await chooseFiles(packForTest());
  await createArchive(files, join(to, 'node.zip'), {
    onProgress: () => {
      for (const name of readdirSync(to)) names.add(name);
    },
  });
  const pattern = basename(createPartPath(to)).replace(/\w+\.part$/, '');
  expect([...names]).toEqual([expect.stringContaining(pattern)]);
});

test('--output names the folder of the archive, which is created if necessary', async () => {
  const cwd = packForTest();
  const to = folderForTest();
  const { exit, stdout } = await regen(['version', 'pack', '-o', `${to}/new/`], { cwd });
  expect([exit, stdout]).toEqual([0, `${join(to, 'new', 'pack-1.0.0.zip')}\n`]);
  expect(readdirSync(join(to, 'new'))).toEqual(['pack-1.0.0.zip']);
  const again = await regen(['version', 'pack', '-o', join(to, 'new')], { cwd });
  expect(again.exit).toBe(2);
  expect(again.stderr).toContain('already exists');
});

test('standard output is refused as a place for an archive', async () => {
  const cwd = packForTest();
  const { exit, stdout, stderr } = await regen(['version', 'pack', '-o', '-'], { cwd });
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain('An archive cannot be written to stdout');
});

test('files that git does not track are named, because they are not packed', async () => {
  const pack = packForTest();
  execFileSync('git', ['init', '-q'], { cwd: pack });
  execFileSync('git', ['add', '.'], { cwd: pack });
  writeFileSync(join(pack, 'forgotten.py'), '');
  const { exit, stdout, stderr } = await regen(['version', 'pack', pack, '--list']);
  expect(exit).toBe(0);
  expect(stderr).toContain('warning: Not packed, because git does not track them: forgotten.py.');
  expect(stdout).not.toContain('forgotten.py');
});

test('a manifest that its own ignore file leaves out is refused', async () => {
  const pack = packForTest({ files: { '.regenignore': '*\n' } });
  const { exit, stderr } = await regen(['version', 'pack', pack, '--list']);
  expect(exit).toBe(2);
  expect(stderr).toContain('pyproject.toml would be missing from the archive');
});

import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withScratch } from '../../../src/cli/terminal/scratch.js';
import { createPartPath } from '../../../src/disk/part-file.js';
import { folderForTest } from '../../support/service.js';

const OTHER_USER = 65_534;

test.skipIf(userInfo().uid !== 0)(
  'old scratch folders are removed, except the folders of other users',
  async () => {
    const temporary = folderForTest();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const [own, foreign, kept] = ['regen-run-own', 'regen-run-foreign', 'kept'].map((name) =>
      join(temporary, name),
    ) as [string, string, string];
    for (const path of [own, foreign, kept]) {
      mkdirSync(path);
      utimesSync(path, 0, 0);
    }
    chownSync(foreign, OTHER_USER, OTHER_USER);
    symlinkSync(kept, join(temporary, 'regen-run-link'));
    const folder = await withScratch(Date.now(), async (path) => path);
    expect([own, foreign, kept, folder].map((path) => existsSync(path))).toEqual([false, true, true, false]);
  },
);

test('the scratch folder of a command that runs stays, even if the clock jumps ahead', async () => {
  const temporary = folderForTest();
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const ofEarlierRelease = join(temporary, `regen-run-${process.pid}-a1b2c3`);
  mkdirSync(ofEarlierRelease);
  const year = 365 * 24 * 60 * 60 * 1000;
  const stayed = await withScratch(Date.now(), (path) =>
    withScratch(Date.now() + year, async () => existsSync(path)),
  );
  expect(stayed).toBe(true);
  expect(existsSync(ofEarlierRelease)).toBe(true);
});

test('scratch folders of commands that were killed days ago are removed', async () => {
  const temporary = folderForTest();
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { pid } = spawnSync(process.execPath, ['--version']);
  const path = await withScratch(Date.now(), async (folder) => folder);
  const left = path.replace(`-${process.pid}-`, `-${pid}-`);
  mkdirSync(left);
  const day = 24 * 60 * 60 * 1000;
  await withScratch(Date.now(), async () => undefined);
  expect(existsSync(left)).toBe(true);
  await withScratch(Date.now() + 3 * day, async () => undefined);
  expect(existsSync(left)).toBe(false);
});

test('a command removes the temporary files that killed ones left, and no others', async () => {
  const folder = folderForTest();
  const living = createPartPath(folder);
  const { pid } = spawnSync(process.execPath, ['--version']);
  const left = basename(living).replace(`-${process.pid}-`, `-${pid}-`);
  const elsewhere = left.replace(/^\.regen-\w{8}/, '.regen-00000000');
  const others = [basename(living), elsewhere, 'mine.part', '.other.png.0123abcd.part'];
  for (const name of [...others, left]) writeFileSync(join(folder, name), '');
  // A later command sees the folder for the first time.
  const again = join(folder, '..', basename(folder));
  const part = createPartPath(`${again}/.`);
  expect(dirname(part)).toBe(folder);
  expect(readdirSync(folder).sort()).toEqual([...others].sort());
});

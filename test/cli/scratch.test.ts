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
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { save, sweepLeftovers } from '../../src/cli/terminal/save.js';
import { withScratch } from '../../src/cli/terminal/scratch.js';
import { folderForTest } from '../support/service.js';

const NOBODY = 65_534;

test.skipIf(userInfo().uid !== 0)(
  'scratch folders of the past are removed, but not those of other users',
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
    chownSync(foreign, NOBODY, NOBODY);
    symlinkSync(kept, join(temporary, 'regen-run-link'));
    const folder = await withScratch(Date.now(), async (path) => path);
    expect([own, foreign, kept, folder].map((path) => existsSync(path))).toEqual([false, true, true, false]);
  },
);

test('a command removes the temporary files that killed ones left for the same file, and no others', async () => {
  const folder = folderForTest();
  const make = (name: string, isOld: boolean) => {
    writeFileSync(join(folder, name), '');
    if (isOld) utimesSync(join(folder, name), 0, 0);
  };
  for (const name of [
    '.a+b.png.0123abcd.part',
    '.other.png.0123abcd.part',
    '.regen-0123456789ab.part',
    'mine.part',
  ])
    make(name, true);
  make('.a+b.png.deadbeef.part', false);
  await save(join(folder, 'a+b.png'), false, async (temporary) => writeFileSync(temporary, 'whole'));
  const kept = ['.a+b.png.deadbeef.part', '.other.png.0123abcd.part', 'a+b.png', 'mine.part'];
  expect(readdirSync(folder).sort()).toEqual([...kept, '.regen-0123456789ab.part'].sort());
  make('.regen-ba9876543210.part', false);
  sweepLeftovers(join(folder, '.regen-ba9876543210.part'), /^\.regen-[0-9a-f]{12}\.part$/);
  expect(readdirSync(folder).sort()).toEqual([...kept, '.regen-ba9876543210.part'].sort());
});

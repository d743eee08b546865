import { chownSync, existsSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
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

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findNearest } from '../../src/wire/nearest.js';
import { regen } from '../support/cli.js';
import { folderForTest } from '../support/service.js';

test('two letters that are swapped are one mistake', () => {
  expect(findNearest('prot', ['host', 'port', 'work'])).toBe('port');
  expect(findNearest('zzzz', ['port'])).toBeUndefined();
});

test('a row of a CSV with too many cells says how many it has', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'jobs.csv'), 'command,prompt\nvideo text2video,a,b\n');
  const { exit, stderr } = await regen(['batch', 'jobs.csv'], { cwd });
  expect(exit).toBe(2);
  expect(stderr).toContain('line 2 has 3 cells, not one for each name in the first line');
});

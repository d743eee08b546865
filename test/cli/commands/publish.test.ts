import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { folderForTest } from '../../support/service.js';

test('publishing a path that is not a folder names the path', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'file'), '');
  const gone = await regen(['version', 'publish', 'nowhere'], { cwd });
  expect([gone.exit, gone.stderr]).toEqual([2, `error: Folder not found: ${join(cwd, 'nowhere')}.\n`]);
  const file = await regen(['version', 'publish', 'file'], { cwd });
  expect(file.exit).toBe(2);
  expect(file.stderr).toContain(`${join(cwd, 'file')} is a file`);
});

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createFile } from '../../src/disk/part-file.js';

function createPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'regen-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'new');
}

test('a file whose writing failed at once is there to be removed, and stays removed', async () => {
  const path = createPath();
  const output = await createFile(path);
  const failing = new Readable({ read: () => failing.destroy(new Error('broken')) });
  await expect(pipeline(failing, output)).rejects.toThrow('broken');
  expect(existsSync(path)).toBe(true);
  rmSync(path);
  await finished(output).catch(() => undefined);
  expect(existsSync(path)).toBe(false);
});

test('a file that exists is not replaced', async () => {
  const path = createPath();
  (await createFile(path)).end();
  await expect(createFile(path)).rejects.toMatchObject({ code: 'EEXIST', path });
});

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/contract/schema/limits.js';
import { unpackArchive } from '../../src/pack/unpack.js';
import { listFiles } from '../support/list-files.js';
import { folderForTest } from '../support/service.js';
import { createRawZip, type RawEntry } from './raw-zip.js';

async function unpackEntries(entries: readonly RawEntry[], skips?: (path: string) => boolean) {
  const [folder, archive] = [join(folderForTest(), 'pack'), join(folderForTest(), 'node.zip')];
  mkdirSync(folder);
  writeFileSync(archive, createRawZip(entries));
  return { folder, inspection: await unpackArchive(archive, folder, DEFAULT_LIMITS, skips) };
}

test('files arrive with their content and whether they can be run, in one part or many', async () => {
  const large = Buffer.alloc(3_000_000, 'abcdefg');
  const { folder, inspection } = await unpackEntries(
    [
      { name: '__init__.py', content: 'print(1)\n' },
      { name: 'empty.txt', content: '' },
      { name: 'empty.bin', content: '', method: 0 },
      { name: 'web/run.sh', content: '#!/bin/sh\n', mode: 0o100755 },
      { name: 'web/large.bin', content: large },
      { name: 'web/stored.bin', content: large, method: 0 },
      { name: 'models/', method: 0, mode: 0o040755 },
      { name: '.tracking', content: 'left out' },
    ],
    (path) => path === '.tracking',
  );
  expect(inspection).toMatchObject({ ok: true });
  expect(listFiles(folder).sort()).toEqual([
    '__init__.py',
    'empty.bin',
    'empty.txt',
    'web/large.bin',
    'web/run.sh',
    'web/stored.bin',
  ]);
  expect(readFileSync(join(folder, '__init__.py'), 'utf8')).toBe('print(1)\n');
  expect(readFileSync(join(folder, 'web/large.bin')).equals(large)).toBe(true);
  expect(readFileSync(join(folder, 'web/stored.bin')).equals(large)).toBe(true);
  expect(statSync(join(folder, 'models')).isDirectory()).toBe(true);
  const isExecutable = (path: string) => (statSync(join(folder, path)).mode & 0o100) !== 0;
  expect([isExecutable('web/run.sh'), isExecutable('__init__.py')]).toEqual([
    process.platform !== 'win32',
    false,
  ]);
});

test.each(['.git/config', 'web/.GIT/hooks/post-checkout', 'GIT~1/config', '.g\u200cit/config'])(
  'a part of a git repository is refused: %s',
  async (name) => {
    const { folder, inspection } = await unpackEntries([{ name, content: '[core]\n', flags: 0x800 }]);
    expect(inspection).toEqual({ ok: false, reason: expect.stringContaining('belongs to a git repository') });
    expect(listFiles(folder)).toEqual([]);
  },
);

test('an archive with a path out of its folder writes nothing there', async () => {
  const { folder, inspection } = await unpackEntries([{ name: '../escaped.txt', content: 'x' }]);
  expect(inspection).toMatchObject({ ok: false });
  expect(listFiles(join(folder, '..')).filter((path) => path.endsWith('escaped.txt'))).toEqual([]);
});

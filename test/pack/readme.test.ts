import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/contract/schema/limits.js';
import { inspectArchive } from '../../src/pack/read-archive.js';
import { MAX_README_BYTES, ReadmeReader } from '../../src/pack/readme.js';
import { createZip } from '../support/create-zip.js';
import { folderForTest } from '../support/service.js';

async function readReadme(files: Record<string, string | Buffer>): Promise<string | undefined> {
  const path = join(folderForTest(), 'node.zip');
  writeFileSync(path, await createZip(files));
  const reader = new ReadmeReader();
  expect(await inspectArchive(path, DEFAULT_LIMITS, reader)).toMatchObject({ ok: true });
  return reader.text;
}

it('the README is the one at the top of an archive, Markdown before plain text', async () => {
  expect(await readReadme({ 'a.py': '', 'docs/README.md': 'below' })).toBeUndefined();
  expect(await readReadme({ README: 'plain', 'Readme.md': '# Title\n' })).toBe('# Title');
  expect(await readReadme({ 'README.md': '# Title', 'readme.txt': 'plain' })).toBe('# Title');
});

it('a README is cut between characters, without NUL, and left out where it is no text', async () => {
  const long = await readReadme({ 'README.md': 'é'.repeat(MAX_README_BYTES) });
  expect(long).toBe('é'.repeat(MAX_README_BYTES / 2));
  const odd = await readReadme({ 'README.md': `a${'é'.repeat(MAX_README_BYTES)}` });
  expect(odd).toBe(`a${'é'.repeat(MAX_README_BYTES / 2 - 1)}`);
  expect(await readReadme({ 'README.md': 'a\0b\xff' })).toBe('a\ufffdbÿ');
  expect(await readReadme({ 'README.md': Buffer.from([0x61, 0xff]) })).toBe('a\ufffd');
  expect(await readReadme({ 'README.md': randomBytes(2 * 1024 ** 2), 'b.py': '' })).toBeUndefined();
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { stripPng } from '../../../../src/service/engines/comfyui/strip-png.js';
import { folderForTest } from '../../../support/service.js';

function createChunk(name: string, data: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(name, 4);
  return Buffer.concat([head, Buffer.from(data), Buffer.alloc(4)]);
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function writePng(chunks: readonly Buffer[]): string {
  const path = join(folderForTest(), 'result');
  writeFileSync(path, Buffer.concat([signature, ...chunks]));
  return path;
}

test('texts and private chunks are left out of a PNG, and what its picture needs stays', async () => {
  const kept = ['IHDR', 'iCCP', 'acTL', 'tRNS', 'fcTL', 'IDAT', 'fdAT'].map((name) =>
    createChunk(name, 'x'.repeat(300_000)),
  );
  const dropped = ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'comf', 'prVt'].map((name) => createChunk(name, 'secret'));
  const end = createChunk('IEND', '');
  const path = writePng([
    ...kept.slice(0, 2),
    ...dropped,
    ...kept.slice(2),
    end,
    Buffer.from('secret behind it'),
  ]);
  const expected = Buffer.concat([signature, ...kept, end]);
  expect(readFileSync(await stripPng(path)).equals(expected)).toBe(true);
});

it.each([
  ['its header', [Buffer.from('x')]],
  ['a chunk', [createChunk('IHDR', 'x'), createChunk('IDAT', 'long').subarray(0, 10)]],
  ['its end', [createChunk('IHDR', 'x')]],
  ['a chunk of four gigabytes', [Buffer.from([255, 255, 255, 255, 73, 68, 65, 84])]],
])('a PNG that is cut in %s is refused', async (_, chunks) => {
  await expect(stripPng(writePng(chunks))).rejects.toThrow('it is cut');
});

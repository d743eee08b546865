import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPromise } from 'yauzl';
import { encodeDescriptor, encodeDirectory, encodeLocalHeader } from '../../src/pack/write-zip.js';
import { createEmptyFolder } from './folders.js';

const entry = {
  name: Buffer.from('model.bin'),
  mode: '100644',
  isDeflated: true,
  isStreamed: true,
  crc32: 0x12345678,
  compressedSize: 5,
  size: 5 * 2 ** 30,
} as const;

it('entries longer than 4 GiB, and those that begin after it, are described in 64 bits', async () => {
  const file = join(await createEmptyFolder(), 'long.zip');
  const far = { ...entry, name: Buffer.from('far.bin'), size: 7, offset: 6 * 2 ** 30 };
  await writeFile(file, encodeDirectory([{ ...entry, offset: 0 }, far], 0));
  const zip = await openPromise(file);
  const seen = [];
  for await (const {
    fileName,
    uncompressedSize,
    compressedSize,
    relativeOffsetOfLocalHeader,
  } of zip.eachEntry())
    seen.push([fileName, uncompressedSize, compressedSize, relativeOffsetOfLocalHeader]);
  expect(seen).toEqual([
    ['model.bin', 5 * 2 ** 30, 5, 0],
    ['far.bin', 7, 5, 6 * 2 ** 30],
  ]);
  const descriptor = encodeDescriptor(entry);
  expect([descriptor.length, descriptor.readBigUInt64LE(16)]).toEqual([24, BigInt(entry.size)]);
});

it('more entries than the classic format counts are counted in 64 bits', async () => {
  const file = join(await createEmptyFolder(), 'many.zip');
  const entries = Array.from({ length: 65_536 }, (_, at) => ({
    ...entry,
    name: Buffer.from(`${at}`),
    offset: at,
  }));
  await writeFile(file, encodeDirectory(entries, 0));
  const zip = await openPromise(file);
  const names = [];
  for await (const { fileName } of zip.eachEntry()) names.push(fileName);
  expect(names).toEqual(entries.map(({ name }) => name.toString()));
});

it('an entry whose lengths are known says them in its header, and a streamed one after its data', () => {
  const known = encodeLocalHeader({ ...entry, isStreamed: false, size: 9 });
  expect([known.readUInt16LE(6) & 8, known.readUInt32LE(18), known.readUInt32LE(22)]).toEqual([0, 5, 9]);
  const streamed = encodeLocalHeader(entry);
  expect([streamed.readUInt16LE(6) & 8, streamed.readUInt32LE(18), streamed.readUInt32LE(22)]).toEqual([
    8, 0, 0,
  ]);
});

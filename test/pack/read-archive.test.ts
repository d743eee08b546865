import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { DEFAULT_LIMITS } from '../../src/contract/schema/limits.js';
import { type ArchiveLimits, type FileReader, inspectArchive } from '../../src/pack/read-archive.js';
import { unpackArchive } from '../../src/pack/unpack.js';
import { createEmptyFolder } from './folders.js';
import { createRawZip, encodeU16, encodeU32, type RawArchive, type RawEntry } from './raw-zip.js';

async function inspectBytes(bytes: Buffer, changed: Partial<ArchiveLimits> = {}, reader?: FileReader) {
  const path = join(await createEmptyFolder(), 'node.zip');
  await writeFile(path, bytes);
  const limits = { ...DEFAULT_LIMITS, ...changed };
  const inspection = await inspectArchive(path, limits, reader);
  // Unpacking is another way through the same checks; names may collide earlier there.
  const unpacked = await unpackArchive(path, await createEmptyFolder(), limits);
  const isCollision = !unpacked.ok && unpacked.reason.includes('has the name of another entry');
  expect(isCollision ? { ...inspection, reason: unpacked.reason } : inspection).toEqual(unpacked);
  return inspection;
}

const inspectEntries = (
  entries: readonly RawEntry[],
  archive?: RawArchive,
  changed?: Partial<ArchiveLimits>,
) => inspectBytes(createRawZip(entries, archive), changed);

const computeSha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const hello = { name: '__init__.py', content: 'print("hello")\n' };

describe('a sound archive', () => {
  it('is read: its files, sizes, modes and the bytes it unpacks to', async () => {
    const run = { name: 'web/run.sh', content: '#!/bin/sh\n', method: 0, mode: 0o100755 };
    const folder = { name: 'web/', content: '', method: 0, mode: 0o040755 };
    expect(await inspectEntries([hello, folder, run])).toEqual({
      ok: true,
      tree: expect.stringMatching(/^[0-9a-f]{64}$/),
      entries: [
        { path: '__init__.py', size: 15, mode: '100644', sha256: computeSha256('print("hello")\n') },
        { path: 'web/run.sh', size: 10, mode: '100755', sha256: computeSha256('#!/bin/sh\n') },
      ],
      unpacked: 25,
    });
  });

  it('has the same tree however it is compressed and ordered, with or without folders', async () => {
    const other = { name: 'b.py', content: 'x = 1\n' };
    const one = await inspectEntries([hello, other]);
    const two = await inspectEntries([
      { ...other, method: 0 },
      { name: 'empty/', method: 0, mode: 0o040755 },
      { ...hello, mode: 0o100600 },
    ]);
    expect(one).toMatchObject({ ok: true });
    expect(two.ok && two.tree).toBe(one.ok && one.tree);
  });

  it('may come from a system that writes no modes, and may carry a comment', async () => {
    expect(
      await inspectEntries([{ ...hello, mode: 0 }], { comment: Buffer.from('made by hand') }),
    ).toMatchObject({
      ok: true,
      entries: [{ mode: '100644' }],
    });
  });

  it('may be written with zip64 records where they are not needed', async () => {
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from(hello.content), hello.name, { forceZip64Format: true });
    zip.addReadStream(Readable.from([Buffer.from('streamed')]), 'b.py', { forceZip64Format: true });
    zip.end({ forceZip64Format: true, comment: '' });
    expect(await inspectBytes(await buffer(zip.outputStream))).toMatchObject({ ok: true, unpacked: 23 });
  });

  it('hands over the files that are wanted by their name and size', async () => {
    const seen: Record<string, string> = {};
    const entries = [
      hello,
      { name: 'big.py', content: 'x'.repeat(2000) },
      { name: 'README.md', content: '#' },
    ];
    const result = await inspectBytes(
      createRawZip(entries),
      {},
      {
        wanted: (path, size) => path.endsWith('.py') && size <= 1000,
        read: (path, content) => {
          seen[path] = content.toString();
        },
      },
    );
    expect(result).toMatchObject({ ok: true });
    expect(seen).toEqual({ '__init__.py': hello.content });
  });

  it('passes on an error that a reader throws', async () => {
    const reader = {
      wanted: () => true,
      read: () => {
        throw new TypeError('a bug');
      },
    };
    await expect(inspectBytes(createRawZip([hello]), {}, reader)).rejects.toThrow('a bug');
  });
});

describe('a file that is not an archive', () => {
  it.each([
    ['of 0 bytes', Buffer.alloc(0), 'empty'],
    ['of text', Buffer.from('<!doctype html>'.repeat(20)), 'not a zip archive'],
    ['of one byte', Buffer.from('P'), 'not a zip archive'],
    ['that was cut short', createRawZip([hello]).subarray(0, 60), 'truncated'],
    ['that lost its beginning', createRawZip([hello]).subarray(10), 'directory'],
    ['without a file in it', createRawZip([]), 'has no files'],
    ['with only a folder in it', createRawZip([{ name: 'web/', method: 0, mode: 0o040755 }]), 'has no files'],
  ])('is refused: a file %s', async (_, bytes, word) => {
    const result = await inspectBytes(bytes);
    expect(result).toMatchObject({ ok: false, reason: expect.stringContaining(word) });
  });

  it('is an error of the system when it is not there or a folder', async () => {
    const folder = await createEmptyFolder();
    await mkdir(join(folder, 'node.zip'));
    await expect(inspectArchive(join(folder, 'node.zip'), DEFAULT_LIMITS)).rejects.toThrow(/EISDIR/);
    await expect(inspectArchive(join(folder, 'none.zip'), DEFAULT_LIMITS)).rejects.toThrow(/ENOENT/);
  });
});

const refusals: [what: string, entry: Partial<RawEntry>, word: string][] = [
  ['climbs out of the folder', { name: '../evil.py' }, 'leads out'],
  ['climbs out further in', { name: 'web/../../evil.py' }, 'leads out'],
  ['has an absolute path', { name: '/etc/cron.d/evil' }, 'absolute'],
  ['has a drive letter', { name: 'C:/evil.py' }, 'absolute'],
  ['has a backslash', { name: '..\\evil.py' }, 'backslash'],
  ['has a NUL in its name', { name: 'a.py\0.txt' }, 'control character'],
  ['has a control character in its name', { name: 'a\u001b[2J.py' }, 'control character'],
  ['has no name', { name: '' }, 'no name'],
  ['is a folder that climbs out', { name: '../', content: '', method: 0, mode: 0o040755 }, 'leads out'],
  ['is a symbolic link', { name: 'link', content: '/etc/passwd', mode: 0o120777 }, 'symbolic link'],
  ['is a device', { mode: 0o020644 }, 'device'],
  ['is a named pipe', { mode: 0o010644 }, 'named pipe'],
  ['is setuid', { mode: 0o104755 }, 'special mode'],
  ['is a folder by mode and a file by name', { mode: 0o040755 }, 'regular files'],
  ['is a file by mode and a folder by name', { name: 'web/', content: '' }, 'regular files'],
  ['is a folder with content', { name: 'web/', content: 'boo', mode: 0o040755 }, 'folder with content'],
  ['is encrypted', { flags: 0x801 }, 'encrypted'],
  ['is strongly encrypted', { flags: 0x841 }, 'encrypt'],
  ['uses another compression', { method: 12 }, 'method 12'],
  ['has a wrong checksum', { crc: 1 }, 'checksum'],
  ['is stored with a wrong checksum', { crc: 1, method: 0 }, 'checksum'],
  ['unpacks to more than it says', { size: 5 }, 'more bytes'],
  ['unpacks to less than it says', { size: 500 }, 'fewer bytes'],
  ['is stored and says another size', { size: 500, method: 0 }, 'fewer bytes'],
  ['is no deflate stream', { data: Buffer.from('this is not deflate at all') }, 'cannot be decompressed'],
  [
    'is a deflate stream that stops',
    { data: deflateRawSync(Buffer.from(hello.content)).subarray(0, 6) },
    'damaged',
  ],
  [
    'has bytes after its deflate stream',
    { data: Buffer.concat([deflateRawSync(Buffer.from(hello.content)), Buffer.from('hidden')]) },
    'extra bytes after its content',
  ],
  [
    'has very many bytes after its deflate stream',
    { data: Buffer.concat([deflateRawSync(Buffer.from(hello.content)), Buffer.alloc(500_000, 'hidden')]) },
    'extra bytes after its content',
  ],
  ['has another name before its content', { localName: '__evil__.py' }, 'described differently'],
  ['has a name that is not UTF-8', { name: Buffer.from([0x61, 0xff, 0x62]) }, 'not valid UTF-8'],
  [
    'has a name of unknown encoding',
    { name: Buffer.from([0x61, 0xe9, 0x62]), flags: 0 },
    'nor marked as UTF-8',
  ],
  [
    'has a second name in an extra field',
    { extra: unicodePath('__init__.py', '../evil.py') },
    'second spelling',
  ],
  ['points before the one before it', { offset: 0 }, 'overlaps'],
  ['points far outside the file', { offset: 0xfffffff0 }, 'do not belong to any entry'],
  ['has an endless compressed size', { compressedSize: 0xfffffff0 }, 'damaged'],
];

/** Info-ZIP's Unicode Path Extra Field. */
function unicodePath(name: string, other: string): Buffer {
  const data = Buffer.concat([Buffer.from([1]), encodeU32(crc32(name)), Buffer.from(other)]);
  return Buffer.concat([encodeU16(0x7075), encodeU16(data.length), data]);
}

describe('an archive with a hostile entry', () => {
  it.each(refusals)('is refused when an entry %s', async (_, entry, word) => {
    const result = await inspectEntries([
      { name: 'first.py', content: 'x = 1' },
      { ...hello, ...entry },
    ]);
    expect(result).toMatchObject({ ok: false, reason: expect.stringContaining(word) });
  });

  it('is refused with a printable message that names the entry', async () => {
    const result = await inspectEntries([{ ...hello, name: `${'long'.repeat(5000)}\u001b[31m/..` }]);
    expect(result.ok).toBe(false);
    const reason = result.ok ? '' : result.reason;
    expect(reason).toMatch(/^The entry 'long.*\.$/);
    expect(reason).not.toMatch(/\p{Cc}/u);
    expect(reason.length).toBeLessThan(400);
  });

  it('is refused when a name is there twice, also by case', async () => {
    expect(await inspectEntries([hello, hello])).toMatchObject({
      ok: false,
      reason: expect.stringContaining('twice'),
    });
    expect(await inspectEntries([hello, { ...hello, name: '__INIT__.py' }])).toMatchObject({
      ok: false,
      reason: "The entry '__INIT__.py' differs only in case from '__init__.py'.",
    });
  });

  it('is refused when a file lies where a folder is needed', async () => {
    expect(
      await inspectEntries([
        { ...hello, name: 'web' },
        { ...hello, name: 'web/a.js' },
      ]),
    ).toMatchObject({
      ok: false,
      reason: expect.stringContaining('the same name as the file'),
    });
  });
});

describe('an archive with more in it than its entries', () => {
  const hidden = Buffer.from('hidden bytes');

  it.each<[string, RawArchive]>([
    ['before the first entry', { before: hidden }],
    ['before the directory', { betweenDataAndDirectory: hidden }],
    ['that look like a directory', { betweenDataAndDirectory: Buffer.from('PK\x01\x02 but is none') }],
    ['after the directory', { afterDirectory: hidden }],
    ['as long as zip64 records after the directory', { afterDirectory: Buffer.alloc(76) }],
    ['after the end', { after: hidden }],
    ['that fewer entries are counted than there are', { entryCount: 1 }],
    ['that more entries are counted than there are', { entryCount: 3 }],
  ])('is refused: bytes %s', async (_, archive) => {
    const result = await inspectEntries([hello, { name: 'b.py', content: 'b' }], archive);
    expect(result).toMatchObject({ ok: false, reason: expect.stringMatching(/\.$/) });
  });

  it('is refused when zip64 records point beyond all numbers, which ends the process of a careless reader', async () => {
    for (const offset of [0xffffffffffffffffn, 2n ** 53n + 1n, 2n ** 40n]) {
      const locator = Buffer.alloc(20);
      locator.write('PK\x06\x07', 'latin1');
      locator.writeBigUInt64LE(offset, 8);
      expect(await inspectEntries([hello], { afterDirectory: locator })).toMatchObject({ ok: false });
    }
  });

  it('is refused when it begins with a part of zip64 records and has no entries', async () => {
    for (const length of [4, 12, 19, 20, 40]) {
      const part = Buffer.alloc(length, 0xff);
      part.write('PK\x06\x07', 'latin1');
      const end = Buffer.alloc(22);
      end.write('PK\x05\x06', 'latin1');
      expect(await inspectBytes(Buffer.concat([part, end]))).toMatchObject({ ok: false });
    }
  });
});

describe('the limits of an archive', () => {
  it('refuse one that is too large before looking into it', async () => {
    expect(await inspectBytes(Buffer.alloc(1001), { archive: 1000 })).toEqual({
      ok: false,
      reason: 'The archive has 1001 bytes; at most 1000 are accepted.',
    });
  });

  it('refuse too many entries, counted in the directory and by its end record', async () => {
    const many = Array.from({ length: 60_000 }, (_, index) => ({ name: `f${index}`, method: 0 }));
    expect(await inspectBytes(createRawZip(many))).toMatchObject({
      ok: false,
      reason: 'The archive has 60000 entries; at most 50000 are accepted.',
    });
    expect(await inspectEntries(many, { entryCount: 100 })).toMatchObject({ ok: false });
  });

  it('refuse more unpacked bytes than accepted, counted while unpacking', async () => {
    const lying = { name: 'a.py', content: Buffer.alloc(100_000, 'ab'), size: 10 };
    expect(
      await inspectEntries([{ ...lying, size: 100_000 }], {}, { archiveUnpacked: 99_999, archiveRatio: 1e6 }),
    ).toEqual({
      ok: false,
      reason: 'The archive unpacks to more than the 99999 bytes accepted.',
    });
    expect(await inspectEntries([lying], {}, { archiveRatio: 1e6 })).toMatchObject({ ok: false });
  });

  it('refuse a bomb of endless zeros', async () => {
    expect(await inspectEntries([{ name: 'zeros.bin', content: Buffer.alloc(20 * 1024 ** 2) }])).toEqual({
      ok: false,
      reason: 'The archive unpacks to more than 200 times its size, as a zip bomb does.',
    });
  });

  it('accept a small archive of zeros', async () => {
    expect(
      await inspectEntries([{ name: 'table.csv', content: Buffer.alloc(3_200_000, '0,') }]),
    ).toMatchObject({
      ok: true,
    });
  });

  it('refuse names that fill the memory together', async () => {
    const folder = 'a/'.repeat(500);
    const many = Array.from({ length: 17_000 }, (_, index) => ({ name: `${folder}${index}`, method: 0 }));
    expect(await inspectEntries(many)).toEqual({
      ok: false,
      reason: 'The names of the entries have more than 16777216 bytes together.',
    });
  });

  it('refuse entries that share their data, as small bombs do', async () => {
    const kernel = { name: 'a', content: 'x'.repeat(1000) };
    const sharing = [kernel, { name: 'b', offset: 0, data: Buffer.alloc(0), localName: 'a' }];
    expect(await inspectEntries(sharing)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('overlaps'),
    });
  });
});

describe('an archive damaged anywhere', () => {
  it('is never taken for another tree and never ends in an exception', async () => {
    const path = join(await createEmptyFolder(), 'node.zip');
    const whole = createRawZip([hello, { name: 'web/b.js', content: 'let b = 2;\n'.repeat(20) }]);
    await writeFile(path, whole);
    const sound = await inspectArchive(path, DEFAULT_LIMITS);
    const names = (result: typeof sound) => (result.ok ? result.entries.map((entry) => entry.path) : []);
    for (let at = 0; at < whole.length; at += 1) {
      for (const flip of [0xff, 0x01]) {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] as number) ^ flip;
        await writeFile(path, damaged);
        const result = await inspectArchive(path, DEFAULT_LIMITS);
        // Dates and versions carry no meaning here; modes and nothing else may change a tree unnoticed.
        if (result.ok) expect(names(result)).toEqual(names(sound));
        else expect(result.reason).toMatch(/\.$/);
      }
    }
  });
});

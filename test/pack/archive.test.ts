import { createHash } from 'node:crypto';
import { appendFileSync, symlinkSync, unlinkSync, utimesSync } from 'node:fs';
import { chmod, readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openPromise } from 'yauzl';
import { DEFAULT_LIMITS } from '../../src/contract/schema/limits.js';
import { type ArchiveProgress, createArchive } from '../../src/pack/archive.js';
import { chooseFiles } from '../../src/pack/files.js';
import { inspectArchive } from '../../src/pack/read-archive.js';
import { computeTreeDigest } from '../../src/pack/tree.js';
import { createCheckout, createEmptyFolder, createFolder, runGit, writeFiles } from './folders.js';

const pack = {
  '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n',
  'nodes.py': 'class Node:\n    pass\n'.repeat(500),
  'web/nodes.js': 'export {};\n',
  'web/icon.png': Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256)),
  'scripts/install.sh': { executable: '#!/bin/sh\necho hello\n' },
  'docs/naïve 日本語.md': '# Hello\n',
  'empty.txt': '',
};

async function chooseAllFiles(folder: string) {
  const { files, problems } = await chooseFiles(folder);
  expect(problems).toEqual([]);
  return files;
}

const hashBytes = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const timezone = process.env.TZ;
afterEach(() => {
  if (timezone === undefined) delete process.env.TZ;
  else process.env.TZ = timezone;
});

describe('building an archive', () => {
  it('returns the size, digests and number of files', async () => {
    const folder = await createFolder(pack);
    const target = join(await createEmptyFolder(), 'node.zip');
    const built = await createArchive(await chooseAllFiles(folder), target);
    const bytes = await readFile(target);
    expect(built).toEqual({
      size: bytes.length,
      sha256: hashBytes(bytes),
      tree: expect.stringMatching(/^[0-9a-f]{64}$/),
      entries: 7,
      unpacked: 25 + 10_500 + 11 + 5000 + 21 + 8,
    });
  });

  it('does not keep a large file in memory', async () => {
    const folder = await createFolder({ ...pack, 'model.safetensors': '' });
    await truncate(join(folder, 'model.safetensors'), 300 * 2 ** 20);
    const { files } = await chooseFiles(folder);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const onProgress = () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    };
    await createArchive(files, join(await createEmptyFolder(), 'node.zip'), { onProgress });
    expect(most).toBeLessThan(100 * 2 ** 20);
  });

  it('gives the tree that the files on disk have and that the archive read back has', async () => {
    const folder = await createFolder(pack);
    const target = join(await createEmptyFolder(), 'node.zip');
    const files = await chooseAllFiles(folder);
    const built = await createArchive(files, target);
    const onDisk = await Promise.all(
      files.map(async ({ path, mode }) => ({
        path,
        mode,
        sha256: hashBytes(await readFile(join(folder, path))),
      })),
    );
    expect(built.tree).toBe(computeTreeDigest(onDisk));
    const back = await inspectArchive(target, DEFAULT_LIMITS);
    expect(back).toMatchObject({ ok: true, tree: built.tree, unpacked: built.unpacked });
    expect(back.ok && back.entries).toContainEqual(
      expect.objectContaining({ path: 'scripts/install.sh', size: 21, mode: '100755' }),
    );
  });

  it('gives the tree that an archive made by git has', async () => {
    const folder = await createCheckout(pack);
    const out = await createEmptyFolder();
    const built = await createArchive(await chooseAllFiles(folder), join(out, 'node.zip'));
    runGit(folder, 'archive', '--format=zip', '-o', join(out, 'git.zip'), 'HEAD');
    expect(await inspectArchive(join(out, 'git.zip'), DEFAULT_LIMITS)).toMatchObject({
      ok: true,
      tree: built.tree,
    });
  });

  it('gives the same bytes for any order, dates, permissions of others and time zone', async () => {
    const [one, two] = [await createFolder(pack), await createFolder(pack)];
    const out = await createEmptyFolder();
    process.env.TZ = 'Pacific/Auckland';
    const first = await createArchive(await chooseAllFiles(one), join(out, 'one.zip'));
    process.env.TZ = 'America/St_Johns';
    await utimes(join(two, 'nodes.py'), 1, 1);
    await chmod(join(two, 'nodes.py'), 0o600);
    await chmod(join(two, 'scripts/install.sh'), 0o700);
    const second = await createArchive([...(await chooseAllFiles(two))].reverse(), join(out, 'two.zip'));
    expect(second.sha256).toBe(first.sha256);
    expect(second.tree).toBe(first.tree);
  });

  it('writes entries sorted, of 1980, with plain modes, no extra fields, and pictures as they are', async () => {
    const target = join(await createEmptyFolder(), 'node.zip');
    await createArchive(await chooseAllFiles(await createFolder(pack)), target);
    const zip = await openPromise(target);
    const entries = [];
    for await (const entry of zip.eachEntry()) entries.push(entry);
    expect(entries.map((entry) => entry.fileName)).toEqual([
      '__init__.py',
      'docs/naïve 日本語.md',
      'empty.txt',
      'nodes.py',
      'scripts/install.sh',
      'web/icon.png',
      'web/nodes.js',
    ]);
    for (const entry of entries) {
      expect(entry.extraFields).toEqual([]);
      expect([entry.lastModFileDate, entry.lastModFileTime]).toEqual([0x41, 0]);
      const executable = entry.fileName.endsWith('.sh');
      expect(entry.externalFileAttributes >>> 16).toBe(executable ? 0o100755 : 0o100644);
      expect(entry.compressionMethod).toBe(entry.fileName.endsWith('.png') ? 0 : 8);
    }
  });

  it('packs files longer than a part, deflated or as they are, so that each reads back whole', async () => {
    const numbers = Buffer.from(Float32Array.from({ length: 400_000 }, (_, index) => Math.sin(index)).buffer);
    const text = Buffer.from(
      Array.from({ length: 120_000 }, (_, index) => `line ${index * 7919}\n`).join(''),
    );
    const content: Record<string, Buffer> = {
      'exact.txt': text.subarray(0, 1024 * 1024),
      'long.txt': text,
      'model.safetensors': numbers,
      'photo.jpg': numbers,
    };
    const files = await chooseAllFiles(await createFolder(content));
    const out = await createEmptyFolder();
    const first = await createArchive(files, join(out, 'one.zip'));
    expect((await createArchive(files, join(out, 'two.zip'))).sha256).toBe(first.sha256);
    const back = await inspectArchive(join(out, 'one.zip'), DEFAULT_LIMITS);
    expect(back).toMatchObject({ ok: true, tree: first.tree, unpacked: first.unpacked });
    const zip = await openPromise(join(out, 'one.zip'));
    for await (const entry of zip.eachEntry()) {
      const chunks: Buffer[] = [];
      for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).equals(content[entry.fileName] as Buffer)).toBe(true);
      if (entry.fileName === 'model.safetensors')
        expect(entry.compressedSize).toBeLessThan(numbers.length * 0.95);
    }
  });

  it('gives the same bytes however the work of the threads ends', async () => {
    const lines = (from: number) =>
      Array.from({ length: 900 }, (_, at) => `x${from * at} = ${at ^ from}\n`).join('');
    const folder = await createFolder(
      Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}.py`, lines(at).repeat(1 + (at % 4))])),
    );
    const files = await chooseAllFiles(folder);
    const out = await createEmptyFolder();
    const packed = await Promise.all([1, 2, 3].map((at) => createArchive(files, join(out, `${at}.zip`))));
    expect(new Set(packed.map(({ sha256 }) => sha256)).size).toBe(1);
  });

  it('reports its progress up to the end', async () => {
    const seen: ArchiveProgress[] = [];
    const onProgress = (progress: ArchiveProgress) => seen.push(progress);
    await createArchive(
      await chooseAllFiles(await createFolder(pack)),
      join(await createEmptyFolder(), 'node.zip'),
      {
        onProgress,
      },
    );
    const totals = { totalFiles: 7, totalBytes: 15_565 };
    expect(seen.at(-1)).toEqual({ files: 7, bytes: 15_565, ...totals });
    expect(seen.map(({ bytes }) => bytes)).toEqual(seen.map(({ bytes }) => bytes).sort((a, b) => a - b));
  });

  it('replaces an older archive only when the new one is whole', async () => {
    const out = await createEmptyFolder();
    await writeFile(join(out, 'node.zip'), 'old');
    await createArchive(await chooseAllFiles(await createFolder(pack)), join(out, 'node.zip'));
    expect(await readdir(out)).toEqual(['node.zip']);
    expect((await stat(join(out, 'node.zip'))).size).toBeGreaterThan(3);
  });
});

describe('building an archive fails', () => {
  // More parts than are read ahead.
  const large = { 'large.py': 'x = 1\n'.repeat(1_000_000), 'nodes.py': '' };

  async function failing(spoil: (folder: string) => void, when: 'before' | 'meanwhile') {
    const folder = await createFolder(large);
    const files = await chooseAllFiles(folder);
    const out = await createEmptyFolder();
    await writeFile(join(out, 'node.zip'), 'old');
    if (when === 'before') spoil(folder);
    let spoilt = false;
    const building = createArchive(files, join(out, 'node.zip'), {
      onProgress: () => {
        if (when === 'meanwhile' && !spoilt) spoil(folder);
        spoilt = true;
      },
    });
    const error = await building.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(await readdir(out)).toEqual(['node.zip']);
    expect(await readFile(join(out, 'node.zip'), 'utf8')).toBe('old');
    return error;
  }

  it('when a file grew since it was chosen', async () => {
    const error = await failing((folder) => appendFileSync(join(folder, 'large.py'), 'more'), 'before');
    expect(error).toMatchObject({
      name: 'PackError',
      message: expect.stringContaining("'large.py' changed"),
    });
  });

  it('when a file grows while it is read', async () => {
    const error = await failing((folder) => appendFileSync(join(folder, 'large.py'), 'more'), 'meanwhile');
    expect(error).toMatchObject({
      name: 'PackError',
      message: expect.stringContaining("'large.py' changed"),
    });
  });

  it('when a file is written to while it is read, though its size stays', async () => {
    const error = await failing((folder) => utimesSync(join(folder, 'large.py'), 5, 5), 'meanwhile');
    expect(error).toMatchObject({
      name: 'PackError',
      message: expect.stringContaining("'large.py' changed"),
    });
  });

  it('when a file was deleted since it was chosen', async () => {
    const error = await failing((folder) => unlinkSync(join(folder, 'nodes.py')), 'before');
    expect(error).toMatchObject({
      name: 'PackError',
      message: expect.stringContaining("'nodes.py' cannot be read"),
    });
  });

  it('when a link took the place of a file, wherever it leads', async () => {
    const error = await failing((folder) => {
      unlinkSync(join(folder, 'nodes.py'));
      symlinkSync('/etc/hostname', join(folder, 'nodes.py'));
    }, 'before');
    expect(error).toMatchObject({ name: 'PackError', message: expect.stringContaining("'nodes.py'") });
  });

  it('when it is stopped before or in the middle, with the reason it was stopped for', async () => {
    const files = await chooseAllFiles(await createFolder(large));
    const out = await createEmptyFolder();
    const target = join(out, 'node.zip');
    await expect(createArchive(files, target, { signal: AbortSignal.abort() })).rejects.toThrow(/aborted/);
    const stop = new AbortController();
    const building = createArchive(files, target, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(building).rejects.toMatchObject({ name: 'AbortError' });
    expect(await readdir(out)).toEqual([]);
  });

  it('when there is nothing to pack or nowhere to write', async () => {
    const out = await createEmptyFolder();
    await expect(createArchive([], join(out, 'node.zip'))).rejects.toThrow('There are no files to pack.');
    await writeFiles(out, { 'pack/nodes.py': 'x' });
    const files = await chooseAllFiles(join(out, 'pack'));
    await expect(createArchive(files, join(out, 'nowhere', 'node.zip'))).rejects.toThrow(/ENOENT/);
  });
});

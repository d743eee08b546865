import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskStorage } from '../../../src/service/storage/disk.js';
import { ObjectMissing, removeOthers, TooLarge } from '../../../src/service/storage/storage.js';

const key = 'archives/acme/pack/1.0.0/node.zip';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'regen-storage-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Every file below the folder, relative to it. */
function listStored(): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

async function putObject(
  storage: ReturnType<typeof createDiskStorage>,
  name: string,
  content: string,
): Promise<void> {
  await storage.write(name, Readable.from([Buffer.from(content)]), 10_000);
}

describe('the disk storage', () => {
  it('stores an object, with its size and SHA-256', async () => {
    const storage = createDiskStorage(root);
    expect(
      await storage.write(key, Readable.from([Buffer.from('hello '), Buffer.from('world')]), 11),
    ).toEqual({
      key,
      size: 11,
      sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
    });
    expect(await text(await storage.read(key))).toBe('hello world');
    expect(listStored()).toEqual([key]);
  });

  it('leaves no empty folder of an object that is removed, and no other is in the way of a new one', async () => {
    const storage = createDiskStorage(root);
    await putObject(storage, key, 'one');
    await putObject(storage, 'archives/acme/other/1.0.0/node.zip', 'two');
    await storage.remove(key);
    expect(readdirSync(join(root, 'archives', 'acme'))).toEqual(['other']);
    const race = async (at: number) => {
      for (let round = 0; round < 50; round++) {
        await putObject(storage, `tasks/a/${at}`, 'x');
        await storage.remove(`tasks/a/${at}`);
      }
    };
    await Promise.all([1, 2, 3, 4].map(race));
    expect(readdirSync(root).sort()).toEqual(['.staging', 'archives']);
  });

  it('reads a range, both ends included', async () => {
    const storage = createDiskStorage(root);
    await putObject(storage, key, '0123456789');
    expect(await text(await storage.read(key, { start: 2, end: 4 }))).toBe('234');
    expect((await buffer(await storage.read(key, { start: 9, end: 9 }))).toString()).toBe('9');
  });

  it('stores nothing of a source that fails halfway', async () => {
    const storage = createDiskStorage(root);
    const cut = Readable.from(
      (async function* () {
        yield Buffer.alloc(100_000);
        throw new Error('cut');
      })(),
    );
    await expect(storage.write(key, cut, 1_000_000)).rejects.toThrow('cut');
    expect(listStored()).toEqual([]);
  });

  it('stores nothing of a source that fails before it is read', async () => {
    const storage = createDiskStorage(root);
    const unopened = new Readable({ construct: (done) => done(new Error('no file handles')) });
    await expect(storage.write(key, unopened, 1_000_000)).rejects.toThrow('no file handles');
    expect(listStored()).toEqual([]);
  });

  it('stops at the first byte over the limit, and stores nothing', async () => {
    const storage = createDiskStorage(root);
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1_000);
      })(),
    );
    await expect(storage.write(key, endless, 10_000)).rejects.toThrow(TooLarge);
    expect(listStored()).toEqual([]);
  });

  it('removes the objects below a folder except some, also where names are hashed', async () => {
    const storage = createDiskStorage(root);
    for (const name of ['a/Kept', 'a/Gone', 'a/b/gone', 'ab/other']) await putObject(storage, name, name);
    await removeOthers(storage, 'a', ['a/Kept']);
    await removeOthers(storage, 'nowhere', []);
    expect(listStored().sort()).toEqual([storage.toName('a/Kept'), 'ab/other'].sort());
    expect(await text(await storage.read(storage.toName('a/Kept')))).toBe('a/Kept');
  });

  it('replaces an object as a whole', async () => {
    const storage = createDiskStorage(root);
    await putObject(storage, key, 'old');
    await putObject(storage, key, 'newer');
    expect(await text(await storage.read(key))).toBe('newer');
    expect(listStored()).toEqual([key]);
  });

  it('borrows the path of an object, removes it, and ignores removing a missing one', async () => {
    const storage = createDiskStorage(root);
    await putObject(storage, key, 'x');
    const { path, release } = await storage.borrow(key);
    expect(path).toBe(join(root, key));
    await release();
    await storage.remove(key);
    await storage.remove(key);
    await expect(storage.read(key)).rejects.toThrow(ObjectMissing);
  });

  it('removes files that a crash left half written, and keeps complete objects', async () => {
    const before = createDiskStorage(root);
    await putObject(before, key, 'kept');
    writeFileSync(join(root, '.staging', 'half'), 'half');
    const written = statSync(join(root, '.staging', 'half')).mtimeMs;
    createDiskStorage(root, { before: written });
    expect(listStored()).toEqual(['.staging/half', key]);
    createDiskStorage(root, { before: written + 1 });
    expect(listStored()).toEqual([key]);
  });

  it('refuses empty keys and keys with parent segments', async () => {
    const storage = createDiskStorage(root);
    for (const bad of ['../x', 'a/../../x', '/etc/passwd', 'a//b', 'a/./b', '', 'a/\0']) {
      await expect(async () => storage.read(bad), bad).rejects.toThrow(TypeError);
    }
  });

  it('distinguishes keys that some file systems do not, and accepts very long ones', async () => {
    const storage = createDiskStorage(root);
    const names = [
      '1.0.0-RC',
      '1.0.0-rc',
      'con',
      'CON',
      'nul.x',
      'a.',
      'a',
      'x'.repeat(1_024),
      '1.0.0+b',
      '.staging',
    ];
    for (const name of names) await putObject(storage, `v/${name}`, name);
    for (const name of names) expect(await text(await storage.read(`v/${name}`))).toBe(name);
    const folded = listStored().map((path) => path.toLowerCase());
    expect(new Set(folded).size).toBe(names.length);
  });

  it('leaves nothing of an object that cannot get its name', async () => {
    const storage = createDiskStorage(root);
    writeFileSync(join(root, 'archives'), 'in the way');
    await expect(storage.write(key, Readable.from([Buffer.from('x')]), 10)).rejects.toThrow();
    expect(listStored()).toEqual(['archives']);
  });
});

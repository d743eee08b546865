import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openPromise } from 'yauzl';
import { backUpStore, restoreFolder } from '../../../src/service/maintenance/backup.js';
import { checkStore } from '../../../src/service/maintenance/check-store.js';
import { measureFolder } from '../../../src/service/maintenance/disk-use.js';
import type { Storage } from '../../../src/service/storage/storage.js';
import { regen } from '../../support/cli.js';
import { createZip } from '../../support/create-zip.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { listFiles } from '../../support/list-files.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const zip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });

/** A data folder with an active version and a finished image task; its service still runs. */
async function folderInUse() {
  const data = folderForTest();
  const service = await serviceForTest({ data });
  const publisher = await publisherForTest(service);
  const { signedUrl } = await registerVersion(publisher);
  await uploadArchive(signedUrl, zip);
  await waitFor(async () => expect((await readVersion(publisher)).status).toBe('NodeVersionStatusActive'));
  const asking = { url: service.url, token: service.ownerToken };
  await waitForTask(asking, await startTask(asking));
  // The input goes after the task has ended.
  await waitFor(() => expect(listFiles(join(data, 'objects'))).toHaveLength(2));
  return { data, service, publisher };
}

const parseCounts = (stdout: string) => JSON.parse(stdout);

it.each(['copy', 'copy.zip'])(
  'a backup to %s while the service runs restores to the same data, without the owner token',
  async (name) => {
    const { data, publisher } = await folderInUse();
    const target = join(folderForTest(), name);
    const written = await regen(['serve', 'backup', target, '--data', data, '--json']);
    expect(written).toMatchObject({ exit: 0, stderr: '' });
    expect(parseCounts(written.stdout)).toMatchObject({ backup: target, objects: 2, problems: [] });
    expect(statSync(target).mode & 0o077).toBe(0);

    const restored = join(folderForTest(), 'restored');
    const { exit, stdout } = await regen(['serve', 'restore', target, '--data', restored, '--json']);
    expect(exit).toBe(0);
    expect(parseCounts(stdout)).toMatchObject({ data: restored, objects: 2, problems: [] });
    expect(existsSync(join(restored, 'owner.token'))).toBe(false);
    expect(readdirSync(join(restored, '..'))).toEqual(['restored']);
    const other = join(folderForTest(), 'other');
    const said = (await regen(['serve', 'restore', target, '--data', other])).stderr;
    expect(said).toContain(`Without a configuration, run: regen serve --data ${other}`);

    const again = await serviceForTest({ data: restored });
    const version = await readVersion({ ...publisher, url: again.url, ownerToken: again.ownerToken });
    expect(version).toMatchObject({ status: 'NodeVersionStatusActive', version: '1.0.0' });
    const archive = await fetch(version.downloadUrl);
    expect(Buffer.from(await archive.arrayBuffer())).toEqual(zip);
  },
);

it('a backup while versions are published is whole', async () => {
  const { data, publisher } = await folderInUse();
  let stopped = false;
  const publishing = (async () => {
    for (let minor = 1; !stopped; minor++) {
      const { signedUrl } = await registerVersion(publisher, `1.${minor}.0`);
      await uploadArchive(signedUrl, zip);
    }
  })();
  for (let round = 0; round < 3; round++) {
    const target = join(folderForTest(), 'copy');
    const { exit, stdout } = await regen(['serve', 'backup', target, '--data', data, '--json']);
    expect([exit, parseCounts(stdout).problems]).toEqual([0, []]);
    expect((await regen(['serve', 'check', '--data', target])).exit).toBe(0);
  }
  stopped = true;
  await publishing;
});

it.each(['copy', 'copy.zip'])(
  'a backup to %s has only its database and its objects, whenever the garbage of SQLite is collected',
  async (name) => {
    const { data } = await folderInUse();
    const target = join(folderForTest(), name);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const handle = await open(data);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const { sync } = prototype;
    // Between the listing of the files and the reading of each.
    const syncing = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      collect();
      return sync.call(this);
    });
    try {
      await backUpStore({ data, configuration: { data }, env: {} }, target);
    } finally {
      syncing.mockRestore();
    }
    const names = name.endsWith('.zip') ? await listZip(target) : listEntries(target);
    expect(names.filter((path) => !path.startsWith('objects'))).toEqual(['regen.db']);
  },
);

/** A service that removes a version and its archive, and a check that was between its objects and its rows. */
it.each(['its objects', 'its first row'])(
  'a check beside a service that removes a version after %s finds nothing',
  async (moment) => {
    const { service } = await folderInUse();
    const { database, storage } = service.context;
    const versions = await database.selectFrom('versions').select(['id', 'archive_key']).execute();
    let removed = false;
    const removeVersions = async () => {
      if (removed) return;
      removed = true;
      await database.transaction().execute((tx) => sql`update versions set archive_key = null`.execute(tx));
      for (const { archive_key: key } of versions) await storage.remove(key as string);
    };
    const watched: Storage = {
      ...storage,
      async *list(folder) {
        yield* storage.list(folder);
        if (moment === 'its objects') await removeVersions();
      },
      read: async (key, range) => {
        await removeVersions();
        return storage.read(key, range);
      },
    };
    expect((await checkStore(database, watched)).problems).toEqual([]);
    expect(removed).toBe(true);
  },
);

it('a check finds objects that are missing, changed or in no row, and exits with 6', async () => {
  const { data, service } = await folderInUse();
  expect((await regen(['serve', 'check', '--data', data])).exit).toBe(0);
  await service.stop();
  const objects = join(data, 'objects');
  const archive = readdirSync(objects, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith('.zip'),
  ) as string;
  const result = readdirSync(objects, { recursive: true, encoding: 'utf8' }).find((path) =>
    /results.*\.png$/.test(path),
  ) as string;
  writeFileSync(join(objects, archive), 'x'.repeat(statSync(join(objects, archive)).size));
  rmSync(join(objects, result));
  writeFileSync(join(objects, 'stray'), '');
  const { exit, stdout, stderr } = await regen(['serve', 'check', '--data', data, '--json']);
  expect(exit).toBe(6);
  expect(parseCounts(stdout).problems).toEqual(
    expect.arrayContaining([
      { object: archive, message: 'differs from the digest in the database' },
      { object: result, message: 'is missing' },
      { object: 'stray', message: 'belongs to no row of the database' },
    ]),
  );
  expect(JSON.parse(stderr).error.code).toBe('data_damaged');
});

it('an archive of a service without files restores, and one that does not exist is named in the error', async () => {
  const [data, folder] = [folderForTest(), folderForTest()];
  await (await serviceForTest({ data })).stop();
  const target = join(folder, 'empty.zip');
  expect((await regen(['serve', 'backup', target, '--data', data])).exit).toBe(0);
  const restored = await regen(['serve', 'restore', target, '--data', join(folder, 'restored')]);
  expect(restored.exit, restored.stderr).toBe(0);
  expect((await regen(['serve', 'check', '--data', join(folder, 'restored')])).exit).toBe(0);
  const missing = join(folder, 'missing.zip');
  expect(await regen(['serve', 'restore', missing, '--data', join(folder, 'other')])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(`${missing} does not exist.`),
  });
});

it('the commands of a store name the one that they are about', async () => {
  const { data, service } = await folderInUse();
  const config = join(folderForTest(), 'team.toml');
  writeFileSync(config, `data = ${JSON.stringify(data)}\n`);
  const said = async (...argv: string[]) => (await regen(['serve', ...argv, '--config', config])).stderr;
  expect(await said('backup', join(folderForTest(), 'monday'))).toBe(`Backing up ${data}\n`);
  expect(await said('check')).toBe(`Checking ${data}\n`);
  expect(await said('migrate', '--check')).toBe(`Checking ${data}\nNothing to do.\n`);
  expect(await said('prune', '--dry-run')).toContain(`Nothing was removed from ${data}.`);
  expect(await said('rotate-key')).toContain(`Replaced the signing key of ${data}.`);
  expect(await said('stop')).toBe(`Stopped the service of ${data} at ${service.localUrl}.\n`);
});

it('an archive that was changed or cut off is not restored', async () => {
  const [data, folder] = [folderForTest(), folderForTest()];
  await (await serviceForTest({ data })).stop();
  const [path, target] = [join(folder, 'monday.zip'), join(folder, 'restored')];
  expect((await regen(['serve', 'backup', path, '--data', data])).exit).toBe(0);
  const bytes = readFileSync(path);
  const changed = Buffer.from(bytes);
  changed.write('OWNER', changed.indexOf('owner'));
  for (const [content, reason] of [
    [changed, 'regen.db differs from its checksum'],
    [bytes.subarray(0, bytes.length - 100), /.+/],
    [Buffer.from('junk'), /.+/],
    [zip, 'it has no regen.db'],
  ] as const) {
    writeFileSync(path, content);
    const { exit, stderr } = await regen(['serve', 'restore', path, '--data', target]);
    expect([exit, existsSync(target)]).toEqual([2, false]);
    expect(stderr).toContain(`${path} is not a complete backup: `);
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain('bug in regen');
  }
});

it('a backup is a folder or a zip outside of the data folder', async () => {
  const data = folderForTest();
  await (await serviceForTest({ data })).stop();
  for (const [target, reason] of [
    [join(folderForTest(), 'x.tar'), 'A backup is a folder or a .zip archive, not .tar.'],
    [join(data, 'x.zip'), 'is in the data folder.'],
  ] as const) {
    const { exit, stderr } = await regen(['serve', 'backup', target, '--data', data]);
    expect([exit, existsSync(target)]).toEqual([2, false]);
    expect(stderr).toContain(reason);
  }
});

it('a folder that was copied as a killed service left it restores with its last changes', async () => {
  const { data, publisher } = await folderInUse();
  const left = join(folderForTest(), 'left');
  // Without its socket.
  cpSync(data, left, { recursive: true, filter: (path) => !statSync(path).isSocket() });
  const restored = join(folderForTest(), 'restored');
  expect(await restoreFolder(left, restored)).toMatchObject({ objects: 2, problems: [] });
  const again = await serviceForTest({ data: restored });
  const version = await readVersion({ ...publisher, url: again.url, ownerToken: again.ownerToken });
  expect(version).toMatchObject({ status: 'NodeVersionStatusActive' });
});

it('a restore into a folder that is there keeps the folder, links to it, and what is written into it since', async () => {
  const [data, folder] = [folderForTest(), folderForTest()];
  await (await serviceForTest({ data })).stop();
  const [real, link] = [join(folder, 'real'), join(folder, 'link')];
  mkdirSync(real);
  symlinkSync(real, link);
  const restoring = restoreFolder(data, link);
  writeFileSync(join(real, 'mine'), '');
  await expect(restoring).rejects.toThrow('already exists; choose a folder');
  expect(readdirSync(real)).toEqual(['mine']);
  rmSync(join(real, 'mine'));
  const { ino } = statSync(real);
  await restoreFolder(data, link);
  expect([statSync(real).ino, readdirSync(real).sort()]).toEqual([ino, ['objects', 'regen.db']]);
  expect(readdirSync(folder).sort()).toEqual(['link', 'real']);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

it('archives of the registry behind a service count as archives on its disk', async () => {
  const data = folderForTest();
  for (const [at, name] of ['archives', 'uplink'].entries()) {
    mkdirSync(join(data, 'objects', name), { recursive: true });
    writeFileSync(join(data, 'objects', name, 'node.zip'), 'x'.repeat(at + 1));
  }
  expect(await measureFolder(data, {})).toMatchObject({ archive_bytes: 3, task_bytes: 0 });
});

it('nothing that exists is overwritten, and a folder without data is refused', async () => {
  const { data, service } = await folderInUse();
  const target = folderForTest();
  writeFileSync(join(target, 'mine'), '');
  expect((await regen(['serve', 'backup', target, '--data', data])).exit).toBe(5);
  expect((await regen(['serve', 'restore', data, '--data', target])).exit).toBe(5);
  expect(readdirSync(target)).toEqual(['mine']);
  const empty = await regen(['serve', 'backup', join(folderForTest(), 'copy'), '--data', target]);
  expect([empty.exit, empty.stderr]).toEqual([2, expect.stringContaining('There is no regen.db')]);
  expect((await ask(`${service.url}/ready`)).status).toBe(200);
});

it('a backup is restored into the lost data folder of a configuration, but not into PostgreSQL', async () => {
  const { data } = await folderInUse();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'regen.toml'), 'data = "data"\nnaming = "comfy"\n');
  writeFileSync(join(cwd, 'large.toml'), 'data = "data"\ndatabase = "postgres://regen@127.0.0.1:1/regen"\n');
  expect((await regen(['serve', 'backup', 'copy.zip', '--data', data], { cwd })).exit).toBe(0);
  const absent = await regen(['serve', 'backup', 'other.zip', '--config', 'regen.toml'], { cwd });
  expect([absent.exit, absent.stderr]).toEqual([
    2,
    expect.stringContaining(
      'Name the data folder of the service with --data, or its configuration with --config.',
    ),
  ]);
  const restore = (config: string) => regen(['serve', 'restore', 'copy.zip', '--config', config], { cwd });
  const refused = await restore('large.toml');
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('regen serve copy')]);
  const restored = await restore('regen.toml');
  expect(restored.exit, restored.stderr).toBe(0);
  expect(restored.stderr).toContain('Next: regen serve --config regen.toml');
  expect((await regen(['serve', 'check', '--config', 'regen.toml'], { cwd })).exit).toBe(0);
});

it('serve prune counts and removes beside the service, and serve status says what data takes', async () => {
  const { data, service } = await folderInUse();
  const settings = { REGEN_SERVE_RETENTION__RESULTS: '7', REGEN_SERVE_RETENTION__TASKS: '7' };
  const old = new Date(service.context.now() - 15 * 24 * 60 * 60_000).toISOString();
  // The clock of a command cannot be moved.
  await service.context.database
    .transaction()
    .execute((tx) => sql`update tasks set created_at = ${old}`.execute(tx));
  const status = async () => parseCounts((await regen(['serve', 'status', '--data', data, '--json'])).stdout);
  const before = await status();
  expect(before).toMatchObject({ url: service.localUrl, archive_bytes: zip.length });
  expect(before.task_bytes).toBeGreaterThan(0);
  expect(before.database_bytes).toBeGreaterThan(before.archive_bytes);
  expect(before.free_bytes).toBeGreaterThan(0);

  const prune = async (...more: string[]) => {
    const { exit, stdout, stderr } = await regen(
      ['serve', 'prune', '--data', data, '--json', '--yes', ...more],
      { env: settings },
    );
    expect(exit, stderr).toBe(0);
    return parseCounts(stdout);
  };
  const results = { kind: 'results', days: 7, count: 1, bytes: before.task_bytes };
  expect(await prune('--dry-run')).toContainEqual(results);
  expect(await status()).toMatchObject({ task_bytes: before.task_bytes });
  const pruned = await prune();
  expect(pruned).toContainEqual(results);
  expect(pruned).toContainEqual({ kind: 'tasks', days: 7, count: 1, bytes: 0 });
  expect(pruned).toContainEqual({ kind: 'bannedArchives', days: null, count: 0, bytes: 0 });
  expect(await status()).toMatchObject({ task_bytes: 0, archive_bytes: zip.length });
  expect((await regen(['serve', 'check', '--data', data])).exit).toBe(0);
});

it('serve prune refuses a folder without data and settings that would break a promise', async () => {
  const data = folderForTest();
  const nothing = await regen(['serve', 'prune', '--data', data, '--yes']);
  expect([nothing.exit, nothing.stderr]).toEqual([2, expect.stringContaining('There is no regen.db')]);
  const env = { REGEN_SERVE_RETENTION__TASKS: '1' };
  const early = await regen(['serve', 'prune', '--data', data, '--yes'], { env });
  expect([early.exit, early.stderr]).toEqual([
    2,
    expect.stringContaining('retention.tasks must be at least 7'),
  ]);
});

it.skipIf(!existsSync('/proc/self/fd'))('a backup is synced as a whole before it gets its name', async () => {
  const { data } = await folderInUse();
  const parent = folderForTest();
  const handle = await open(parent);
  const synced: string[] = [];
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  const { sync } = prototype;
  const syncing = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
  try {
    await backUpStore({ data, configuration: { data }, env: {} }, join(parent, 'copy'));
  } finally {
    syncing.mockRestore();
    await handle.close();
  }
  const partial = synced[0]?.slice(0, synced[0].indexOf('/data/') + '/data'.length) as string;
  const expected = ['', ...listEntries(join(parent, 'copy'))].map((name) => join(partial, name));
  // The storage syncs each object before it gets its name, too.
  const named = synced.filter((path) => !path.includes('/.staging/'));
  expect(named.sort()).toEqual([...expected, parent].sort());
});

async function listZip(path: string): Promise<string[]> {
  const zip = await openPromise(path, { lazyEntries: true });
  const names: string[] = [];
  for await (const { fileName } of zip.eachEntry()) names.push(fileName);
  return names;
}

/** The files and folders below a folder. */
const listEntries = (folder: string) => readdirSync(folder, { recursive: true }) as string[];

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { rotateSigningKey } from '../../../src/service/auth/keys.js';
import { homeForTest, regen, type Started, startRegen } from '../../support/cli.js';
import { gitExists, gitServerForTest } from '../../support/git-server.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';
import { type ProxyStep, steppingProxyForTest } from '../../support/stepping-proxy.js';

async function publishOne(data = folderForTest()) {
  const service = await serviceForTest({ data });
  const { personalAccessToken } = await publisherForTest(service);
  const home = homeForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const folder = packForTest();
  expect((await regen(['version', 'publish', folder], { env, home })).exit).toBe(0);
  const run = (line: string | readonly string[], more: { home?: string; cwd?: string } = {}) =>
    regen(typeof line === 'string' ? line.split(' ') : line, { env, home, ...more });
  const rotate = async () => {
    const { database, keys, now } = service.context;
    await rotateSigningKey(database, now);
    await keys.reload();
  };
  const knownKeys = join(home, '.config/regen/credentials/known-keys.json');
  return { service, folder, home, run, rotate, knownKeys };
}

/** A way to a service under one address, whichever service answers there. */
async function fixedAddressForTest(
  service: { url: string },
  listen: (step: ProxyStep) => unknown = () => {},
) {
  const at = { url: service.url };
  const url = await steppingProxyForTest(
    () => at.url,
    async (step) => void (await listen(step)),
  );
  const home = homeForTest();
  const verify = (env: Record<string, string> = { REGEN_BASE_URL: url }) =>
    regen(['version', 'verify', 'pack', '1.0.0'], { env, home });
  return { at, url, home, verify };
}

describe('version verify', () => {
  test('says who vouches for what in the latest version, and pins the key of the registry at first use', async () => {
    const { service, run, knownKeys } = await publishOne();
    const first = await run('version verify pack 1.0.0');
    expect([first.exit, first.stderr]).toEqual([
      0,
      expect.stringMatching(/signs with the key \S{43}, which is known/),
    ]);
    expect(first.stdout).toMatch(
      /^archive\t.*, key (\S{43})\tSHA-256 [0-9a-f]{64}\nfiles\t.*\nverdict\t.*\tActive\n$/,
    );
    expect(statSync(knownKeys).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(readFileSync(knownKeys, 'utf8')))).toEqual([service.url]);
    const again = await run('version verify pack');
    expect([again.exit, again.stderr]).toEqual([0, 'Checking pack 1.0.0\n']);
  });

  test('accepts the next key and the one after it, because the one before signed them', async () => {
    const { run, rotate, knownKeys, service } = await publishOne();
    await run('version verify pack 1.0.0');
    await rotate();
    await rotate();
    expect(await run('version verify pack 1.0.0')).toMatchObject({ exit: 0 });
    expect(JSON.parse(readFileSync(knownKeys, 'utf8'))[service.url]).toHaveLength(3);
  });

  test('refuses a key for which no known key vouches, and says where the known ones are', async () => {
    const { run, knownKeys, service } = await publishOne();
    await run('version verify pack 1.0.0');
    const { database, keys } = service.context;
    await database
      .transaction()
      .execute((tx) => tx.deleteFrom('keys').where('use', '=', 'statement').execute());
    await rotateSigningKey(database, service.context.now);
    await keys.reload();
    for (const line of ['version verify pack 1.0.0', 'version download pack 1.0.0 -o out.zip']) {
      const { exit, stderr } = await run(line, { cwd: homeForTest() });
      expect([exit, stderr]).toEqual([6, expect.stringContaining('for which no known key vouches')]);
      expect(stderr).toContain(knownKeys);
    }
  });

  test('refuses an archive that is not the one the registry signed, and saves nothing', async () => {
    const { run, service } = await publishOne();
    const cwd = homeForTest();
    await run('version download pack 1.0.0 -o good.zip', { cwd });
    const { archive_key: key } = await service.context.database
      .selectFrom('versions')
      .select('archive_key')
      .executeTakeFirstOrThrow();
    const bytes = readFileSync(join(cwd, 'good.zip'));
    bytes[40] = (bytes[40] as number) ^ 1;
    await service.context.storage.remove(key as string);
    await service.context.storage.write(key as string, Readable.from([bytes]), bytes.length);
    const { exit, stderr } = await run('version verify pack 1.0.0', { cwd });
    expect([exit, stderr]).toEqual([
      7,
      expect.stringMatching(/has the SHA-256 \S+; the registry signed \S+ with/),
    ]);
    expect((await run('version download pack 1.0.0 -o bad.zip', { cwd })).exit).toBe(7);
    expect(readdirSync(cwd)).not.toContain('bad.zip');
  });

  test('accepts a key that is replaced before any of its requests, by those who knew the old one and by others', async () => {
    const { service, rotate } = await publishOne();
    const steps: string[] = [];
    let rotateAt = 0;
    const { verify, home } = await fixedAddressForTest(service, async ({ at, path }) => {
      if (at !== 'asked') return;
      steps.push(path);
      if (steps.length === rotateAt) await rotate();
    });
    expect((await verify()).exit).toBe(0);
    const whole = [...steps];
    expect(whole.slice(-2)).toEqual(['/nodes/pack/versions/1.0.0/statement', '/.well-known/regen-keys']);
    for (const isKnown of [true, false])
      for (rotateAt = 1; rotateAt <= whole.length; rotateAt += 1) {
        if (!isKnown) rmSync(join(home, '.config'), { recursive: true });
        steps.length = 0;
        const { exit, stderr } = await verify();
        expect([isKnown, rotateAt, exit, stderr]).toEqual([isKnown, rotateAt, 0, expect.any(String)]);
      }
  });

  test('that is killed at any of its requests does the same when it is run again, and never keeps half of the keys', async () => {
    const { service } = await publishOne();
    let killAt = 0;
    let steps = 0;
    let killed: Started | undefined;
    const { url, home, verify } = await fixedAddressForTest(service, async () => {
      steps += 1;
      if (steps !== killAt) return;
      killed?.child.kill('SIGKILL');
      await killed?.ended;
    });
    expect((await verify()).exit).toBe(0);
    const whole = steps;
    for (killAt = 1; killAt <= whole; killAt += 2) {
      rmSync(join(home, '.config'), { recursive: true });
      steps = 0;
      const env = { REGEN_BASE_URL: url };
      killed = startRegen(['version', 'verify', 'pack', '1.0.0'], { env, home });
      expect([killAt, (await killed.ended).exit]).toEqual([killAt, 137]);
      killed = undefined;
      expect(await verify()).toMatchObject({ exit: 0, stdout: expect.stringContaining('Active') });
    }
  });

  test('accepts a service that was restored from a backup with an earlier key, and the key after that', async () => {
    const data = folderForTest();
    const { service, rotate } = await publishOne(data);
    const { at, verify, home } = await fixedAddressForTest(service);
    const backup = join(folderForTest(), 'backup');
    expect((await regen(['serve', 'backup', backup, '--data', data])).exit).toBe(0);
    await rotate();
    // Who met the service with the second key only knows the first one, too.
    expect((await verify()).exit).toBe(0);
    const restored = join(folderForTest(), 'restored');
    expect((await regen(['serve', 'restore', backup, '--data', restored])).exit).toBe(0);
    const next = await serviceForTest({ data: restored });
    at.url = next.url;
    expect(await verify()).toMatchObject({ exit: 0, stderr: 'Checking pack 1.0.0\n' });
    await rotateSigningKey(next.context.database, next.context.now);
    await next.context.keys.reload();
    expect((await verify()).exit).toBe(0);

    // One that lost its keys with its data has to be trusted again by hand.
    const lost = (await publishOne()).service;
    at.url = lost.url;
    expect(await verify()).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining(join(home, '.config/regen/credentials/known-keys.json')),
    });
  });

  test('compares a version with its source in a folder, and lists each file that differs', async () => {
    const { run, folder } = await publishOne();
    expect(await run(`version verify pack 1.0.0 --source ${folder}`)).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('makes the same files'),
    });
    writeFileSync(join(folder, 'more.py'), 'A = 1\n');
    writeFileSync(join(folder, '__init__.py'), 'NODE_CLASS_MAPPINGS = {}\n');
    const { exit, stdout, stderr } = await run(`version verify pack 1.0.0 --source ${folder}`);
    expect([exit, stdout]).toEqual([6, expect.stringContaining('2 files differ')]);
    expect(stderr).toContain('__init__.py has different content');
    expect(stderr).toContain('more.py is only in the source');
    expect((await run(`version verify pack 1.0.0 --source ${folder} --ref v1`)).exit).toBe(2);
  });

  test.skipIf(!gitExists())('compares a version with a tag of a git repository', async () => {
    const { run, folder } = await publishOne();
    const { url, commit } = await gitServerForTest(folder);
    commit('v1.0.0');
    const home = homeForTest();
    const verify = (more = '') => run(`version verify pack 1.0.0 --source ${url}${more}`, { home });
    expect(await verify()).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('makes the same files'),
    });
    writeFileSync(join(folder, '__init__.py'), 'NODE_CLASS_MAPPINGS = {}\n');
    commit('v2');
    expect(await verify(' --ref v2')).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining('__init__.py has different content'),
    });
    expect(await verify(' --ref v3')).toMatchObject({ exit: 2, stderr: expect.stringContaining('v3') });
    expect(await verify(' --ref v2:v1')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('is not a tag, a branch or a commit'),
    });
  });

  test.each([
    'file:///etc',
    'ext::sh -c id',
    '--upload-pack=id',
    'git://127.0.0.1/x',
    'http://example.com/x',
  ])('starts no git for the source %s', async (source) => {
    const { run } = await publishOne();
    const { exit, stderr } = await run(['version', 'verify', 'pack', '1.0.0', `--source=${source}`]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('is neither a folder nor a git URL')]);
  });
});

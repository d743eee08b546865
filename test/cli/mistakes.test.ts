import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen, startRegen } from '../support/cli.js';
import { filesForTest, packForTest } from '../support/packs.js';
import { publisherForTest, serviceForTest } from '../support/service.js';

const nowhere = { env: { REGEN_BASE_URL: 'http://127.0.0.1:9' } };

test.each(['REGEN_TOKEN', 'REGEN_PUBLISH_TOKEN', 'REGEN_BASE_URL'])(
  'a job whose %s came empty publishes nowhere, instead of into a service made on the spot',
  async (name) => {
    const { exit, stderr } = await regen(['version', 'publish', packForTest()], { env: { [name]: '' } });
    expect(exit).toBe(2);
    expect(stderr).toContain(`${name} is set but empty, and no service is named.`);
  },
);

test('an empty variable counts as unset', async () => {
  const service = await serviceForTest();
  const named = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const run = (argv: readonly string[], env: Record<string, string>) => regen(argv, { env });
  const empty = [
    'REGEN_PROFILE',
    'REGEN_PUBLISH_TOKEN',
    'REGEN_TIMEOUT',
    'REGEN_CREDENTIAL_STORE',
    'REGEN_CA_FILE',
    'REGEN_LOCAL_PORT',
    'REGEN_WEBHOOK_SECRET',
    'FORCE_COLOR',
    'NO_COLOR',
    'CI',
    'HTTP_PROXY',
    'no_proxy',
  ];
  const env = Object.fromEntries(empty.map((name) => [name, '']));
  const { exit, stdout, stderr } = await run(['publisher', 'list', '--json'], { ...env, ...named });
  expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: '[]\n', stderr: '' });
  const trigger = ['webhook', 'trigger', '--to', 'http://127.0.0.1:9'];
  // The secret is read from the service, and the receiver is asked.
  expect((await run(trigger, { ...env, ...named })).stderr).toContain('Could not reach http://127.0.0.1:9');
  const failed = await run(['nothing'], { FORCE_COLOR: '' });
  expect(failed.stderr).toMatch(/^error: /);
  for (const value of ['', ' ', '\n']) {
    const { stderr } = await run(['auth', 'status'], { ...named, REGEN_TOKEN: value });
    expect(stderr).toContain(`Not signed in to ${service.url}.`);
  }
});

test('settings that cannot be read stop every command that would use them, and are left as they are', async () => {
  const home = homeForTest();
  await regen(['config', 'set', 'profiles.team.base_url', 'http://127.0.0.1:9'], { home });
  await regen(['config', 'set', 'profile', 'team'], { home });
  const file = join(home, '.config', 'regen', 'config.json');
  truncateSync(file, 20);
  const { exit, stderr } = await regen(['node', 'get', 'x'], { home });
  expect(exit).toBe(2);
  expect(stderr).toContain(`${file} is not valid JSON`);
  expect((await regen(['config', 'set', 'profile', 'local'], { home })).exit).toBe(2);
  expect(readFileSync(file, 'utf8')).toHaveLength(20);
});

test('--dry-run shows the address of the embedded service as it runs', async () => {
  const home = homeForTest();
  const folder = join(home, '.local', 'share', 'regen');
  mkdirSync(folder, { recursive: true });
  const record = { url: 'http://127.0.0.1:40404', socket: '/nowhere', pid: 1, version: '0', instance: 'x' };
  writeFileSync(join(folder, 'service.json'), JSON.stringify(record), { mode: 0o600 });
  const { stdout } = await regen(['node', 'delete', 'acme', 'x', '--dry-run'], { home });
  expect(stdout).toBe('DELETE http://127.0.0.1:40404/publishers/acme/nodes/x\n');
});

test('a service that is named to a command which talks to none is refused before the command as after it', async () => {
  for (const argv of [
    ['--profile', 'team', 'serve', 'status'],
    ['serve', 'status', '--profile', 'team'],
    ['--base-url', 'http://127.0.0.1:9', 'config', 'list'],
  ]) {
    expect((await regen(argv, nowhere)).exit, argv.join(' ')).toBe(2);
  }
  expect((await regen(['--profile', 'team', 'serve', 'stop'], nowhere)).stderr).toBe(
    'error: regen serve stop does not accept --profile.\nhint: See: regen serve stop --help\n',
  );
  expect((await regen(['--json', '--profile', 'local', 'config', 'list'], nowhere)).exit).toBe(2);
  expect((await regen(['--json', 'config', 'list'], nowhere)).exit).toBe(0);
});

test('an address and a profile with another address are refused, and one with the same is used', async () => {
  const home = homeForTest();
  const [address, other] = ['http://127.0.0.1:9', 'http://127.0.0.1:10'];
  await regen(['config', 'set', 'profiles.team.base_url', `${address}/`], { home });
  const remove = (baseUrl: string, profile: string) =>
    regen(['node', 'delete', 'acme', 'x', '--dry-run', '--base-url', baseUrl, '--profile', profile], {
      home,
    });
  expect((await remove(address, 'team')).stdout).toContain(`DELETE ${address}/publishers`);
  for (const profile of ['team', 'local']) {
    const { exit, stderr } = await remove(other, profile);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('name different services')]);
  }
  expect((await remove(other, 'tema')).stderr).toContain(`regen config set profiles.tema.base_url ${other}`);
});

test('the embedded service by its address says how to be its owner', async () => {
  const home = homeForTest();
  const service = await serviceForTest({ data: join(home, '.local', 'share', 'regen') });
  const address = service.url.replace('127.0.0.1', 'localhost');
  for (const surroundings of [{ env: { REGEN_BASE_URL: address } }, { env: {} }]) {
    const flags = surroundings.env.REGEN_BASE_URL ? [] : ['--base-url', address];
    const { exit, stderr } = await regen(['publisher', 'list', ...flags], { home, ...surroundings });
    expect([exit, stderr]).toEqual([4, expect.stringContaining('pass --profile local, without an address')]);
    const owner = await regen(['publisher', 'list', '--profile', 'local'], { home, ...surroundings });
    expect(owner.exit, owner.stderr).toBe(0);
  }
  const outsider = await regen(['publisher', 'list', '--base-url', service.url]);
  expect(outsider.stderr).toContain('regen auth login');
});

test('positionals that are missing are named, all of them', async () => {
  expect((await regen(['config', 'set'])).stderr).toContain('<key>, <value> are required.');
  expect((await regen(['version', 'diff', 'a', '1.0.0'], nowhere)).stderr).toContain('<to> is required.');
  expect((await regen(['version', 'diff', 'a', '1.0.0'], nowhere)).exit).toBe(2);
});

test('an update that changes nothing is refused before it is sent', async () => {
  const { exit, stderr } = await regen(['node', 'update', 'acme', 'x'], nowhere);
  expect(exit).toBe(2);
  expect(stderr).toContain('No changes given.');
});

test('one thing that is wrong is said once', async () => {
  const { stderr } = await regen(['node', 'create', 'acme', '--id', 'x'], nowhere);
  expect(stderr).toBe('error: --name is required.\n');
});

test('what git does not track is named, because it is not packed', async () => {
  const pack = packForTest();
  execFileSync('git', ['init', '-q'], { cwd: pack });
  execFileSync('git', ['add', '.'], { cwd: pack });
  writeFileSync(join(pack, 'forgotten.py'), '');
  const { exit, stdout, stderr } = await regen(['version', 'pack', pack, '--list']);
  expect(exit).toBe(0);
  expect(stderr).toContain('warning: Not packed, because git does not track them: forgotten.py.');
  expect(stdout).not.toContain('forgotten.py');
});

test('a manifest that its own ignore file leaves out is refused', async () => {
  const pack = packForTest({ files: { '.regenignore': '*\n' } });
  const { exit, stderr } = await regen(['version', 'pack', pack, '--list']);
  expect(exit).toBe(2);
  expect(stderr).toContain('pyproject.toml would be missing from the archive');
});

test('a pack without a node, and code that is no Python, are warned of', async () => {
  const pack = packForTest({ files: { '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n', 'bad.py': 'def (:\n' } });
  const { stderr } = await regen(['version', 'check', pack]);
  expect(stderr).toContain('No node definition was found');
  expect(stderr).toContain('bad.py:1 is not all valid Python');
});

test('a file that cannot be read is a sentence, not a bug', async () => {
  const folder = filesForTest({ 'pyproject.toml/inner': '' });
  const { exit, stderr } = await regen(['version', 'check', folder]);
  expect(exit).toBe(2);
  expect(stderr).not.toContain('bug');
});

test('an address that is not of this machine is a sentence', async () => {
  const { exit, stderr } = await startRegen(['serve', '--host', '192.0.2.1', '--port', '0']).ended;
  expect(exit).toBe(2);
  expect(stderr).toContain('This machine does not have the address: 192.0.2.1.');
});

test('a place that cannot be written to is a sentence that names it', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  await regen(['version', 'publish', packForTest()], { env });
  const cwd = filesForTest({ file: '' });
  const { exit, stderr } = await regen(['version', 'download', 'pack', '1.0.0', '-o', 'file/x.zip'], {
    env,
    cwd,
  });
  expect(exit).toBe(2);
  expect(stderr).not.toContain('bug');
});

test('a list that is empty says so, and one that has more pages too', async () => {
  const service = await serviceForTest();
  await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  expect(await regen(['node', 'search', 'nothing'], { env })).toEqual({
    exit: 0,
    stdout: '',
    stderr: 'Nothing to list.\n',
  });
  for (const id of ['a', 'b']) await regen(['node', 'create', 'acme', '--id', id, '--name', id], { env });
  const { stderr } = await regen(['node', 'list', 'acme', '--limit', '1'], { env });
  expect(stderr).toBe('Page 1 of 2. Pass --all for every page.\n');
});

test('a file name that the file system cannot hold, and links in a circle, are wrong usage', async () => {
  const cwd = filesForTest({});
  symlinkSync('circle', join(cwd, 'circle'));
  for (const [name, sentence] of [
    ['x'.repeat(300), 'A name is too long for the file system'],
    ['circle', 'Symbolic links lead to each other'],
  ]) {
    const { exit, stderr } = await regen(['image', 'relight', name as string], { ...nowhere, cwd });
    expect(stderr).toContain(sentence);
    expect(exit).toBe(2);
  }
});

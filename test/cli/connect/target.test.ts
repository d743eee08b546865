import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

test('an address without a scheme is completed in the hint', async () => {
  const { exit, stderr } = await regen(['node', 'get', 'x', '--base-url', '127.0.0.1:9']);
  expect(exit).toBe(2);
  expect(stderr).toContain('hint: Use an address such as http://127.0.0.1:9.');
  const far = await regen(['node', 'get', 'x', '--base-url', 'registry.test']);
  expect(far.stderr).toContain('hint: Use an address such as https://');
});

test('a profile with an invalid address is refused, on the command line and in the file', async () => {
  const home = homeForTest();
  const set = await regen(['config', 'set', 'profiles.team.base_url', 'http://a b'], { home });
  expect(set.exit).toBe(2);
  expect(set.stderr).toContain("'http://a b' is not an http or https address.");
  const folder = join(home, '.config', 'regen');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{"profiles.team.base_url":"http://a b"}', { mode: 0o600 });
  const { exit, stderr } = await regen(['node', 'get', 'x', '--profile', 'team'], { home });
  expect(exit).toBe(2);
  expect(stderr).toContain("'http://a b' (from profiles.team.base_url) is not an http or https address.");
});

test.each([
  'REGEN_TOKEN',
  'REGEN_ADMIN_TOKEN',
  'REGEN_ADMIN_TOKEN_FILE',
  'REGEN_PUBLISH_TOKEN',
  'REGEN_BASE_URL',
])('an empty %s stops a publish instead of starting an embedded service', async (name) => {
  const { exit, stderr } = await regen(['version', 'publish', packForTest()], { env: { [name]: '' } });
  expect(exit).toBe(2);
  expect(stderr).toContain(`${name} is set but empty, and no service is named.`);
});

test.each([
  ['REGEN_TOKEN', 'secret', 4],
  ['REGEN_ADMIN_TOKEN', 'secret', 4],
  ['REGEN_ADMIN_TOKEN_FILE', 'nowhere.txt', 2],
  ['REGEN_PUBLISH_TOKEN', 'secret', 0],
])(
  '%s is used on the embedded service only if that is named, and otherwise said not to be',
  async (name, value, exit) => {
    const home = homeForTest();
    await serviceForTest({ data: join(home, '.local', 'share', 'regen') });
    const run = (...argv: string[]) => regen(argv, { home, env: { [name]: value } });
    for (const argv of [
      ['admin', 'audit'],
      ['auth', 'status'],
      ['node', 'search'],
    ]) {
      const { exit, stderr } = await run(...argv);
      const said = `warning: ${name} is not used, because no service is named. Set REGEN_BASE_URL`;
      expect([argv, exit, stderr]).toEqual([argv, 0, expect.stringContaining(said)]);
    }
    expect((await run('doctor')).stdout).toContain(
      `credential\twarn\t${name} is set, but no service is named`,
    );
    expect((await run('publisher', 'create', 'acme', '--name', 'Acme')).stderr).toContain(
      `${name} is set, and no service is named.`,
    );
    const named = await run('admin', 'audit', '--profile', 'local');
    expect(named).toMatchObject({ exit, stderr: expect.not.stringContaining('not used') });
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

test('settings that cannot be read stop every command that uses them, and stay unchanged', async () => {
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

test('the embedded service, addressed by URL, shows how to use it as its owner', async () => {
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

const nowhere = { env: { REGEN_BASE_URL: 'http://127.0.0.1:9' } };

test('--profile and --base-url are refused by commands without a service, before and after the command', async () => {
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

test('--dry-run shows the address of the embedded service as it runs', async () => {
  const home = homeForTest();
  const folder = join(home, '.local', 'share', 'regen');
  mkdirSync(folder, { recursive: true });
  const record = { url: 'http://127.0.0.1:40404', socket: '/nowhere', pid: 1, version: '0', instance: 'x' };
  writeFileSync(join(folder, 'service.json'), JSON.stringify(record), { mode: 0o600 });
  const { stdout } = await regen(['node', 'delete', 'acme', 'x', '--dry-run'], { home });
  expect(stdout).toBe('DELETE http://127.0.0.1:40404/publishers/acme/nodes/x\n');
});

test('a file in a setting is found from any folder, and none of that folder is read in its place', async () => {
  const home = homeForTest();
  const [own, other] = [folderForTest(), folderForTest()];
  writeFileSync(join(own, 'names.json'), '{"fields":{"description":"text"}}');
  writeFileSync(join(other, 'names.json'), 'of someone else');
  const run = (cwd: string, ...argv: string[]) => regen(argv, { home, cwd });
  for (const [key, value] of [
    ['profiles.team.base_url', 'http://127.0.0.1:9'],
    ['profiles.team.naming', 'names.json'],
    ['ca_file', 'ca.pem'],
  ] as const)
    expect((await run(own, 'config', 'set', key, value)).exit).toBe(0);
  const { stdout } = await run(other, 'config', 'list', '--json');
  const values = Object.fromEntries(
    JSON.parse(stdout).map((one: { key: string; value: string }) => [one.key, one.value]),
  );
  expect(values).toMatchObject({
    'profiles.team.naming': join(own, 'names.json'),
    ca_file: join(own, 'ca.pem'),
  });
});

test('a relative file in a settings file that was edited by hand is beside that file', async () => {
  const home = homeForTest();
  const folder = join(home, '.config', 'regen');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{"ca_file":"ca.pem"}');
  const { stdout } = await regen(['config', 'get', 'ca_file'], { home, cwd: folderForTest() });
  expect(stdout.trim()).toBe(join(folder, 'ca.pem'));
});

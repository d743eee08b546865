import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen } from '../support/cli.js';
import { folderForTest, publisherForTest, registerVersion, serviceForTest } from '../support/service.js';

const nowhere = 'http://127.0.0.1:9';

test('an address without a scheme is written right in the hint', async () => {
  const { exit, stderr } = await regen(['node', 'get', 'x', '--base-url', '127.0.0.1:9']);
  expect(exit).toBe(2);
  expect(stderr).toContain('hint: Use an address such as http://127.0.0.1:9.');
  const far = await regen(['node', 'get', 'x', '--base-url', 'registry.test']);
  expect(far.stderr).toContain('hint: Use an address such as https://');
});

test.each(['status', 'token'])('auth %s says how to sign in to the service that was named', async (word) => {
  const { stderr } = await regen(['auth', word, '--base-url', nowhere]);
  expect(stderr).toContain(`regen auth login --base-url ${nowhere}`);
});

test('a service on a folder in use is ended by the hint it gets', async () => {
  const data = join(folderForTest(), 'my data');
  await serviceForTest({ data });
  const { exit, stderr } = await regen(['serve', '--port', '0', '--data', data]);
  expect(exit).toBe(5);
  expect(stderr).toContain(`regen serve stop --data '${data}'`);
});

test('a folder without a manifest is named in the hint', async () => {
  const cwd = folderForTest();
  mkdirSync(join(cwd, 'light'));
  const { exit, stderr } = await regen(['version', 'check', 'light'], { cwd });
  expect(exit).toBe(2);
  expect(stderr).toContain('hint: Create one with: regen node init light\n');
});

test('a pack that is no folder is told with its path', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'file'), '');
  const gone = await regen(['version', 'publish', 'nowhere'], { cwd });
  expect([gone.exit, gone.stderr]).toEqual([
    2,
    `error: The folder ${join(cwd, 'nowhere')} does not exist.\n`,
  ]);
  const file = await regen(['version', 'publish', 'file'], { cwd });
  expect(file.exit).toBe(2);
  expect(file.stderr).toContain(`${join(cwd, 'file')} is a file`);
});

test('a token file that is not there is told from an empty one', async () => {
  const cwd = folderForTest();
  const argv = ['node', 'get', 'x', '--base-url', nowhere, '--token-file', 'nofile'];
  const { exit, stderr } = await regen(argv, { cwd });
  expect([exit, stderr]).toEqual([2, 'error: File not found: nofile (from --token-file).\n']);
});

test('the log is a list with --json, even if other lines were written into it', async () => {
  const home = homeForTest();
  expect((await regen(['serve', 'logs', '--json'], { home })).stdout).toBe('[]\n');
  const log = join(home, '.local', 'state', 'regen', 'service.log');
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, '{"level":"warn"}\nnot JSON\n');
  const { stdout } = await regen(['serve', 'logs', '--json'], { home });
  expect(JSON.parse(stdout)).toEqual([{ level: 'warn' }, { message: 'not JSON' }]);
  expect((await regen(['serve', 'logs'], { home })).stdout).toBe('{"level":"warn"}\nnot JSON\n');
});

test.each([
  [['auth', 'status'], 'regen auth login --profile team --with-token'],
  [['auth', 'token'], '`regen auth login --profile team`'],
  [['publisher', 'list'], 'regen auth login --profile team --with-token'],
  [['auth', 'login'], 'regen auth login --profile team --with-token'],
])('a command in a hint repeats the profile that was given: %s', async (argv, hint) => {
  const service = await serviceForTest();
  const home = homeForTest();
  await regen(['config', 'set', 'profiles.team.base_url', service.url], { home });
  const { stderr } = await regen([...argv, '--profile', 'team'], { home });
  expect(stderr).toContain(hint);
});

test('a command in a hint that uses no service, or names one itself, is left as it is', async () => {
  const home = homeForTest();
  const { stderr } = await regen(['node', 'get', 'x', '--profile', 'team'], { home });
  expect(stderr).toContain('hint: Create it with: regen config set profiles.team.base_url <url>');
});

test('a sign-in to an address says how to name it', async () => {
  const service = await serviceForTest();
  const argv = ['auth', 'login', '--base-url', service.url, '--with-token'];
  const { exit, stderr } = await regen(argv, { stdin: service.ownerToken });
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain(`regen config set profiles.<name>.base_url ${service.url}`);
});

test('a profile whose address cannot be parsed is refused, and one in the file says so', async () => {
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

test('a command in a hint repeats the folder that was given, and nothing where none was', async () => {
  const cwd = folderForTest();
  mkdirSync(join(cwd, 'my pack'));
  const init = ['node', 'init', 'my pack', '--publisher', 'acme', '--id', 'pack', '--name', 'Pack'];
  const made = await regen(init, { cwd });
  expect(made.stderr).toContain(
    "Next: regen version check 'my pack', then regen version publish 'my pack'\n",
  );
  const bumped = await regen(['version', 'bump', 'minor', 'my pack'], { cwd });
  expect(bumped.stderr).toContain("Next: regen version publish 'my pack'\n");
  const here = await regen(['version', 'bump'], { cwd: join(cwd, 'my pack') });
  expect(here.stderr).toContain('Next: regen version publish\n');
});

test('a service that does not run is started on the data folder that was given', async () => {
  const data = folderForTest();
  const { stderr } = await regen(['serve', 'status', '--data', data]);
  expect(stderr).toContain(`regen serve --data ${data} --detach`);
});

test('a command in a hint repeats the token file, but no sign-in does', async () => {
  const service = await serviceForTest();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'token'), 'wrong');
  const given = ['--base-url', service.url, '--token-file', 'token'];
  const { stderr } = await regen(['publisher', 'list', ...given], { cwd });
  expect(stderr).toContain(`regen auth login --base-url ${service.url} --with-token`);
  writeFileSync(join(cwd, 'token'), service.ownerToken);
  await registerVersion(await publisherForTest(service));
  const missing = await regen(['version', 'deprecate', 'pack', '9.x', ...given], { cwd });
  expect(missing.stderr).toContain(`regen version list --base-url ${service.url} --token-file token pack`);
});

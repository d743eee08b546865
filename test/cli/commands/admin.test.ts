import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { regen, type Surroundings } from '../../support/cli.js';
import { filesForTest } from '../../support/packs.js';
import { registryForFile } from '../../support/registry.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
} from '../../support/service.js';

const registry = registryForFile();

/** A command line of an admin. */
const runAdmin = (argv: string[], surroundings: Surroundings = {}) =>
  regen(['admin', ...argv], { env: createEnvironment('admin'), ...surroundings });

function createEnvironment(who: 'admin' | 'ann'): Record<string, string> {
  return { REGEN_BASE_URL: registry().url, REGEN_TOKEN: registry().tokens[who] as string };
}

const jwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const countTokens = async () => (await registry().ok('admin', 'GET', '/admin/tokens')).length;
const readAuditStatus = async (token: string) =>
  (await ask(`${registry().url}/admin/audit`, { token })).status;

test('admin generate-token prints the token alone on stdout and its expiry on stderr', async () => {
  const { exit, stdout, stderr } = await runAdmin(['generate-token']);
  expect(exit).toBe(0);
  expect(stdout.trimEnd()).toMatch(jwt);
  expect(await readAuditStatus(stdout.trimEnd())).toBe(200);
  const [, id] = /^Admin token ([0-9a-f]{8}), expires \d{4}-.+Z\nDone on http.+\.\n$/.exec(stderr) ?? [];
  expect(stderr).not.toContain(stdout.trimEnd());
  const [newest] = (await runAdmin(['token', 'list'])).stdout.split('\t');
  expect(newest?.slice(0, 8)).toBe(id);
  const revoked = await runAdmin(['token', 'revoke', id as string, '--yes']);
  expect(revoked.exit, revoked.stderr).toBe(0);
  expect(await readAuditStatus(stdout.trimEnd())).toBe(401);
});

test('the audit log is filtered by what was changed and by whom', async () => {
  await runAdmin(['generate-token', '--output-file', join(filesForTest({}), 'token.txt')]);
  const count = async (...filter: string[]) =>
    JSON.parse((await runAdmin(['audit', '--json', ...filter])).stdout).total as number;
  const { by } = JSON.parse((await runAdmin(['audit', '--json', '--kind', 'admin_token'])).stdout).events[0];
  expect(await count('--kind', 'admin_token', '--by', by)).toBeGreaterThan(0);
  expect(await count('--kind', 'admin_token')).toBeLessThanOrEqual(await count());
  const unknown = await runAdmin(['audit', '--kind', 'nothing']);
  expect([unknown.exit, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('--kind must be one of publisher, '),
  ]);
  expect(await count('--by', 'root@example.org')).toBe(await count('--by', by));
  expect(await count('--by', 'guest')).toBe(0);
});

test.each([
  ['env', /^REGEN_ADMIN_TOKEN=([\w-]+\.[\w-]+\.[\w-]+)\n$/],
  ['header', /^Authorization: Bearer ([\w-]+\.[\w-]+\.[\w-]+)\n$/],
  ['json', /^\{"expires_at":"[^"]+","token":"([^"]+)"\}\n$/],
])('writes the token as %s', async (format, form) => {
  const { stdout } = await runAdmin(['generate-token', '--format', format]);
  expect(await readAuditStatus(form.exec(stdout)?.[1] as string)).toBe(200);
});

test("prints the service's answer unchanged with --json", async () => {
  const { stdout } = await runAdmin(['generate-token', '--json']);
  expect(Object.keys(JSON.parse(stdout))).toEqual(['expires_at', 'token']);
});

test('admin generate-token creates no token for a terminal unless --show is given', async () => {
  const before = await countTokens();
  const refused = await runAdmin(['generate-token'], { terminal: true });
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain('--show');
  expect(await runAdmin(['generate-token', '--json'], { terminal: true })).toMatchObject({
    exit: 2,
    stdout: '',
  });
  expect(await countTokens()).toBe(before);
  const shown = await runAdmin(['generate-token', '--show'], { terminal: true });
  expect(shown.stdout.trimEnd()).toMatch(jwt);
});

test('the token is written to a new file, and over another one only with --force', async () => {
  const cwd = filesForTest({});
  const argv = ['generate-token', '--output-file', 'admin.env', '--format', 'env'];
  const { exit, stdout } = await runAdmin(argv, { cwd, terminal: true });
  const path = join(cwd, 'admin.env');
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: `${path}\n` });
  const first = readFileSync(path, 'utf8');
  expect(first).toMatch(/^REGEN_ADMIN_TOKEN=\S+\n$/);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);

  const before = await countTokens();
  const again = await runAdmin(argv, { cwd });
  expect(again).toMatchObject({ exit: 2, stdout: '' });
  expect(again.stderr).toContain('--force');
  // This command has no such flag.
  expect(again.stderr).not.toMatch(/--output\b(?!-file)/);
  expect(await countTokens()).toBe(before);
  expect(readFileSync(path, 'utf8')).toBe(first);

  writeFileSync(path, 'open to all', { mode: 0o644 });
  const forced = await runAdmin([...argv, '--force', '--json'], { cwd });
  expect(JSON.parse(forced.stdout)).toEqual({ path, expires_at: expect.any(String) });
  expect(readFileSync(path, 'utf8')).toMatch(/^REGEN_ADMIN_TOKEN=\S+\n$/);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a failed request for a token leaves no file', async () => {
  const cwd = filesForTest({});
  const argv = ['admin', 'generate-token', '--output-file', 'admin.env'];
  const { exit, stderr } = await regen(argv, { cwd, env: createEnvironment('ann') });
  expect(exit).toBe(4);
  expect(stderr).toContain('Only an admin may do this.');
  expect(existsSync(join(cwd, 'admin.env'))).toBe(false);
});

test.each([
  [['--format', 'xml'], "--format must be env, json or header, not 'xml'."],
  [['--format', 'env', '--json'], '--json and --format env cannot be used together'],
])('admin generate-token refuses %s and creates no token', async (flags, message) => {
  const before = await countTokens();
  const { exit, stderr } = await runAdmin(['generate-token', ...flags]);
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
  expect(await countTokens()).toBe(before);
});

test('prints the request for a token instead of sending it', async () => {
  const before = await countTokens();
  const { stdout } = await runAdmin(['generate-token', '--dry-run']);
  expect(stdout).toBe(`POST ${registry().url}/admin/generate-token\n`);
  expect(await countTokens()).toBe(before);
});

test('an admin token works as a credential for admin commands', async () => {
  const { stdout } = await runAdmin(['generate-token']);
  const env = { ...createEnvironment('admin'), REGEN_TOKEN: stdout.trimEnd() };
  expect((await runAdmin(['token', 'list'], { env })).exit).toBe(0);
  const another = await runAdmin(['generate-token'], { env });
  expect(another).toMatchObject({ exit: 4, stdout: '' });
});

test('lists the valid tokens and revokes one', async () => {
  const made = await runAdmin(['generate-token']);
  const listed = await runAdmin(['token', 'list', '--json']);
  const jti = JSON.parse(Buffer.from(made.stdout.split('.')[1] as string, 'base64url').toString()).jti;
  expect(JSON.parse(listed.stdout).map((one: { jti: string }) => one.jti)).toContain(jti);
  const revoked = await runAdmin(['token', 'revoke', jti, '--yes']);
  expect(revoked).toMatchObject({ exit: 0, stdout: '' });
  expect(await readAuditStatus(made.stdout.trimEnd())).toBe(401);
  expect((await runAdmin(['token', 'revoke', jti, '--yes'])).exit).toBe(3);
});

test('bans a node with a reason and gives it back', async () => {
  await registry().active('cli-node', '1.0.0');
  const ban = ['node', 'ban', 'cli-node', '--reason', 'reads keys'];
  const dry = await runAdmin([...ban, '--dry-run']);
  expect(dry.stdout).toBe(
    `PUT ${registry().url}/admin/nodes/cli-node\n{\n  "status": "NodeStatusBanned",\n  "status_detail": "reads keys"\n}\n`,
  );
  const { exit, stdout } = await runAdmin([...ban, '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'NodeStatusBanned', status_detail: 'reads keys' });
  expect((await registry().as('eve', 'GET', '/nodes/cli-node')).status).toBe(403);
  expect((await runAdmin(['node', 'unban', 'cli-node'])).exit).toBe(0);
  expect((await registry().as('eve', 'GET', '/nodes/cli-node')).status).toBe(200);
});

test('commands that set a fixed status have no flag for the status', async () => {
  const { exit, stderr } = await runAdmin(['node', 'ban', 'cli-node', '--status', 'NodeStatusActive']);
  expect(exit).toBe(2);
  expect(stderr).toContain("Unknown option '--status'");
  expect((await runAdmin(['publisher', 'ban', 'acme', '--body', '{}'])).exit).toBe(2);
});

test('admin node set changes the fields that only admins may set', async () => {
  const argv = ['node', 'set', 'cli-node', '--search-ranking', '5', '--tags-admin', 'a', '--tags-admin', 'b'];
  const { stdout } = await runAdmin([...argv, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ search_ranking: 5, tags_admin: ['a', 'b'] });
});

test('sets the status of a version, given as a word or as a flag', async () => {
  const argv = ['version', 'set-status', 'cli-node', '1.0.0'];
  const reason = ['--status-reason', 'why not'];
  const flagged = await runAdmin([...argv, 'NodeVersionStatusFlagged', ...reason, '--json']);
  expect(JSON.parse(flagged.stdout)).toMatchObject({
    status: 'NodeVersionStatusFlagged',
    status_reason: 'why not',
  });
  expect((await runAdmin([...argv, '--status', 'NodeVersionStatusActive'])).exit).toBe(0);
  const nothing = await runAdmin(argv);
  expect(nothing.exit).toBe(2);
  expect(nothing.stderr).toContain('<status> is required');
  for (const short of ['Active', 'active', 'flagged']) {
    const { exit, stdout } = await runAdmin([...argv, short, '--json']);
    expect([exit, JSON.parse(stdout).status.toLowerCase()]).toEqual([
      0,
      `nodeversionstatus${short.toLowerCase()}`,
    ]);
  }
  const wrong = await runAdmin([...argv, 'actve']);
  expect(wrong.exit).toBe(2);
  expect(wrong.stderr).toContain(
    "<status> must be one of active, flagged, banned, not 'actve' (did you mean active?).",
  );
  const nodeHelp = (await runAdmin(['node', 'set', '--help'])).stdout.replace(/\s+/g, ' ');
  expect(nodeHelp).toContain('(one of active, banned)');
  const help = await runAdmin(['version', 'set-status', '--help']);
  expect(help.stdout).not.toContain('NodeVersionStatusDeleted');
});

test('sets the policy of a definition', async () => {
  await registry().publish('cli-node', '2.0.0');
  const path = '/nodes/cli-node/versions/2.0.0/host-nodes';
  await registry().ok('admin', 'POST', path, { success: true, nodes: { Blur: {} } });
  const argv = ['host-node', 'set-policy', 'cli-node', '2.0.0', 'Blur', 'HostNodePolicyLocalOnly'];
  const { stdout } = await runAdmin(argv);
  const rows = ['host_node_name\tBlur', 'deprecated\tfalse', 'experimental\tfalse'];
  expect(stdout).toBe(`${[...rows, 'policy\tHostNodePolicyLocalOnly'].join('\n')}\n`);
});

test('members of any publisher are set and removed by their email address', async () => {
  await registry().ok('bob', 'GET', '/users/me');
  const set = await runAdmin(['publisher', 'member', 'set', 'acme', 'bob@example.org', 'member', '--json']);
  expect(set.exit, set.stderr).toBe(0);
  expect(JSON.parse(set.stdout)).toMatchObject({ role: 'member', user: { email: 'bob@example.org' } });
  const removed = await runAdmin(['publisher', 'member', 'remove', 'acme', 'bob@example.org', '--yes']);
  expect(removed.exit, removed.stderr).toBe(0);
  const { members } = await registry().ok('ann', 'GET', '/publishers/acme');
  expect(members).toHaveLength(1);
});

test('bans a publisher and lifts the ban', async () => {
  const ban = await runAdmin(['publisher', 'ban', 'acme', '--reason', 'stolen', '--json']);
  expect(JSON.parse(ban.stdout).status).toBe('PublisherStatusBanned');
  expect((await registry().as('eve', 'GET', '/publishers/acme')).status).toBe(403);
  const lifted = await runAdmin(['publisher', 'unban', 'acme', '--json']);
  expect(JSON.parse(lifted.stdout).status).toBe('PublisherStatusActive');
});

test('lists who did what, newest first, one page or all', async () => {
  await runAdmin(['publisher', 'ban', 'acme', '--reason', 'again']);
  await runAdmin(['publisher', 'unban', 'acme']);
  const { stdout } = await runAdmin(['audit', '--limit', '2']);
  const rows = stdout.replace(/\n$/, '').split('\n');
  expect(rows.map((row) => row.split('\t').slice(2))).toEqual([
    ['root@example.org', 'publisher.status', 'acme', '', '', 'PublisherStatusActive', '', ''],
    ['root@example.org', 'publisher.status', 'acme', '', '', 'PublisherStatusBanned', 'again', ''],
  ]);
  const all = await runAdmin(['audit', '--all', '--ndjson']);
  const { total } = await registry().ok('admin', 'GET', '/admin/audit');
  expect(all.stdout.trimEnd().split('\n')).toHaveLength(total);
});

test('a terminal of 80 columns shows what was changed in the audit log, and pipes get every field', async () => {
  const service = await serviceForTest();
  await registerVersion(await publisherForTest(service), '1.0.0');
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  for (const argv of [
    [
      'node',
      'ban',
      'pack',
      '--reason',
      'It reads keys and sends them to a server that its readme does not name',
    ],
    ['version', 'set-status', 'pack', '1.0.0', 'banned', '--reason', 'Hides its code'],
  ]) {
    const { exit, stderr } = await runAdmin(argv, { env });
    expect(exit, stderr).toBe(0);
  }
  const screen = { env, terminal: true, columns: 80 };
  for (const argv of [
    ['admin', 'audit', '--limit', '2'],
    ['publisher', 'audit', 'acme', '--limit', '2'],
  ]) {
    const { stdout } = await regen(argv, screen);
    expect(stdout).toMatch(/version\.status +pack@1\.0\.0 .*banned/);
    expect(stdout).toMatch(/node\.status +pack .*banned/);
  }
  const { stdout } = await regen(['admin', 'audit', '--columns', 'node_id,version', '--limit', '1'], screen);
  expect(stdout).toMatch(/^pack +1\.0\.0$/m);
  const piped = (await runAdmin(['audit', '--limit', '1'], { env })).stdout.split('\t');
  expect(piped.slice(3)).toEqual([
    'version.status',
    expect.stringMatching(/^[0-9a-f-]{36}$/),
    'pack',
    '1.0.0',
    'NodeVersionStatusBanned',
    'Hides its code',
    '\n',
  ]);
});

test('a user who is not an admin gets a message and exit code 4', async () => {
  for (const argv of [['audit'], ['token', 'list'], ['node', 'ban', 'cli-node']]) {
    const { exit, stderr } = await regen(['admin', ...argv], { env: createEnvironment('ann') });
    expect([argv, exit]).toEqual([argv, 4]);
    expect(stderr).toContain('Only an admin may do this.');
  }
});

test('admin audit tells with which token something was done', async () => {
  const service = await serviceForTest();
  const { personalAccessToken, ...publisher } = await publisherForTest(service);
  const owner = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const run = (argv: string, env: Record<string, string> = owner) => regen(argv.split(' '), { env });
  const cwd = folderForTest();
  await regen(['admin', 'generate-token', '--output-file', 'token.txt'], { env: owner, cwd });
  const token = readFileSync(join(cwd, 'token.txt'), 'utf8').trim();
  expect((await run('admin user set owner 900', { ...owner, REGEN_TOKEN: token })).exit).toBe(0);
  expect((await run('admin user set owner 1000')).exit).toBe(0);
  await registerVersion({ ...publisher, personalAccessToken });
  const { events } = JSON.parse((await run('admin audit --json')).stdout);
  const find = (action: string) =>
    events
      .filter((one: { action: string }) => one.action === action)
      .map((one: { token_id?: string }) => one.token_id);
  const { id } = events.find((one: { action: string }) => one.action === 'admin_token.create');
  expect(find('user.budget')).toEqual([undefined, id]);
  const [pat] = JSON.parse((await run('publisher token list acme --json')).stdout);
  expect([find('node.create'), find('version.status')]).toEqual([[pat.id], [pat.id]]);
});

test('admin review tells who may not review that, and not that the version does not exist', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const review = (token?: string) =>
    regen(['admin', 'review', 'pack@1.0.0', '--approve'], {
      env: { REGEN_BASE_URL: service.url, ...(token && { REGEN_TOKEN: token }) },
    });
  expect(await review()).toMatchObject({
    exit: 4,
    stderr: expect.stringMatching(
      /A credential is required\.\nhint: Only an admin may do this\. Sign in with/,
    ),
  });
  expect(await review(personalAccessToken)).toMatchObject({ exit: 4 });
  expect(await review(service.ownerToken)).toMatchObject({ exit: 3 });
});

test('admin review lists versions that wait for a verdict, and sets the verdict of those that are named', async () => {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  await registerVersion(publisher);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const listed = await regen(['admin', 'review'], { env });
  expect([listed.exit, listed.stdout]).toEqual([
    0,
    expect.stringContaining('pack\t1.0.0\tNodeVersionStatusPending'),
  ]);
  const preview = await regen(['admin', 'review', 'pack@1.0.0', '--ban', '--reason', 'x', '--dry-run'], {
    env,
  });
  expect(preview.stdout).toContain(`PUT ${service.url}/admin/nodes/pack/versions/1.0.0`);
  const checked = await regen(['admin', 'review', 'pack@1.0.0', '--ban', '--reason', 'It reads keys'], {
    env,
  });
  expect([checked.exit, checked.stdout]).toEqual([
    0,
    'pack\t1.0.0\tNodeVersionStatusBanned\tIt reads keys\n',
  ]);
  expect((await regen(['admin', 'review'], { env })).stderr).toContain(
    `Nothing waits for review on ${service.url}.`,
  );
  const asked = await regen(['admin', 'review', 'pack@1.0.0', '--ban'], { env, answers: ['It reads keys'] });
  expect([asked.exit, asked.stdout]).toEqual([0, expect.stringContaining('It reads keys')]);
  const half = await regen(['admin', 'review', 'pack@1.0.0', 'pack@9.9.9', '--approve'], { env });
  expect([half.exit, half.stderr]).toEqual([3, expect.stringContaining('has no version 9.9.9')]);
  expect((await readVersion(publisher)).status).toBe('NodeVersionStatusBanned');
  for (const wrong of [
    ['pack@1.0.0'],
    ['pack@1.0.0', '--ban'],
    ['pack@1.0.0', '--ban', '--approve'],
    ['pack', '--ban'],
    ['--ban'],
  ]) {
    expect((await regen(['admin', 'review', ...wrong], { env })).exit, wrong.join(' ')).toBe(2);
  }
});

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { regen, type Surroundings } from '../../support/cli.js';
import { filesForTest } from '../../support/packs.js';
import { registryForFile } from '../../support/registry.js';
import { ask, publisherForTest, register, serviceForTest } from '../../support/service.js';

const registry = registryForFile();

/** A command line of an admin. */
const admin = (argv: string[], surroundings: Surroundings = {}) =>
  regen(['admin', ...argv], { env: envOf('admin'), ...surroundings });

function envOf(who: 'admin' | 'ann'): Record<string, string> {
  return { REGEN_BASE_URL: registry().url, REGEN_TOKEN: registry().tokens[who] as string };
}

const jwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const tokens = async () => (await registry().ok('admin', 'GET', '/admin/tokens')).length;
const works = async (token: string) => (await ask(`${registry().url}/admin/audit`, { token })).status;

test('prints the token alone, and when it ends to the person', async () => {
  const { exit, stdout, stderr } = await admin(['generate-token']);
  expect(exit).toBe(0);
  expect(stdout.trimEnd()).toMatch(jwt);
  expect(await works(stdout.trimEnd())).toBe(200);
  expect(stderr).toMatch(/^The token expires at \d{4}-.+Z\.\nDone on http.+\.\n$/);
  expect(stderr).not.toContain(stdout.trimEnd());
});

test('the audit log is filtered by what was changed and by whom', async () => {
  await admin(['generate-token', '--output-file', join(filesForTest({}), 'token.txt')]);
  const count = async (...filter: string[]) =>
    JSON.parse((await admin(['audit', '--json', ...filter])).stdout).total as number;
  const { by } = JSON.parse((await admin(['audit', '--json', '--kind', 'admin_token'])).stdout).events[0];
  expect(await count('--kind', 'admin_token', '--by', by)).toBeGreaterThan(0);
  expect(await count('--kind', 'admin_token')).toBeLessThanOrEqual(await count());
  expect(await count('--kind', 'nothing')).toBe(0);
  expect(await count('--by', 'nobody')).toBe(0);
});

test.each([
  ['env', /^REGEN_ADMIN_TOKEN=([\w-]+\.[\w-]+\.[\w-]+)\n$/],
  ['header', /^Authorization: Bearer ([\w-]+\.[\w-]+\.[\w-]+)\n$/],
  ['json', /^\{"expires_at":"[^"]+","token":"([^"]+)"\}\n$/],
])('writes the token as %s', async (format, form) => {
  const { stdout } = await admin(['generate-token', '--format', format]);
  expect(await works(form.exec(stdout)?.[1] as string)).toBe(200);
});

test("prints the service's answer unchanged with --json", async () => {
  const { stdout } = await admin(['generate-token', '--json']);
  expect(Object.keys(JSON.parse(stdout))).toEqual(['expires_at', 'token']);
});

test('shows no token on a screen unless asked, and makes none then', async () => {
  const before = await tokens();
  const refused = await admin(['generate-token'], { terminal: true });
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain('--show');
  expect(await admin(['generate-token', '--json'], { terminal: true })).toMatchObject({
    exit: 2,
    stdout: '',
  });
  expect(await tokens()).toBe(before);
  const shown = await admin(['generate-token', '--show'], { terminal: true });
  expect(shown.stdout.trimEnd()).toMatch(jwt);
});

test('writes the token to a file of its own, never over another one unasked', async () => {
  const cwd = filesForTest({});
  const argv = ['generate-token', '--output-file', 'admin.env', '--format', 'env'];
  const { exit, stdout } = await admin(argv, { cwd, terminal: true });
  const path = join(cwd, 'admin.env');
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: `${path}\n` });
  const first = readFileSync(path, 'utf8');
  expect(first).toMatch(/^REGEN_ADMIN_TOKEN=\S+\n$/);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);

  const before = await tokens();
  const again = await admin(argv, { cwd });
  expect(again).toMatchObject({ exit: 2, stdout: '' });
  expect(again.stderr).toContain('--force');
  // This command has no such flag.
  expect(again.stderr).not.toMatch(/--output\b(?!-file)/);
  expect(await tokens()).toBe(before);
  expect(readFileSync(path, 'utf8')).toBe(first);

  writeFileSync(path, 'open to all', { mode: 0o644 });
  const forced = await admin([...argv, '--force', '--json'], { cwd });
  expect(JSON.parse(forced.stdout)).toEqual({ path, expires_at: expect.any(String) });
  expect(readFileSync(path, 'utf8')).toMatch(/^REGEN_ADMIN_TOKEN=\S+\n$/);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('leaves no file where no token was made', async () => {
  const cwd = filesForTest({});
  const argv = ['admin', 'generate-token', '--output-file', 'admin.env'];
  const { exit, stderr } = await regen(argv, { cwd, env: envOf('ann') });
  expect(exit).toBe(4);
  expect(stderr).toContain('Only an admin may do this.');
  expect(existsSync(join(cwd, 'admin.env'))).toBe(false);
});

test.each([
  [['--format', 'xml'], "--format must be env, json or header, not 'xml'."],
  [['--format', 'env', '--json'], '--json and --format env cannot be used together'],
])('refuses %s and makes no token', async (flags, message) => {
  const before = await tokens();
  const { exit, stderr } = await admin(['generate-token', ...flags]);
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
  expect(await tokens()).toBe(before);
});

test('prints the request for a token instead of sending it', async () => {
  const before = await tokens();
  const { stdout } = await admin(['generate-token', '--dry-run']);
  expect(stdout).toBe(`POST ${registry().url}/admin/generate-token\n`);
  expect(await tokens()).toBe(before);
});

test('an admin token is a credential like others, for what it reaches', async () => {
  const { stdout } = await admin(['generate-token']);
  const env = { ...envOf('admin'), REGEN_TOKEN: stdout.trimEnd() };
  expect((await admin(['token', 'list'], { env })).exit).toBe(0);
  const another = await admin(['generate-token'], { env });
  expect(another).toMatchObject({ exit: 4, stdout: '' });
});

test('lists the valid tokens and revokes one', async () => {
  const made = await admin(['generate-token']);
  const listed = await admin(['token', 'list', '--json']);
  const jti = JSON.parse(Buffer.from(made.stdout.split('.')[1] as string, 'base64url').toString()).jti;
  expect(JSON.parse(listed.stdout).map((one: { jti: string }) => one.jti)).toContain(jti);
  const revoked = await admin(['token', 'revoke', jti, '--yes']);
  expect(revoked).toMatchObject({ exit: 0, stdout: '' });
  expect(await works(made.stdout.trimEnd())).toBe(401);
  expect((await admin(['token', 'revoke', jti, '--yes'])).exit).toBe(3);
});

test('bans a node with a reason and gives it back', async () => {
  await registry().active('cli-node', '1.0.0');
  const ban = ['node', 'ban', 'cli-node', '--status-detail', 'reads keys'];
  const dry = await admin([...ban, '--dry-run']);
  expect(dry.stdout).toBe(
    `PUT ${registry().url}/admin/nodes/cli-node\n{\n  "status": "NodeStatusBanned",\n  "status_detail": "reads keys"\n}\n`,
  );
  const { exit, stdout } = await admin([...ban, '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'NodeStatusBanned', status_detail: 'reads keys' });
  expect((await registry().as('eve', 'GET', '/nodes/cli-node')).status).toBe(403);
  expect((await admin(['node', 'unban', 'cli-node'])).exit).toBe(0);
  expect((await registry().as('eve', 'GET', '/nodes/cli-node')).status).toBe(200);
});

test('the words that say the status leave no flag to say another', async () => {
  const { exit, stderr } = await admin(['node', 'ban', 'cli-node', '--status', 'NodeStatusActive']);
  expect(exit).toBe(2);
  expect(stderr).toContain("Unknown option '--status'");
  expect((await admin(['publisher', 'ban', 'acme', '--body', '{}'])).exit).toBe(2);
});

test('sets what is the admins’ on a node', async () => {
  const argv = ['node', 'set', 'cli-node', '--search-ranking', '5', '--tags-admin', 'a', '--tags-admin', 'b'];
  const { stdout } = await admin([...argv, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ search_ranking: 5, tags_admin: ['a', 'b'] });
});

test('sets the status of a version, given as a word or as a flag', async () => {
  const argv = ['version', 'set-status', 'cli-node', '1.0.0'];
  const reason = ['--status-reason', 'why not'];
  const flagged = await admin([...argv, 'NodeVersionStatusFlagged', ...reason, '--json']);
  expect(JSON.parse(flagged.stdout)).toMatchObject({
    status: 'NodeVersionStatusFlagged',
    status_reason: 'why not',
  });
  expect((await admin([...argv, '--status', 'NodeVersionStatusActive'])).exit).toBe(0);
  const nothing = await admin(argv);
  expect(nothing.exit).toBe(2);
  expect(nothing.stderr).toContain('--status is required');
  const wrong = await admin([...argv, 'Active']);
  expect(wrong.exit).toBe(2);
  expect(wrong.stderr).toContain('<status> must be one of NodeVersionStatusActive, ');
  const help = await admin(['version', 'set-status', '--help']);
  expect(help.stdout).not.toContain('NodeVersionStatusDeleted');
});

test('sets the policy of a definition', async () => {
  await registry().publish('cli-node', '2.0.0');
  const path = '/nodes/cli-node/versions/2.0.0/host-nodes';
  await registry().ok('admin', 'POST', path, { success: true, nodes: { Blur: {} } });
  const argv = ['host-node', 'set-policy', 'cli-node', '2.0.0', 'Blur', 'HostNodePolicyLocalOnly'];
  const { stdout } = await admin(argv);
  const rows = ['host_node_name\tBlur', 'deprecated\tfalse', 'experimental\tfalse'];
  expect(stdout).toBe(`${[...rows, 'policy\tHostNodePolicyLocalOnly'].join('\n')}\n`);
});

test('bans a publisher and lifts the ban', async () => {
  const ban = await admin(['publisher', 'ban', 'acme', '--reason', 'stolen', '--json']);
  expect(JSON.parse(ban.stdout).status).toBe('PublisherStatusBanned');
  expect((await registry().as('eve', 'GET', '/publishers/acme')).status).toBe(403);
  const lifted = await admin(['publisher', 'unban', 'acme', '--json']);
  expect(JSON.parse(lifted.stdout).status).toBe('PublisherStatusActive');
});

test('lists who did what, newest first, one page or all', async () => {
  await admin(['publisher', 'ban', 'acme', '--reason', 'again']);
  await admin(['publisher', 'unban', 'acme']);
  const { stdout } = await admin(['audit', '--limit', '2']);
  const rows = stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.split('\t').slice(2))).toEqual([
    ['root@example.org', 'publisher.status', 'acme', '', '', 'PublisherStatusActive', ''],
    ['root@example.org', 'publisher.status', 'acme', '', '', 'PublisherStatusBanned', 'again'],
  ]);
  const all = await admin(['audit', '--all', '--ndjson']);
  const { total } = await registry().ok('admin', 'GET', '/admin/audit');
  expect(all.stdout.trimEnd().split('\n')).toHaveLength(total);
});

test('tells somebody who is no admin so, and ends with 4', async () => {
  for (const argv of [['audit'], ['token', 'list'], ['node', 'ban', 'cli-node']]) {
    const { exit, stderr } = await regen(['admin', ...argv], { env: envOf('ann') });
    expect([argv, exit]).toEqual([argv, 4]);
    expect(stderr).toContain('Only an admin may do this.');
  }
});

test('admin review lists what waits for a verdict, and judges what is named', async () => {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  await register(publisher);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const listed = await regen(['admin', 'review'], { env });
  expect([listed.exit, listed.stdout]).toEqual([
    0,
    expect.stringContaining('pack\t1.0.0\tNodeVersionStatusPending'),
  ]);
  const preview = await regen(['admin', 'review', 'pack@1.0.0', '--ban', '--dry-run'], { env });
  expect(preview.stdout).toContain(`PUT ${service.url}/admin/nodes/pack/versions/1.0.0`);
  const judged = await regen(['admin', 'review', 'pack@1.0.0', '--ban', '--reason', 'It reads keys'], {
    env,
  });
  expect([judged.exit, judged.stdout]).toEqual([0, 'pack\t1.0.0\tNodeVersionStatusBanned\tIt reads keys\n']);
  expect((await regen(['admin', 'review'], { env })).stderr).toContain('Nothing to list.');
  for (const wrong of [['pack@1.0.0'], ['pack@1.0.0', '--ban', '--approve'], ['pack', '--ban'], ['--ban']]) {
    expect((await regen(['admin', 'review', ...wrong], { env })).exit, wrong.join(' ')).toBe(2);
  }
});

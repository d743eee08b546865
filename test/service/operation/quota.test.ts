import { Agent, request, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createZip } from '../../support/create-zip.js';
import { createSmallestBody, startPaths } from '../../support/generation.js';
import { listenOn } from '../../support/listen.js';
import { receiverForTest } from '../../support/receiver.js';
import { publishBody, type Registry, startRegistry } from '../../support/registry.js';
import { ask, uploadArchive } from '../../support/service.js';
import { videoPaths } from '../../support/videos.js';
import { waitFor } from '../../support/wait-for.js';

const noon = Date.parse('2026-01-01T12:00:00Z');
const archive = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });

/** A service with these quotas, whose engine generates once `finish` is called. */
async function registryWith(quotas: ConfigurationInput['quotas']) {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const clock = { time: noon };
  const image = createCopyingEngine(() => finished);
  const registry = await startRegistry({ quotas }, { now: () => clock.time, engines: { image } });
  onTestFinished(() => registry.service.stop());
  return { registry, clock, finish };
}

const getOwnerToken = (registry: Registry) => registry.service.ownerToken;
const relight = startPaths['image.relight'];

/** Begins an upload and sends half of it. */
function holdUpload(url: string, bytes: number) {
  const headers = { 'content-type': 'application/zip', 'content-length': bytes };
  const sending = request(url, { method: 'PUT', headers, agent });
  const cut = () => void sending.destroy();
  onTestFinished(cut);
  const answered = new Promise<number | undefined>((resolve) => {
    sending.on('response', ({ statusCode }) => resolve(statusCode)).on('error', () => resolve(undefined));
  });
  sending.write(Buffer.alloc(Math.floor(bytes / 2)));
  return { cut, answered };
}

const agent = new Agent({ keepAlive: true });

const countReservations = async ({ service }: Registry) =>
  (await service.context.database.selectFrom('reservations').select('id').execute()).length;

const publishAt = (registry: Registry, version: string) =>
  registry.as(
    'ann',
    'POST',
    '/publishers/acme/nodes/pack/versions',
    publishBody(registry.tokens.pat, version, { node: { name: 'Pack' } }),
  );

describe('the quota', () => {
  it('of tasks in flight is per user, and free again when one ends', async () => {
    const { registry, finish } = await registryWith({ tasksInFlight: 2 });
    const start = (who: 'bob' | 'eve') =>
      registry.as(who, 'POST', relight, createSmallestBody('image.relight'));
    expect((await start('bob')).status).toBe(200);
    expect((await start('bob')).status).toBe(200);
    const refused = await start('bob');
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.message).toBe(
      'You have 2 unfinished tasks, which is the limit per user; start more when some have ended.',
    );
    expect((await start('eve')).status).toBe(200);
    for (let at = 0; at < 4; at += 1) {
      const json = createSmallestBody('image.relight');
      const mine = await ask(registry.url + relight, {
        method: 'POST',
        token: getOwnerToken(registry),
        json,
      });
      expect(mine.status).toBe(200);
    }
    finish();
    await waitFor(async () => expect((await start('bob')).status).toBe(200));
  });

  it('of tasks in flight counts those that wait at a vendor', async () => {
    const { registry, finish } = await registryWith({ tasksInFlight: 2 });
    const start = () => registry.as('bob', 'POST', relight, createSmallestBody('image.relight'));
    expect((await start()).status).toBe(200);
    const { queue, now } = registry.service.context;
    await registry.change(async (tx) => {
      const run = tx.selectFrom('jobs').select('owner').where('kind', '=', 'run-image-task');
      const { owner } = await run.executeTakeFirstOrThrow();
      await queue.enqueue(tx, { kind: 'watch-image-task', key: 'waits', owner, runAt: now() + 3_600_000 });
    });
    expect((await start()).body.error).toBe('quota_exceeded');
    finish();
  });

  it('of webhooks counts tasks whose webhooks are not delivered', async () => {
    const { registry, finish } = await registryWith({ pendingWebhooks: 1 });
    const { url: webhook_url, received } = await receiverForTest(() => 'silence');
    const start = (fields: object) =>
      registry.as('bob', 'POST', relight, { ...createSmallestBody('image.relight'), ...fields });
    expect((await start({ webhook_url })).status).toBe(200);
    await waitFor(() => expect(received).toHaveLength(1));
    const refused = await start({ webhook_url });
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.message).toContain('The webhooks of 1 of your tasks are not delivered yet');
    expect((await start({})).status).toBe(200);
    finish();
  });

  it('of publishers is per user', async () => {
    const { registry } = await registryWith({ publishers: 2 });
    const create = (id: string) => registry.as('ann', 'POST', '/publishers', { id, name: id });
    expect((await create('acme-two')).status).toBe(201);
    const refused = await create('acme-three');
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.message).toContain('You own 2 publishers, and the limit is 2 per user');
    expect((await registry.as('bob', 'POST', '/publishers', { id: 'bobs', name: 'Bob' })).status).toBe(201);
  });

  it('of versions per day renews at midnight UTC, and another registration of a version is free', async () => {
    const { registry, clock } = await registryWith({ versionsPerDay: 2 });
    for (const version of ['1.0.0', '1.0.1', '1.0.0'])
      expect((await publishAt(registry, version)).status).toBe(201);
    const refused = await publishAt(registry, '1.0.2');
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.message).toBe(
      'The publisher acme may register 2 versions a day and has done so today; try again after 2026-01-02T00:00:00Z.',
    );
    clock.time = Date.parse('2026-01-02T00:00:00Z');
    // The person's token has ended by then; the personal access token has not.
    const json = publishBody(registry.tokens.pat, '1.0.2');
    const again = await ask(`${registry.url}/publishers/acme/nodes/pack/versions`, {
      method: 'POST',
      token: registry.tokens.pat as string,
      json,
    });
    expect(again.status).toBe(201);
  });

  it('of bytes per day refuses an archive before its transfer', async () => {
    const { registry } = await registryWith({ bytesPerDay: archive.length * 2 - 1 });
    const [first, second] = [await publishAt(registry, '1.0.0'), await publishAt(registry, '1.0.1')];
    expect((await uploadArchive(first.body.signedUrl, archive)).status).toBe(200);
    // The same bytes again are a retry.
    expect((await uploadArchive(first.body.signedUrl, archive)).status).toBe(200);
    const refused = await uploadArchive(second.body.signedUrl, archive);
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.message).toContain(`(${archive.length - 1} left)`);
  });

  it('of bytes per day counts uploads from their first byte, and no longer once they are cut off', async () => {
    const { registry } = await registryWith({ bytesPerDay: 1_000 });
    const urls = [];
    for (const version of ['1.0.0', '1.0.1', '1.0.2', '1.0.3'])
      urls.push((await publishAt(registry, version)).body.signedUrl);
    const held = urls.slice(0, 2).map((url) => holdUpload(url, 500));
    await waitFor(async () => expect(await countReservations(registry)).toBe(2));
    for (const bytes of [500, 1]) expect(await holdUpload(urls[2], bytes).answered).toBe(403);
    held[0]?.cut();
    await waitFor(async () => expect(await countReservations(registry)).toBe(1));
    holdUpload(urls[3], 500);
    await waitFor(async () => expect(await countReservations(registry)).toBe(2));
  });

  it('of uploads at the same time is per user, across publishers', async () => {
    const { registry } = await registryWith({});
    await registry.ok('ann', 'POST', '/publishers', { id: 'other', name: 'Other' });
    const { token: otherToken } = await registry.ok('ann', 'POST', '/publishers/other/tokens', {
      name: 'ci',
    });
    const path = '/publishers/other/nodes/other/versions';
    const registerOther = (version: string) =>
      registry.ok('ann', 'POST', path, publishBody(otherToken, version, { node: { name: 'Other' } }));
    for (let at = 0; at < 4; at += 1) {
      holdUpload((await publishAt(registry, `1.0.${at}`)).body.signedUrl, 500);
      holdUpload((await registerOther(`1.0.${at}`)).signedUrl, 500);
    }
    await waitFor(async () => expect(await countReservations(registry)).toBe(8));
    const { signedUrl } = await registerOther('1.1.0');
    const refused = await uploadArchive(signedUrl, archive);
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const json = publishBody(registry.tokens.pat, '2.0.0');
    const registered = await registry.as('bob', 'POST', '/publishers/acme/nodes/pack/versions', json);
    expect((await uploadArchive(registered.body.signedUrl, archive)).status).toBe(200);
  });

  it('of tasks in flight counts tasks while their images and videos are fetched', async () => {
    const { registry, finish } = await registryWith({ tasksInFlight: 2 });
    const asked: ServerResponse[] = [];
    const server = await listenOn((_, answer) => void asked.push(answer));
    onTestFinished(() => server.close());
    const paths = [relight, videoPaths['video.extend']];
    const bodies = [
      { image: `${server.url}/a.png` },
      { video_creation_id: 'unknown', video_url: `${server.url}/a.mp4` },
    ];
    const start = (at: number) => registry.as('bob', 'POST', paths[at % 2] as string, bodies[at % 2]);
    const starting = Array.from({ length: 6 }, (_, at) => start(at));
    await waitFor(() => expect(asked).toHaveLength(2));
    const small = (who: 'bob' | 'eve') =>
      registry.as(who, 'POST', relight, createSmallestBody('image.relight'));
    expect((await small('bob')).body.error).toBe('quota_exceeded');
    expect((await small('eve')).status).toBe(200);
    for (const answer of asked) answer.writeHead(404).end();
    const statuses = (await Promise.all(starting)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([400, 400, 403, 403, 403, 403]);
    expect((await small('bob')).status).toBe(200);
    finish();
  });

  it('is not held by a service that was killed', async () => {
    const { registry, clock } = await registryWith({ tasksInFlight: 1 });
    const { id } = await registry.ok('bob', 'GET', '/users/me');
    const until = new Date(clock.time + 60_000).toISOString();
    const left = { id: 'left', owner: id, quota: 'tasksInFlight', amount: 1, until } as const;
    await registry.change((tx) => tx.insertInto('reservations').values(left).execute());
    const start = () => registry.as('bob', 'POST', relight, createSmallestBody('image.relight'));
    expect((await start()).body.error).toBe('quota_exceeded');
    clock.time += 61_000;
    expect((await start()).status).toBe(200);
    expect(await countReservations(registry)).toBe(0);
  });

  it.each([
    ['tokens', (at: number) => ({ name: `token ${at}` }), 'revoke one'],
    ['members', (at: number) => ({ email: `new-${at}@example.org`, role: 'member' }), 'remove one'],
    ['nodes', (at: number) => ({ id: `node-${at}`, name: 'Node' }), 'use another publisher'],
  ] as const)('of %s is per publisher', async (quota, make, release) => {
    const { registry } = await registryWith({ [quota]: 3 });
    const create = (at: number) => registry.as('ann', 'POST', `/publishers/acme/${quota}`, make(at));
    // The publisher begins with a token and two members.
    const had = { tokens: 1, members: 2, nodes: 0 }[quota];
    for (let at = had; at < 3; at += 1) expect((await create(at)).status).toBeLessThan(300);
    const refused = await create(3);
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.message).toBe(
      `The publisher acme has 3 ${quota}, and the limit is 3; ${release}, or ask an admin.`,
    );
    if (quota === 'nodes') expect((await publishAt(registry, '1.0.0')).body.error).toBe('quota_exceeded');
  });

  it('of members is free again when an invitation is withdrawn, which leaves no user behind', async () => {
    const { registry } = await registryWith({ members: 3 });
    const invite = () =>
      registry.as('ann', 'POST', '/publishers/acme/members', { email: 'new@example.org', role: 'member' });
    for (let at = 0; at < 3; at += 1) {
      const { id } = (await invite()).body;
      const removed = await registry.as('ann', 'DELETE', `/publishers/acme/members/${id}`);
      expect(removed.status).toBe(204);
    }
    // Also with the publisher.
    await registry.ok('ann', 'POST', '/publishers', { id: 'brief', name: 'Brief' });
    const invited = { email: 'new@example.org', role: 'member' };
    await registry.ok('ann', 'POST', '/publishers/brief/members', invited);
    await registry.ok('ann', 'DELETE', '/publishers/brief');
    const users = await registry.change((tx) => tx.selectFrom('users').select('email').execute());
    expect(users.map(({ email }) => email)).not.toContain('new@example.org');
  });

  it('of API keys is per user, and counts those revoked within a day', async () => {
    const { registry, clock } = await registryWith({ keys: 2 });
    const create = () => registry.as('bob', 'POST', '/users/keys', { name: 'script' });
    const { id } = (await create()).body;
    expect((await registry.as('bob', 'DELETE', `/users/keys/${id}`)).status).toBe(204);
    expect((await create()).status).toBe(201);
    const refused = await create();
    expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.message).toContain('You have 2 API keys');
    expect((await registry.as('eve', 'POST', '/users/keys', { name: 'script' })).status).toBe(201);
    clock.time += 25 * 3_600_000;
    const token = await registry.service.signFor({ sub: 'bob', email: 'bob@example.org' });
    const again = await ask(`${registry.url}/users/keys`, {
      method: 'POST',
      token,
      json: { name: 'script' },
    });
    expect(again.status).toBe(201);
  });

  it('of webhooks holds for those that are resent', async () => {
    const { registry, finish } = await registryWith({ pendingWebhooks: 1 });
    const { url: webhook_url, received } = await receiverForTest((at) => (at === 1 ? 410 : 'silence'));
    const start = () =>
      registry.ok('bob', 'POST', relight, { ...createSmallestBody('image.relight'), webhook_url });
    await start();
    const find = async (status: string) => {
      const { body } = await registry.as('bob', 'GET', '/users/webhook-deliveries');
      return body.find((one: { status: string }) => one.status === status);
    };
    await waitFor(async () => expect(await find('gone')).toBeDefined());
    // Until its job has ended, it counts.
    await waitFor(start);
    await waitFor(() => expect(received).toHaveLength(2));
    const resend = ({ id }: { id: string }) =>
      registry.as('bob', 'POST', `/users/webhook-deliveries/${id}/resend`);
    expect((await resend(await find('gone'))).body.error).toBe('quota_exceeded');
    expect((await resend(await find('pending'))).status).toBe(200);
    finish();
  });

  it('keeps the signing secrets that sign, however often they are rotated', async () => {
    const { registry } = await registryWith({});
    for (let at = 0; at < 8; at += 1) await registry.ok('bob', 'POST', '/users/webhook-secret/rotate');
    const secrets = await registry.change((tx) =>
      tx.selectFrom('webhook_secrets').select('number').execute(),
    );
    expect(secrets).toHaveLength(3);
  });

  it('does not apply to publishers of the embedded owner', async () => {
    const few = {
      publishers: 1,
      versionsPerDay: 1,
      bytesPerDay: 1,
      nodes: 1,
      members: 2,
      tokens: 1,
      keys: 1,
    };
    const { registry } = await registryWith(few);
    const token = getOwnerToken(registry);
    const post = (path: string, json: object) => ask(registry.url + path, { method: 'POST', token, json });
    for (const id of ['mine', 'mine-too'])
      expect((await post('/publishers', { id, name: id })).status).toBe(201);
    for (const id of ['one', 'two']) {
      expect((await post('/publishers/mine/nodes', { id, name: id })).status).toBe(201);
      expect((await post('/users/keys', { name: id })).status).toBe(201);
      const invited = { email: `${id}@example.org`, role: 'member' };
      expect((await post('/publishers/mine/members', invited)).status).toBe(200);
      expect((await post('/publishers/mine/tokens', { name: id })).status).toBe(201);
    }
    const { body } = await post('/publishers/mine/tokens', { name: 'ci' });
    for (const version of ['1.0.0', '1.0.1']) {
      const json = publishBody(body.token, version, { node: { name: 'Own' } });
      const registered = await post('/publishers/mine/nodes/own/versions', json);
      expect((await uploadArchive(registered.body.signedUrl, archive)).status).toBe(200);
    }
  });
});

it('does not use up a version number with an empty upload', async () => {
  const { registry } = await registryWith({});
  const { signedUrl } = (await publishAt(registry, '1.0.0')).body;
  const refused = await uploadArchive(signedUrl, Buffer.alloc(0));
  expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request']);
  expect((await uploadArchive(signedUrl, archive)).status).toBe(200);
});

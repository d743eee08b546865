import { EventEmitter, once } from 'node:events';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { settleCredits } from '../../../src/service/generation/credits.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import {
  createSmallestBody,
  formatStatusPath,
  pixel,
  startPaths,
  startTask,
  unwrapTask,
  waitForTask,
} from '../../support/generation.js';
import { listenOn } from '../../support/listen.js';
import { registryForFile } from '../../support/registry.js';
import { type Answered, ask } from '../../support/service.js';

const registry = registryForFile(
  { prices: { image: { relight: 30, upscaler: 5 } }, quotas: { tasksInFlight: 300 } },
  { engines: { image: createCopyingEngine(), video: createFilmingEngine() } },
);

const createKey = (fields: object = {}): Promise<Answered> =>
  registry().ok('eve', 'POST', '/users/keys', { name: 'script', ...fields });

const startWithToken = (token: string, operation: 'image.relight' | 'image.upscaler' = 'image.relight') =>
  ask(registry().url + startPaths[operation], { method: 'POST', token, json: createSmallestBody(operation) });

describe('an API key', () => {
  it('is shown once, and listed with its beginning and its last use', async () => {
    const { id, token } = await createKey({ name: 'photo import' });
    expect(token).toMatch(/^regen_key_[A-Za-z0-9_-]{43}$/);
    const find = async () =>
      (await registry().ok('eve', 'GET', '/users/keys')).find((one: Answered) => one.id === id);
    expect(await find()).toMatchObject({ name: 'photo import', token: `${token.slice(0, 14)}****` });
    expect((await find()).last_used_at).toBeUndefined();
    expect((await startWithToken(token)).status).toBe(200);
    expect((await find()).last_used_at).toEqual(expect.any(String));
    const { database } = registry().service.context;
    expect(JSON.stringify(await database.selectFrom('api_keys').selectAll().execute())).not.toContain(token);
    expect(await registry().ok('bob', 'GET', '/users/keys')).toEqual([]);
  });

  it('sees and repeats what keys of its user with its name started, and nothing else', async () => {
    const [first, second, other] = [
      await createKey({ name: 'night' }),
      await createKey({ name: 'night' }),
      await createKey({ name: 'day' }),
    ];
    const start = (token: string) =>
      ask(registry().url + startPaths['image.relight'], {
        ...{ method: 'POST', token, json: createSmallestBody('image.relight') },
        headers: { 'idempotency-key': 'the same job' },
      });
    const id = unwrapTask((await start(first.token)).body).task_id;
    await registry().ok('eve', 'DELETE', `/users/keys/${first.id}`);
    expect(unwrapTask((await start(second.token)).body).task_id).toBe(id);
    expect(unwrapTask((await start(other.token)).body).task_id).not.toBe(id);
    const read = async (token: string) => {
      const { status } = await ask(registry().url + formatStatusPath('image.relight', id), { token });
      const list = await ask(`${registry().url}/users/tasks`, { token });
      return [status, list.body.tasks.some((one: Answered) => one.task_id === id)];
    };
    expect(await read(second.token)).toEqual([200, true]);
    expect(await read(other.token)).toEqual([404, false]);
    const ofBob = await registry().ok('bob', 'POST', '/users/keys', { name: 'night' });
    expect(await read(ofBob.token)).toEqual([404, false]);
  });

  it('starts only the operations that it is for', async () => {
    const { token } = await createKey({ operations: ['image.upscaler'] });
    expect((await startWithToken(token, 'image.upscaler')).status).toBe(200);
    const { status, body } = await startWithToken(token);
    expect([status, body.message]).toEqual([
      403,
      'This API key may only start image.upscaler; its user can create another key.',
    ]);
    const me = await ask(`${registry().url}/users/me`, { token });
    expect(me.body).toMatchObject({
      admin: false,
      publishers: [],
      credential: { kind: 'api_key', operations: ['image.upscaler'] },
    });
  });

  it('sees its own tasks, but not those that its user or another key started', async () => {
    const { url, tokens } = registry();
    const [one, other] = [await createKey(), await createKey({ name: 'other' })];
    const seen = async (token: string, id: string) =>
      (await ask(url + formatStatusPath('image.relight', id), { token })).status;
    const task = await startTask({ url, token: one.token });
    expect(await waitForTask({ url, token: one.token }, task)).toMatchObject({ status: 'COMPLETED' });
    expect(await seen(other.token, task)).toBe(404);
    expect(await seen(tokens.eve as string, task)).toBe(200);
    const own = await startTask({ url, token: tokens.eve });
    expect(await seen(one.token, own)).toBe(404);
  });

  it('spends within its own budget and the budget of its user, and its usage has its name', async () => {
    const { token } = await createKey({ name: 'small', credits_per_month: 40 });
    expect((await startWithToken(token)).status).toBe(200);
    const refused = await startWithToken(token);
    expect([refused.status, refused.body.error, refused.body.message]).toEqual([
      403,
      'quota_exceeded',
      expect.stringContaining(
        'The API key "small" may spend 40 credits a month (10 left), but this task costs 30',
      ),
    ]);
    expect((await startWithToken(token, 'image.upscaler')).status).toBe(200);
    const { id } = await registry().ok('eve', 'GET', '/users/me');
    await registry().ok('admin', 'PUT', `/admin/users/${id}`, { credits_per_month: 1 });
    expect((await startWithToken(token, 'image.upscaler')).body.message).toMatch(/^You may spend 1 credits/);
    await registry().ok('admin', 'PUT', `/admin/users/${id}`, { credits_per_month: 'default' });
    const { rows } = await registry().ok('eve', 'GET', '/users/usage?by=key');
    expect(rows).toContainEqual(expect.objectContaining({ key_name: 'small', credits: 35, tasks: 2 }));
  });

  it('spends what it may in all, over months, and what is given back can be spent again', async () => {
    const { token, id, total } = await createKey({ name: 'purse', credits: 65 });
    expect(total).toEqual({ credits: 65, used: 0, left: 65 });
    const find = async () =>
      (await registry().ok('eve', 'GET', '/users/keys')).find((one: Answered) => one.id === id);
    const { body } = await startWithToken(token);
    expect((await startWithToken(token)).status).toBe(200);
    // An earlier month counts, too.
    await registry().change((tx) =>
      sql`update credits set month = '2020-01' where key_id = ${id}`.execute(tx),
    );
    const refused = await startWithToken(token);
    expect([refused.status, refused.body.error, refused.body.message]).toEqual([
      403,
      'quota_exceeded',
      'The API key "purse" may spend 65 credits in all (5 left), but this task costs 30; its user can create another key.',
    ]);
    expect((await startWithToken(token, 'image.upscaler')).status).toBe(200);
    expect((await find()).total).toEqual({ credits: 65, used: 65, left: 0 });
    await registry().change((tx) =>
      settleCredits(tx, unwrapTask(body).task_id, { cause: 'maker', isAsked: false, now: Date.now() }),
    );
    expect((await find()).total).toEqual({ credits: 65, used: 35, left: 30 });
    expect((await startWithToken(token)).status).toBe(200);
    expect((await startWithToken(token, 'image.upscaler')).status).toBe(403);
  });

  it('is never charged more than its credits in all, although 200 tasks start at once', async () => {
    const { token, id } = await createKey({ credits: 50 });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => startWithToken(token, 'image.upscaler')),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(403)]).toEqual([10, 190]);
    const { rows } = await registry().ok('eve', 'GET', '/users/usage?by=key');
    expect(rows).toContainEqual(expect.objectContaining({ key_id: id, credits: 50, tasks: 10 }));
  });

  it('is charged nothing after it was revoked, although the start began before', async () => {
    const images = new EventEmitter();
    const asked = once(images, 'request');
    const { url, close } = await listenOn((_, response) => images.emit('request', response));
    onTestFinished(close);
    const image = `${url}/image.png`;
    const { id, token } = await createKey({ credits: 50 });
    const json = { ...createSmallestBody('image.upscaler'), image };
    const start = ask(registry().url + startPaths['image.upscaler'], { method: 'POST', token, json });
    const [response] = await asked;
    await registry().ok('eve', 'DELETE', `/users/keys/${id}`);
    response.end(Buffer.from(pixel, 'base64'));
    expect((await start).status).toBe(401);
    const listed = await registry().ok('eve', 'GET', `/users/tasks?key_id=${id}`);
    expect(listed.tasks).toEqual([]);
  });

  it('expires after a number of seconds, and can be extended until it is revoked, by its user only', async () => {
    const { as, ok, change } = registry();
    const { id, token, created_at, expires_at } = await createKey({ expires_in: 60 });
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(60_000);
    const path = `/users/keys/${id}`;
    await change((tx) =>
      tx.updateTable('api_keys').set({ expires_at: created_at }).where('id', '=', id).execute(),
    );
    expect((await startWithToken(token)).status).toBe(401);
    for (const who of ['bob', 'admin'] as const)
      expect((await as(who, 'PUT', path, { expires_in: 60 })).status).toBe(404);
    const extended = await ok('eve', 'PUT', path, { expires_in: 3600 });
    expect(extended).toMatchObject({ id, token: expect.stringContaining('****') });
    expect(Date.parse(extended.expires_at)).toBeGreaterThan(Date.now() + 3_500_000);
    expect((await startWithToken(token)).status).toBe(200);
    const own = await ask(registry().url + path, { method: 'PUT', token, json: { expires_in: 60 } });
    expect([own.status, own.body.error]).toEqual([403, 'forbidden']);
    await change((tx) =>
      sql`update api_keys set expires_at = '2020-01-01T00:00:00.000Z' where id = ${id}`.execute(tx),
    );
    const late = await as('eve', 'PUT', path, { expires_in: 60 });
    expect([late.status, late.body.message]).toEqual([
      403,
      'This API key expired more than a day ago; create another one.',
    ]);
    await ok('eve', 'DELETE', path);
    expect((await as('eve', 'PUT', path, { expires_in: 60 })).status).toBe(404);
  });

  it('lists the tasks of one key, and those that have not ended', async () => {
    const { url } = registry();
    const { id, token } = await createKey();
    const other = await createKey({ name: 'other' });
    const task = await startTask({ url, token });
    await waitForTask({ url, token }, task);
    const read = async (query: string, caller = registry().tokens.eve) =>
      (await ask(`${url}/users/tasks?${query}`, { token: caller })).body.tasks.map(
        (one: Answered) => one.task_id,
      );
    expect(await read(`key_id=${id}`)).toEqual([task]);
    expect(await read(`key_id=${id}&state=unfinished`)).toEqual([]);
    expect(await read(`key_id=${other.id}`)).toEqual([]);
    // Neither another key nor another user sees them.
    expect(await read(`key_id=${id}`, other.token)).toEqual([]);
    expect(await read(`key_id=${id}`, registry().tokens.bob)).toEqual([]);
  });

  it('ends when its user or an admin revokes it, but no other user can, and its usage stays', async () => {
    const { as, ok } = registry();
    const { id, token } = await createKey({ name: 'leaked' });
    await startWithToken(token);
    expect((await as('bob', 'DELETE', `/users/keys/${id}`)).status).toBe(404);
    expect((await startWithToken(token)).status).toBe(200);
    await ok('admin', 'DELETE', `/users/keys/${id}`);
    expect((await startWithToken(token)).status).toBe(401);
    expect((await as('eve', 'DELETE', `/users/keys/${id}`)).status).toBe(404);
    const { rows } = await ok('eve', 'GET', '/users/usage?by=key');
    expect(rows).toContainEqual(expect.objectContaining({ key_id: id, key_name: 'leaked', tasks: 2 }));
    const { events } = await ok('admin', 'GET', '/admin/audit?limit=100');
    const acts = events.filter((event: Answered) => event.id === id).map(({ action }: Answered) => action);
    expect(acts.sort()).toEqual(['api_key.create', 'api_key.revoke']);
  });

  it.each([
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at must be in the future'],
    [{ operations: ['image.paint'] }, 'operations.0'],
    [{ credits_per_month: -1 }, 'credits_per_month'],
    [{ credits: -1 }, 'credits'],
    [{ credits: 1.5 }, 'credits'],
    [{ expires_in: 0 }, 'expires_in'],
    [
      { expires_in: 60, expires_at: '2099-01-01T00:00:00Z' },
      'expires_in cannot be given together with expires_at',
    ],
  ])('with %j is refused', async (fields, message) => {
    const { status, body } = await registry().as('eve', 'POST', '/users/keys', { name: 'x', ...fields });
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

import { describe, expect, it } from 'vitest';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import {
  createSmallestBody,
  formatStatusPath,
  startPaths,
  startTask,
  waitForTask,
} from '../../support/generation.js';
import { registryForFile } from '../../support/registry.js';
import { type Answered, ask } from '../../support/service.js';

const registry = registryForFile(
  { prices: { image: { relight: 30, upscaler: 5 } } },
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

  it('starts only the operations that it is for', async () => {
    const { token } = await createKey({ operations: ['image.upscaler'] });
    expect((await startWithToken(token, 'image.upscaler')).status).toBe(200);
    const { status, body } = await startWithToken(token);
    expect([status, body.message]).toEqual([403, 'This API key may only start image.upscaler.']);
    const me = await ask(`${registry().url}/users/me`, { token });
    expect(me.body).toMatchObject({
      admin: false,
      publishers: [],
      credential: { kind: 'api_key', operations: ['image.upscaler'] },
    });
  });

  it('sees its own tasks, but not those that its user or another key started', async () => {
    const { url, tokens } = registry();
    const [one, other] = [await createKey(), await createKey()];
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
        'The API key small may spend 40 credits a month and 10 are left, less than the 30',
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
  ])('with %j is refused', async (fields, message) => {
    const { status, body } = await registry().as('eve', 'POST', '/users/keys', { name: 'x', ...fields });
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { createSmallestBody, startPaths, startTask, waitForTask } from '../../support/generation.js';
import { type Registry, startRegistry } from '../../support/registry.js';
import { ask } from '../../support/service.js';
import { startVideo, waitForVideo } from '../../support/videos.js';

const start = Date.parse('2026-03-30T12:00:00Z');
const prices = { image: { relight: 30, upscaler: 5 } };

interface Stage extends Registry {
  /** Moves the clock. */
  at(time: string): void;
}

async function registryForTest(input: ConfigurationInput = {}, fails = () => false): Promise<Stage> {
  let time = start;
  const image = createCopyingEngine(() => {
    if (fails()) throw new EngineFailure('No.');
  });
  const parts = { engines: { image, video: createFilmingEngine() }, now: () => time };
  const registry = await startRegistry({ prices, ...input }, parts);
  onTestFinished(() => registry.service.stop());
  const at = (text: string) => {
    time = Date.parse(text);
  };
  return { ...registry, at };
}

const startRelight = (url: string, token: string | undefined, fields = {}) =>
  ask(url + startPaths['image.relight'], {
    method: 'POST',
    token,
    json: { ...createSmallestBody('image.relight'), ...fields },
  });

describe('a budget', () => {
  it('refuses a task that costs more than what is left, says how much that is, and renews with the month', async () => {
    const stage = await registryForTest({ quotas: { creditsPerMonth: 100 } });
    const { url, tokens, as } = stage;
    for (let count = 0; count < 3; count++) expect((await startRelight(url, tokens.ann)).status).toBe(200);
    const refused = await startRelight(url, tokens.ann);
    expect([refused.status, refused.body.error, refused.body.message]).toEqual([
      403,
      'quota_exceeded',
      'You may spend 100 credits a month (10 left), but this task costs 30; the next month begins at 2026-04-01T00:00:00.000Z.',
    ]);
    expect((await startRelight(url, tokens.bob)).status).toBe(200);
    await startTask({ url, token: tokens.ann, operation: 'image.upscaler' });
    await startTask({ url, token: tokens.ann, operation: 'image.skinEnhancer' });
    expect((await as('ann', 'GET', '/users/usage')).body.budget).toEqual({
      credits_per_month: 100,
      used: 95,
      left: 5,
      renews_at: '2026-04-01T00:00:00.000Z',
    });
    stage.at('2026-04-01T00:00:00Z');
    expect((await startRelight(url, await stage.service.signFor({ sub: 'ann' }))).status).toBe(200);
  });

  it('is kept by tasks that start at the same time', async () => {
    const { url, tokens } = await registryForTest({ quotas: { creditsPerMonth: 100 } });
    const answers = await Promise.all(Array.from({ length: 8 }, () => startRelight(url, tokens.ann)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 403, 403, 403, 403, 403]);
  });

  it('gets back what failed tasks cost, in the month of their charge', async () => {
    let fails = true;
    const stage = await registryForTest({ quotas: { creditsPerMonth: 30 } }, () => fails);
    const { url, tokens } = stage;
    const first = await startTask({ url, token: tokens.ann });
    await waitForTask({ url, token: tokens.ann }, first, 'FAILED');
    fails = false;
    await waitForTask({ url, token: tokens.ann }, await startTask({ url, token: tokens.ann }));
    expect((await startRelight(url, tokens.ann)).status).toBe(403);
  });

  it('of one user is set by an admin, recorded, and taken back', async () => {
    const { url, tokens, ok, as } = await registryForTest({ quotas: { creditsPerMonth: 30 } });
    const { id } = await ok('ann', 'GET', '/users/me');
    const set = await ok('admin', 'PUT', `/admin/users/${id}`, { credits_per_month: 60 });
    expect(set).toMatchObject({ id, email: 'ann@example.org', budget: { credits_per_month: 60, left: 60 } });
    for (let count = 0; count < 2; count++) await startTask({ url, token: tokens.ann });
    expect((await startRelight(url, tokens.ann)).status).toBe(403);
    const { events } = await ok('admin', 'GET', '/admin/audit?limit=100');
    expect(events.find(({ action }: { action: string }) => action === 'user.budget')).toMatchObject({
      id,
      reason: '60 credits per month',
    });
    await ok('admin', 'PUT', `/admin/users/${id}`, { credits_per_month: 'default' });
    expect((await as('ann', 'GET', '/users/usage')).body.budget).toMatchObject({
      credits_per_month: 30,
      left: 0,
    });
  });

  it('does not apply to the embedded owner, nor without the setting', async () => {
    const { service, url } = await registryForTest({ quotas: { creditsPerMonth: 0 } });
    expect((await startRelight(url, service.ownerToken)).status).toBe(200);
    const other = await registryForTest();
    expect((await startRelight(other.url, other.tokens.ann)).status).toBe(200);
    expect((await other.ok('ann', 'GET', '/users/usage')).budget).toBeUndefined();
  });
});

describe('usage', () => {
  it('is grouped by user, day, operation and model', async () => {
    let fails = false;
    const stage = await registryForTest({}, () => fails);
    const { url, tokens, ok } = stage;
    const finish = async (token: string | undefined, operation: 'image.relight' | 'image.upscaler') => {
      const asking = { url, token, operation };
      await waitForTask(asking, await startTask(asking));
    };
    await finish(tokens.ann, 'image.relight');
    const { task_id } = await startVideo({ url, token: tokens.ann });
    await waitForVideo({ url, token: tokens.ann }, task_id);
    await finish(tokens.bob, 'image.upscaler');
    stage.at('2026-03-31T09:00:00Z');
    fails = true;
    const token = await stage.service.signFor({ sub: 'ann', email: 'ann@example.org' });
    await waitForTask({ url, token }, await startTask({ url, token }), 'FAILED');
    tokens.admin = await stage.service.signFor({ sub: 'root', roles: ['admin'] });

    const usage = await ok('admin', 'GET', '/admin/usage');
    const ann = { user_email: 'ann@example.org' };
    expect(usage).toMatchObject({ from: '2026-03-01', to: '2026-03-31' });
    expect(usage.rows).toHaveLength(4);
    expect(usage.rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...ann,
          ...{
            day: '2026-03-31',
            operation: 'image.relight',
            tasks: 1,
            charged: 30,
            refunded: 30,
            credits: 0,
          },
        }),
        expect.objectContaining({ ...ann, day: '2026-03-30', operation: 'image.relight', credits: 30 }),
        expect.objectContaining({ ...ann, operation: 'video.text2video', model: expect.any(String) }),
        expect.objectContaining({ user_email: 'bob@example.org', operation: 'image.upscaler', credits: 5 }),
      ]),
    );
    const { rows } = await ok('admin', 'GET', '/admin/usage?by=day');
    expect(rows.map(({ day, tasks }: { day: string; tasks: number }) => [day, tasks])).toEqual([
      ['2026-03-30', 3],
      ['2026-03-31', 1],
    ]);
    expect((await ok('admin', 'GET', '/admin/usage?from=2026-03-31&by=day')).rows).toHaveLength(1);
    const own = await stage.as('ann', 'GET', '/users/usage?by=operation');
    expect(own.status).toBe(401);
    tokens.ann = token;
    expect((await ok('ann', 'GET', '/users/usage?by=operation')).rows).toMatchObject([
      { operation: 'image.relight', tasks: 2, credits: 30 },
      { operation: 'video.text2video', tasks: 1 },
    ]);
    tokens.eve = await stage.service.signFor({ sub: 'eve' });
    expect(await ok('eve', 'GET', '/users/usage')).toMatchObject({ credits: 0, rows: [] });
  });

  it.each([
    ['from=2026-04-02&to=2026-04-01', 'from must not be after 2026-04-01.'],
    ['from=2024-01-01&to=2026-01-01', 'from must be at most 366 days before 2026-01-01.'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from must be a date'],
    ['to=2026-13-01', 'to must be a date'],
    ['by=colour', 'by'],
  ])('refuses %s', async (query, message) => {
    const { as } = await registryForTest();
    const { status, body } = await as('ann', 'GET', `/users/usage?${query}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

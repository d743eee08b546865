import { describe, expect, it } from 'vitest';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import type { Lookup } from '../../../src/wire/checked-lookup.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { createSmallestBody, pixel, startPaths, startTask, waitForTask } from '../../support/generation.js';
import {
  isVerified,
  listDeliveries,
  listStatuses,
  type ReceiverAnswer,
  readWebhookSecret,
  receiverForTest,
} from '../../support/receiver.js';
import { ask, serviceForTest } from '../../support/service.js';
import { startVideo } from '../../support/videos.js';
import { waitFor } from '../../support/wait-for.js';

const engines = { image: createCopyingEngine() };

describe('the webhook of a task', () => {
  it('gets each change in order, with an unwrapped body', async () => {
    const { url: webhook_url, received } = await receiverForTest();
    const { url, ownerToken: token } = await serviceForTest({}, { engines });
    const id = await startTask({ url, token }, { webhook_url });
    await waitFor(() => expect(received).toHaveLength(2));
    expect(received.map(({ body }) => body)).toEqual([
      { task_id: id, status: 'IN_PROGRESS', generated: [] },
      { task_id: id, status: 'COMPLETED', generated: [expect.stringContaining(`/results/${id}/0.png?`)] },
    ]);
    expect(received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-event': 'image.task.updated',
    });
    expect((await fetch(received[1]?.body.generated[0])).status).toBe(200);
  });

  it.each([
    ['127.0.0.1', 2],
    ['127.0.0.0/8', 0],
  ])('may be in the network of the operator, if the setting names it: %s', async (network, changes) => {
    const { url: webhook_url, received } = await receiverForTest();
    const settings = { publicUrl: 'https://regen.example', webhooks: { allowedNetworks: [network] } };
    const { localUrl, ownerToken: token } = await serviceForTest(settings, { engines });
    const started = await ask(`${localUrl}${startPaths['image.relight']}`, {
      method: 'POST',
      token,
      json: { ...createSmallestBody('image.relight'), webhook_url },
    });
    expect(started.status).toBe(changes ? 200 : 400);
    await waitFor(() => expect(received).toHaveLength(changes));
  });

  it('gets the failure of a task', async () => {
    const { url: webhook_url, received } = await receiverForTest();
    const engine = createCopyingEngine(() => {
      throw new EngineFailure('No.');
    });
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { image: engine } });
    await startTask({ url, token }, { webhook_url });
    await waitFor(() => expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'FAILED']));
  });

  it('gets what a video cost at each change, even if it has failed by then', async () => {
    const { url: callback_url, received } = await receiverForTest((call) => (call === 1 ? 503 : 200));
    const video = createFilmingEngine(() => {
      throw new EngineFailure('No.');
    });
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { video } });
    await startVideo({ url, token }, { callback_url });
    await waitFor(() => expect(received).toHaveLength(3));
    const states = received.map(({ body }) => [body.state, body.credits > 0]);
    expect(states).toEqual([
      ['processing', true],
      ['processing', true],
      ['failed', false],
    ]);
  });

  it.each<[string, ReceiverAnswer]>([
    ['500', 500],
    ['a redirect', [302, { location: '/elsewhere' }]],
    ['a wish to wait', [503, { 'retry-after': '1' }]],
  ])(
    'gets a change again after %s, newly signed with the same id, before later changes',
    async (_, first) => {
      const { url: webhook_url, received } = await receiverForTest((call) => (call === 1 ? first : 200));
      const service = await serviceForTest({}, { engines });
      const { url, ownerToken: token } = service;
      await startTask({ url, token }, { webhook_url });
      const order = ['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED'];
      await waitFor(() => expect(listStatuses(received)).toEqual(order));
      const ids = received.map(({ headers }) => headers['webhook-id']);
      expect(ids[0]).toBe(ids[1]);
      expect(ids[2]).not.toBe(ids[1]);
      const secret = await readWebhookSecret(service);
      expect(received.map((one) => isVerified(one, secret))).toEqual([true, true, true]);
      await waitFor(async () => {
        const log = await listDeliveries(service);
        const facts = log.map(({ status, attempts, reason }) => ({ status, attempts, reason }));
        expect(facts).toEqual([
          { status: 'delivered', attempts: 2 },
          { status: 'delivered', attempts: 1 },
        ]);
      });
    },
  );

  it('gets nothing more once it answers 410, and does not delay the task', async () => {
    const { url: webhook_url, received } = await receiverForTest(() => 410);
    const service = await serviceForTest({}, { engines });
    const { url, ownerToken: token, context } = service;
    await waitForTask({ url, token }, await startTask({ url, token }, { webhook_url }));
    await expect.poll(() => context.queue.hasWorkBy(context.now() + 10_000)).toBe(false);
    expect(listStatuses(received)).toEqual(['IN_PROGRESS']);
    const log = await listDeliveries(service);
    expect(new Set(log.map(({ status }) => status))).toEqual(new Set(['gone']));
    expect(log[0]).toMatchObject({ attempts: 1, reason: 'it answered 410' });
  });

  it('is given up after 24 hours, each change after at least one more attempt', async () => {
    const clock = { ahead: 0 };
    const { url: webhook_url, received } = await receiverForTest(() => 500);
    const parts = { engines, now: () => Date.now() + clock.ahead };
    const service = await serviceForTest({}, parts);
    const { url, ownerToken: token } = service;
    await waitForTask({ url, token }, await startTask({ url, token }, { webhook_url }));
    await waitFor(() => expect(received).not.toHaveLength(0));
    clock.ahead = 25 * 3_600_000;
    await waitFor(async () => {
      const log = await listDeliveries(service);
      expect(log.map(({ state, status, next_at }) => [state, status, next_at])).toEqual([
        ['IN_PROGRESS', 'failed', undefined],
        ['COMPLETED', 'failed', undefined],
      ]);
    });
    expect(listStatuses(received).at(-1)).toBe('COMPLETED');
  });

  it('gets the pause it asks for, even if a later change follows, and the log says until when', async () => {
    const { url: webhook_url, received } = await receiverForTest(() => [503, { 'retry-after': '1800' }]);
    const service = await serviceForTest({}, { engines });
    const { url, ownerToken: token } = service;
    const before = Date.now();
    await waitForTask({ url, token }, await startTask({ url, token }, { webhook_url }));
    await waitFor(async () => expect((await listDeliveries(service))[0].attempts).toBe(1));
    const log = await listDeliveries(service);
    expect(log).toMatchObject([{ state: 'IN_PROGRESS', attempts: 1 }, { attempts: 0 }]);
    const due = Date.parse(log[0].next_at);
    expect(due).toBeGreaterThan(before + 1_799_000);
    expect(due).toBeLessThan(Date.now() + 1_801_000);
    // Later deliveries wait as long.
    expect(log[1].next_at).toBe(log[0].next_at);
    expect(received).toHaveLength(1);
  });

  it('gets the changes of each task in order, even if deliveries sometimes fail', async () => {
    const { url: webhook_url, received } = await receiverForTest((call) => (call % 3 === 0 ? 500 : 200));
    const service = await serviceForTest({}, { engines });
    const { url, ownerToken: token } = service;
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => startTask({ url, token }, { webhook_url })),
    );
    await waitFor(async () => {
      const log = await listDeliveries(service);
      expect(log.map(({ status }) => status)).toEqual(Array(16).fill('delivered'));
    });
    for (const id of ids) {
      const of = received.filter(({ body }) => body.task_id === id);
      expect([...new Set(listStatuses(of))]).toEqual(['IN_PROGRESS', 'COMPLETED']);
      expect(listStatuses(of).lastIndexOf('IN_PROGRESS')).toBeLessThan(listStatuses(of).indexOf('COMPLETED'));
    }
  });
});

describe('the address of a webhook', () => {
  it.each([
    ['http://127.0.0.1:9/', 'webhook_url'],
    ['http://localhost:9/', 'webhook_url'],
    ['http://169.254.169.254/', 'webhook_url'],
    ['https://[::ffff:10.0.0.1]/', 'webhook_url'],
    ['http://0x0a000001/', 'callback_url'],
  ])('is refused when it is given if it is not public: %s as %s', async (address, field) => {
    const { localUrl, ownerToken: token } = await serviceForTest({ publicUrl: 'https://registry.example' });
    const [path, json] =
      field === 'webhook_url'
        ? [startPaths['image.relight'], { image: pixel }]
        : ['/proxy/videovendor/text2video', { prompt: 'A boat' }];
    const { status, body } = await ask(localUrl + path, {
      method: 'POST',
      token,
      json: { ...json, [field]: address },
    });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
    expect(body.details).toEqual([{ path: field, message: 'is refused: its address is not public' }]);
  });
});

describe('the name of a webhook’s host', () => {
  /** Resolves to the addresses in turn, then always to the last one. */
  function resolving(...addresses: string[]): { lookup: Lookup; asked: () => number } {
    let asked = 0;
    const lookup: Lookup = (_, __, done) => {
      const address = addresses[Math.min(asked, addresses.length - 1)] as string;
      asked += 1;
      done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    };
    return { lookup, asked: () => asked };
  }

  it('is resolved once per attempt, and not called if it became private', async () => {
    const { port, received } = await receiverForTest(() => 500);
    const { lookup, asked } = resolving('127.0.0.1', '10.0.0.1');
    const service = await serviceForTest({}, { engines, lookup });
    const { url, ownerToken: token } = service;
    const webhook_url = `http://hooks.example:${port}/`;
    await waitForTask({ url, token }, await startTask({ url, token }, { webhook_url }));
    await waitFor(async () => {
      const log = await listDeliveries(service);
      expect(log).toMatchObject([
        { state: 'IN_PROGRESS', attempts: 2, status: 'failed', reason: 'its address is not public' },
        { state: 'COMPLETED', attempts: 1, status: 'failed', reason: 'its address is not public' },
      ]);
    });
    expect(listStatuses(received)).toEqual(['IN_PROGRESS']);
    expect(asked()).toBe(3);
  });
});

describe('the delivery log', () => {
  it('shows users their own deliveries, newest first, optionally of one task', async () => {
    const { url: webhook_url } = await receiverForTest();
    const service = await serviceForTest({}, { engines });
    const { url, ownerToken: token } = service;
    const first = await startTask({ url, token }, { webhook_url });
    const second = await startTask({ url, token }, { webhook_url });
    const all = await waitFor(async () => {
      const log = await listDeliveries(service);
      expect(log.map(({ status }) => status)).toEqual(Array(4).fill('delivered'));
      return log;
    });
    expect(all[0]).toEqual({
      id: expect.stringMatching(/^msg_/),
      task_id: expect.any(String),
      event: 'image.task.updated',
      state: 'IN_PROGRESS',
      url: webhook_url,
      attempts: 1,
      status: 'delivered',
      created_at: expect.any(String),
    });
    const ofSecond = await listDeliveries(service, `?task_id=${second}`);
    expect(ofSecond.map(({ task_id, state }) => [task_id, state])).toEqual([
      [second, 'IN_PROGRESS'],
      [second, 'COMPLETED'],
    ]);
    const eve = await service.signFor({ sub: 'eve' });
    expect((await ask(`${url}/users/webhook-deliveries?task_id=${first}`, { token: eve })).body).toEqual([]);
  });
});

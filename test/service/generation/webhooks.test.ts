import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EngineFailure } from '../../../src/service/generation/engine.js';
import { postWebhook } from '../../../src/service/generation/post-webhook.js';
import { copyingEngine } from '../../support/copying-engine.js';
import { startedTask, taskAt } from '../../support/generation.js';
import { type Answered, serviceForTest } from '../../support/service.js';

interface Told {
  readonly headers: IncomingHttpHeaders;
  readonly body: Answered;
}

/** Where a webhook is told; `answer` gives the status of the n-th call. */
async function receiver(
  answer: (call: number) => number | [status: number, headers: Record<string, string>] = () => 204,
): Promise<{ url: string; told: Told[] }> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      told.push({ headers: request.headers, body: JSON.parse(text) });
      const [status, headers] = [answer(told.length)].flat() as [number, Record<string, string>];
      response.writeHead(status, headers).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, told };
}

const statuses = (told: readonly Told[]) => told.map(({ body }) => body.status);

describe('the webhook of a task', () => {
  it('is told of each change in its order, with a flat body whatever the answers look like', async () => {
    const { url: webhook_url, told } = await receiver();
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { image: copyingEngine() } });
    const id = await startedTask({ url, token }, { webhook_url });
    await vi.waitFor(() => expect(told).toHaveLength(2), { timeout: 5_000 });
    expect(told.map(({ body }) => body)).toEqual([
      { task_id: id, status: 'IN_PROGRESS', generated: [] },
      { task_id: id, status: 'COMPLETED', generated: [expect.stringContaining(`/results/${id}/0.png?`)] },
    ]);
    expect(told[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-event': 'image.task.updated',
    });
    expect((await fetch(told[1]?.body.generated[0])).status).toBe(200);
  });

  it('is told of a failure', async () => {
    const { url: webhook_url, told } = await receiver();
    const engine = copyingEngine(() => {
      throw new EngineFailure('No.');
    });
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { image: engine } });
    await startedTask({ url, token }, { webhook_url });
    await vi.waitFor(() => expect(statuses(told)).toEqual(['IN_PROGRESS', 'FAILED']), { timeout: 5_000 });
  });

  it.each([
    ['500', 500],
    ['a redirect', 302],
    ['a wish to wait', [503, { 'retry-after': '1' }]],
  ] as const)('is told again after %s, under the same id and before what came later', async (_, first) => {
    const { url: webhook_url, told } = await receiver((call) =>
      call === 1 ? ([...[first].flat()] as [number, Record<string, string>]) : 200,
    );
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { image: copyingEngine() } });
    await startedTask({ url, token }, { webhook_url });
    await vi.waitFor(() => expect(statuses(told)).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED']), {
      timeout: 10_000,
    });
    const ids = told.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[1]);
  });

  it('is told no more once it is gone, and does not hold the task up', async () => {
    const { url: webhook_url, told } = await receiver(() => 410);
    const service = await serviceForTest({}, { engines: { image: copyingEngine() } });
    const { url, ownerToken: token, context } = service;
    await taskAt({ url, token }, await startedTask({ url, token }, { webhook_url }));
    await expect.poll(() => context.queue.busyBy(context.now() + 10_000)).toBe(false);
    expect(statuses(told)).toEqual(['IN_PROGRESS']);
  });

  it('is given up after 24 hours', async () => {
    const clock = { ahead: 0 };
    const { url: webhook_url, told } = await receiver(() => 500);
    const parts = { engines: { image: copyingEngine() }, now: () => Date.now() + clock.ahead };
    const { url, ownerToken: token, context } = await serviceForTest({}, parts);
    await taskAt({ url, token }, await startedTask({ url, token }, { webhook_url }));
    await vi.waitFor(() => expect(told).not.toHaveLength(0));
    clock.ahead = 25 * 3_600_000;
    const jobs = () => context.database.selectFrom('jobs').select('kind').execute();
    await expect.poll(jobs, { timeout: 10_000 }).toEqual([]);
    expect(new Set(statuses(told))).toEqual(new Set(['IN_PROGRESS']));
  });
});

describe('a webhook’s address', () => {
  it.each([
    ['http://127.0.0.1:1/', 'https://regen.example'],
    ['http://localhost:1/', 'https://regen.example'],
    ['http://[::1]:1/', 'https://regen.example'],
    ['http://10.0.0.1/', 'https://regen.example'],
    ['http://169.254.169.254/', 'http://127.0.0.1:7717'],
  ])('%s is not public, and not called by a service at %s', async (url, serviceOrigin) => {
    const { signal } = new AbortController();
    const sent = postWebhook({ url, headers: {}, body: {}, serviceOrigin, signal });
    await expect(sent).rejects.toThrow(/not public/);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { copyingEngine } from '../../support/copying-engine.js';
import { startedTask } from '../../support/generation.js';
import {
  deliveriesOf,
  isVerified,
  receiverForTest,
  statusesOf,
  webhookSecret,
} from '../../support/receiver.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

const script = join('node_modules', '.cache', `delivery-process-${process.pid}.mjs`);

beforeAll(async () => {
  await build({
    entryPoints: ['test/support/task-process.ts'],
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
});
afterAll(() => rmSync(script, { force: true }));

/** A service that dies after its n-th write about webhooks, and one on the same folder that goes on. */
async function survives(n: number): Promise<string | undefined> {
  const data = folderForTest();
  // The first attempt fails, so that a retry is among what is cut.
  const receiver = await receiverForTest((call) => (call === 1 ? 500 : 204));
  const configuration = JSON.stringify({ data, idleMs: 1_500 });
  const child = spawn(process.execPath, [script, configuration, String(n), 'webhook'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const writes: string[] = [];
  const { url, ownerToken: token } = await new Promise<{ url: string; ownerToken: string }>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const told = JSON.parse(line);
      if (told.wrote) writes.push(told.wrote);
      else resolve(told);
    });
  });
  // The answer may be lost with the service.
  await startedTask({ url, token }, { webhook_url: receiver.url }).catch(() => {});
  const [, signal] = await ended;
  const point = `${n}: ${writes.at(-1)}`;

  const service = await serviceForTest({ data }, { engines: { image: copyingEngine() } });
  await vi.waitFor(
    async () => {
      const log = await deliveriesOf(service);
      const facts = log.map(({ state, status }) => [state, status]);
      expect(facts, point).toEqual([
        ['IN_PROGRESS', 'delivered'],
        ['COMPLETED', 'delivered'],
      ]);
    },
    { timeout: 10_000 },
  );
  const secret = await webhookSecret(service);
  const { told } = receiver;
  expect(
    told.every((one) => isVerified(one, secret)),
    point,
  ).toBe(true);
  // What came twice came under one id, and nothing came late.
  const ids = new Set(told.map(({ headers }) => headers['webhook-id']));
  expect([...ids], point).toHaveLength(2);
  expect([...new Set(statusesOf(told))], point).toEqual(['IN_PROGRESS', 'COMPLETED']);
  expect(statusesOf(told).lastIndexOf('IN_PROGRESS'), point).toBeLessThan(
    statusesOf(told).indexOf('COMPLETED'),
  );
  await service.stop();
  return signal === 'SIGKILL' ? writes.at(-1) : undefined;
}

it('tells each change in order, whichever write of a delivery was the last before a kill', async () => {
  const points: string[] = [];
  for (let n = 1; ; n += 2) {
    const deaths = await Promise.all([survives(n), survives(n + 1)]);
    points.push(...deaths.filter((point) => point !== undefined));
    if (deaths.includes(undefined)) break;
  }
  expect(points).toEqual(
    expect.arrayContaining([
      'insert webhook_secrets',
      expect.stringContaining('insert webhook_deliveries'),
      'update webhook_deliveries',
    ]),
  );
  // Two changes promised, a secret, and three attempts.
  expect(points).toHaveLength(6);
}, 120_000);

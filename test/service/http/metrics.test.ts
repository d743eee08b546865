import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { generationDoubleForTest } from '../../support/generation-double.js';
import { receiverForTest } from '../../support/receiver.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';
import { vendorServiceForTest } from '../../support/vendor-service.js';
import { waitFor } from '../../support/wait-for.js';

/** The samples of a scrape: `regen_jobs{kind="check-archive",state="due"}` → 0. */
async function scrapeMetrics(url: string | undefined, token?: string): Promise<Map<string, number>> {
  const answer = await fetch(url as string, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

it('measures requests by route and status on a port of its own', async () => {
  const { url, metricsUrl } = await serviceForTest({ metrics: { port: 0 } });
  for (let round = 0; round < 3; round++) await ask(`${url}/nodes`);
  await ask(`${url}/nodes/missing`);
  await ask(`${url}/nowhere/${randomBytes(4).toString('hex')}`);
  await waitFor(async () => {
    const samples = await scrapeMetrics(metricsUrl);
    const count = (labels: string) => samples.get(`regen_http_request_duration_seconds_count{${labels}}`);
    expect(count('method="GET",route="/nodes",status="200"')).toBe(3);
    expect(count('method="GET",route="/nodes/:nodeId",status="404"')).toBe(1);
    expect(count('method="any",route="none",status="404"')).toBe(1);
    expect([...samples.keys()].filter((name) => name.includes('nowhere'))).toEqual([]);
  });
});

it('measures the process, the database and the disk', async () => {
  const { metricsUrl } = await serviceForTest({ metrics: { port: 0 } });
  const samples = await scrapeMetrics(metricsUrl);
  expect(samples.get('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0);
  expect(samples.get('regen_database_query_seconds_count{statement="select"}')).toBeGreaterThan(0);
  expect(samples.get('regen_disk_bytes{state="free"}')).toBeGreaterThan(0);
});

it('measures jobs that wait and that run, and how long the oldest has waited', async () => {
  let time = Date.parse('2026-03-01T12:00:00Z');
  const engine = { ...createCopyingEngine(), atOnce: 1, run: () => new Promise<never>(() => {}) };
  const parts = { engines: { image: engine }, now: () => time };
  const {
    url,
    metricsUrl,
    ownerToken: token,
  } = await serviceForTest({ metrics: { port: 0 }, graceMs: 0, prices: { image: { relight: 7 } } }, parts);
  for (let count = 0; count < 3; count++) await startTask({ url, token });
  time += 90_000;
  await waitFor(async () => {
    const samples = await scrapeMetrics(metricsUrl);
    const jobs = (state: string) => samples.get(`regen_jobs{kind="run-image-task",state="${state}"}`);
    expect([jobs('due'), jobs('running')]).toEqual([2, 1]);
    expect(samples.get('regen_jobs{kind="forget-inputs",state="scheduled"}')).toBe(3);
    expect(samples.get('regen_jobs_oldest_due_seconds{kind="run-image-task"}')).toBe(90);
    expect(samples.get('regen_jobs_oldest_due_seconds{kind="check-archive"}')).toBe(0);
    expect(samples.get('regen_credits_this_month{entry="charge"}')).toBe(21);
  });
  time = Date.parse('2026-04-01T00:00:00Z');
  expect((await scrapeMetrics(metricsUrl)).get('regen_credits_this_month{entry="charge"}')).toBe(0);
});

it('counts attempts to deliver webhooks by their outcome', async () => {
  const receiver = await receiverForTest((call) => (call === 1 ? 500 : 204));
  const {
    url,
    metricsUrl,
    ownerToken: token,
  } = await serviceForTest({ metrics: { port: 0 } }, { engines: { image: createCopyingEngine() } });
  await startTask({ url, token }, { webhook_url: receiver.url });
  await waitFor(async () => {
    const samples = await scrapeMetrics(metricsUrl);
    const attempts = (outcome: string) =>
      samples.get(`regen_webhook_attempts_total{outcome="${outcome}"}`) ?? 0;
    expect([attempts('failed'), attempts('delivered')]).toEqual([1, 2]);
  });
});

it('counts errors of vendors that are retried and those that end a task', async () => {
  const vendor = await generationDoubleForTest({
    refuse: (count) => (count === 1 ? { status: 503, error: 'unavailable', retryAfter: 0 } : undefined),
    fails: () => true,
  });
  const {
    url,
    metricsUrl,
    ownerToken: token,
  } = await vendorServiceForTest({ url: vendor.url, key: 'key' }, { metrics: { port: 0 } });
  await waitForTask({ url, token }, await startTask({ url, token }), 'FAILED');
  const samples = await scrapeMetrics(metricsUrl);
  const { host } = new URL(vendor.url);
  for (const outcome of ['retried', 'failed'])
    expect(samples.get(`regen_vendor_errors_total{vendor="${host}",outcome="${outcome}"}`)).toBe(1);
});

it('requires the token that a file holds, on the port of the service', async () => {
  const file = join(folderForTest(), 'metrics.token');
  writeFileSync(file, 'scrape-me-if-you-can\n');
  const { url, metricsUrl } = await serviceForTest({ metrics: { token: { file } } });
  expect(metricsUrl).toBeUndefined();
  expect((await scrapeMetrics(`${url}/metrics`, 'scrape-me-if-you-can')).size).toBeGreaterThan(50);
  for (const authorization of [undefined, 'Bearer other', 'scrape-me-if-you-can']) {
    const answer = await fetch(`${url}/metrics`, authorization ? { headers: { authorization } } : {});
    expect(answer.status).toBe(401);
  }
});

it('has no metrics unless they are configured', async () => {
  const { url } = await serviceForTest();
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
});

it('refuses web pages whose domain resolves to loopback, and other paths, on the port of metrics', async () => {
  const { metricsUrl } = await serviceForTest({ metrics: { port: 0 } });
  const readStatus = (headers: Record<string, string>, path = '/metrics') =>
    new Promise<number | undefined>((resolve, reject) => {
      const { port } = new URL(metricsUrl as string);
      const asking = request({ host: '127.0.0.1', port, path, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asking.on('error', reject).end();
    });
  expect(await readStatus({ host: 'evil.example.org' })).toBe(403);
  expect(await readStatus({ host: 'localhost' })).toBe(200);
  expect(await readStatus({ host: 'localhost' }, '/nodes')).toBe(404);
});

it('refuses to start if the token of metrics is missing', async () => {
  const starting = serviceForTest({ metrics: { token: { env: 'NO_SUCH_VARIABLE' } } });
  await expect(starting).rejects.toThrow(
    'metrics.token names the environment variable NO_SUCH_VARIABLE, which is missing or empty',
  );
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Mock, test, vi } from 'vitest';
import type { RunningService } from '../../../../src/service/serve.js';
import { pixel, startTask, waitForTask } from '../../../support/generation.js';
import {
  type DoubleOptions,
  type GenerationDouble,
  generationDoubleForTest,
} from '../../../support/generation-double.js';
import { type Answered, ask, folderForTest, serviceForTest } from '../../../support/service.js';
import { vendorServiceForTest } from '../../../support/vendor-service.js';
import { waitFor } from '../../../support/wait-for.js';

const key = 'sk-vendor-secret';

/** A service in front of a fake vendor, called as its owner. */
async function startBehindVendor(options: DoubleOptions = {}, settings = {}, parts = {}) {
  const vendor = await generationDoubleForTest(options);
  const service = await vendorServiceForTest({ url: vendor.url, key, settings }, { prices }, parts);
  return { vendor, service, asking: { url: service.url, token: service.ownerToken } };
}

const prices = { image: { relight: 3 } };

/** The status and the credits of a task. */
async function readAccount({ url, ownerToken }: RunningService, id: string): Promise<Answered> {
  return (await ask(`${url}/users/tasks/${id}`, { token: ownerToken })).body;
}

/** Starts a task once. @returns how it failed */
async function runToFailure(given: Awaited<ReturnType<typeof startBehindVendor>>): Promise<Answered> {
  const id = await startTask(given.asking);
  await waitForTask(given.asking, id, 'FAILED');
  return readAccount(given.service, id);
}

test('a vendor gets the validated request, with images as Base64, a callback and the task id as key', async () => {
  const { vendor, asking, service } = await startBehindVendor();
  const id = await startTask(asking, {
    prompt: 'image',
    style: 'clean',
    webhook_url: `${vendor.url}/the-callers-own`,
  });
  await waitForTask(asking, id);
  expect(vendor.asked).toHaveLength(1);
  const [{ body, token, key: idempotencyKey, operation }] = vendor.asked as [GenerationDouble['asked'][0]];
  expect({ token, idempotencyKey, operation }).toEqual({
    token: `Bearer ${key}`,
    idempotencyKey: id,
    operation: 'image.relight',
  });
  expect(body).toMatchObject({ image: pixel, prompt: 'image', style: 'clean', light_transfer_strength: 100 });
  expect(body.webhook_url).toMatch(`${service.url}/vendor-callbacks/${id}?signature=`);
  expect(vendor.leaked).toEqual([]);
});

test('the key is sent in the configured header', async () => {
  const { vendor, asking } = await startBehindVendor({}, { keyHeader: 'X-Vendor-Key' });
  await waitForTask(asking, await startTask(asking));
  expect(vendor.asked[0]?.headers).toMatchObject({ 'x-vendor-key': key });
  expect(vendor.asked[0]?.token).toBeUndefined();
});

test('a vendor that is not known to honour keys is asked once, even if its answer is lost', async () => {
  const given = await startBehindVendor({ onStart: () => false });
  expect(await runToFailure(given)).toMatchObject({
    credits: 0,
    reason: expect.stringContaining("The vendor's answer was lost"),
  });
  expect(given.vendor.asked).toHaveLength(1);
});

test('a vendor that is configured to honour keys is asked until it answers', async () => {
  const { vendor, asking } = await startBehindVendor(
    { onStart: (_, count) => count > 2 },
    { honoursKeys: true },
  );
  const id = await startTask(asking);
  await waitForTask(asking, id);
  expect(vendor.asked.map(({ key }) => key)).toEqual([id, id, id]);
  expect(new Set(vendor.asked.map(({ body }) => JSON.stringify(body))).size).toBe(1);
});

test('a vendor that certainly started nothing is asked again, whether or not it honours keys', async () => {
  const { vendor, asking } = await startBehindVendor({
    refuse: (count) => (count < 3 ? { status: 429, error: 'rate_limited' } : undefined),
  });
  await waitForTask(asking, await startTask(asking));
  expect(vendor.asked).toHaveLength(3);
});

test("a vendor's refusal is passed on with its message", async () => {
  const given = await startBehindVendor({ refuse: () => ({ status: 400, error: 'too_dark' }) });
  expect(await runToFailure(given)).toMatchObject({
    credits: 0,
    reason: 'The vendor refused the request: Not now.',
  });
  expect(given.vendor.asked).toHaveLength(1);
});

test('a key that the vendor refuses is reported as a fault of the service', async () => {
  const log = vi.fn();
  const given = await startBehindVendor(
    { refuse: () => ({ status: 401, error: 'unauthorized' }) },
    {},
    { log },
  );
  expect((await runToFailure(given)).reason).toContain("this service's credential");
  expect(given.vendor.asked).toHaveLength(5);
  expect(log).toHaveBeenCalledWith('error', "A vendor refuses this service's key.", expect.anything());
  expect(JSON.stringify(log.mock.calls)).not.toContain(key);
});

test('a task that fails at the vendor fails here and is refunded', async () => {
  const given = await startBehindVendor({ states: ['CREATED', 'POLISHING', 'FAILED'] });
  expect(await runToFailure(given)).toMatchObject({ credits: 0, reason: 'The task failed at the vendor.' });
});

test('a task fails if its vendor is down for an hour', async () => {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const log = vi.fn();
  const service = await vendorServiceForTest({ url: 'http://127.0.0.1:9', key }, { prices }, { now, log });
  const asking = { url: service.url, token: service.ownerToken };
  const id = await startTask(asking);
  await waitFor(() => expect(log).toHaveBeenCalled());
  ahead = 2 * 60 * 60_000;
  await waitForTask(asking, id, 'FAILED');
  expect((await readAccount(service, id)).reason).toContain('The vendor is not available: nothing listens');
});

test('a task does not fail because its service slept between a few requests to the vendor', async () => {
  let calls = 0;
  const refuse = () => (++calls < 4 ? { status: 503, error: 'busy' } : undefined);
  const now = () => Date.now() + calls * 2 * 60 * 60_000;
  const { asking } = await startBehindVendor({ refuse }, {}, { now });
  await waitForTask(asking, await startTask(asking));
});

/** Its tasks are read by an operation that service.md does not list. */
const operation = 'image.skinEnhancer';

/** Waits until a poll of the vendor has failed. */
async function notFound(log: Mock): Promise<void> {
  const reason = 'it does not know the task';
  const received = expect.objectContaining({ reason });
  await waitFor(() => expect(log).toHaveBeenCalledWith('warn', expect.anything(), received));
}

test('a callback is used if the status of a task cannot be read', async () => {
  const log = vi.fn();
  const { vendor, asking, service } = await startBehindVendor(
    { extensions: false },
    { pollMs: 60_000 },
    { log },
  );
  const id = await startTask({ ...asking, operation });
  await notFound(log);
  const callback: string = vendor.asked[0]?.body.webhook_url;
  const body = { status: 'COMPLETED', generated: [`${vendor.url}/results/a`] };

  const forged = new URL(callback);
  forged.searchParams.set('signature', 'A'.repeat(43));
  expect((await postJson(forged.href, body)).status).toBe(403);
  expect((await postJson(callback, 'something odd')).status).toBe(204);
  const payload = 'x'.repeat(2 * 1024 ** 2);
  expect((await postJson(callback, { ...body, payload })).status).toBe(204);
  await waitForTask({ ...asking, operation }, id);

  // The URL has no end of its own, but the task has.
  const kept = () =>
    service.context.database
      .selectFrom('tasks')
      .select(['callback', 'status'])
      .where('id', '=', id)
      .execute();
  const ended = await kept();
  expect(ended).toEqual([{ callback: JSON.stringify(body), status: 'COMPLETED' }]);
  expect((await postJson(callback, { ...body, status: 'FAILED' })).status).toBe(204);
  expect(await kept()).toEqual(ended);
});

test('a result on a private address is not fetched', async () => {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const log = vi.fn();
  const { vendor, asking, service } = await startBehindVendor({ extensions: false }, {}, { now, log });
  const id = await startTask({ ...asking, operation });
  await notFound(log);
  // Longer than files are waited for, and shorter than callbacks are.
  ahead = 7 * 60 * 60_000;
  await postJson(vendor.asked[0]?.body.webhook_url, {
    status: 'COMPLETED',
    generated: ['http://10.1.2.3/a.png'],
  });
  await waitForTask({ ...asking, operation }, id, 'FAILED');
  expect((await readAccount(service, id)).reason).toContain('its address is not public');
});

function postJson(url: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

test('a service that stops does not wait for its vendor, and continues at the next start', async () => {
  const states = ['IN_PROGRESS'];
  const vendor = await generationDoubleForTest({ states });
  const data = folderForTest();
  const start = () => vendorServiceForTest({ url: vendor.url, key }, { data, graceMs: 3_600_000 });
  const first = await start();
  const id = await startTask({ url: first.url, token: first.ownerToken });
  await waitFor(() => expect(vendor.looks.length).toBeGreaterThan(0));
  await first.stop();

  states[0] = 'COMPLETED';
  const second = await start();
  await waitForTask({ url: second.url, token: second.ownerToken }, id);
  expect(vendor.asked).toHaveLength(1);
});

test('a task that its vendor works on holds no lease, and a call of the vendor makes the service look at once', async () => {
  const states = ['IN_PROGRESS'];
  const { vendor, asking, service } = await startBehindVendor({ states }, { pollMs: 3_600_000, atOnce: 2 });
  const ids = [await startTask(asking), await startTask(asking), await startTask(asking)];
  const jobs = () =>
    service.context.database
      .selectFrom('jobs')
      .select(['kind', 'leased_by'])
      .where('kind', 'in', ['run-image-task', 'watch-image-task'])
      .orderBy('kind')
      .execute();
  const waiting = { leased_by: null };
  // Two wait at the vendor, which is all that its limit allows; the third is not started.
  await waitFor(async () =>
    expect(await jobs()).toEqual([
      { kind: 'run-image-task', ...waiting },
      { kind: 'watch-image-task', ...waiting },
      { kind: 'watch-image-task', ...waiting },
    ]),
  );
  expect(vendor.asked).toHaveLength(2);
  states[0] = 'COMPLETED';
  for (const { body } of [...vendor.asked]) await postJson(body.webhook_url, {});
  for (const id of ids) await waitForTask(asking, id);
  expect(vendor.asked).toHaveLength(3);
});

test("a service without its vendor's key does not start, and names the missing key", async () => {
  const file = join(folderForTest(), 'empty.key');
  writeFileSync(file, '\n');
  const vendor = { engine: 'upstream', baseUrl: 'https://vendor.example' } as const;
  const image = { ...vendor, key: { env: 'REGEN_TEST_NO_SUCH_KEY' } };
  const message = /generation\.image\.key names the environment variable REGEN_TEST_NO_SUCH_KEY/;
  await expect(serviceForTest({ generation: { image } })).rejects.toThrow(message);
  const video = { ...vendor, key: { file } };
  await expect(serviceForTest({ generation: { video } })).rejects.toThrow(
    /generation\.video\.key names the file/,
  );
});

test.each([
  [
    { engine: 'upstream', baseUrl: 'http://vendor.example', key: { env: 'A' } },
    /baseUrl must be an https URL/,
  ],
  [{ engine: 'upstream', baseUrl: 'https://vendor.example', key: {} }, /must name either an environment/],
  [{ engine: 'upstream', baseUrl: 'https://v.example', key: { file: 'a.key' } }, /must be an absolute path/],
  [{ engine: 'upstraem' }, /must be local, upstream or comfyui \(did you mean upstream\?\)/],
])('a mistake in the settings of a vendor is reported: %j', async (image, message) => {
  await expect(serviceForTest({ generation: { image: image as never } })).rejects.toThrow(message);
});

test('with more tasks at vendors each is looked at less often, so that looks do not take up the service', async () => {
  let time = Date.now();
  const { service, asking, vendor } = await startBehindVendor(
    { states: ['IN_PROGRESS'] },
    {},
    { now: () => time },
  );
  const { database, queue } = service.context;
  const id = await startTask(asking);
  const next = database
    .selectFrom('jobs')
    .select('run_at')
    .where('kind', '=', 'watch-image-task')
    .where('key', '=', id);
  await waitFor(async () => expect(await next.execute()).toHaveLength(1));
  const others = Array.from({ length: 499 }, (_, at) => `other-${at}`);
  await database.transaction().execute(async (tx) => {
    for (const key of others)
      await queue.enqueue(tx, { kind: 'watch-image-task', key, owner: 'ann', runAt: time + 7_200_000 });
  });
  time += 60_000;
  await waitFor(() => expect(vendor.looks).toHaveLength(1));
  await waitFor(async () =>
    expect((await next.execute()).map(({ run_at }) => Date.parse(run_at) - time)).toEqual([10_000]),
  );
});

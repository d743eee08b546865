import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfigurationInput } from '../../../../src/service/configuration/configuration.js';
import { createSmallestBody, startPaths, unwrapTask } from '../../../support/generation.js';
import { type DoubleOptions, generationDoubleForTest } from '../../../support/generation-double.js';
import { killableServiceForTest } from '../../../support/killable-service.js';
import { type Answered, ask, folderForTest } from '../../../support/service.js';
import { createVendorConfiguration, vendorServiceForTest } from '../../../support/vendor-service.js';
import { waitFor } from '../../../support/wait-for.js';

const prices = { image: { relight: 6 } };
const quotas = { creditsPerMonth: 12 };

interface Asking {
  readonly url: string;
  readonly token: string | undefined;
}

function startRelight({ url, token }: Asking, key: string = randomUUID()) {
  const json = createSmallestBody('image.relight');
  const headers = { 'idempotency-key': key };
  return ask(url + startPaths['image.relight'], { method: 'POST', token, json, headers });
}

const cancelTask = ({ url, token }: Asking, id: string) =>
  ask(`${url}/users/tasks/${id}/cancel`, { method: 'POST', token });

/** Ann at a service whose vendor has tasks that do not end. */
async function startAsAnn(options: DoubleOptions = {}, input: ConfigurationInput = {}) {
  const vendor = await generationDoubleForTest({ states: ['CREATED', 'IN_PROGRESS'], ...options });
  const given = { url: vendor.url, key: 'sk-vendor' };
  const service = await vendorServiceForTest(given, { prices, quotas, ...input });
  const ann = { url: service.url, token: await service.signFor({ sub: 'ann' }) };
  const readBudget = async () => (await ask(`${ann.url}/users/usage`, ann)).body.budget;
  return { vendor, service, ann, readBudget };
}

test('a task that a vendor was asked for is not refunded when it is cancelled', async () => {
  const { vendor, ann, readBudget } = await startAsAnn();
  const id = unwrapTask((await startRelight(ann)).body).task_id;
  await waitFor(() => expect(vendor.asked).toHaveLength(1));
  expect((await cancelTask(ann, id)).body).toMatchObject({ status: 'FAILED', credits: 6, refunded: 0 });
  expect(await readBudget()).toMatchObject({ used: 6, left: 6 });
});

test('a task for which the vendor certainly started nothing is refunded', async () => {
  const { vendor, ann, readBudget } = await startAsAnn({ refuse: () => ({ status: 429, error: 'busy' }) });
  const id = unwrapTask((await startRelight(ann)).body).task_id;
  await waitFor(() => expect(vendor.asked.length).toBeGreaterThan(1));
  // Between two requests to the vendor.
  const cancelled = await waitFor(async () => {
    const { body } = await ask(`${ann.url}/users/tasks/${id}`, ann);
    expect(body.status).toBe('CREATED');
    return cancelTask(ann, id);
  });
  const { credits, refunded } = cancelled.body;
  expect(credits + refunded).toBe(6);
  expect(await readBudget()).toMatchObject({ used: credits });
  // And it is not asked for any more, whichever came first.
  const before = vendor.asked.length;
  const next = unwrapTask((await startRelight(ann)).body).task_id;
  await waitFor(() => expect(vendor.asked.filter(({ key }) => key === next).length).toBeGreaterThan(2));
  expect(vendor.asked.filter(({ key }) => key === id).length).toBeLessThanOrEqual(before + 1);
});

test('with 12 credits and a price of 6, nothing makes a vendor start more than 2 tasks', async () => {
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('start' as const) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), at: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(9) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 10, maxLength: 30 }),
      fc.boolean(),
      async (actions, loses) => {
        // Some answers of the vendor are lost, so that it may have started a task that fails.
        const onStart = () => !loses;
        const { vendor, service, ann } = await startAsAnn({ onStart });
        const begun: { readonly key: string; readonly id: string }[] = [];
        const pending: Promise<unknown>[] = [];
        const remember = (key: string, { status, body }: Awaited<ReturnType<typeof startRelight>>) => {
          if (status === 200) begun.push({ key, id: unwrapTask(body).task_id });
        };
        for (const one of actions) {
          const known = 'at' in one ? begun[one.at % Math.max(begun.length, 1)] : undefined;
          if (one.kind === 'start') {
            const key = randomUUID();
            remember(key, await startRelight(ann, key));
          } else if (one.kind === 'cancel' && known) pending.push(cancelTask(ann, known.id));
          else if (one.kind === 'repeat' && known) pending.push(startRelight(ann, known.key));
          else if (one.kind === 'wait') await Promise.all(pending.splice(0));
        }
        await Promise.all(pending);
        await waitFor(async () => expect(await countOpenJobs(service.context.database)).toBe(0));
        expect(vendor.tasks.size).toBeLessThanOrEqual(2);
        await service.stop();
        await vendor.close();
      },
    ),
    { numRuns: 6 },
  );
});

/** Tasks that no vendor was asked for yet. */
async function countOpenJobs(database: Answered): Promise<number> {
  const rows = await database
    .selectFrom('jobs')
    .select('kind')
    .where('kind', '=', 'run-image-task')
    .execute();
  return rows.length;
}

test('kills between a request to a vendor and its answer do not make it start more', async () => {
  let arrived = () => {};
  const vendor = await generationDoubleForTest({
    states: ['CREATED', 'IN_PROGRESS'],
    onStart: async () => {
      arrived();
      await new Promise(() => {});
      return true;
    },
  });
  const configuration = {
    ...createVendorConfiguration({ url: vendor.url, key: 'sk-vendor' }),
    ...{ prices, quotas, data: folderForTest() },
  };
  for (let round = 0; round < 4; round += 1) {
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { kill, ...ann } = await killableServiceForTest(configuration, 'ann');
    // What the kill before left is settled first.
    await waitFor(async () => {
      const { status, body } = await startRelight(ann);
      expect([200, 403]).toContain(status);
      if (round < 2) expect([status, body.error]).toEqual([200, undefined]);
      else expect(body.error).toBe('quota_exceeded');
    });
    if (round < 2) await asked;
    await kill();
  }
  expect(vendor.tasks.size).toBe(2);
});

test('a task that a vendor may have started, and that fails here, costs nothing but counts in the budget', async () => {
  const { ann, readBudget } = await startAsAnn({ onStart: () => false });
  const id = unwrapTask((await startRelight(ann)).body).task_id;
  await waitFor(async () => {
    const { body } = await ask(`${ann.url}/users/tasks/${id}`, ann);
    expect(body).toMatchObject({ status: 'FAILED', credits: 0, refunded: 6 });
  });
  expect(await readBudget()).toMatchObject({ used: 6, left: 6 });
});

test('cancelled tasks that a vendor was asked for count as unfinished for an hour, also without a price', async () => {
  const few = { prices: { image: { relight: 0 } }, quotas: { tasksInFlight: 2 } };
  const { vendor, ann } = await startAsAnn({}, few);
  for (let count = 1; count <= 2; count += 1) {
    const started = await startRelight(ann);
    expect(started.status).toBe(200);
    const id = unwrapTask(started.body).task_id;
    await waitFor(() => expect(vendor.asked).toHaveLength(count));
    expect((await cancelTask(ann, id)).status).toBe(200);
  }
  const refused = await startRelight(ann);
  expect([refused.status, refused.body.error]).toEqual([403, 'quota_exceeded']);
  expect(vendor.tasks.size).toBe(2);
});

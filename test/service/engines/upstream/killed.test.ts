import { expect, test } from 'vitest';
import { createCopyingEngine } from '../../../support/copying-engine.js';
import { startTask, waitForTask } from '../../../support/generation.js';
import { folderForTest, serviceForTest } from '../../../support/service.js';
import { serviceProcessForTest } from '../../../support/service-in-process.js';
import { type ProxyStep, steppingProxyForTest } from '../../../support/stepping-proxy.js';
import { createVendorConfiguration } from '../../../support/vendor-service.js';

test('a service that is killed while its vendor answers is charged once per task and gets all results', async () => {
  let watched = (_: ProxyStep): void | Promise<void> => {};
  const gate = await steppingProxyForTest(
    () => vendor.localUrl,
    (moment) => watched(moment),
  );
  const vendor = await serviceForTest(
    { prices: { image: { relight: 3 } } },
    { engines: { image: createCopyingEngine() } },
  );
  const settings = { honoursKeys: true, pollMs: 50 };
  const behind = createVendorConfiguration({ url: gate, key: vendor.ownerToken, settings });
  const data = folderForTest();
  const first = await serviceProcessForTest({ ...behind, data });

  let start = () => {};
  const started = new Promise<void>((done) => {
    start = done;
  });
  // The vendor has started the third task, but the service never gets the answer.
  const dead = new Promise<void>((done) => {
    let begun = 0;
    watched = async ({ method, at }) => {
      if (method !== 'POST' || at !== 'answered' || ++begun !== 3) return;
      await started;
      await first.kill();
      done();
    };
  });
  const ids: string[] = [];
  while (ids.length < 6) ids.push(await startTask(first));
  start();
  await dead;

  const second = await serviceProcessForTest({ ...behind, data });
  for (const id of ids) await waitForTask(second, id);
  const charges = await vendor.context.database.selectFrom('credits').select('kind').execute();
  expect(charges).toEqual(ids.map(() => ({ kind: 'charge' })));
});

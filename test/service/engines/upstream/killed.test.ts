import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { ConfigurationInput } from '../../../../src/service/configuration/configuration.js';
import { createCopyingEngine } from '../../../support/copying-engine.js';
import { startTask, waitForTask } from '../../../support/generation.js';
import { folderForTest, serviceForTest } from '../../../support/service.js';
import { type ProxyStep, steppingProxyForTest } from '../../../support/stepping-proxy.js';
import { createVendorConfiguration } from '../../../support/vendor-service.js';

const script = 'dist/test/service-process.js';

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
  const first = await serviceProcess({ ...behind, data });

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

  const second = await serviceProcess({ ...behind, data });
  for (const id of ids) await waitForTask(second, id);
  const charges = await vendor.context.database.selectFrom('credits').select('kind').execute();
  expect(charges).toEqual(ids.map(() => ({ kind: 'charge' })));
});

async function serviceProcess(configuration: ConfigurationInput) {
  const program = [script, JSON.stringify(configuration)];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const exit = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  onTestFinished(kill);
  const started = once(child, 'message');
  const failed = exit.then(([code]) => Promise.reject(new Error(`The service ended with ${code}.`)));
  const [{ url, ownerToken: token }] = await Promise.race([started, failed]);
  return { url: url as string, token: token as string, kill };
}

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ComfyUi, startComfyUi } from '../../../support/comfyui.js';
import {
  createComfyUiConfiguration,
  smallestGraph,
  writeWorkflows,
} from '../../../support/comfyui-service.js';
import { readTask, startTask, waitForTask } from '../../../support/generation.js';
import { folderForTest, serviceForTest } from '../../../support/service.js';
import { serviceProcessForTest } from '../../../support/service-in-process.js';
import { steppingProxyForTest } from '../../../support/stepping-proxy.js';
import { waitFor } from '../../../support/wait-for.js';
import { watchWrites } from '../../../support/watch-writes.js';

const configure = (url: string) =>
  createComfyUiConfiguration({ url, workflows: writeWorkflows({ 'image.relight': smallestGraph }) });

test('a task is made once, wherever the service is killed between its request and its result', async () => {
  const host = await startComfyUi();
  const data = folderForTest();
  const configuration = configure(host.url);
  const first = await serviceForTest({ ...configuration, data, graceMs: 0 });
  const copies: { readonly copy: string; readonly isTaken: boolean }[] = [];
  const folder = folderForTest();
  // A copy of the disk after each write is what a kill at that moment leaves.
  watchWrites(first.context, () => {
    const copy = join(folder, String(copies.length));
    cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    copies.push({ copy, isTaken: host.taken.length > 0 });
  });
  const id = await startTask({ url: first.url, token: first.ownerToken });
  await waitForTask({ url: first.url, token: first.ownerToken }, id);
  await first.stop();
  expect(host.ran).toEqual([id]);
  expect(new Set(copies.map(({ isTaken }) => isTaken)).size).toBe(2);

  // Those after which ComfyUI did not have it yet last, because it is asked to forget it for them.
  for (const { copy, isTaken } of copies.reverse()) {
    if (!isTaken) host.restart();
    const ran = host.ran.length;
    const now = () => Date.now() + 60_000;
    const service = await serviceForTest({ ...configuration, data: copy, graceMs: 0 }, { now });
    const [left] = await service.context.database.selectFrom('tasks').select('id').execute();
    // Killed before the task was created.
    if (left) {
      const { generated } = await waitForTask({ url: service.url, token: service.ownerToken }, id);
      expect(generated).toHaveLength(1);
      const credits = await service.context.database.selectFrom('credits').select('kind').execute();
      expect(credits).toEqual([{ kind: 'charge' }]);
    }
    expect(host.ran.length - ran).toBe(left && !isTaken ? 1 : 0);
    await service.stop();
    rmSync(copy, { recursive: true });
  }
});

test.each([
  ['is asked for it', 'asked', 'POST', '/prompt'],
  ['has taken it', 'answered', 'POST', '/prompt'],
  ['has its image', 'answered', 'POST', '/upload/image'],
  ['sends its result', 'answered', 'GET', '/view'],
] as const)('a service that is killed while ComfyUI %s makes the task once', async (_, at, method, path) => {
  const host = await startComfyUi();
  let kill = async () => {};
  const url = await steppingProxyForTest(
    () => host.url,
    async (step) => {
      if (step.at === at && step.method === method && step.path === path) await kill();
    },
  );
  const configuration = { ...configure(url), data: folderForTest() };
  const first = await serviceProcessForTest(configuration);
  const dead = new Promise<void>((done) => {
    kill = async () => {
      kill = async () => {};
      await first.kill();
      done();
    };
  });
  const id = await startTask(first);
  await dead;
  const second = await serviceProcessForTest(configuration);
  await waitForTask(second, id);
  expect(host.ran).toEqual([id]);
});

test('tasks end once each while the service and ComfyUI are killed in turn', async () => {
  const host = await startComfyUi({ runs: false });
  const configuration = { ...configure(host.url), data: folderForTest() };
  let service = await serviceProcessForTest(configuration);
  const ids = [await startTask(service), await startTask(service), await startTask(service)];
  await waitFor(() => expect(host.pending).toHaveLength(2));
  await service.kill();
  host.restart();
  service = await serviceProcessForTest(configuration);
  await runAll(host, service, ids);
  expect([...host.ran].sort()).toEqual([...ids].sort());
});

async function runAll(host: ComfyUi, service: Parameters<typeof readTask>[0], ids: readonly string[]) {
  for (const id of ids)
    await waitFor(async () => {
      await host.run();
      expect((await readTask(service, id)).status).toBe('COMPLETED');
    });
}

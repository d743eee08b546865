import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { RemoteServer } from '../../../src/service/engines/remote/remote-server.js';
import { EngineTroubles } from '../../../src/service/engines/remote/troubles.js';
import { homeForTest, regen } from '../../support/cli.js';
import { startComfyUi } from '../../support/comfyui.js';
import { comfyUiServiceForTest } from '../../support/comfyui-service.js';
import { readTask, startTask, waitForTask } from '../../support/generation.js';
import { findFreePort, listenOn } from '../../support/listen.js';
import { profileServiceForTest } from '../../support/vendor-service.js';
import { startVideo, waitForVideo } from '../../support/videos.js';
import { startVidu } from '../../support/vidu.js';
import { waitFor } from '../../support/wait-for.js';

test('a task is queued until ComfyUI takes it, and never again afterwards', async () => {
  const host = await startComfyUi({ runs: false });
  await host.stop();
  const log = vi.fn();
  const { asking } = await comfyUiServiceForTest({ url: host.url }, {}, { log });
  const upscaling = { ...asking, operation: 'image.upscaler' } as const;
  const id = await startTask(upscaling);
  await waitFor(() => expect(log).toHaveBeenCalled());
  expect((await readTask(upscaling, id)).status).toBe('CREATED');
  await host.start();
  await waitForTask(upscaling, id, 'IN_PROGRESS');
  expect(host.pending.map((prompt) => prompt.id)).toEqual([id]);
  await host.stop();
  await waitFor(() => expect(log.mock.calls.length).toBeGreaterThan(1));
  expect((await readTask(upscaling, id)).status).toBe('IN_PROGRESS');
  await host.start();
  await waitFor(async () => {
    await host.run();
    expect((await readTask(upscaling, id)).status).toBe('COMPLETED');
  });
});

test('a video is queued while nothing listens at the address of its vendor', async () => {
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const log = vi.fn();
  const { asking } = await profileServiceForTest('video', 'vidu', { url, key: 'secret' }, {}, { log });
  const { task_id: id } = await startVideo(asking);
  await waitFor(() => expect(log).toHaveBeenCalled());
  await waitForVideo(asking, id, 'queueing');
});

test('a video that its vendor refuses was never in progress', async () => {
  const vendor = await startVidu({
    refuse: () => ({ status: 400, reason: 'AuditSubmitIllegal', message: 'No.' }),
  });
  const { asking, service } = await profileServiceForTest('video', 'vidu', vendor);
  const { task_id: id } = await startVideo(asking);
  await waitForVideo(asking, id, 'failed');
  const events = await service.context.database
    .selectFrom('events')
    .select('status')
    .where('subject_id', '=', id)
    .orderBy('id')
    .execute();
  expect(events.map(({ status }) => status)).toEqual(['created', 'queueing', 'failed']);
});

test('a task is in progress while a vendor makes what its answer will hold', async () => {
  const { url, close } = await listenOn((_, response) => void response.on('close', () => {}));
  const { asking, service } = await profileServiceForTest('image', 'openai', { url, key: 'secret' });
  const id = await startTask(asking, { prompt: 'warm' });
  await waitForTask(asking, id, 'IN_PROGRESS');
  await service.stop();
  await close();
});

test('serve status and doctor name the address at which nothing listens, until it answers', async () => {
  const host = await startComfyUi();
  await host.stop();
  const log = vi.fn();
  const home = homeForTest();
  const data = join(home, '.local', 'share', 'regen');
  const { asking } = await comfyUiServiceForTest({ url: host.url }, { data }, { log });
  const readStatus = async () => {
    const { stdout } = await regen(['serve', 'status', '--json', '--data', data]);
    return JSON.parse(stdout).vendor_trouble;
  };
  const readAdvice = async (
    env: Record<string, string> = { REGEN_BASE_URL: asking.url, REGEN_TOKEN: asking.token },
  ) => {
    const rows = JSON.parse((await regen(['doctor', '--json'], { env, home })).stdout);
    return rows.find(({ check }: { check: string }) => check === 'engines');
  };
  expect([await readStatus(), await readAdvice()]).toEqual([undefined, undefined]);
  const upscaling = { ...asking, operation: 'image.upscaler' } as const;
  const id = await startTask(upscaling);
  const trouble = `${new URL(host.url).host}: nothing listens at its address (since 20`;
  await waitFor(async () => expect(await readStatus()).toEqual([expect.stringContaining(trouble)]));
  const detail = expect.stringContaining(trouble);
  // Where the log of the embedded service is, is known; that of another service is where its operator put it.
  for (const [env, log] of [
    [undefined, 'the log of the service has more.'],
    [{}, '`regen serve logs` has more.'],
  ] as const)
    expect(await readAdvice(env)).toMatchObject({
      status: 'warn',
      detail,
      advice: expect.stringContaining(log),
    });
  expect(log.mock.calls.map(([, message]) => message)).toContain(
    `ComfyUI at ${host.url} does not answer as expected: nothing listens at its address. The task waits.`,
  );
  await host.start();
  await waitForTask(upscaling, id);
  expect([await readStatus(), await readAdvice()]).toEqual([undefined, undefined]);
});

test('a silence is forgotten once no waiting task meets it any more, and the trouble of an account is not', () => {
  const troubles = new EngineTroubles();
  const vendor = { baseUrl: 'http://127.0.0.1:8188' } as RemoteServer;
  const reasons = (now: number) => troubles.list(now).map(({ reason, since }) => `${reason} ${since}`);
  troubles.begin(vendor, 'silence', 'off', 0, 7_500);
  troubles.begin(vendor, 'silence', 'off', 7_000, 7_500);
  expect(reasons(40_000)).toEqual(['off 1970-01-01T00:00:00.000Z']);
  expect(reasons(50_000)).toEqual([]);
  troubles.begin(vendor, 'silence', 'off', 60_000, 7_500);
  expect(reasons(60_000)).toEqual(['off 1970-01-01T00:01:00.000Z']);
  troubles.end(vendor, 'silence');
  troubles.begin(vendor, 'account', 'no credits', 0);
  expect(reasons(10 ** 12)).toEqual(['no credits 1970-01-01T00:00:00.000Z']);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  comfyUiServiceForTest,
  createComfyUiConfiguration,
  smallestGraph,
  writeWorkflows,
} from '../../../support/comfyui-service.js';
import { startPaths, startTask, waitForTask } from '../../../support/generation.js';
import { createKillSwitch, killableServiceForTest } from '../../../support/killable-service.js';
import { type Answered, ask, folderForTest } from '../../../support/service.js';
import { steppingProxyForTest } from '../../../support/stepping-proxy.js';
import { waitFor } from '../../../support/wait-for.js';

/** A command line that starts ComfyUI at $PORT of this machine. */
const command = process.env.REGEN_TEST_COMFYUI_START;

/** Its steps take some seconds, and it can be interrupted between them. */
const slowGraph = {
  '1': smallestGraph['1'],
  '2': {
    class_type: 'ImageScale',
    inputs: { image: ['1', 0], upscale_method: 'lanczos', width: 700, height: 700, crop: 'disabled' },
  },
  ...Object.fromEntries(
    [3, 4, 5, 6].map((id) => [
      id,
      { class_type: 'ImageBlur', inputs: { image: [`${id - 1}`, 0], blur_radius: 8, sigma: 5 } },
    ]),
  ),
  '7': { class_type: 'SaveImage', inputs: { images: ['6', 0], filename_prefix: 'slow' } },
};

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** Starts ComfyUI, which can be killed and started again at the same address. */
async function startReal() {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  let kill = async () => {};
  const start = async () => {
    const env = { ...process.env, PORT: String(port) };
    const child = spawn(command as string, { shell: true, detached: true, stdio: 'ignore', env });
    const exit = once(child, 'exit');
    kill = async () => {
      kill = async () => {};
      // The shell, and what it started.
      process.kill(-(child.pid as number), 'SIGKILL');
      await exit;
    };
    await waitFor(async () => expect((await fetch(`${url}/system_stats`)).status).toBe(200));
  };
  onTestFinished(() => kill());
  await start();
  const read = async (path: string): Promise<Answered> => (await fetch(url + path)).json();
  return { url, start, kill: () => kill(), read };
}

const readAccount = async (asking: { url: string; token: string }, id: string) =>
  (await ask(`${asking.url}/users/tasks/${id}`, { token: asking.token })).body;

/** An image with other bytes each time, so that nothing is answered from ComfyUI's cache. */
async function createNoise(): Promise<string> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const create = { width: 30, height: 30, channels: 3, background: '#000', noise } as const;
  return (await sharp({ create }).png().toBuffer()).toString('base64');
}

describe.skipIf(!command)('a real ComfyUI', () => {
  it('that is killed with a queue makes each task that it forgot once more', async () => {
    const host = await startReal();
    const workflows = writeWorkflows({ 'image.relight': slowGraph });
    const { asking } = await comfyUiServiceForTest({
      ...{ url: host.url, workflows, settings: { atOnce: 3 } },
    });
    const ids: string[] = [];
    while (ids.length < 3) ids.push(await startTask(asking, { image: await createNoise() }));
    await waitFor(async () => {
      const { queue_running, queue_pending } = await host.read('/queue');
      expect([queue_running.length, queue_pending.length]).toEqual([1, 2]);
    });
    await host.kill();
    await host.start();
    for (const id of ids) {
      const { generated } = await waitForTask(asking, id);
      expect(generated).toHaveLength(1);
      expect(await readAccount(asking, id)).toMatchObject({ credits: 5, refunded: 0 });
    }
    const history = await host.read('/history');
    expect(Object.keys(history).sort()).toEqual([...ids].sort());
  });

  it.each([
    ['is asked for a task', 'POST', '/prompt', 'asked'],
    ['has taken a task', 'POST', '/prompt', 'answered'],
    ['has its image', 'POST', '/upload/image', 'answered'],
    ['sends its result', 'GET', '/view', 'answered'],
  ] as const)('makes a task once for a service that is killed while it %s', async (_, method, path, at) => {
    const host = await startReal();
    const { press, aim } = createKillSwitch();
    let taken = 0;
    const url = await steppingProxyForTest(
      () => host.url,
      async (step) => {
        if (step.path === '/prompt' && step.at === 'answered') taken += 1;
        if (step.at === at && step.method === method && step.path === path) await press();
      },
    );
    const workflows = writeWorkflows({ 'image.relight': smallestGraph });
    const configuration = { ...createComfyUiConfiguration({ url, workflows }), data: folderForTest() };
    const first = await killableServiceForTest(configuration);
    const dead = aim(first.kill);
    const id = await startTask(first, { image: await createNoise() });
    await dead;
    const second = await killableServiceForTest(configuration);
    await waitForTask(second, id);
    expect(taken).toBe(1);
    expect(await readAccount(second, id)).toMatchObject({ credits: 5, refunded: 0 });
  });

  it('forgets a cancelled task that waits, interrupts one that runs, and goes on with the next', async () => {
    const host = await startReal();
    const { asking } = await comfyUiServiceForTest({
      ...{ url: host.url, settings: { atOnce: 3 } },
      workflows: writeWorkflows({ 'image.relight': slowGraph }),
    });
    const ids: string[] = [];
    while (ids.length < 3) ids.push(await startTask(asking, { image: await createNoise() }));
    const [running, waiting, last] = await waitFor(async () => {
      const { queue_running, queue_pending } = await host.read('/queue');
      const order = [
        ...queue_running,
        ...queue_pending.sort((one: number[], other: number[]) => (one[0] ?? 0) - (other[0] ?? 0)),
      ];
      expect([queue_running.length, queue_pending.length]).toEqual([1, 2]);
      return order.map(([, id]) => id as string) as [string, string, string];
    });
    const cancel = async (id: string) =>
      (await ask(`${asking.url}/users/tasks/${id}/cancel`, { method: 'POST', token: asking.token })).body;
    expect(await cancel(waiting)).toMatchObject({ status: 'FAILED', credits: 0 });
    expect(await cancel(running)).toMatchObject({ status: 'FAILED', credits: 5 });
    await waitForTask(asking, last);
    const history = await host.read('/history');
    expect(Object.keys(history).sort()).toEqual([running, last].sort());
    expect(history[running].status.status_str).toBe('error');
  });

  it('says which node fails, refuses what a node does not take, and shows no path of its disk', async () => {
    const host = await startReal();
    const save = (prefix: string) => ({
      class_type: 'SaveImage',
      inputs: { images: ['1', 0], filename_prefix: prefix },
    });
    const { asking } = await comfyUiServiceForTest({
      url: host.url,
      workflows: writeWorkflows({
        'image.relight': { '1': smallestGraph['1'], '2': save('../../../../tmp/outside') },
        'image.skinEnhancer': { '1': smallestGraph['1'], '2': { class_type: 'NoSuchNode', inputs: {} } },
        'image.upscaler': {
          '1': smallestGraph['1'],
          '3': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'sd.safetensors' } },
          '2': save('x'),
          '4': { class_type: 'PreviewAny', inputs: { source: ['3', 0] } },
        },
      }),
    });
    const id = await startTask(asking, { image: await createNoise() });
    await waitForTask(asking, id, 'FAILED');
    const { reason, credits } = await readAccount(asking, id);
    expect(reason).toMatch(/^The workflow failed at node 2 \(SaveImage\): /);
    expect([reason.includes('/tmp'), credits]).toEqual([false, 0]);
    const refuse = async (path: string) =>
      (
        await ask(asking.url + path, {
          method: 'POST',
          token: asking.token,
          json: { image: await createNoise() },
        })
      ).body.message;
    expect(await refuse(startPaths['image.skinEnhancer'])).toContain(
      'it has no node class NoSuchNode (node 2)',
    );
    expect(await refuse(startPaths['image.upscaler'])).toContain(
      'ckpt_name of node 3 (CheckpointLoaderSimple) must be',
    );
  });
});

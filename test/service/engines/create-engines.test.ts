import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { homeForTest, regen } from '../../support/cli.js';
import { startComfyUi } from '../../support/comfyui.js';
import { exampleWorkflows } from '../../support/comfyui-service.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { readTask, startTask, waitForTask } from '../../support/generation.js';
import { folderForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

/** A service whose upscaler alone is ComfyUI; a copying engine makes the other images. */
async function serveUpscaler(url: string | undefined, input: ConfigurationInput = {}) {
  const engine = { engine: 'comfyui', baseUrl: url ?? '', workflows: exampleWorkflows, pollMs: 20 } as const;
  const service = await serviceForTest(
    { ...(url && { generation: { operation: { 'image.upscaler': engine } } }), ...input },
    { engines: { image: { ...createCopyingEngine(), atOnce: 1 } } },
  );
  const asking = { url: service.url, token: service.ownerToken };
  return { service, relight: asking, upscaler: { ...asking, operation: 'image.upscaler' as const } };
}

describe('an operation with an engine of its own', () => {
  it('is made by it, and the others of its kind by the one of the kind', async () => {
    const host = await startComfyUi();
    const { relight, upscaler } = await serveUpscaler(host.url);
    const [one, other] = [await startTask(relight), await startTask(upscaler)];
    await waitForTask(relight, one);
    await waitForTask(upscaler, other);
    expect(host.ran).toEqual([other]);
  });

  it('does not wait for the tasks of the other engine, nor they for it', async () => {
    const host = await startComfyUi({ runs: false });
    const { relight, upscaler } = await serveUpscaler(host.url);
    const waiting = [];
    while (waiting.length < 4) waiting.push(await startTask(upscaler));
    await waitFor(() => expect(host.pending).toHaveLength(2));
    await waitForTask(relight, await startTask(relight));
    for (const id of waiting)
      await waitFor(async () => {
        await host.run();
        expect((await readTask(upscaler, id)).status).toBe('COMPLETED');
      });
  });

  it('keeps its tasks if it gets or loses this engine while they wait', async () => {
    const host = await startComfyUi({ runs: false });
    const data = folderForTest();
    const first = await serveUpscaler(host.url, { data });
    const ids = [
      await startTask(first.upscaler),
      await startTask(first.upscaler),
      await startTask(first.upscaler),
    ];
    await waitFor(() => expect(host.pending).toHaveLength(2));
    await first.service.stop();
    const second = await serveUpscaler(undefined, { data });
    for (const id of ids) await waitForTask(second.upscaler, id);
    expect(host.ran).toEqual([]);
  });

  it('counts for the quota of tasks in flight', async () => {
    const host = await startComfyUi({ runs: false });
    const { service, upscaler } = await serveUpscaler(host.url, { quotas: { tasksInFlight: 1 } });
    const token = await service.signFor({ sub: 'ann', email: 'ann@example.com' });
    await startTask({ ...upscaler, token });
    await expect(startTask({ ...upscaler, token })).rejects.toThrow('quota_exceeded');
  });
});

it('a result of ComfyUI is saved by one command, and its graph stays on the server', async () => {
  const host = await startComfyUi();
  const { service } = await serveUpscaler(host.url);
  const folder = folderForTest();
  const create = { width: 40, height: 30, channels: 3, background: 'red' } as const;
  await sharp({ create }).png().toFile(join(folder, 'in.png'));
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const saved = join(folder, 'out.png');
  const argv = ['image', 'upscaler', join(folder, 'in.png'), '--scale-factor', '4', '--output', saved];
  const { exit, stdout, stderr } = await regen(argv, { env, home: homeForTest() });
  expect([exit, stdout], stderr).toEqual([0, `${saved}\n`]);
  expect(await sharp(saved).metadata()).toMatchObject({ width: 160, height: 120 });
  expect(readFileSync(saved).includes('class_type')).toBe(false);

  const refused = await regen([...argv, '--force', '--flavor', 'photo'], { env, home: homeForTest() });
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain('--flavor is not an option of the upscaling workflow of this service');
});

it('plain http to a name that resolves to a public address is refused when it is used', async () => {
  const { createOperatorAgent } = await import('../../../src/service/network/guarded-agent.js');
  const { request } = await import('../../../src/wire/undici.js');
  const lookup = (
    _: string,
    __: object,
    done: (error: null, found: { address: string; family: number }[]) => void,
  ) => done(null, [{ address: '93.184.216.34', family: 4 }]);
  const url = new URL('http://comfyui:8188/queue');
  await expect(request(await createOperatorAgent(url, lookup), url, {})).rejects.toThrow(
    'its address is public, so its URL must begin with https',
  );
});

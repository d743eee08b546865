import sharp from 'sharp';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ChildInterrupted } from '../../../src/disk/limited-child.js';
import { ImageInspector } from '../../../src/service/operation/image-inspector.js';
import { listChildProcesses } from '../../support/child-processes.js';
import { createSmallestBody, pixel, startPaths } from '../../support/generation.js';
import { ask, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const inspector = new ImageInspector();
afterAll(() => inspector.close());

/** Few bytes that take a second to decode. */
let slow = '';
beforeAll(async () => {
  const create = { width: 5000, height: 5000, channels: 3, background: '#369' } as const;
  slow = (await sharp({ create }).avif({ effort: 0 }).toBuffer()).toString('base64');
  expect(slow.length).toBeLessThan(5_000);
});

function inspectorForTest(limits: ConstructorParameters<typeof ImageInspector>[0]): ImageInspector {
  const made = new ImageInspector(limits);
  onTestFinished(() => made.close());
  return made;
}

const inspectImage = (owner: string, base64: string, given = inspector) =>
  given.inspect({ owner, image: { base64 }, maxPixels: 1e8 });

test('the image of one user waits for at most one image of each other', async () => {
  const ended: string[] = [];
  const all = ['eve', 'eve', 'eve', 'mallory', 'mallory', 'bob', 'eve'].map(async (owner) => {
    await inspectImage(owner, owner === 'bob' ? pixel : slow);
    ended.push(owner);
  });
  await Promise.all(all);
  expect(ended).toEqual(['eve', 'mallory', 'bob', 'eve', 'mallory', 'eve', 'eve']);
});

test.each([{ taskCpuMs: 100 }, { residentBytes: 60e6 }])(
  'an image that exceeds %o is refused, and the next one is decoded',
  async (limits) => {
    const limited = inspectorForTest({ stepCpuMs: 100_000, taskCpuMs: 100_000, ...limits });
    expect(await inspectImage('eve', slow, limited)).toMatchObject({ problem: 'effort' });
    const roomy = inspectorForTest({});
    expect(await inspectImage('eve', slow, roomy)).toEqual({ width: 5000, height: 5000 });
  },
);

/** Kills the process that was started since. */
async function killNew(before: readonly number[]): Promise<void> {
  const pid = await waitFor(() => {
    const [found] = listChildProcesses('image-worker').filter((one) => !before.includes(one));
    expect(found).toBeDefined();
    return found as number;
  });
  process.kill(pid, 'SIGKILL');
}

test.runIf(process.platform === 'linux')(
  'an image whose process is killed from outside is neither accepted nor refused',
  async () => {
    const killed = inspectorForTest({});
    const before = listChildProcesses('image-worker');
    const inspecting = inspectImage('eve', slow, killed).catch((error: unknown) => error);
    await killNew(before);
    expect(await inspecting).toBeInstanceOf(ChildInterrupted);
    expect(await inspectImage('eve', pixel, killed)).toEqual({ width: 1, height: 1 });
  },
);

test.runIf(process.platform === 'linux')(
  'a request whose image cannot be decoded by a killed process may be repeated',
  async () => {
    const { url, ownerToken: token } = await serviceForTest();
    const start = (json: object) => ask(url + startPaths['image.relight'], { method: 'POST', token, json });
    const before = listChildProcesses('image-worker');
    const starting = start({ image: slow });
    await killNew(before);
    const { status, body } = await starting;
    expect([status, body.error]).toEqual([503, 'unavailable']);
    expect((await start(createSmallestBody('image.relight'))).status).toBe(200);
  },
);

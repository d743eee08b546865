import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startComfyUi } from '../../support/comfyui.js';
import { comfyUiServiceForTest, smallestGraph, writeWorkflows } from '../../support/comfyui-service.js';
import { pixel, readTask, startPaths, startTask, waitForTask } from '../../support/generation.js';
import { mp4 } from '../../support/generation-double.js';
import { startMagnific } from '../../support/magnific.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';
import { createVendorSettings, profileServiceForTest, writeProfile } from '../../support/vendor-service.js';
import { startVideo, waitForVideo } from '../../support/videos.js';
import { startVidu } from '../../support/vidu.js';
import { waitFor } from '../../support/wait-for.js';

type Instead = NonNullable<NonNullable<Parameters<typeof startComfyUi>[0]>['instead']>;

/** A service with a ComfyUI that answers some paths otherwise, and how its task ends while the clock goes on. */
async function runAt(instead: Instead, graph: object = smallestGraph) {
  let aheadMs = 0;
  const host = await startComfyUi({ instead });
  const workflows = writeWorkflows({ 'image.relight': graph });
  const { asking } = await comfyUiServiceForTest(
    { url: host.url, workflows },
    {},
    { now: () => Date.now() + aheadMs },
  );
  const id = await startTask(asking);
  const status = await waitFor(async () => {
    aheadMs += 60_000;
    const { status } = await readTask(asking, id);
    expect(['COMPLETED', 'FAILED']).toContain(status);
    return status;
  });
  const { body } = await ask(`${asking.url}/users/tasks/${id}`, { token: asking.token });
  return { host, status, reason: body.reason as string, credits: body.credits, hours: aheadMs / 3_600_000 };
}

const endWith = (entry: object): Instead => {
  return (path) =>
    path.startsWith('/history/')
      ? { status: 200, body: { [path.slice('/history/'.length)]: entry } }
      : undefined;
};
const success = { status_str: 'success', completed: true, messages: [] };

describe('a ComfyUI that lies', () => {
  it('with results that are paths is asked for them itself, and no file of this machine is read', async () => {
    const images = [
      { filename: '/etc/../etc/hosts.png', subfolder: '../../..', type: 'output' },
      { filename: 'http://127.0.0.1:9/a.png?', subfolder: '', type: 'output&type=input' },
    ];
    const { status, reason, hours } = await runAt(endWith({ outputs: { 2: { images } }, status: success }));
    expect([status, reason]).toEqual(['FAILED', 'ComfyUI is not available: the server answered 404.']);
    expect(hours).toBeLessThan(12);
  });

  it('with ten thousand results fails the task', async () => {
    const images = Array.from({ length: 10_000 }, (_, at) => ({ filename: `${at}.png` }));
    const { reason } = await runAt(endWith({ outputs: { 2: { images } }, status: success }));
    expect(reason).toMatch(/^The workflow made 10000 files; the limit is \d+\.$/);
  });

  it('with a history that is larger than any ends the task in minutes', async () => {
    const body = JSON.stringify({ all: 'x'.repeat(65 * 1024 ** 2) });
    const { reason, credits, hours } = await runAt((path) =>
      path.startsWith('/history/') ? { status: 200, type: 'application/json', body } : undefined,
    );
    expect([reason, credits]).toEqual(['ComfyUI is not available: its answer is not that of ComfyUI.', 0]);
    expect(hours).toBeLessThan(12);
  });

  it.each([
    [{ outputs: 7, status: success }, 'The workflow saved no image.'],
    [
      { outputs: { __proto__: null, 2: { images: [null, 'a', { filename: 3 }] } }, status: success },
      'The workflow saved no image.',
    ],
    [
      { status: { status_str: 'error', messages: [['execution_error', null], 'x', 7] } },
      'The workflow failed.',
    ],
    [
      {
        status: {
          status_str: 'error',
          messages: [
            [
              'execution_error',
              {
                node_id: '\u001b[2J1',
                node_type: 'A\r\nB',
                exception_message: `\u0000${'y'.repeat(100_000)}`,
              },
            ],
          ],
        },
      },
      `The workflow failed at node [2J1 (A): ${'y'.repeat(299)}….`,
    ],
  ])('with a strange history fails the task with plain words', async (entry, reason) => {
    expect((await runAt(endWith(entry))).reason).toBe(reason);
  });

  it('with a node class whose name is a path is not asked for another path', async () => {
    const host = await startComfyUi();
    const stray = { class_type: '..', inputs: {} };
    const { asking } = await comfyUiServiceForTest({
      ...{ url: host.url, workflows: writeWorkflows({ 'image.relight': { ...smallestGraph, '9': stray } }) },
    });
    const { body } = await ask(asking.url + startPaths['image.relight'], {
      ...{ method: 'POST', token: asking.token, json: { image: pixel } },
    });
    expect(body.message).toContain('it has no node class .. (node 9)');
    expect(host.asked.filter((one) => !/ \/object_info(\/\w+)?$/.test(one))).toEqual([]);
  });
});

it.each(['__proto__', 'constructor', 'toString', 'images.__proto__', 'advanced_settings.constructor'])(
  'a workflow with the placeholder %s is refused at the start',
  async (name) => {
    const graph = {
      ...smallestGraph,
      '3': { class_type: 'PreviewImage', inputs: { images: `{{${name}}}` } },
    };
    const engine = {
      engine: 'comfyui',
      baseUrl: 'http://127.0.0.1:9',
      workflows: writeWorkflows({ 'image.relight': graph }),
    } as const;
    await expect(serviceForTest({ generation: { image: engine } })).rejects.toThrow(
      `has {{${name}}}, which is not a field of this operation`,
    );
  },
);

describe('a vendor that lies', () => {
  it('about which task a callback is of is not believed', async () => {
    const vendor = await startMagnific({ states: ['IN_PROGRESS'] });
    const { asking } = await profileServiceForTest(
      'image',
      writeProfile({ extends: 'magnific', limits: {} }),
      vendor,
    );
    const ids = [await startTask(asking), await startTask(asking)];
    await waitFor(() => expect(vendor.tasks.size).toBe(2));
    const [one, other] = [...vendor.tasks.values()];
    if (!one || !other) throw new Error('There are not two tasks.');
    // What it made of the second is sent to where the first is awaited.
    expect(await vendor.call({ ...other, body: one.body }, 'COMPLETED')).toBe(204);
    const looks = one.looks;
    await waitFor(() => expect(one.looks).toBeGreaterThan(looks + 3));
    for (const id of ids) expect((await readTask(asking, id)).status).toBe('IN_PROGRESS');
    for (const task of [one, other]) task.state = 'COMPLETED';
    for (const id of ids) await waitForTask(asking, id);
  });

  it('with an answer that is larger than any ends the task in minutes', async () => {
    let aheadMs = 0;
    const vendor = await startMagnific({ states: [`PAUSED${' '.repeat(17 * 1024 ** 2)}`] });
    const { asking } = await profileServiceForTest(
      ...(['image', writeProfile({ extends: 'magnific', limits: {} }), vendor, {}] as const),
      { now: () => Date.now() + aheadMs },
    );
    const id = await startTask(asking);
    await waitFor(() => expect(vendor.tasks.size).toBe(1));
    await waitFor(async () => {
      aheadMs += 60_000;
      expect((await readTask(asking, id)).status).toBe('FAILED');
    });
    expect(aheadMs).toBeLessThan(12 * 3_600_000);
  });

  it('about what it charges does not spoil the sums', async () => {
    const vendor = await startVidu({ states: ['success'], credits: 1e300 });
    const { asking, service } = await profileServiceForTest('video', 'vidu', vendor);
    await waitForVideo(asking, (await startVideo(asking)).task_id);
    const rows = await service.context.database.selectFrom('credits').select('vendor_credits').execute();
    expect(rows).toEqual([{ vendor_credits: null }]);
  });
});

describe('an edited recording', () => {
  it.each([
    ['shows a video in place of an image', {}, mp4],
    ['calls an image a video', { role: 'video' }, undefined],
    ['has a file that is a page', {}, Buffer.from('<svg onload="alert(1)"/>')],
  ] as const)('that %s is not served', async (_, change, bytes) => {
    const folder = join(folderForTest(), 'cassettes');
    mkdirSync(folder);
    const vendor = await startMagnific({ states: ['COMPLETED'] });
    const image = createVendorSettings('magnific', vendor);
    const recording = await serviceForTest({ generation: { image, record: folder } });
    const first = { url: recording.url, token: recording.ownerToken };
    await waitForTask(first, await startTask(first));

    const { createHash } = await import('node:crypto');
    const [json, file] = ['.json', '.png'].map((ext) =>
      join(folder, readdirSync(folder).find((name) => name.endsWith(ext)) as string),
    ) as [string, string];
    const cassette = JSON.parse(readFileSync(json, 'utf8'));
    if (bytes) writeFileSync(file, bytes);
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    Object.assign(cassette.files[0], { ...change, sha256 });
    writeFileSync(json, JSON.stringify(cassette));

    const replay = await serviceForTest({ generation: { image, replay: folder } });
    const second = { url: replay.url, token: replay.ownerToken };
    const id = await startTask(second);
    await waitForTask(second, id, 'FAILED');
    const { body } = await ask(`${second.url}/users/tasks/${id}`, { token: second.token });
    expect([body.reason, body.credits]).toEqual([expect.stringContaining('is damaged or incomplete'), 0]);
  });
});

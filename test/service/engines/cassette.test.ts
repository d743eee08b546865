import { readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunningService, ServiceParts } from '../../../src/service/serve.js';
import { regen } from '../../support/cli.js';
import { startComfyUi } from '../../support/comfyui.js';
import { writeWorkflows } from '../../support/comfyui-service.js';
import { pixel, readTask, startTask, waitForTask } from '../../support/generation.js';
import { startMagnific } from '../../support/magnific.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';
import { startVideo, waitForVideo } from '../../support/videos.js';
import { startVidu } from '../../support/vidu.js';

/** A service of Magnific and Vidu that records, or one that replays and has no keys. */
async function startRecorded(
  mode: 'record' | 'replay',
  folder: string,
  parts: ServiceParts = {},
  states = ['success'],
) {
  const [magnific, vidu] = [await startMagnific({ states: ['COMPLETED'] }), await startVidu({ states })];
  const settings = (profile: string, { url: baseUrl, key }: { url: string; key: string }) => {
    const file = join(folderForTest(), 'vendor.key');
    if (mode === 'record') writeFileSync(file, key);
    return { engine: 'upstream', vendor: profile, baseUrl, key: { file }, pollMs: 20 } as const;
  };
  const generation = {
    ...{ image: settings('magnific', magnific), video: settings('vidu', vidu) },
    [mode]: folder,
  };
  const service = await serviceForTest({ generation }, parts);
  return { service, asking: { url: service.url, token: service.ownerToken }, magnific, vidu };
}

const readReason = async (asking: { url: string; token: string }, id: string) =>
  (await ask(`${asking.url}/users/tasks/${id}`, { token: asking.token })).body.reason;

test('recorded tasks are answered with the same files, without a vendor or its key, and others are refused', async () => {
  const folder = join(folderForTest(), 'cassettes');
  const recording = await startRecorded('record', folder);
  const image = await waitForTask(recording.asking, await startTask(recording.asking, { prompt: 'warm' }));
  const video = await startVideo(recording.asking, { images: [pixel], payload: 'one', seed: 4 });
  const made = await waitForVideo(recording.asking, video.task_id);

  const { asking, magnific, vidu } = await startRecorded('replay', folder);
  const again = await waitForTask(
    asking,
    await startTask(asking, { prompt: 'warm', image: `data:image/png;base64,${pixel}` }),
  );
  const bytes = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
  expect(await bytes(again.generated[0])).toEqual(await bytes(image.generated[0]));
  const other = await startVideo(asking, { images: [pixel], payload: 'two', seed: 4 });
  const replayed = await waitForVideo(asking, other.task_id);
  for (const field of ['url', 'cover_url'])
    expect(await bytes(replayed.creations[0][field])).toEqual(await bytes(made.creations[0][field]));
  expect([magnific.tasks.size, vidu.requests.length]).toEqual([0, 0]);

  const unknown = await startTask(asking, { prompt: 'cold' });
  await waitForTask(asking, unknown, 'FAILED');
  expect(await readReason(asking, unknown)).toBe(
    'There is no recording of this request: image.relight with the prompt "cold". The nearest recording has another prompt.',
  );
  const unseeded = await startVideo(asking, { images: [pixel], payload: 'one', seed: 5 });
  await waitForVideo(asking, unseeded.task_id, 'failed');
  expect(await readReason(asking, unseeded.task_id)).toContain('The nearest recording has another seed.');
  const elsewhere = { ...asking, operation: 'image.upscaler' } as const;
  const upscaling = await startTask(elsewhere);
  await waitForTask(elsewhere, upscaling, 'FAILED');
  expect(await readReason(asking, upscaling)).toContain('No request for this operation was recorded.');
});

test('a failure that the vendor reports is recorded, and one of the operator is not', async () => {
  const folder = folderForTest();
  const { asking } = await startRecorded('record', folder, {}, ['failed']);
  await waitForVideo(asking, (await startVideo(asking, { prompt: 'A fight' })).task_id, 'failed');
  const replay = await startRecorded('replay', folder);
  const { task_id } = await startVideo(replay.asking, { prompt: 'A fight' });
  expect((await waitForVideo(replay.asking, task_id, 'failed')).err_code).toBe('InternalServiceFailure');
  expect(readdirSync(folder)).toHaveLength(1);
});

test('the faults of a scenario apply to what is replayed', async () => {
  const folder = folderForTest();
  const { asking } = await startRecorded('record', folder);
  await waitForTask(asking, await startTask(asking));
  const document = { rules: [{ nth: 1, operations: 'image.relight', fail: { code: 'unlucky' } }] };
  const replay = await startRecorded('replay', folder, { scenario: { document, seed: 1 } });
  await waitForTask(replay.asking, await startTask(replay.asking), 'FAILED');
  await waitForTask(replay.asking, await startTask(replay.asking));
});

test.each([
  ['has other bytes', (path: string) => writeFileSync(path, Buffer.from(pixel, 'base64').subarray(0, 60))],
  ['is a page', (path: string) => writeFileSync(path, '<script>alert(1)</script>')],
  [
    'is a link to a file elsewhere',
    (path: string) => {
      renameSync(path, `${path}.moved`);
      symlinkSync(`${path}.moved`, path);
    },
  ],
])('a recording whose file %s is not served', async (_, damage) => {
  const folder = folderForTest();
  const { asking } = await startRecorded('record', folder);
  await waitForTask(asking, await startTask(asking));
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.png'));
  damage(join(folder, file as string));
  const replay = await startRecorded('replay', folder);
  const id = await startTask(replay.asking);
  await waitForTask(replay.asking, id, 'FAILED');
  expect(await readReason(replay.asking, id)).toContain('is damaged or incomplete; record it again');
});

test('a recording cannot name a file outside of its folder', async () => {
  const folder = folderForTest();
  const { asking } = await startRecorded('record', folder);
  await waitForTask(asking, await startTask(asking));
  const [name] = readdirSync(folder).filter((one) => one.endsWith('.json'));
  const path = join(folder, name as string);
  const cassette = JSON.parse(readFileSync(path, 'utf8'));
  cassette.files[0].ext = '/../a';
  writeFileSync(path, JSON.stringify(cassette));
  const replay = await startRecorded('replay', folder);
  const id = await startTask(replay.asking);
  await waitForTask(replay.asking, id, 'FAILED');
  expect((await readTask(replay.asking, id)).generated).toEqual([]);
});

test.each([
  [{ replay: '/no/such/folder' }, '/no/such/folder is not a folder of recordings'],
  [
    { record: '/tmp/recordings' },
    'generation.record needs an engine of images or videos other than local, because previews are not recorded',
  ],
  [{ replay: '/tmp', record: '/tmp' }, 'generation.replay cannot be combined with generation.record'],
])('a mistake in the settings %j is reported', async (generation, message) => {
  await expect(serviceForTest({ generation })).rejects.toThrow(`not valid: ${message}`);
});

test('the same batch gives the same rows from previews, Magnific and Vidu, ComfyUI and recordings', async () => {
  const jobs = [
    { command: 'image relight', image: 'a.png', prompt: 'warm' },
    { command: 'video text2video', prompt: 'A boat', duration: 1, resolution: '540p' },
    { command: 'image upscaler', image: 'a.png', 'scale-factor': 2 },
  ];
  const run = async ({ url, ownerToken }: RunningService) => {
    const cwd = folderForTest();
    writeFileSync(join(cwd, 'a.png'), Buffer.from(pixel, 'base64'));
    writeFileSync(join(cwd, 'jobs.jsonl'), jobs.map((job) => `${JSON.stringify(job)}\n`).join(''));
    const env = { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken };
    const { stdout } = await regen(['batch', 'jobs.jsonl', '--ndjson', '-o', 'out/{line}'], { cwd, env });
    const rows = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const comparable = rows.map(({ task_id: _, saved, ...row }) => ({
      ...row,
      saved: saved.map((path: string) => basename(path)),
    }));
    return comparable.sort((one, other) => one.line - other.line);
  };
  const folder = folderForTest();
  const recorded = await run((await startRecorded('record', folder)).service);
  expect(recorded.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
  expect(await run((await startRecorded('replay', folder)).service)).toEqual(recorded);
  expect(await run(await serviceForTest())).toEqual(recorded);
  expect(await run(await startComfyUiForBatch())).toEqual(recorded);
});

/** A service whose images and videos are made by ComfyUI, and recorded again. */
async function startComfyUiForBatch(): Promise<RunningService> {
  const { url, uploads } = await startComfyUi();
  // It comes with a picture.
  uploads.set('example.png', Buffer.from(pixel, 'base64'));
  const { image, save } = {
    image: { class_type: 'LoadImage', inputs: { image: '{{image}}' } },
    save: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
  };
  const workflows = writeWorkflows({
    'image.relight': {
      ...{ '1': image, '2': save },
      '3': { class_type: 'StringNode', inputs: { text: '{{prompt}}', seed: '{{seed}}' } },
    },
    'image.upscaler': {
      ...{ '1': image, '3': { ...save, inputs: { ...save.inputs, images: ['2', 0] } } },
      '2': {
        class_type: 'ImageScaleBy',
        inputs: { image: ['1', 0], upscale_method: 'lanczos', scale_by: '{{scale_factor}}' },
      },
    },
    'video.text2video': {
      '1': { class_type: 'LoadImage', inputs: { image: 'example.png' } },
      '2': {
        class_type: 'StringNode',
        inputs: { text: '{{prompt}} {{duration}} {{resolution}}', seed: '{{seed}}' },
      },
      '3': { class_type: 'CreateVideo', inputs: { images: ['1', 0], fps: 24 } },
      '4': { class_type: 'SaveVideo', inputs: { video: ['3', 0], format: 'auto', filename_prefix: 'v' } },
      '5': save,
    },
  });
  const engine = { engine: 'comfyui', baseUrl: url, workflows, pollMs: 20 } as const;
  return serviceForTest({ generation: { image: engine, video: engine } });
}

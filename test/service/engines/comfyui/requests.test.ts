import { describe, expect, it } from 'vitest';
import { type ComfyUi, startComfyUi } from '../../../support/comfyui.js';
import { comfyUiServiceForTest, smallestGraph, writeWorkflows } from '../../../support/comfyui-service.js';
import { pixel, startPaths, startTask, waitForTask } from '../../../support/generation.js';
import { ask } from '../../../support/service.js';
import { startVideo, waitForVideo } from '../../../support/videos.js';

type Served = Awaited<ReturnType<typeof comfyUiServiceForTest>>;

/** A request that is refused, once it is clear that it cost nothing and ComfyUI was not asked. */
async function readRefusal(
  { asking, service }: Served,
  host: ComfyUi,
  operation: keyof typeof startPaths,
  fields: object,
) {
  const json = { image: pixel, ...fields };
  const { status, body } = await ask(asking.url + startPaths[operation], {
    ...{ method: 'POST', token: asking.token, json },
  });
  expect(await service.context.database.selectFrom('credits').selectAll().execute()).toEqual([]);
  expect(
    await service.context.database.selectFrom('jobs').where('kind', 'like', '%-task').selectAll().execute(),
  ).toEqual([]);
  expect(host.taken).toEqual([]);
  const {
    error,
    message,
    details = [],
  } = body as { error: string; message: string; details?: { path: string }[] };
  return { status, error, message, details };
}

describe('before it is queued and charged', () => {
  it('an operation without a workflow is refused by name', async () => {
    const host = await startComfyUi();
    const served = await comfyUiServiceForTest({
      url: host.url,
      workflows: writeWorkflows({ 'image.relight': smallestGraph }),
    });
    const { status, error, message } = await readRefusal(served, host, 'image.upscaler', {});
    expect([status, error, message]).toEqual([
      501,
      'not_supported',
      'This service does not have this operation (upscaling).',
    ]);
  });

  it.each([
    [
      'that the workflow has no placeholder for',
      { flavor: 'photo' },
      'flavor',
      'is not an option of the upscaling workflow of this service',
    ],
    [
      'whose value a node does not take',
      { scale_factor: 16 },
      'scale_factor',
      'must be at most 8 for the workflow of this service',
    ],
  ])('an option %s is refused by name', async (_, fields, path, message) => {
    const host = await startComfyUi();
    const served = await comfyUiServiceForTest({ url: host.url });
    const { status, details } = await readRefusal(served, host, 'image.upscaler', fields);
    expect([status, details]).toEqual([400, [{ path, message }]]);
  });

  it('a nested option is refused by its path, and its default is none', async () => {
    const host = await startComfyUi();
    const served = await comfyUiServiceForTest({
      url: host.url,
      workflows: writeWorkflows({ 'image.relight': smallestGraph }),
    });
    const { details } = await readRefusal(served, host, 'image.relight', {
      advanced_settings: { whites: 60 },
    });
    expect(details.map(({ path }) => path)).toEqual(['advanced_settings.whites']);
    await waitForTask(served.asking, await startTask(served.asking, { advanced_settings: { whites: 50 } }));
  });

  it('a field whose placeholder has no default is required', async () => {
    const host = await startComfyUi();
    const served = await comfyUiServiceForTest({ url: host.url });
    const { status, details } = await readRefusal(served, host, 'image.relight', {});
    const path = 'transfer_light_from_reference_image';
    const message = 'is required by the relight workflow of this service';
    expect([status, details]).toEqual([400, [{ path, message }]]);
  });

  it.each([
    [
      'a class',
      { without: ['ImageSharpen'] },
      smallestGraph,
      undefined,
      'it has no node class ImageSharpen (node 3)',
    ],
    [
      'an input',
      {},
      { ...smallestGraph, '2': { class_type: 'SaveImage', inputs: { images: ['1', 0] } } },
      'image.upscaler',
      'node 2 (SaveImage) is not given its required input filename_prefix',
    ],
    [
      'a choice',
      {},
      {
        '1': smallestGraph['1'],
        '3': {
          class_type: 'ImageScaleBy',
          inputs: { image: ['1', 0], upscale_method: 'lanczoss', scale_by: 2 },
        },
        '2': { ...smallestGraph['2'], inputs: { images: ['3', 0], filename_prefix: 'x' } },
      },
      'image.upscaler',
      'upscale_method of node 3 (ImageScaleBy) must be one of nearest-exact, bilinear, area, bicubic, lanczos',
    ],
    [
      'a result',
      {},
      { '1': smallestGraph['1'] },
      'image.upscaler',
      'no node of the workflow saves or previews anything',
    ],
  ] as const)(
    '%s that the nodes of the server lack is named',
    async (_, options, graph, operation, problem) => {
      const host = await startComfyUi(options);
      const workflows = operation && writeWorkflows({ [operation]: graph });
      const served = await comfyUiServiceForTest({ url: host.url, ...(workflows && { workflows }) });
      const { status, error, message } = await readRefusal(served, host, 'image.upscaler', {});
      expect([status, error, message]).toEqual([
        501,
        'not_supported',
        `The ComfyUI of this service cannot run the workflow of this operation: ${problem}.`,
      ]);
    },
  );

  it('a choice is not checked before a request has filled the placeholders in it', async () => {
    const host = await startComfyUi();
    const inputs = { image: ['1', 0], upscale_method: '{{flavor=photo}}-exact', scale_by: 2 };
    const workflows = writeWorkflows({
      'image.upscaler': {
        '1': smallestGraph['1'],
        '3': { class_type: 'ImageScaleBy', inputs },
        '2': { ...smallestGraph['2'], inputs: { images: ['3', 0], filename_prefix: 'x' } },
      },
    });
    const { asking } = await comfyUiServiceForTest({ url: host.url, workflows });
    const { status, body } = await ask(asking.url + startPaths['image.upscaler'], {
      ...{ method: 'POST', token: asking.token, json: { image: pixel } },
    });
    expect(status, JSON.stringify(body)).toBe(200);
  });

  it('nodes that lead to no result are not checked', async () => {
    const host = await startComfyUi();
    const stray = { class_type: 'ImageBlur', inputs: {} };
    const workflows = writeWorkflows({ 'image.relight': { ...smallestGraph, '9': stray } });
    const { asking } = await comfyUiServiceForTest({ url: host.url, workflows });
    // The stand-in checks all nodes, as long as one result is left.
    const { status } = await ask(asking.url + startPaths['image.relight'], {
      ...{ method: 'POST', token: asking.token, json: { image: pixel } },
    });
    expect(status).toBe(200);
  });

  it('something else than ComfyUI at its address is reported', async () => {
    const host = await startComfyUi({
      instead: () => ({ status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' }),
    });
    const served = await comfyUiServiceForTest({ url: host.url });
    const { status, message } = await readRefusal(served, host, 'image.upscaler', {});
    expect([status, message]).toEqual([503, 'The ComfyUI of this service does not answer: it answered 502.']);
  });
});

describe('a graph', () => {
  const textGraph = (text: string, more: object = {}) => ({
    '1': { class_type: 'LoadImage', inputs: { image: '{{images.0}}' } },
    '2': { class_type: 'StringNode', inputs: { text, seed: '{{seed}}', ...more } },
    '3': { class_type: 'CreateVideo', inputs: { images: ['1', 0], fps: '{{duration}}' } },
    '4': { class_type: 'SaveVideo', inputs: { video: ['3', 0], format: 'auto', filename_prefix: 'v' } },
  });

  it('has typed values, texts within texts, defaults, and never a placeholder of the user', async () => {
    const host = await startComfyUi();
    const workflows = writeWorkflows({
      'video.startEnd2video': textGraph('{{prompt=a boat}} in {{style=general}} style, {{seed}}', {
        isMarked: '{{watermark}}',
        half: '{{wm_position/2}}',
        nested: [{ bgm: '{{bgm=true}}' }],
      }),
    });
    const { asking } = await comfyUiServiceForTest({ url: host.url, workflows, kind: 'video' });
    const fields = { images: [pixel], prompt: '{{seed}} $& {{prompt}}', seed: -1, watermark: true };
    const { task_id } = await startVideo({ ...asking, operation: 'video.startEnd2video' }, fields);
    const { creations } = await waitForVideo(asking, task_id);
    expect(creations).toHaveLength(1);
    const [taken] = host.taken;
    expect(taken?.id).toBe(task_id);
    const graph = taken?.graph ?? {};
    expect(graph[2]?.inputs).toMatchObject({
      text: '{{seed}} $& {{prompt}} in general style, 4294967295',
      seed: 4_294_967_295,
      isMarked: true,
      half: 1.5,
      nested: [{ bgm: true }],
    });
    // The duration of the model, which the request leaves out.
    expect(graph[3]?.inputs.fps).toBe(5);
    expect(graph[4]?.inputs.filename_prefix).toBe(`v_${task_id}`);
    expect(graph[1]?.inputs.image).toBe(`regen/${task_id}.images.0.png`);
  });

  it('that is asked for twice has results of its own', async () => {
    const host = await startComfyUi();
    const workflows = writeWorkflows({ 'image.relight': smallestGraph });
    const { asking } = await comfyUiServiceForTest({ url: host.url, workflows });
    const ids = [await startTask(asking), await startTask(asking)];
    for (const id of ids) expect((await waitForTask(asking, id)).generated).toHaveLength(1);
    const prefixes = host.taken.map(({ graph }) => graph[2]?.inputs.filename_prefix);
    expect(prefixes.sort()).toEqual(ids.map((id) => `relit_${id}`).sort());
  });
});

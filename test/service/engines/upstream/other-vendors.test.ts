import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { ImageOperation } from '../../../../src/service/operation/engine.js';
import { pixel, readTask, startPaths, startTask, waitForTask } from '../../../support/generation.js';
import { startMagnific } from '../../../support/magnific.js';
import {
  createFal,
  createOpenAi,
  createReplicate,
  startOtherVendor,
} from '../../../support/other-vendors.js';
import { ask } from '../../../support/service.js';
import { profileServiceForTest } from '../../../support/vendor-service.js';
import { startVideo, videoPaths, waitForVideo } from '../../../support/videos.js';
import { startVidu } from '../../../support/vidu.js';
import { waitFor } from '../../../support/wait-for.js';

/** A service in front of a vendor, and how a task of it ends. */
async function startBehind(profile: string, kind: 'image' | 'video', vendor: { url: string; key: string }) {
  const { asking, service } = await profileServiceForTest(kind, profile, vendor);
  const readAccount = async (id: string) =>
    (await ask(`${asking.url}/users/tasks/${id}`, { token: asking.token })).body;
  const runImage = async (operation: ImageOperation, fields = {}, status = 'COMPLETED') => {
    const id = await startTask({ ...asking, operation }, fields);
    const task = await waitForTask({ ...asking, operation }, id, status);
    for (const url of task.generated) expect((await fetch(url)).status).toBe(200);
    return { id, ...task, account: await readAccount(id) };
  };
  const refuse = async (path: string, json: object) => {
    const { status, body } = await ask(asking.url + path, { method: 'POST', token: asking.token, json });
    return { status, paths: body.details?.map((one: { path: string }) => one.path) };
  };
  return { asking, service, runImage, refuse, readAccount };
}

describe('fal', () => {
  it('makes pictures larger and videos from pictures, by the queue', async () => {
    const vendor = await startOtherVendor(createFal());
    const { runImage, refuse } = await startBehind('fal', 'image', vendor);
    expect((await runImage('image.upscaler', { scale_factor: 4 })).generated).toHaveLength(1);
    expect(vendor.requests.filter((one) => one.startsWith('POST'))).toEqual([
      'POST /fal-ai/clarity-upscaler',
    ]);
    // Its model takes 2 to 4, and no sharpness.
    const more = { image: pixel, scale_factor: 8, sharpen: 50 };
    expect(await refuse(startPaths['image.upscaler'], more)).toEqual({
      status: 400,
      paths: ['sharpen', 'scale_factor'],
    });
    expect((await refuse(startPaths['image.relight'], { image: pixel })).status).toBe(501);

    const videos = await startBehind('fal', 'video', vendor);
    const { task_id } = await startVideo(videos.asking, { images: [pixel], model: 'vvq1' });
    expect((await waitForVideo(videos.asking, task_id)).creations).toHaveLength(1);
    // The model of a request without one is another, which costs otherwise.
    const other = { images: [pixel], prompt: 'A boat' };
    expect(await videos.refuse(videoPaths['video.text2video'], other)).toEqual({
      status: 400,
      paths: ['model'],
    });
  });

  it('says in the result why a task failed', async () => {
    const detail = [{ loc: ['body', 'image_url'], msg: 'Flagged.', type: 'content_policy_violation' }];
    const vendor = await startOtherVendor(createFal({ result: { status: 422, body: { detail } } }));
    const { runImage } = await startBehind('fal', 'image', vendor);
    const { account } = await runImage('image.upscaler', {}, 'FAILED');
    expect(account.reason).toBe('The vendor refused the content: Flagged.');
  });

  it('is asked to cancel a task where its model has it, and is not believed to charge nothing', async () => {
    const vendor = await startOtherVendor(createFal());
    const { asking, refuse } = await startBehind('fal', 'image', vendor);
    const id = await startTask({ ...asking, operation: 'image.upscaler' });
    await waitFor(() => expect(vendor.requests.some((one) => one.endsWith('/status'))).toBe(true));
    await refuse(`/users/tasks/${id}/cancel`, {});
    const ended = await readTask({ ...asking, operation: 'image.upscaler' }, id);
    const asked = vendor.requests.filter((one) => one.startsWith('PUT'));
    // It may have ended before.
    if (ended.status === 'FAILED')
      expect(asked).toEqual([expect.stringMatching(/clarity-upscaler\/requests\/.*\/cancel$/)]);
  });
});

describe('Replicate', () => {
  it('makes pictures larger, large ones by URL', async () => {
    const vendor = await startOtherVendor(createReplicate());
    const { runImage } = await startBehind('replicate', 'image', { ...vendor, url: `${vendor.url}/v1` });
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const create = { width: 700, height: 700, channels: 3, background: '#000', noise } as const;
    const large = await sharp({ create }).png().toBuffer();
    expect(large.length).toBeGreaterThan(1_000_000);
    expect((await runImage('image.upscaler', { scale_factor: 2 })).generated).toHaveLength(1);
    const image = large.toString('base64');
    expect((await runImage('image.upscaler', { scale_factor: 2, image })).generated).toHaveLength(1);
  });

  it('says why a task failed', async () => {
    const vendor = await startOtherVendor(createReplicate({ error: 'CUDA out of memory' }));
    const { runImage } = await startBehind('replicate', 'image', { ...vendor, url: `${vendor.url}/v1` });
    const { account } = await runImage('image.upscaler', {}, 'FAILED');
    expect(account.reason).toBe('The task failed at the vendor: CUDA out of memory.');
  });
});

describe('OpenAI', () => {
  const start = async (given: Parameters<typeof createOpenAi>[0] = {}) => {
    const vendor = await startOtherVendor(createOpenAi(given));
    return { ...(await startBehind('openai', 'image', { ...vendor, url: `${vendor.url}/v1` })), vendor };
  };

  it.each([
    ['image.relight', { prompt: 'warm' }],
    ['image.relight', {}],
    ['image.relight', { transfer_light_from_reference_image: pixel }],
    ['image.styleTransfer', { reference_image: pixel, prompt: 'in oil' }],
  ] as const)('answers a request for %s with %j with the picture', async (operation, fields) => {
    const { runImage, vendor } = await start();
    expect((await runImage(operation, fields)).generated).toHaveLength(1);
    expect(vendor.requests).toEqual(['POST /v1/images/edits']);
  });

  it.each([
    [400, 'moderation_blocked', 'The vendor refused the content: No.', 0],
    [
      429,
      'insufficient_quota',
      "The vendor refused this service's account; contact the operator of this service.",
      0,
    ],
    [
      500,
      'server_error',
      "The vendor's answer was lost (it answered 500), and starting the task again might be charged twice.",
      0,
    ],
  ])('ends a task that it answers with %d and %s', async (status, code, reason, credits) => {
    const { runImage, vendor } = await start({
      refusal: { status, body: { error: { code, message: 'No.' } } },
    });
    const { account } = await runImage('image.relight', {}, 'FAILED');
    expect([account.reason, account.credits]).toEqual([reason, credits]);
    expect(vendor.requests).toHaveLength(1);
  });
});

describe("Comfy's proxies", () => {
  it('make images as Magnific does, and videos as Vidu does, without callbacks', async () => {
    const magnific = await startMagnific({ header: 'x-api-key' });
    const images = await startBehind('comfy-magnific', 'image', magnific);
    await images.runImage('image.upscaler', { scale_factor: 2 });
    const [made] = [...magnific.tasks.values()];
    expect(made?.body.webhook_url).toBeUndefined();

    const vidu = await startVidu({ header: ['x-api-key', ''] });
    const { asking } = await startBehind('comfy-vidu', 'video', vidu);
    await waitForVideo(asking, (await startVideo(asking)).task_id);
    const [task] = [...vidu.tasks.values()];
    expect([task?.body.callback_url, task?.body.payload]).toEqual([undefined, undefined]);
  });
});

import { describe, expect, it, test, vi } from 'vitest';
import {
  createSmallestBody,
  pixel,
  startPaths,
  startTask,
  waitForTask,
} from '../../../support/generation.js';
import { startMagnific } from '../../../support/magnific.js';
import { ask } from '../../../support/service.js';
import { profileServiceForTest, writeProfile } from '../../../support/vendor-service.js';
import { smallestVideos, startVideo, videoPaths, waitForVideo } from '../../../support/videos.js';
import { startVidu, type Vidu } from '../../../support/vidu.js';
import { waitFor } from '../../../support/wait-for.js';

async function readRefusal(asking: { url: string; token: string | undefined }, path: string, json: object) {
  const { status, body } = await ask(asking.url + path, { method: 'POST', token: asking.token, json });
  return {
    status,
    message: body.message,
    paths: (body.details ?? []).map((one: { path: string }) => one.path),
  };
}

describe('Magnific makes images', () => {
  it.each([
    ['image.relight', { style: 'clean', advanced_settings: { whites: 10 }, prompt: 'warm' }],
    ['image.styleTransfer', { flavor: 'gen_z', is_portrait: true, portrait_style: 'pop' }],
    ['image.skinEnhancer', { sharpen: 10 }],
    ['image.upscaler', { scale_factor: 4, flavor: 'photo', ultra_detail: 50 }],
  ] as const)('for %s, with every option', async (operation, fields) => {
    const vendor = await startMagnific();
    const { asking } = await profileServiceForTest('image', 'magnific', vendor);
    const id = await startTask({ ...asking, operation }, fields);
    expect((await waitForTask({ ...asking, operation }, id)).generated).toHaveLength(1);
    expect([...vendor.tasks.values()][0]?.body).toMatchObject(fields);
  });

  it('also with the header of the older name, and with answers in the older form', async () => {
    const vendor = await startMagnific({ isLegacy: true, header: 'x-freepik-api-key' });
    const { asking } = await profileServiceForTest('image', 'freepik', vendor);
    const operation = 'image.styleTransfer';
    await waitForTask({ ...asking, operation }, await startTask({ ...asking, operation }));
  });
});

describe('Vidu makes videos', () => {
  const withImage = { images: [pixel] };
  it.each([
    [
      'video.text2video',
      { prompt: 'A boat', style: 'anime', aspect_ratio: '9:16', bgm: true },
      '/text2video',
      'viduq3-pro',
    ],
    ['video.text2video', { prompt: 'A boat', model: 'vvq2-pro' }, '/text2video', 'viduq2'],
    [
      'video.text2video',
      { ...withImage, model: 'vvq2-turbo', voice_id: 'v', is_rec: true },
      '/img2video',
      'viduq2-turbo',
    ],
    [
      'video.text2video',
      { ...withImage, model: 'vv2.0', movement_amplitude: 'small' },
      '/img2video',
      'vidu2.0',
    ],
    ['video.startEnd2video', { images: [pixel], model: 'vvq2-pro-fast' }, '/img2video', 'viduq2-pro-fast'],
    [
      'video.startEnd2video',
      { images: [pixel, pixel], model: 'vvq1-classic' },
      '/start-end2video',
      'viduq1-classic',
    ],
  ] as const)('for %s with %j at %s', async (operation, fields, route, model) => {
    const vendor = await startVidu();
    const { asking } = await profileServiceForTest('video', 'vidu', vendor);
    const { task_id } = await startVideo({ ...asking, operation }, fields);
    await waitForVideo(asking, task_id);
    const [made] = [...vendor.tasks.values()];
    expect(made).toMatchObject({ route, body: { model } });
    expect(made?.body.images?.length).toBe('images' in fields ? fields.images.length : undefined);
    expect(vendor.fetched).toContain('/files/plain.mp4');
  });

  it('with the watermark that was asked for', async () => {
    const vendor = await startVidu();
    const { asking } = await profileServiceForTest('video', 'vidu', vendor);
    await waitForVideo(asking, (await startVideo(asking, { watermark: true, wm_position: 1 })).task_id);
    expect(vendor.fetched.filter((path) => path.endsWith('.mp4'))).toEqual(['/files/wm.mp4']);
  });

  it.each([
    ['a model without an image', 'video.text2video', { prompt: 'A boat', model: 'vvq2-turbo' }, 'model'],
    [
      'a resolution that no model makes',
      'video.text2video',
      { prompt: 'A boat', resolution: '2K' },
      'resolution',
    ],
    ['an option of another route', 'video.text2video', { prompt: 'A boat', voice_id: 'v' }, 'voice_id'],
    [
      'an option that the vendor does not have',
      'video.text2video',
      { prompt: 'A boat', priority: 1 },
      'priority',
    ],
    [
      'a format beside an image',
      'video.startEnd2video',
      { images: [pixel, pixel], aspect_ratio: '1:1' },
      'aspect_ratio',
    ],
  ] as const)('and %s is refused by name, before anything is charged', async (_, operation, fields, path) => {
    const vendor = await startVidu();
    const { asking, service } = await profileServiceForTest('video', 'vidu', vendor);
    const json = { ...smallestVideos[operation], ...fields };
    const { status, paths, message } = await readRefusal(asking, videoPaths[operation], json);
    expect({ status, paths }).toEqual({ status: 400, paths: [path] });
    expect(message).toContain('the vendor of this service');
    expect(await service.context.database.selectFrom('credits').selectAll().execute()).toEqual([]);
    expect(vendor.tasks.size).toBe(0);
  });

  it('extends its own video by a URL that is still valid, and another by its URL only', async () => {
    const vendor = await startVidu();
    const { asking } = await profileServiceForTest('video', 'vidu', vendor);
    const first = await waitForVideo(asking, (await startVideo(asking)).task_id);
    const { id: video_creation_id, url: video_url } = first.creations[0];
    const extending = { ...asking, operation: 'video.extend' as const };
    const own = await startVideo(extending, { video_creation_id, video_url, prompt: 'On' });
    await waitForVideo(asking, own.task_id);
    const [made, extended] = [...vendor.tasks.values()];
    expect(extended?.body.video_creation_id).toBe(`c-${made?.id}`);
    // The signature is of a look after the one that ended the first task.
    expect(extended?.body.video_url).toBe(`${new URL(vendor.url).origin}/files/plain.mp4?signature=5`);

    const foreign = {
      video_creation_id: 'unknown',
      video_url: `${new URL(vendor.url).origin}/files/other.mp4`,
    };
    await waitForVideo(asking, (await startVideo(extending, foreign)).task_id);
    const last = [...vendor.tasks.values()].at(-1);
    expect(last?.body.video_creation_id).toBeUndefined();
    expect(last?.body.video_url).toBe(foreign.video_url);
  });
});

describe('a task at Vidu', () => {
  const queued = ['queueing'];

  async function startAt(vendor: Vidu, parts = {}) {
    const given = await profileServiceForTest('video', 'vidu', vendor, {}, parts);
    const { task_id } = await startVideo(given.asking);
    const readAccount = async () =>
      (await ask(`${given.asking.url}/users/tasks/${task_id}`, { token: given.asking.token })).body;
    return { ...given, task_id, readAccount };
  }

  const cancel = ({ asking, task_id }: Awaited<ReturnType<typeof startAt>>) =>
    ask(`${asking.url}/users/tasks/${task_id}/cancel`, { method: 'POST', token: asking.token });

  it('is cancelled there, and costs nothing, as long as it waits', async () => {
    const vendor = await startVidu({ states: queued });
    const given = await startAt(vendor);
    await waitFor(() => expect(vendor.looks.length).toBeGreaterThan(0));
    const { status, body } = await cancel(given);
    expect({ status, credits: body.credits }).toEqual({ status: 200, credits: 0 });
    expect([...vendor.tasks.values()].map(({ state, errorCode }) => [state, errorCode])).toEqual([
      ['failed', 'UserCancelled'],
    ]);
    expect((await cancel(given)).status).toBe(200);
  });

  it('is not refunded if it was cancelled too late', async () => {
    const vendor = await startVidu({ states: ['processing'] });
    const given = await startAt(vendor);
    await waitFor(() => expect(vendor.looks.length).toBeGreaterThan(0));
    const { credits } = (await cancel(given)).body;
    expect(credits).toBeGreaterThan(0);
  });

  it.each(['before', 'after'] as const)(
    'is made once if the answer to its start is lost %s it is made',
    async (when) => {
      let ahead = 0;
      const vendor = await startVidu({ loses: (count) => (count === 1 ? when : undefined) });
      const { asking, task_id } = await startAt(vendor, { now: () => Date.now() + ahead });
      // Longer than a task may be missing from the vendor's list.
      await waitFor(() => expect(vendor.tasks.size + Number(when === 'before')).toBeGreaterThan(0));
      ahead = 60_000;
      await waitForVideo(asking, task_id);
      expect(vendor.tasks.size).toBe(1);
    },
  );

  it("fails as the operator's trouble, and is not charged, if the vendor's credits are used up", async () => {
    const log = vi.fn();
    const message = 'insufficient credits: top up at platform.vidu.com';
    const vendor = await startVidu({
      refuse: () => ({ status: 400, reason: 'CreditInsufficient', message }),
    });
    const { asking, task_id, readAccount } = await startAt(vendor, { log });
    await waitForVideo(asking, task_id, 'failed');
    const { credits, reason } = await readAccount();
    expect(credits).toBe(0);
    expect(reason).toContain('contact the operator');
    expect(reason).not.toContain('insufficient');
    expect(log).toHaveBeenCalledWith('error', "A vendor refuses this service's account.", {
      vendor: new URL(vendor.url).host,
      reason: message,
    });
  });

  it.each(['start', 'end'])('has a code of its own if its content is refused at its %s', async (when) => {
    const refuse = () => ({ status: 400, reason: 'AuditSubmitIllegal', message: 'submit is illegal' });
    const vendor = await startVidu(
      when === 'start' ? { refuse } : { states: ['failed'], errorCode: 'CreationPolicyViolation' },
    );
    const { asking, task_id } = await startAt(vendor);
    expect((await waitForVideo(asking, task_id, 'failed')).err_code).toBe('content_refused');
  });

  it('is asked for again while too many others run', async () => {
    const message = 'too many tasks';
    const vendor = await startVidu({
      refuse: (count) => (count < 3 ? { status: 400, reason: 'OperationInProcess', message } : undefined),
    });
    const { asking, task_id } = await startAt(vendor);
    await waitForVideo(asking, task_id);
  });

  it('ends with the content of a callback, without another look', async () => {
    const vendor = await startVidu({ states: queued });
    const given = await profileServiceForTest('video', 'vidu', vendor, {}, {});
    const { task_id } = await startVideo(given.asking);
    await waitFor(() => expect(vendor.tasks.size).toBe(1));
    const [task] = [...vendor.tasks.values()];
    if (!task) throw new Error('There is no task.');
    task.state = 'success';
    expect(await vendor.call(task)).toBe(204);
    await waitForVideo(given.asking, task_id);
    // The callback's URL of the file, not that of a later look.
    expect(vendor.fetched).toContain('/files/plain.mp4');
  });
});

test('a vendor that does not have an operation refuses it before anything is charged', async () => {
  const file = writeProfile({ extends: 'magnific', operations: { 'image.upscaler': [{ post: '/up' }] } });
  const { asking } = await profileServiceForTest('image', file, { url: 'http://127.0.0.1:9', key: 'k' });
  const refused = await readRefusal(asking, startPaths['image.relight'], createSmallestBody('image.relight'));
  expect(refused).toMatchObject({
    status: 501,
    message: expect.stringContaining('does not have this operation'),
  });
});

test.each([
  [{ post: 'no slash' }, 'mine.json, operations."image.upscaler"'],
  [{}, 'mine.json, operations."image.upscaler"'],
])('a profile with a route of %j is refused at start by name', async (route, path) => {
  const file = writeProfile({ extends: 'magnific', operations: { 'image.upscaler': [route] } });
  await expect(profileServiceForTest('image', file, { url: 'http://127.0.0.1:9', key: 'k' })).rejects.toThrow(
    path,
  );
});

test('a vendor of images is refused for videos, and an unknown one with the names of those that are known', async () => {
  const given = { url: 'http://127.0.0.1:9', key: 'k' };
  await expect(profileServiceForTest('video', 'magnific', given)).rejects.toThrow('makes no videos');
  await expect(profileServiceForTest('video', 'vudi', given)).rejects.toThrow(
    'generation.video.vendor must be one of regen, magnific, freepik, vidu',
  );
});

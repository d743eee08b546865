import sharp from 'sharp';
import { expect, it, test } from 'vitest';
import { checkVendorImages, chooseUrlImages } from '../../../../src/service/engines/upstream/image-limits.js';
import { createRequestWindow } from '../../../../src/service/engines/upstream/request-window.js';
import { pixel } from '../../../support/generation.js';
import { ask, serviceForTest } from '../../../support/service.js';
import { profileServiceForTest, writeProfile } from '../../../support/vendor-service.js';
import { smallestVideos, startVideo, videoPaths, waitForVideo } from '../../../support/videos.js';
import { startVidu, type ViduTask } from '../../../support/vidu.js';
import { waitFor } from '../../../support/wait-for.js';

async function draw(width: number, height: number, format: 'png' | 'gif' = 'png'): Promise<string> {
  const create = { width, height, channels: 3, background: '#246' } as const;
  return (await sharp({ create }).toFormat(format).toBuffer()).toString('base64');
}

/** A PNG that cannot be compressed. */
async function drawNoise(side: number): Promise<string> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const create = { width: side, height: side, channels: 3, background: '#000', noise } as const;
  return (await sharp({ create }).png().toBuffer()).toString('base64');
}

it.each([
  ['of a type that the vendor does not read', [() => draw(20, 20, 'gif')], ['images.0'], 'png, jpeg, webp'],
  ['that is too long', [() => draw(80, 20)], ['images.0'], 'less than 4 times'],
  [
    'of another shape than the first',
    [() => draw(20, 20), () => draw(40, 20)],
    ['images.1'],
    'nearly the shape of images.0',
  ],
] as const)(
  'an image %s is refused by name, before anything is charged',
  async (_, draws, paths, message) => {
    const vendor = await startVidu();
    const { asking, service } = await profileServiceForTest('video', 'vidu', vendor);
    const images = await Promise.all(draws.map((one) => one()));
    const { status, body } = await ask(asking.url + videoPaths['video.startEnd2video'], {
      ...{ method: 'POST', token: asking.token, json: { images } },
    });
    expect({ status, paths: body.details.map(({ path }: { path: string }) => path) }).toEqual({
      ...{ status: 400, paths },
    });
    expect(body.message).toContain(message);
    for (const table of ['credits', 'tasks'] as const)
      expect(await service.context.database.selectFrom(table).selectAll().execute()).toEqual([]);
    expect(vendor.requests).toEqual([]);
  },
);

test('an image that is too large for a request is fetched from this service, until its task has ended', async () => {
  const vendor = await startVidu({ states: ['processing'] });
  const limits = { imageBytes: 1000, requestBytes: 200_000, urlBytes: 100_000, imageTypes: ['png'] };
  const { asking } = await profileServiceForTest('video', writeProfile({ extends: 'vidu', limits }), vendor);
  const images = [await drawNoise(100), pixel];
  const starting = { ...asking, operation: 'video.startEnd2video' as const };
  const { task_id } = await startVideo(starting, { images });
  await waitFor(() => expect(vendor.tasks.size).toBe(1));
  const [task] = [...vendor.tasks.values()] as [ViduTask];
  const [large, small] = task.body.images;
  expect(small).toBe(`data:image/png;base64,${pixel}`);
  const fetched = await fetch(large);
  expect(Buffer.from(await fetched.arrayBuffer()).toString('base64')).toBe(images[0]);
  expect((await fetch(large, { method: 'HEAD' })).headers.get('content-length')).toBe(
    fetched.headers.get('content-length'),
  );
  expect((await fetch(large.replace('images.0', 'images.1'))).status).toBe(403);
  expect((await fetch(large.replace(/signature=.*/, ''))).status).toBe(403);

  task.state = 'success';
  await waitForVideo(asking, task_id);
  expect((await fetch(large)).status).toBe(404);
});

test('an image that is too large is refused if the vendor cannot fetch it', async () => {
  const vendor = await startVidu();
  const limits = { imageBytes: 1000 };
  const { asking } = await profileServiceForTest('video', writeProfile({ extends: 'vidu', limits }), vendor);
  const { body } = await ask(asking.url + videoPaths['video.text2video'], {
    ...{ method: 'POST', token: asking.token },
    json: { ...smallestVideos['video.text2video'], images: [await drawNoise(100)] },
  });
  expect(body.message).toContain('images.0 must be at most 1.0 kB for the vendor of this service');
});

test('the largest images are fetched, and the others are in the request as long as they fit', () => {
  const limits = { imageBytes: 3_000_000, requestBytes: 4_000_000, urlBytes: 10_000_000 };
  const sizes = { a: { bytes: 1_500_000 }, b: { bytes: 2_000_000 }, c: { bytes: 3_500_000 } };
  expect(chooseUrlImages(limits, sizes)).toEqual(['c', 'b']);
  expect(chooseUrlImages(limits, { a: { bytes: 5 } })).toEqual([]);
  expect(chooseUrlImages({ ...limits, urlBytes: undefined }, sizes)).toEqual([]);
  const image = { mediaType: 'image/png', width: 10, height: 10 };
  const both = { a: { ...image, ...sizes.a }, b: { ...image, ...sizes.b } };
  const check = (canServe: boolean) => checkVendorImages(limits, both, canServe).map(({ path }) => path[0]);
  expect(check(true)).toEqual([]);
  expect(check(false)).toEqual(['a', 'b']);
});

test('a vendor that takes 50 requests a minute and calls back is hardly polled', async () => {
  const vendor = await startVidu({ states: ['processing'], perMinute: 50 });
  const limits = { requestsPerMinute: 50, atOnce: 20 };
  const { asking } = await profileServiceForTest('video', writeProfile({ extends: 'vidu', limits }), vendor);
  const started = [];
  for (let at = 0; at < 20; at++) started.push((await startVideo(asking)).task_id);
  await waitFor(() => expect(vendor.tasks.size).toBe(20));
  for (const task of vendor.tasks.values()) {
    task.state = 'success';
    await vendor.call(task);
  }
  for (const id of started) await waitForVideo(asking, id);
  expect(vendor.refused).toEqual([]);
  expect(vendor.requests.length).toBeLessThanOrEqual(50);
});

test('looks leave some of the requests that a vendor allows per minute for starts, also of another service', async () => {
  let time = Date.parse('2026-11-01');
  const { context } = await serviceForTest();
  const given = { database: context.database, now: () => time, vendor: 'api.vidu.com', perMinute: 10 };
  const [one, other] = [createRequestWindow(given), createRequestWindow(given)];
  const take = async (count: number, isLook: boolean) => {
    let taken = 0;
    for (let at = 0; at < count; at++) if ((await (at % 2 ? one : other)(isLook)) === 0) taken += 1;
    return taken;
  };
  expect(await take(10, true)).toBe(6);
  expect(await one(true)).toBe(61_000);
  time += 1_000;
  expect(await take(10, false)).toBe(4);
  expect([await one(false), await other(false)]).toEqual([60_000, 60_000]);
  expect(await createRequestWindow({ ...given, vendor: 'api.fal.ai' })(true)).toBe(0);
  time += 60_000;
  expect([await take(10, false), await take(10, true)]).toEqual([6, 0]);
});

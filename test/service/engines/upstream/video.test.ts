import { expect, test } from 'vitest';
import type { EngineJob } from '../../../../src/service/operation/engine.js';
import type { RunningService } from '../../../../src/service/serve.js';
import { faultyProxyForTest } from '../../../support/faulty-proxy.js';
import { createFilmingEngine, film } from '../../../support/filming-engine.js';
import { pixel } from '../../../support/generation.js';
import { serviceForTest } from '../../../support/service.js';
import { vendorServiceForTest } from '../../../support/vendor-service.js';
import { startVideo, waitForVideo } from '../../../support/videos.js';

test("videos are made by the vendor with the reported seed, and extended by the vendor's ids, while a fifth of the requests fail", async () => {
  const jobs: EngineJob[] = [];
  const chaos = await faultyProxyForTest(() => vendor.localUrl, { share: 0.2, seed: 3, slowMs: 100 });
  const video = createFilmingEngine((job) => void jobs.push(job));
  const vendor = await serviceForTest({ publicUrl: chaos.url }, { engines: { video } });
  const settings = { honoursKeys: true, models: { 'vvq3-pro': 'vvq2-pro' } };
  const service = await vendorServiceForTest({ url: chaos.url, key: vendor.ownerToken, settings });
  const asking = { url: service.url, token: service.ownerToken };

  const { task_id, seed } = await startVideo(
    { ...asking, operation: 'video.startEnd2video' },
    { images: [pixel, pixel], payload: 'mine' },
  );
  const answer = await waitForVideo(asking, task_id);
  expect(answer).toMatchObject({ id: task_id, payload: 'mine' });
  const [creation] = answer.creations;
  const [kept, cover] = await Promise.all([fetchBytes(creation.url), fetchBytes(creation.cover_url)]);
  expect([kept, cover]).toEqual([film, Buffer.from(pixel, 'base64')]);
  expect(creation.url).toMatch(service.url);
  expect(jobs[0]).toMatchObject({ seed, request: { model: 'vvq2-pro', images: ['images.0', 'images.1'] } });

  const given = { video_creation_id: creation.id, video_url: creation.url };
  const extension = await startVideo({ ...asking, operation: 'video.extend' }, given);
  await waitForVideo(asking, extension.task_id);
  expect(jobs[1]?.request).toMatchObject({
    video_creation_id: `${jobs[0]?.id}-0`,
    video_url: expect.stringMatching(chaos.url),
  });
  expect(await countCharges(vendor)).toBe(2);
});

async function fetchBytes(url: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}

async function countCharges({ context }: RunningService): Promise<number> {
  const charges = await context.database.selectFrom('credits').select('kind').execute();
  return charges.filter(({ kind }) => kind === 'charge').length;
}

import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { RunningService } from '../../../../src/service/serve.js';
import { copyingEngine } from '../../../support/copying-engine.js';
import { chaosForTest, mishaps } from '../../../support/faulty-proxy.js';
import { startedTask, taskOf } from '../../../support/generation.js';
import { serviceForTest } from '../../../support/service.js';
import { serviceBehind } from '../../../support/vendor-service.js';
import { waitFor } from '../../../support/wait-for.js';

const prices = { image: { relight: 3 } };

test('two chained services return the results of one, and charge each task once, while a fifth of their requests fail', async () => {
  const toVendor = await chaosForTest(() => vendor.localUrl, { share: 0.2, seed: 7, slowMs: 2_000 });
  const toService = await chaosForTest(() => service.localUrl, { share: 0.2, seed: 8, slowMs: 2_000 });
  const vendor = await serviceForTest(
    { publicUrl: toVendor.url, prices },
    { engines: { image: { ...copyingEngine(), atOnce: 8 } } },
  );
  const settings = { answerMs: 1_500, honoursKeys: true };
  const service = await serviceBehind(
    { url: toVendor.url, key: vendor.ownerToken, settings },
    { publicUrl: toService.url, prices },
  );
  const images = await Promise.all(Array.from({ length: 30 }, (_, at) => picture(at)));
  const ids: string[] = [];
  for (const image of images) ids.push(await started(service, image));
  await allEnded(service);

  const made = await Promise.all(ids.map((id) => resultOf(service, id)));
  expect(made).toEqual(images.map(digest));
  const paid = await chargesOf(vendor);
  expect(paid).toHaveLength(images.length);
  expect(paid).toEqual(paid.map(() => ({ kind: 'charge', amount: 3 })));
  for (const mishap of mishaps) expect(toVendor.counts[mishap]).toBeGreaterThan(0);
});

async function picture(at: number): Promise<Buffer> {
  const background = { r: at * 8, g: 255 - at * 8, b: 128 };
  return await sharp({ create: { width: 40, height: 30, channels: 3, background } })
    .png()
    .toBuffer();
}

const started = ({ localUrl, ownerToken }: RunningService, image: Buffer) =>
  startedTask({ url: localUrl, token: ownerToken }, { image: image.toString('base64') });

/** Reads the database, because polling thirty tasks over HTTP slows both services down. */
async function allEnded({ context }: RunningService): Promise<void> {
  await waitFor(async () => {
    const tasks = await context.database.selectFrom('tasks').select('status').execute();
    expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => 'COMPLETED'));
  });
}

/** The digest of the result of a task. */
async function resultOf({ localUrl, ownerToken }: RunningService, id: string): Promise<string> {
  const { generated } = await taskOf({ url: localUrl, token: ownerToken }, id);
  // Not through the public URL, whose requests fail as well.
  const { pathname, search } = new URL(generated[0]);
  const answer = await fetch(localUrl + pathname + search);
  return digest(Buffer.from(await answer.arrayBuffer()));
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function chargesOf({ context }: RunningService) {
  return await context.database.selectFrom('credits').select(['kind', 'amount']).execute();
}

import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { RunningService } from '../../../../src/service/serve.js';
import { createCopyingEngine } from '../../../support/copying-engine.js';
import { faultyProxyForTest, MISHAPS } from '../../../support/faulty-proxy.js';
import { readTask, startTask } from '../../../support/generation.js';
import { serviceForTest } from '../../../support/service.js';
import { vendorServiceForTest } from '../../../support/vendor-service.js';
import { waitFor } from '../../../support/wait-for.js';

const prices = { image: { relight: 3 } };

test('two chained services return the results of one, and charge each task once, while a fifth of their requests fail', async () => {
  const toVendor = await faultyProxyForTest(() => vendor.localUrl, { share: 0.2, seed: 7, slowMs: 2_000 });
  const toService = await faultyProxyForTest(() => service.localUrl, { share: 0.2, seed: 8, slowMs: 2_000 });
  const vendor = await serviceForTest(
    { publicUrl: toVendor.url, prices },
    { engines: { image: { ...createCopyingEngine(), atOnce: 8 } } },
  );
  const settings = { answerMs: 1_500, honoursKeys: true };
  const service = await vendorServiceForTest(
    { url: toVendor.url, key: vendor.ownerToken, settings },
    { publicUrl: toService.url, prices },
  );
  const images = await Promise.all(Array.from({ length: 30 }, (_, at) => createPicture(at)));
  const ids: string[] = [];
  for (const image of images) ids.push(await startRelight(service, image));
  await allEnded(service);

  const made = await Promise.all(ids.map((id) => findResult(service, id)));
  expect(made).toEqual(images.map(hashBytes));
  const paid = await readCharges(vendor);
  expect(paid).toHaveLength(images.length);
  expect(paid).toEqual(paid.map(() => ({ kind: 'charge', amount: 3 })));
  for (const mishap of MISHAPS) expect(toVendor.counts[mishap]).toBeGreaterThan(0);
});

async function createPicture(at: number): Promise<Buffer> {
  const background = { r: at * 8, g: 255 - at * 8, b: 128 };
  return await sharp({ create: { width: 40, height: 30, channels: 3, background } })
    .png()
    .toBuffer();
}

const startRelight = ({ localUrl, ownerToken }: RunningService, image: Buffer) =>
  startTask({ url: localUrl, token: ownerToken }, { image: image.toString('base64') });

/** Reads the database, because polling thirty tasks over HTTP slows both services down. */
async function allEnded({ context }: RunningService): Promise<void> {
  await waitFor(async () => {
    const tasks = await context.database.selectFrom('tasks').select('status').execute();
    expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => 'COMPLETED'));
  });
}

/** The digest of the result of a task. */
async function findResult({ localUrl, ownerToken }: RunningService, id: string): Promise<string> {
  const { generated } = await readTask({ url: localUrl, token: ownerToken }, id);
  // Not through the public URL, whose requests fail as well.
  const { pathname, search } = new URL(generated[0]);
  const answer = await fetch(localUrl + pathname + search);
  return hashBytes(Buffer.from(await answer.arrayBuffer()));
}

const hashBytes = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function readCharges({ context }: RunningService) {
  return await context.database.selectFrom('credits').select(['kind', 'amount']).execute();
}

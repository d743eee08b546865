import { expect, onTestFinished, test } from 'vitest';
import { pixel, startTask, waitForTask } from '../../../support/generation.js';
import { listenOn } from '../../../support/listen.js';
import { ask } from '../../../support/service.js';
import { vendorServiceForTest } from '../../../support/vendor-service.js';

/** A vendor that returns these files for each task, and a service in front of it. */
async function behindVendor(files: readonly Buffer[], limits: object) {
  const fetched = new Set<string>();
  const { url, close } = await listenOn((request, response) => {
    const [, at] = /^\/files\/(\d+)/.exec(request.url as string) ?? [];
    if (at !== undefined) {
      fetched.add(at);
      // In chunks, so that no length warns of it.
      response.writeHead(200, { 'content-type': 'image/png' }).write(files[Number(at)]);
      return void response.end();
    }
    const generated = files.map((_, index) => `${url}/files/${index}`);
    const data = { task_id: 't', status: request.method === 'POST' ? 'CREATED' : 'COMPLETED', generated };
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
    });
  });
  onTestFinished(close);
  const service = await vendorServiceForTest(
    { url, key: 'k' },
    { prices: { image: { relight: 3 } }, limits },
  );
  const asking = { url: service.url, token: service.ownerToken };
  return { fetched, asking };
}

const picture = Buffer.from(pixel, 'base64');
const padded = Buffer.concat([picture, Buffer.alloc(1_000)]);

test.each([
  [
    'more files than allowed',
    Array(21).fill(picture),
    {},
    'The vendor returned 21 files; the limit is 20.',
    0,
  ],
  [
    'more files than configured',
    Array(3).fill(picture),
    { resultFiles: 2 },
    'The vendor returned 3 files; the limit is 2.',
    0,
  ],
  [
    'more bytes in one file',
    [padded],
    { resultBytes: 500 },
    'The vendor returned files of more than 500 bytes.',
    1,
  ],
  [
    'more bytes in all files together',
    [padded, padded, padded],
    { resultBytes: 2_500 },
    'The vendor returned files of more than 2.5 kB.',
    3,
  ],
])(
  'a task fails at once, and is refunded, if its vendor returns %s',
  async (_, files, limits, message, count) => {
    const { fetched, asking } = await behindVendor(files, limits);
    const id = await startTask(asking);
    await waitForTask(asking, id, 'FAILED');
    const { body } = await ask(`${asking.url}/users/tasks/${id}`, { token: asking.token });
    expect(body).toMatchObject({ reason: message, credits: 0 });
    expect(fetched.size).toBe(count);
  },
);

test('files up to the limits are taken', async () => {
  const limits = { resultFiles: 3, resultBytes: 3 * padded.length };
  const { asking } = await behindVendor([padded, padded, padded], limits);
  const { generated } = await waitForTask(asking, await startTask(asking));
  expect(generated).toHaveLength(3);
});

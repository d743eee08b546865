import { join } from 'node:path';
import { expect, test } from 'vitest';
import { regen } from '../../../support/cli.js';
import { ask, folderForTest } from '../../../support/service.js';
import { profileServiceForTest } from '../../../support/vendor-service.js';
import { startVideo, waitForVideo } from '../../../support/videos.js';
import { startVidu } from '../../../support/vidu.js';
import { waitFor } from '../../../support/wait-for.js';

const prices = { video_per_second: { 'vvq3-pro': { '720p': 6 } } };

test('admin usage compares credits with what the vendor charged, which users do not see', async () => {
  const states = ['queueing'];
  const vendor = await startVidu({ states });
  const { asking } = await profileServiceForTest('video', 'vidu', vendor, { prices });
  const readRows = async (path: string) =>
    (await ask(`${asking.url}${path}?by=operation`, { token: asking.token })).body.rows;
  const start = async () => {
    const looks = vendor.looks.length;
    const { task_id } = await startVideo(asking);
    await waitFor(() => expect(vendor.looks.length).toBeGreaterThan(looks));
    return task_id;
  };
  const cancel = (id: string) =>
    ask(`${asking.url}/users/tasks/${id}/cancel`, { method: 'POST', token: asking.token });
  await cancel(await start());
  states[0] = 'processing';
  await cancel(await start());
  states[0] = 'failed';
  await waitForVideo(asking, await start(), 'failed');
  states[0] = 'success';
  await waitForVideo(asking, await start());

  // The vendor charges 20 for each: for the task that was cancelled too late, and the one that it made.
  const [row] = await readRows('/admin/usage');
  expect(row).toMatchObject({ charged: 120, refunded: 60, credits: 60, vendor_credits: 40, difference: 20 });
  const [own] = await readRows('/users/usage');
  expect(own).toMatchObject({ credits: 60 });
  expect(Object.keys(own)).not.toContain('vendor_credits');
});

test('serve status shows that a vendor refuses the account, until it starts a task again', async () => {
  const message = 'insufficient credits\u001b[2J: top up';
  let isEmpty = true;
  const vendor = await startVidu({
    refuse: () => (isEmpty ? { status: 400, reason: 'CreditInsufficient', message } : undefined),
  });
  const data = join(folderForTest(), 'data');
  const { asking } = await profileServiceForTest('video', 'vidu', vendor, { data }, { log: () => {} });
  const readStatus = async () =>
    JSON.parse((await regen(['serve', 'status', '--json', '--data', data])).stdout).vendor_trouble;
  expect(await readStatus()).toBeUndefined();
  await waitForVideo(asking, (await startVideo(asking)).task_id, 'failed');
  const { host } = new URL(vendor.url);
  expect(await readStatus()).toEqual([
    expect.stringMatching(new RegExp(`^${host}: insufficient credits \\[2J: top up \\(since 20`)),
  ]);
  const shown = await regen(['serve', 'status', '--data', data], { terminal: true, columns: 80 });
  expect(shown.stdout).toContain('insufficient credits');
  isEmpty = false;
  await waitForVideo(asking, (await startVideo(asking)).task_id);
  expect(await readStatus()).toBeUndefined();
});

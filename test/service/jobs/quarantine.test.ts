import { expect, it } from 'vitest';
import { MAX_CRASHES } from '../../../src/service/queue/queue.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createZip } from '../../support/create-zip.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { listDeliveries, receiverForTest } from '../../support/receiver.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

it('ends task, version and delivery visibly if they ended the service too often', async () => {
  const data = folderForTest();
  const prices = { image: { relight: 5 } };
  const { url: webhook_url, received } = await receiverForTest((call) => (call === 1 ? 'silence' : 204));
  const endless = createCopyingEngine(() => new Promise<never>(() => {}));
  const first = await serviceForTest({ data, prices, graceMs: 1 }, { engines: { image: endless } });
  const { database, storage } = first.context;
  const token = first.ownerToken;
  const taskId = await startTask({ url: first.url, token }, { webhook_url });
  await waitFor(() => expect(received).toHaveLength(1));
  Object.assign(storage, { borrow: () => new Promise(() => {}) });
  const publisher = await publisherForTest(first);
  const { signedUrl } = await registerVersion(publisher);
  expect((await uploadArchive(signedUrl, await createZip({ '__init__.py': '' }))).status).toBe(200);
  const kinds = ['check-archive', 'deliver-webhook', 'run-image-task'];
  const running = database.selectFrom('jobs').select('kind').where('leased_by', 'is not', null);
  await waitFor(async () => expect(await running.execute()).toHaveLength(3));
  const changed = await database
    .transaction()
    .execute((tx) =>
      tx
        .updateTable('jobs')
        .set({ crashes: MAX_CRASHES })
        .where('kind', 'in', kinds)
        .returning('kind')
        .execute(),
    );
  expect(changed.map(({ kind }) => kind).sort()).toEqual(kinds);
  await first.stop();

  const logged: string[] = [];
  const second = await serviceForTest(
    { data, prices },
    { engines: { image: createCopyingEngine() }, log: (_, message) => logged.push(message) },
  );
  const { url } = second;
  await waitForTask({ url, token }, taskId, 'FAILED');
  const account = await ask(`${url}/users/tasks/${taskId}`, { token });
  expect(account.body).toMatchObject({
    credits: 0,
    reason: 'The service ended unexpectedly 5 times while it generated this.',
  });
  const version = () => readVersion({ ...publisher, url });
  await waitFor(async () => expect((await version()).status).toBe('NodeVersionStatusFlagged'));
  expect(await version()).toMatchObject({
    status_reason: 'The service ended unexpectedly 5 times while it checked this archive.',
    host_node_extract_status: 'failed',
  });
  await waitFor(async () =>
    expect((await listDeliveries(second)).map(({ state, status }) => [state, status])).toEqual([
      ['IN_PROGRESS', 'failed'],
      ['FAILED', 'delivered'],
    ]),
  );
  expect(logged.filter((line) => line.includes('is not run again')).sort()).toEqual(
    kinds.map((kind) => `Job ${kind} ended the process 5 times; it is not run again.`),
  );
});

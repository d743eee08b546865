import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { startRegistry } from '../../support/registry.js';
import { ask, serviceForTest } from '../../support/service.js';
import { startVideo } from '../../support/videos.js';
import { waitFor } from '../../support/wait-for.js';

const prices = { image: { relight: 7 } };

/** An engine whose tasks run until they are aborted, and the number of those that were. */
function endlessEngine() {
  const seen = { begun: 0, aborted: 0 };
  const engine = createCopyingEngine(async (_, signal) => {
    seen.begun += 1;
    await once(signal, 'abort');
    seen.aborted += 1;
    signal.throwIfAborted();
  });
  return { engine, seen };
}

it('cancelling a running task stops it with the code cancelled, without a refund', async () => {
  const { engine, seen } = endlessEngine();
  const service = await serviceForTest({ prices }, { engines: { image: engine } });
  const asking = { url: service.url, token: service.ownerToken };
  const id = await startTask(asking);
  await waitForTask(asking, id, 'IN_PROGRESS');
  const cancel = () =>
    ask(`${service.url}/users/tasks/${id}/cancel`, { method: 'POST', token: asking.token });
  expect(await cancel()).toMatchObject({
    status: 200,
    body: { task_id: id, status: 'FAILED', credits: 7, refunded: 0, reason: 'The task was cancelled.' },
  });
  await waitFor(() => expect(seen).toEqual({ begun: 1, aborted: 1 }));
  // Cancelling again changes nothing.
  expect(await cancel()).toMatchObject({ status: 200, body: { credits: 7 } });
  const rows = await service.context.database
    .selectFrom('credits')
    .select('kind')
    .where('task_id', '=', id)
    .execute();
  expect(rows.map(({ kind }) => kind)).toEqual(['charge']);
  await waitFor(async () => {
    const jobs = await service.context.database.selectFrom('jobs').select('kind').execute();
    expect(jobs.filter(({ kind }) => kind === 'run-image-task')).toEqual([]);
  });
});

it('cancelling a waiting task refunds it, and it never runs', async () => {
  const { engine, seen } = endlessEngine();
  const service = await serviceForTest({ prices }, { engines: { image: { ...engine, atOnce: 1 } } });
  const asking = { url: service.url, token: service.ownerToken };
  const first = await startTask(asking);
  await waitForTask(asking, first, 'IN_PROGRESS');
  const second = await startTask(asking);
  for (const [id, refunded] of [
    [second, 7],
    [first, 0],
  ]) {
    const path = `${service.url}/users/tasks/${id}/cancel`;
    expect((await ask(path, { method: 'POST', token: asking.token })).body).toMatchObject({ refunded });
  }
  expect(await waitForTask(asking, second, 'FAILED')).toMatchObject({ status: 'FAILED' });
  await waitFor(async () => {
    const jobs = await service.context.database.selectFrom('jobs').select('kind').execute();
    expect(jobs.filter(({ kind }) => kind === 'run-image-task')).toEqual([]);
  });
  expect(seen.begun).toBe(1);
});

it('cancelling is refused once the task has ended, and for everyone except its creator', async () => {
  const { url, tokens } = await startRegistry(
    {},
    { engines: { image: createCopyingEngine(), video: createFilmingEngine() } },
  );
  const ann = { url, token: tokens.ann };
  const id = await startTask(ann);
  await waitForTask(ann, id);
  const cancel = (token: string | undefined, task = id) =>
    ask(`${url}/users/tasks/${task}/cancel`, { method: 'POST', token });
  expect(await cancel(tokens.ann)).toMatchObject({ status: 400, body: { error: 'invalid_transition' } });
  const { task_id } = await startVideo(ann);
  expect((await cancel(tokens.eve, task_id)).status).toBe(404);
  expect(await cancel(tokens.admin, task_id)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EngineFailure, type EngineJob, type ImageOperation } from '../../../src/service/operation/engine.js';
import type { RunningService } from '../../../src/service/serve.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import {
  createSmallestBody,
  formatStatusPath,
  pixel,
  readTask,
  startPaths,
  startTask,
  unwrapTask,
  waitForTask,
} from '../../support/generation.js';
import { listFiles } from '../../support/list-files.js';
import { startRegistry } from '../../support/registry.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';

const operations = Object.keys(startPaths) as ImageOperation[];
const png = Buffer.from(pixel, 'base64');

/** The history and the credits of a task. */
async function readBooks({ context }: RunningService, id: string): Promise<[string[], unknown[]]> {
  const events = await context.database
    .selectFrom('events')
    .select(['status', 'reason', 'actor'])
    .where('subject_kind', '=', 'task')
    .where('subject_id', '=', id)
    .orderBy('id')
    .execute();
  const credits = await context.database
    .selectFrom('credits')
    .select(['kind', 'amount'])
    .where('task_id', '=', id)
    .orderBy('kind')
    .execute();
  return [
    events.map(({ status, reason }) => (reason ? `${status}: ${reason}` : (status as string))),
    credits.map(({ kind, amount }) => `${kind} ${amount}`),
  ];
}

describe('a task', () => {
  it.each(operations)(
    'of %s is answered as CREATED, and later as COMPLETED with its result',
    async (operation) => {
      const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
      const asking = { url: service.url, token: service.ownerToken, operation };
      const { status, body } = await ask(service.url + startPaths[operation], {
        method: 'POST',
        token: service.ownerToken,
        json: createSmallestBody(operation),
      });
      expect(status).toBe(200);
      const { task_id } = unwrapTask(body);
      const created = { generated: [], status: 'CREATED', task_id };
      expect(body).toEqual(operation === 'image.styleTransfer' ? created : { data: created });
      const done = await waitForTask(asking, task_id);
      expect(done).toEqual({ generated: [expect.any(String)], status: 'COMPLETED', task_id });
      const result = await fetch(done.generated[0]);
      expect([result.status, result.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(Buffer.from(await result.arrayBuffer())).toEqual(png);
      expect(await readBooks(service, task_id)).toEqual([
        ['CREATED', 'IN_PROGRESS', 'COMPLETED'],
        ['charge 0'],
      ]);
    },
  );

  it('is found only by the status operation of its kind', async () => {
    const { url, ownerToken: token } = await serviceForTest(
      {},
      { engines: { image: createCopyingEngine() } },
    );
    const id = await startTask({ url, token });
    for (const operation of operations) {
      const { status } = await ask(url + formatStatusPath(operation, id), { token });
      expect(status, operation).toBe(operation === 'image.relight' ? 200 : 404);
    }
  });

  it('passes the validated request with defaults, image files and a seed to its engine', async () => {
    const jobs: EngineJob[] = [];
    const engine = createCopyingEngine((job) => {
      jobs.push(job);
      if (jobs.length === 1) throw new Error('the disk is slow');
    });
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { image: engine } });
    const fields = { transfer_light_from_lightmap: pixel, prompt: 'warm', advanced_settings: { whites: 3 } };
    await waitForTask({ url, token }, await startTask({ url, token }, fields));
    expect(jobs).toHaveLength(2);
    const [first, second] = jobs as [EngineJob, EngineJob];
    expect(second.seed).toBe(first.seed);
    expect(second.operation).toBe('image.relight');
    expect(second.request).toMatchObject({
      image: 'image',
      transfer_light_from_lightmap: 'transfer_light_from_lightmap',
      prompt: 'warm',
      style: 'standard',
      light_transfer_strength: 100,
      advanced_settings: { whites: 3, blacks: 50 },
    });
    expect(Object.keys(second.images)).toEqual(['image', 'transfer_light_from_lightmap']);
    expect(second.folder).not.toBe(first.folder);
  });

  it('has a random seed, unless the same settings must make the same image', async () => {
    const seeds: number[] = [];
    const engine = createCopyingEngine(({ seed }) => void seeds.push(seed));
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { image: engine } });
    const fixed = [
      { advanced_settings: { fixed_generation: true } },
      { advanced_settings: { fixed_generation: true } },
    ];
    for (const fields of [{}, {}, ...fixed])
      await waitForTask({ url, token }, await startTask({ url, token }, fields));
    const operation = 'image.styleTransfer';
    const asking = { url, token, operation } as const;
    await waitForTask(asking, await startTask(asking, { fixed_generation: true }));
    expect(seeds[0]).not.toBe(seeds[1]);
    expect(seeds.slice(2)).toEqual([0, 0, 0]);
  });

  it('removes its inputs once it has ended', async () => {
    const data = folderForTest();
    const { url, ownerToken: token } = await serviceForTest(
      { data },
      { engines: { image: createCopyingEngine() } },
    );
    await waitForTask(
      { url, token },
      await startTask({ url, token }, { transfer_light_from_lightmap: pixel }),
    );
    await expect.poll(() => listFiles(join(data, 'objects'))).toEqual([expect.stringMatching(/0\.png$/)]);
    await expect.poll(() => listFiles(join(data, 'scratch'))).toEqual([]);
  });
});

describe('a task that fails', () => {
  it('has the reason in its history, is refunded, and does not affect other tasks', async () => {
    const prices = { image: { relight: 7, upscaler: 2 } };
    const engine = createCopyingEngine(({ operation }) => {
      if (operation === 'image.relight') throw new EngineFailure('The image has no light.');
    });
    const service = await serviceForTest({ prices }, { engines: { image: engine } });
    const asking = { url: service.url, token: service.ownerToken };
    const other = { ...asking, operation: 'image.upscaler' } as const;
    const [failing, passing] = [await startTask(asking), await startTask(other)];
    expect(await waitForTask(asking, failing, 'FAILED')).toEqual({
      generated: [],
      status: 'FAILED',
      task_id: failing,
      err_code: 'generation_failed',
      reason: 'The image has no light.',
    });
    expect(Object.keys(await waitForTask(other, passing))).toEqual(['generated', 'status', 'task_id']);
    expect(await readBooks(service, failing)).toEqual([
      ['CREATED', 'IN_PROGRESS', 'FAILED: The image has no light.'],
      ['charge 7', 'refund 7'],
    ]);
    expect(await readBooks(service, passing)).toEqual([
      ['CREATED', 'IN_PROGRESS', 'COMPLETED'],
      ['charge 2'],
    ]);
    const account = async (id: string) =>
      (await ask(`${service.url}/users/tasks/${id}`, { token: asking.token })).body;
    expect(await account(failing)).toMatchObject({
      status: 'FAILED',
      credits: 0,
      reason: 'The image has no light.',
    });
    expect(await account(passing)).toMatchObject({
      task_id: passing,
      operation: 'image.upscaler',
      status: 'COMPLETED',
      credits: 2,
      seed: expect.any(Number),
    });
  });

  it.each([
    ['nothing', []],
    ['what no page should run', [{ path: 'x', contentType: 'text/html' }]],
    ['a file that is not there', [{ path: '/nowhere/x.png', contentType: 'image/png' }]],
  ])('because its engine returned %s is retried', async (_, files) => {
    let runs = 0;
    const copying = createCopyingEngine();
    const image = {
      name: 'odd',
      atOnce: 2,
      run: (...given: Parameters<typeof copying.run>) =>
        ++runs === 1 ? Promise.resolve({ files }) : copying.run(...given),
    };
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { image } });
    await waitForTask({ url, token }, await startTask({ url, token }));
    expect(runs).toBe(2);
  });

  it('at every attempt is given up after ten attempts', async () => {
    let service: RunningService | undefined;
    const engine = createCopyingEngine(async () => {
      // Skips the pauses between attempts.
      await service?.context.database
        .transaction()
        .execute((tx) =>
          tx.updateTable('jobs').set({ attempts: 10 }).where('kind', '=', 'run-image-task').execute(),
        );
      throw new Error('the engine broke');
    });
    service = await serviceForTest({ prices: { image: { relight: 1 } } }, { engines: { image: engine } });
    const asking = { url: service.url, token: service.ownerToken };
    const id = await startTask(asking);
    await waitForTask(asking, id, 'FAILED');
    const [history, credits] = await readBooks(service, id);
    expect(history.at(-1)).toBe('FAILED: The task did not finish in 10 attempts.');
    expect(credits).toEqual(['charge 1', 'refund 1']);
  });
});

describe('a service that stops', () => {
  it('aborts a running task, which the next start finishes', async () => {
    const data = folderForTest();
    let running = () => {};
    const begun = new Promise<void>((resolve) => {
      running = resolve;
    });
    const holding = createCopyingEngine((_, signal) => {
      running();
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new EngineFailure('cut'))),
      );
    });
    const first = await serviceForTest({ data, graceMs: 0 }, { engines: { image: holding } });
    const { url, ownerToken: token } = first;
    const id = await startTask({ url, token });
    await begun;
    expect((await readTask({ url, token }, id)).status).toBe('IN_PROGRESS');
    await first.stop();
    const second = await serviceForTest({ data }, { engines: { image: createCopyingEngine() } });
    await waitForTask({ url: second.url, token }, id);
    expect(await readBooks(second, id)).toEqual([['CREATED', 'IN_PROGRESS', 'COMPLETED'], ['charge 0']]);
  });
});

describe('credits', () => {
  it('are fixed when the task is created, even if prices change', async () => {
    const data = folderForTest();
    const never = createCopyingEngine(
      (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
    );
    const first = await serviceForTest(
      { data, graceMs: 0, prices: { image: { relight: 3 } } },
      { engines: { image: never } },
    );
    const id = await startTask({ url: first.url, token: first.ownerToken });
    await first.stop();
    const failing = createCopyingEngine(() => {
      throw new EngineFailure('No.');
    });
    const second = await serviceForTest(
      { data, prices: { image: { relight: 9 } } },
      { engines: { image: failing } },
    );
    await waitForTask({ url: second.url, token: second.ownerToken }, id, 'FAILED');
    expect((await readBooks(second, id))[1]).toEqual(['charge 3', 'refund 3']);
  });
});

describe('a task of another user', () => {
  it('is visible only to admins', async () => {
    const { as, service, url, tokens } = await startRegistry(
      {},
      { engines: { image: createCopyingEngine() } },
    );
    try {
      const id = await startTask({ url, token: tokens.ann });
      const seen = await Promise.all(
        (['ann', 'admin', 'bob', 'eve', 'pat', 'guest'] as const).map(async (who) => {
          const { status } = await as(who, 'GET', formatStatusPath('image.relight', id));
          return `${who} ${status}`;
        }),
      );
      expect(seen).toEqual(['ann 200', 'admin 200', 'bob 404', 'eve 404', 'pat 404', 'guest 401']);
    } finally {
      await service.stop();
    }
  });
});

describe('a start with an Idempotency-Key', () => {
  const post = (url: string, token: string, json: object, key = 'k') =>
    ask(url + startPaths['image.relight'], {
      method: 'POST',
      token,
      json,
      headers: { 'idempotency-key': key },
    });

  it('creates one task and one charge, however often it is repeated', async () => {
    const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
    const { url, ownerToken: token } = service;
    const body = createSmallestBody('image.relight');
    const first = await post(url, token, body);
    await waitForTask({ url, token }, first.body.data.task_id);
    const again = await post(url, token, body);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await post(url, token, { ...body, style: 'clean' });
    expect([other.status, other.body.error]).toEqual([400, 'idempotency_mismatch']);
    const { length } = await service.context.database.selectFrom('credits').selectAll().execute();
    expect(length).toBe(1);
  });
});

describe('a start with a slow image', () => {
  /** A server on loopback that sends its image when it is told to. */
  async function slowImage(): Promise<{
    url: string;
    asked: Promise<void>;
    send: () => void;
    closed: Promise<void>;
  }> {
    let received = () => {};
    let send = () => {};
    let close = () => {};
    const asked = new Promise<void>((resolve) => {
      received = resolve;
    });
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const server = createServer((_request, response) => {
      send = () => response.writeHead(200, { 'content-type': 'image/png' }).end(png);
      response.once('close', close);
      received();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
    return { url, asked, send: () => send(), closed };
  }

  it('does not delay other requests, and its key is in flight until it is answered', async () => {
    const { url, ownerToken: token } = await serviceForTest(
      {},
      { engines: { image: createCopyingEngine() } },
    );
    const slow = await slowImage();
    const post = () =>
      ask(url + startPaths['image.relight'], {
        method: 'POST',
        token,
        json: { image: slow.url },
        headers: { 'idempotency-key': 'slow' },
      });
    const first = post();
    await slow.asked;
    const second = await post();
    expect([second.status, second.body.error]).toEqual([409, 'idempotency_in_flight']);
    await waitForTask({ url, token }, await startTask({ url, token }));
    slow.send();
    const { status, body } = await first;
    expect(status).toBe(200);
    expect((await post()).body).toEqual(body);
  });

  it('is abandoned without a trace when the client disconnects', async () => {
    const data = folderForTest();
    const service = await serviceForTest({ data }, { engines: { image: createCopyingEngine() } });
    const slow = await slowImage();
    const leaving = new AbortController();
    const asking = ask(service.url + startPaths['image.relight'], {
      method: 'POST',
      token: service.ownerToken,
      json: { image: pixel, transfer_light_from_lightmap: slow.url },
      signal: leaving.signal,
    });
    await slow.asked;
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await slow.closed;
    await expect
      .poll(() => [...listFiles(join(data, 'objects')), ...listFiles(join(data, 'scratch'))])
      .toEqual([]);
    expect(await service.context.database.selectFrom('tasks').selectAll().execute()).toEqual([]);
  });
});

describe('the document of a service', () => {
  it('lists every operation on images', async () => {
    const { url } = await serviceForTest();
    const { body } = await ask(`${url}/openapi.json`);
    for (const operation of operations) {
      expect(body.paths[startPaths[operation]].post.operationId).toBe(operation);
      expect(body.paths[formatStatusPath(operation, '{task_id}')].get.operationId).toBe(`${operation}Status`);
    }
  });
});

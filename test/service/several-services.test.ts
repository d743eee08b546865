import { EventEmitter, once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import { EngineFailure, type Engines } from '../../src/service/operation/engine.js';
import type { RunningService, ServiceParts } from '../../src/service/serve.js';
import { regen } from '../support/cli.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import {
  createSmallestBody,
  pixel,
  startPaths,
  startTask,
  unwrapTask,
  waitForTask,
} from '../support/generation.js';
import { generationDoubleForTest } from '../support/generation-double.js';
import { listenOn } from '../support/listen.js';
import { databaseForFolder, testDatabase } from '../support/postgres.js';
import { createPostgresServer, explainMissingPostgres } from '../support/postgres-server.js';
import { listStatuses, receiverForTest } from '../support/receiver.js';
import { ask, folderForTest, publisherForTest, registerVersion, serviceForTest } from '../support/service.js';
import { createVendorConfiguration, createVendorSettings, writeProfile } from '../support/vendor-service.js';
import { startVideo } from '../support/videos.js';
import { startVidu } from '../support/vidu.js';
import { waitFor } from '../support/wait-for.js';

/** Services on one PostgreSQL database and one folder of objects. */
async function servicesForTest(
  count: number,
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService[]> {
  const folder = folderForTest();
  const database = input.database ?? (await databaseForFolder(folder)).database;
  mkdirSync(join(folder, 'objects'));
  const start = (_: unknown, at: number) => {
    const data = join(folder, `${at}`);
    mkdirSync(data, { mode: 0o700 });
    symlinkSync(join(folder, 'objects'), join(data, 'objects'));
    return serviceForTest({ ...input, data, database }, parts);
  };
  return Promise.all(Array.from({ length: count }, start));
}

/** Ends the leases of a service, as if it had not renewed them in time. */
async function endLeases({ context, instance }: RunningService): Promise<void> {
  await context.database
    .updateTable('jobs')
    .set({ leased_until: '2020-01-01T00:00:00.000Z' })
    .where('leased_by', '=', instance)
    .execute();
}

const readStatus = async (answer: ReturnType<typeof ask>) => (await answer).status;

describe.skipIf(!testDatabase)('services on one PostgreSQL database', () => {
  it('ask a vendor together only as often as it allows', async () => {
    const vendor = await startVidu({ states: ['processing'], perMinute: 10 });
    const profile = writeProfile({ extends: 'vidu', limits: { requestsPerMinute: 10, atOnce: 40 } });
    const generation = { video: createVendorSettings(profile, vendor) };
    const services = await servicesForTest(2, { generation });
    for (let at = 0; at < 16; at += 1) {
      const { url, ownerToken: token } = services[at % 2] as RunningService;
      await startVideo({ url, token });
    }
    await waitFor(() => expect(vendor.requests.length).toBe(10));
    // Each has more to start and to look at than is allowed.
    for (const { context } of services)
      expect(await context.database.selectFrom('jobs').select('id').execute()).not.toEqual([]);
    expect(vendor.refused).toEqual([]);
  });

  it('have one signing key, although they started at once, and see at once that one of them rotated it', async () => {
    const [a, b, c] = (await servicesForTest(3)) as [RunningService, RunningService, RunningService];
    const listKids = ({ context }: RunningService) => context.keys.token.map(({ kid }) => kid);
    expect(listKids(a)).toHaveLength(1);
    expect([listKids(b), listKids(c)]).toEqual([listKids(a), listKids(a)]);
    expect(b.context.keys.url).toEqual(a.context.keys.url);
    const rotated = await ask(`${a.url}/.well-known/regen-owner/rotate-key`, {
      method: 'POST',
      token: a.ownerToken,
    });
    expect(rotated.status).toBe(200);
    const token = await a.signFor({ sub: 'ann' });
    expect(await readStatus(ask(`${b.url}/users/me`, { token }))).toBe(200);
    await waitFor(() => expect(listKids(c)).toEqual(listKids(a)));
    expect(await readStatus(ask(`${a.url}/users/me`, { token: await c.signFor({ sub: 'ann' }) }))).toBe(200);
  });

  it('have one owner: the token in the folder of each signs in at all, also of one with an earlier folder, and is rotated in all', async () => {
    const database = (await databaseForFolder(folderForTest())).database as string;
    const earlier = folderForTest();
    const storage = folderForTest();
    await (await serviceForTest({ data: earlier, database: undefined })).stop();
    const [a, b] = (await servicesForTest(2, { database, storage })) as [RunningService, RunningService];
    const c = await serviceForTest({ data: earlier, database, storage });
    const readToken = ({ context }: RunningService) =>
      readFileSync(join(context.configuration.data as string, 'owner.token'), 'utf8').trim();
    const askAll = (token: string) =>
      Promise.all([a, b, c].map(({ url }) => readStatus(ask(`${url}/admin/tokens`, { token }))));
    const token = readToken(a);
    expect([readToken(b), readToken(c), c.ownerToken]).toEqual([token, token, token]);
    expect(await askAll(token)).toEqual([200, 200, 200]);
    await ask(`${b.url}/.well-known/regen-owner/rotate-token`, { method: 'POST', token });
    const rotated = readToken(b);
    expect(rotated).not.toBe(token);
    await waitFor(() => expect([readToken(a), readToken(c)]).toEqual([rotated, rotated]));
    expect([await askAll(rotated), await askAll(token)]).toEqual([
      [200, 200, 200],
      [401, 401, 401],
    ]);
  });

  it('have the same files: one with another storage is refused, also if it starts at the same time', async () => {
    const { database } = await databaseForFolder(folderForTest());
    const [one, other] = [folderForTest(), folderForTest()];
    const start = (storage: string) => serviceForTest({ data: folderForTest(), database, storage });
    const started = await Promise.allSettled([start(one), start(one), start(other)]);
    const refused = started.filter((result) => result.status === 'rejected');
    const isFirst = started[2]?.status === 'fulfilled';
    const [taken, free] = isFirst ? [other, one] : [one, other];
    expect(refused).toHaveLength(isFirst ? 2 : 1);
    const reason = `The files of this database are in ${taken}, and ${free} is another place; give all services the same storage`;
    for (const { reason: error } of refused) expect(error.message).toContain(reason);
    // Files that are moved with all that is beside them.
    renameSync(taken, join(free, 'moved'));
    await start(join(free, 'moved'));
  });

  it('say in their status where their data is, and what it takes on this machine', async () => {
    const data = folderForTest();
    const { database } = await databaseForFolder(data);
    await serviceForTest({ data, database, storage: folderForTest() });
    const { stdout } = await regen(['serve', 'status', '--data', data, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ database, storage: expect.any(String), archive_bytes: 0 });
    expect(JSON.parse(stdout)).not.toHaveProperty('database_bytes');
  });

  it('lose no change of different fields that are written at the same time', async () => {
    const [a, b] = (await servicesForTest(2)) as [RunningService, RunningService];
    const publisher = await publisherForTest(a);
    await registerVersion(publisher);
    const path = '/publishers/acme/nodes/pack';
    for (let round = 0; round < 5; round += 1) {
      const put = ({ url, ownerToken: token }: RunningService, json: object) =>
        readStatus(ask(url + path, { method: 'PUT', token, json }));
      const description = `round ${round}`;
      const author = `author ${round}`;
      expect(await Promise.all([put(a, { description }), put(b, { author })])).toEqual([200, 200]);
      const { body } = await ask(`${b.url}/nodes/pack`, { token: b.ownerToken });
      expect([body.description, body.author]).toEqual([description, author]);
    }
  });

  it('answer the same request that comes to both at the same time without failing', async () => {
    const services = await servicesForTest(2);
    for (let round = 0; round < 5; round += 1) {
      const json = { id: `acme${round}`, name: 'Acme' };
      const answers = await Promise.all(
        services.map(({ url, ownerToken: token }) =>
          readStatus(ask(`${url}/publishers`, { method: 'POST', token, json })),
        ),
      );
      expect(answers.sort()).toEqual([201, 400]);
    }
  });

  it('answer 409 while a request with the same key runs in another of them, and then replay its answer', async () => {
    const [a, b] = (await servicesForTest(2, {}, { engines: { image: createCopyingEngine() } })) as [
      RunningService,
      RunningService,
    ];
    let send: (() => void) | undefined;
    const server = createServer((_, response) => {
      send = () => response.end(Buffer.from(pixel, 'base64'));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const image = `http://127.0.0.1:${(server.address() as AddressInfo).port}/image.png`;
    const json = { ...createSmallestBody('image.upscaler'), image };
    const headers = { 'idempotency-key': 'once' };
    const start = ({ url, ownerToken: token }: RunningService) =>
      ask(url + startPaths['image.upscaler'], { method: 'POST', token, json, headers });
    const first = start(a);
    await waitFor(() => expect(send).toBeDefined());
    const second = await start(b);
    expect([second.status, second.body.error]).toEqual([409, 'idempotency_in_flight']);
    send?.();
    const { status, body } = await first;
    const replayed = await start(b);
    expect([status, replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([
      200,
      200,
      'true',
    ]);
    expect(unwrapTask(replayed.body).task_id).toBe(unwrapTask(body).task_id);
  });

  it('charge an API key what it may spend in all and no more, although 200 tasks start at once', async () => {
    const configuration = { prices: { image: { upscaler: 5 } } };
    const services = await servicesForTest(3, configuration, { engines: { image: createCopyingEngine() } });
    const [{ url, ownerToken }] = services as [RunningService];
    const created = await ask(`${url}/users/keys`, {
      ...{ method: 'POST', token: ownerToken, json: { name: 'purse', credits: 50 } },
    });
    const { id, token } = created.body;
    const json = createSmallestBody('image.upscaler');
    // As clients do after 503 and its Retry-After, which is what a start gets that loses too often against others.
    const start = async (service: RunningService): Promise<number> => {
      const { status } = await ask(service.url + startPaths['image.upscaler'], {
        ...{ method: 'POST', token, json },
      });
      return status === 503 ? start(service) : status;
    };
    const statuses = await Promise.all(
      Array.from({ length: 200 }, (_, at) => start(services[at % 3] as RunningService)),
    );
    const count = (status: number) => statuses.filter((one) => one === status).length;
    expect([count(200), count(403)]).toEqual([10, 190]);
    const { body } = await ask(`${url}/users/usage?by=key`, { token: ownerToken });
    expect(body.rows).toEqual([expect.objectContaining({ key_id: id, credits: 50, tasks: 10 })]);
  });

  it('keep the limit of a vendor together, and look at the task that another of them started', async () => {
    const states = ['IN_PROGRESS'];
    const vendor = await generationDoubleForTest({ states });
    const settings = { atOnce: 3, pollMs: 3_600_000 };
    const configuration = createVendorConfiguration({ url: vendor.url, key: 'sk-vendor', settings });
    const [a, b] = (await servicesForTest(2, configuration)) as [RunningService, RunningService];
    const starts = [a, b, a, b, a, b].map(({ url, ownerToken: token }) => startTask({ url, token }));
    const ids = await Promise.all(starts);
    const { database } = a.context;
    const watched = database.selectFrom('jobs').select('key').where('kind', '=', 'watch-image-task');
    await waitFor(async () => expect(await watched.execute()).toHaveLength(3));
    expect(vendor.asked).toHaveLength(3);
    states[0] = 'COMPLETED';
    await b.stop();
    for (let received = 0; received < ids.length; received += 1) {
      await waitFor(() => expect(vendor.asked.length).toBeGreaterThan(received));
      const callback = new URL(vendor.asked[received]?.body.webhook_url);
      const headers = { 'content-type': 'application/json' };
      await fetch(a.url + callback.pathname + callback.search, { method: 'POST', headers, body: '{}' });
    }
    for (const id of ids) await waitForTask({ url: a.url, token: a.ownerToken }, id);
    expect(vendor.asked).toHaveLength(6);
  });

  it('leave jobs to the one that runs their kinds', async () => {
    const ran: string[] = [];
    const folder = folderForTest();
    const { database } = await databaseForFolder(folder);
    const createEngine = (name: string) => ({
      engines: { image: createCopyingEngine(() => void ran.push(name)) },
    });
    const web = await serviceForTest({ data: join(folder, 'web'), database, work: [] }, createEngine('web'));
    const asking = { url: web.url, token: web.ownerToken };
    const id = await startTask(asking);
    const cancelled = await startTask(asking);
    const { url, ownerToken: token } = web;
    await fetch(`${url}/users/tasks/${cancelled}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    mkdirSync(join(folder, 'maker'), { mode: 0o700 });
    symlinkSync(join(folder, 'web', 'objects'), join(folder, 'maker', 'objects'));
    const work = ['run-image-task'] as const;
    await serviceForTest({ data: join(folder, 'maker'), database, work: [...work] }, createEngine('maker'));
    await waitForTask(asking, id);
    expect(ran).toEqual(['maker']);
    const left = web.context.database.selectFrom('jobs').select('kind').where('kind', '<>', 'prune');
    await waitFor(async () => expect(await left.execute()).toEqual([{ kind: 'forget-inputs' }]));
  });

  it('keep nothing of what one of them does with a job that another has taken', async () => {
    const begun: string[] = [];
    const gates = new EventEmitter();
    const memories: (string | undefined)[] = [];
    const createEngine = (name: 'a' | 'b'): Partial<Engines> => {
      const engine = createCopyingEngine();
      const run: typeof engine.run = async (job, signal, progress, memory) => {
        begun.push(name);
        await once(gates, name);
        if (name === 'b') memories.push(await memory.read());
        else await memory.write('late', false).catch((error) => memories.push(error.name));
        if (name === 'a') throw new EngineFailure('too late');
        return engine.run(job, signal, progress, memory);
      };
      return { image: { ...engine, run } };
    };
    const folder = folderForTest();
    const { database } = await databaseForFolder(folder);
    const storage = join(folder, 'objects');
    mkdirSync(storage);
    const a = await serviceForTest(
      { data: join(folder, 'a'), database, storage },
      { engines: createEngine('a') },
    );
    const asking = { url: a.url, token: a.ownerToken };
    const id = await startTask(asking);
    await waitFor(() => expect(begun).toEqual(['a']));
    await serviceForTest({ data: join(folder, 'b'), database, storage }, { engines: createEngine('b') });
    await waitFor(async () => {
      await endLeases(a);
      expect(begun).toEqual(['a', 'b']);
    });
    gates.emit('a');
    await waitFor(() => expect(memories).toEqual(['LeaseLost']));
    gates.emit('b');
    expect((await waitForTask(asking, id)).status).toBe('COMPLETED');
    expect(memories).toEqual(['LeaseLost', undefined]);
  });

  it('keep no answer to a webhook that another of them has delivered since', async () => {
    const asked: ServerResponse[] = [];
    const receiver = await listenOn((_, answer) => {
      // The first, of the service that then loses its lease, is answered last.
      if (asked.push(answer) > 1) answer.writeHead(204).end();
    });
    onTestFinished(() => receiver.close());
    const folder = folderForTest();
    const { database } = await databaseForFolder(folder);
    const storage = join(folder, 'objects');
    mkdirSync(storage);
    const engines = { image: createCopyingEngine() };
    const a = await serviceForTest(
      { data: join(folder, 'a'), database, storage, graceMs: 60_000 },
      { engines },
    );
    const asking = { url: a.url, token: a.ownerToken };
    const id = await startTask(asking, { webhook_url: receiver.url });
    await waitForTask(asking, id);
    await waitFor(() => expect(asked).toHaveLength(1));
    const b = await serviceForTest({ data: join(folder, 'b'), database, storage }, { engines });
    await waitFor(async () => {
      await endLeases(a);
      expect(asked).toHaveLength(3);
    });
    asked[0]?.writeHead(410).end();
    await a.stop();
    const tasks = b.context.database.selectFrom('tasks').select('webhook_url');
    const deliveries = b.context.database.selectFrom('webhook_deliveries').select(['status', 'attempts']);
    await waitFor(async () =>
      expect(await deliveries.execute()).toEqual([
        { status: 'delivered', attempts: 1 },
        { status: 'delivered', attempts: 1 },
      ]),
    );
    expect(await tasks.execute()).toEqual([{ webhook_url: receiver.url }]);
  });

  it('run each task once, whichever of them took it, and deliver its changes in order', async () => {
    const ran: string[] = [];
    const engine = createCopyingEngine(({ id }) => void ran.push(id));
    const services = await servicesForTest(3, {}, { engines: { image: engine } });
    const receiver = await receiverForTest();
    const [{ url, ownerToken: token }] = services as [RunningService];
    const starts = Array.from({ length: 12 }, (_, at) => {
      const by = services[at % 3] as RunningService;
      return startTask({ url: by.url, token: by.ownerToken }, { webhook_url: receiver.url });
    });
    const ids = await Promise.all(starts);
    for (const id of ids) await waitForTask({ url, token }, id);
    await waitFor(() => expect(receiver.received).toHaveLength(24));
    expect(ran.sort()).toEqual([...ids].sort());
    for (const id of ids) {
      const received = receiver.received.filter(({ body }) => body.task_id === id);
      expect([id, ...listStatuses(received)]).toEqual([id, 'IN_PROGRESS', 'COMPLETED']);
    }
  });
});

describe.skipIf(!testDatabase || explainMissingPostgres(false))(
  'a service whose PostgreSQL server ends',
  () => {
    it('answers 503 with Retry-After, is not ready, and goes on by itself once the server is back', async () => {
      const server = await createPostgresServer();
      onTestFinished(() => server.remove());
      const [service] = (await servicesForTest(1, { database: server.url })) as [RunningService];
      const publisher = await publisherForTest(service);
      await server.kill();
      for (const path of ['/nodes', '/ready', '/publishers/acme']) {
        const { status, headers, body } = await ask(service.url + path);
        expect([path, status, headers.get('retry-after'), body.error]).toEqual([
          path,
          503,
          '1',
          'unavailable',
        ]);
      }
      expect(await readStatus(ask(`${service.url}/health`))).toBe(200);
      await server.start();
      await waitFor(async () => expect(await readStatus(ask(`${service.url}/ready`))).toBe(200));
      await registerVersion(publisher);
    });
  },
);

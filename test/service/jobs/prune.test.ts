import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { prune } from '../../../src/service/jobs/prune.js';
import { checkStore } from '../../../src/service/maintenance/check-store.js';
import { pruneStore } from '../../../src/service/maintenance/prune-store.js';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createZip } from '../../support/create-zip.js';
import { readTask, startTask, waitForTask } from '../../support/generation.js';
import { databaseForFolder } from '../../support/postgres.js';
import { receiverForTest } from '../../support/receiver.js';
import {
  type Answered,
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const DAY_MS = 24 * 60 * 60_000;

/** A service whose clock a test moves by days. */
async function clockedService(input: ConfigurationInput = {}, fails = () => false) {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const image = createCopyingEngine(() => {
    if (fails()) throw new EngineFailure('No.');
  });
  const service = await serviceForTest(input, { engines: { image }, now: () => time });
  const { database, storage } = service.context;
  // The tests prune themselves.
  await database.transaction().execute((tx) => tx.deleteFrom('jobs').where('kind', '=', 'prune').execute());
  return {
    ...service,
    asking: { url: service.url, token: service.ownerToken },
    pass: (days: number) => {
      time += days * DAY_MS;
    },
    prune: async (dryRun = false) => {
      const pruned = await prune(service.context, { dryRun });
      return Object.fromEntries(
        pruned.map(({ kind, count, bytes }) => [kind, dryRun ? { count, bytes } : count]),
      );
    },
    check: () => checkStore(database, storage),
    /** Waits until the jobs that are due have ended, and no file is left, except those that rows name. */
    settle: () =>
      waitFor(async () => {
        expect(await service.context.queue.hasWorkBy(time)).toBe(false);
        expect((await checkStore(database, storage)).problems).toEqual([]);
      }),
  };
}

describe('the results of a task', () => {
  it('get no new links after their days, and are removed once the last link has expired', async () => {
    const { asking, pass, prune, check, settle } = await clockedService({ retention: { results: 10 } });
    const id = await startTask(asking);
    const { generated } = await waitForTask(asking, id);
    expect(generated).toHaveLength(1);
    const bytes = (await (await fetch(generated[0])).arrayBuffer()).byteLength;
    pass(9.9);
    const [last] = (await readTask(asking, id)).generated;
    pass(0.2);
    expect(await readTask(asking, id)).toMatchObject({ status: 'COMPLETED', generated: [] });
    expect((await prune()).results).toBe(0);
    pass(6.7);
    expect((await prune()).results).toBe(0);
    expect((await fetch(last)).status).toBe(200);
    pass(0.3);
    expect((await prune(true)).results).toEqual({ count: 1, bytes });
    expect((await prune()).results).toBe(1);
    await settle();
    expect(await check()).toMatchObject({ objects: 0, bytes: 0 });
    expect((await fetch(last)).status).toBe(403);
    expect(await readTask(asking, id)).toMatchObject({ status: 'COMPLETED', generated: [] });
    expect((await prune()).results).toBe(0);
  });

  it('are kept for ever if that is configured, and so is their task', async () => {
    const { asking, pass, prune } = await clockedService({ retention: { results: false } });
    const id = await startTask(asking);
    await waitForTask(asking, id);
    pass(3_000);
    expect(await prune()).toMatchObject({ results: 0, tasks: 0 });
    expect((await readTask(asking, id)).generated).toHaveLength(1);
  });
});

describe('a task', () => {
  it('is removed with its deliveries and history after its days; what it cost stays', async () => {
    const receiver = await receiverForTest();
    const { asking, pass, prune, settle, url, ownerToken, context } = await clockedService({
      retention: { results: 10, tasks: 20, events: false, deliveries: false },
      prices: { image: { relight: 3 } },
    });
    const id = await startTask(asking, { webhook_url: receiver.url });
    await waitForTask(asking, id);
    await waitFor(() => expect(receiver.received).toHaveLength(2));
    await waitFor(async () =>
      expect(
        await context.database.selectFrom('jobs').select('kind').where('key', '=', id).execute(),
      ).toEqual([]),
    );
    pass(19);
    expect(await prune()).toMatchObject({ results: 1, tasks: 0 });
    pass(1.1);
    expect((await prune()).tasks).toBe(1);
    await settle();
    expect((await ask(`${url}/users/tasks/${id}`, { token: ownerToken })).status).toBe(404);
    const counts = await Promise.all(
      (['tasks', 'webhook_deliveries', 'credits'] as const).map(
        async (table) => (await context.database.selectFrom(table).selectAll().execute()).length,
      ),
    );
    expect(counts).toEqual([0, 0, 1]);
    const tasksIn = (events: Answered[]) => events.filter(({ kind }) => kind === 'task');
    const { body } = await ask(`${url}/admin/audit`, { token: ownerToken });
    expect(tasksIn(body.events)).toEqual([]);
  });

  it('is kept while it runs', async () => {
    const { asking, pass, prune, context } = await clockedService({ retention: { tasks: 7 } });
    context.engines.image.run = () => new Promise<never>(() => {});
    const id = await startTask(asking);
    await waitFor(async () => expect((await readTask(asking, id)).status).toBe('IN_PROGRESS'));
    pass(8);
    expect((await prune()).tasks).toBe(0);
  });

  it('is kept while a delivery is pending', async () => {
    const receiver = await receiverForTest(() => 'silence');
    const { asking, pass, prune, context } = await clockedService({ retention: { tasks: 7 } }, () => true);
    const id = await startTask(asking, { webhook_url: receiver.url });
    await waitForTask(asking, id, 'FAILED');
    pass(8);
    expect((await prune()).tasks).toBe(0);
    await context.database
      .transaction()
      .execute((tx) => tx.updateTable('webhook_deliveries').set({ status: 'gone' }).execute());
    expect((await prune()).tasks).toBe(1);
  });
});

describe('an archive', () => {
  async function published(input: ConfigurationInput) {
    const service = await clockedService(input);
    const publisher = await publisherForTest(service);
    for (const version of ['1.0.0', '2.0.0']) {
      const { signedUrl } = await registerVersion(publisher, version);
      await uploadArchive(
        signedUrl,
        await createZip({ '__init__.py': `NODE_CLASS_MAPPINGS = {}  # ${version}\n` }),
      );
      await waitFor(async () =>
        expect((await readVersion(publisher, version)).status).toBe('NodeVersionStatusActive'),
      );
    }
    const send = (method: string, path: string, json?: object) =>
      ask(service.url + path, { method, token: service.ownerToken, json });
    return { ...service, publisher, send };
  }

  it('of a deleted version is removed after its days, and the version stays', async () => {
    const { publisher, send, pass, prune, settle, check } = await published({
      retention: { deletedArchives: 7 },
    });
    const { id } = await readVersion(publisher, '1.0.0');
    await send('DELETE', `/publishers/acme/nodes/pack/versions/${id}`);
    pass(6.9);
    expect((await prune()).deletedArchives).toBe(0);
    pass(0.2);
    expect((await prune()).deletedArchives).toBe(1);
    await settle();
    expect(await check()).toMatchObject({ objects: 1 });
    expect(await readVersion(publisher, '1.0.0')).toMatchObject({
      status: 'NodeVersionStatusDeleted',
      archive_sha256: expect.any(String),
    });
    expect((await registerVersion(publisher, '1.0.0').catch(String)).toString()).toContain('version_exists');
  });

  it('of a deleted node is removed too, and an archive of a banned version only if configured', async () => {
    const { send, pass, prune, settle, check } = await published({ retention: { bannedArchives: 100 } });
    await send('PUT', '/admin/nodes/pack/versions/1.0.0', { status: 'NodeVersionStatusBanned' });
    pass(99);
    expect(await prune()).toMatchObject({ deletedArchives: 0, bannedArchives: 0 });
    pass(2);
    expect((await prune()).bannedArchives).toBe(1);
    await send('DELETE', '/publishers/acme/nodes/pack');
    pass(31);
    expect((await prune()).deletedArchives).toBe(1);
    await settle();
    expect(await check()).toMatchObject({ objects: 0 });
  });

  it('of a banned version is kept otherwise, because the ban may be lifted', async () => {
    const { send, pass, prune, url, publisher } = await published({});
    await send('PUT', '/admin/nodes/pack/versions/1.0.0', { status: 'NodeVersionStatusBanned' });
    pass(3_000);
    expect(await prune()).toMatchObject({ deletedArchives: 0, bannedArchives: 0 });
    await send('PUT', '/admin/nodes/pack/versions/1.0.0', { status: 'NodeVersionStatusActive' });
    const { downloadUrl } = await readVersion(publisher, '1.0.0');
    expect((await fetch(downloadUrl)).status).toBe(200);
    expect(downloadUrl.startsWith(url)).toBe(true);
  });
});

it('the audit log ends after its days, and the histories of versions and the feed of changes do not', async () => {
  const { url, ownerToken, pass, prune, ...service } = await clockedService({ retention: { events: 100 } });
  await registerVersion(await publisherForTest({ url, ownerToken }));
  pass(101);
  const before = (await ask(`${url}/admin/audit?limit=100`, { token: ownerToken })).body.total;
  const removed = (await prune()).events;
  expect(removed).toBeGreaterThan(0);
  const { events, total } = (await ask(`${url}/admin/audit?limit=100`, { token: ownerToken })).body;
  expect(total).toBe(before - Number(removed));
  expect(events.map(({ action }: Answered) => action).toSorted()).toEqual(['node.create', 'version.status']);
  expect(service.context.configuration.retention.events).toBe(100);
});

it('runs once a day, more than a page of rows at a time, and says what it removed', async () => {
  const lines: object[] = [];
  let time = Date.parse('2026-01-01T00:00:00Z');
  const { context } = await serviceForTest(
    { retention: { events: 7 }, logLevel: 'info' },
    { now: () => time, log: (_, message, fields) => void lines.push({ message, ...fields }) },
  );
  const event = {
    at: '2026-01-01T00:00:00.000Z',
    actor: 'a',
    subject_kind: 'node',
    subject_id: 'n',
    action: 'x',
  };
  await context.database.transaction().execute(async (tx) => {
    const values = Array.from({ length: 450 }, () => ({
      ...event,
      publisher_id: null,
      status: null,
      reason: null,
    }));
    await tx.insertInto('events').values(values).execute();
  });
  const find = () =>
    context.database.selectFrom('jobs').select('run_at').where('kind', '=', 'prune').executeTakeFirst();
  expect((await find())?.run_at).toBe('2026-01-02T00:00:00.000Z');
  time += 8 * DAY_MS;
  await waitFor(async () => expect((await find())?.run_at).toBe('2026-01-10T00:00:00.000Z'));
  expect(await context.database.selectFrom('events').select('id').execute()).toEqual([]);
  expect(lines).toContainEqual({ message: 'pruned', kind: 'events', count: 450, bytes: 0 });
});

it('a stopped store is pruned with its files, and a dry run changes nothing', async () => {
  const data = folderForTest();
  const { asking, stop } = await clockedService({ data });
  await waitForTask(asking, await startTask(asking));
  await stop();
  const later = Date.parse('2026-01-01T00:00:00Z') + 98 * DAY_MS;
  const options = { env: {}, now: () => later };
  const settings = await databaseForFolder(data);
  const counted = await pruneStore(data, settings, { ...options, dryRun: true });
  const results = { kind: 'results', days: 90, count: 1, bytes: expect.any(Number) };
  expect(counted).toContainEqual(results);
  expect(await pruneStore(data, settings, { ...options, dryRun: false })).toEqual(counted);
  expect(await pruneStore(data, settings, { ...options, dryRun: false })).toContainEqual({
    ...results,
    count: 0,
    bytes: 0,
  });
  const { context } = await serviceForTest({ data });
  expect(await checkStore(context.database, context.storage)).toMatchObject({ objects: 0, problems: [] });
  await expect(pruneStore(join(data, 'missing'), {}, { ...options, dryRun: true })).rejects.toThrow(
    'There is no',
  );
});

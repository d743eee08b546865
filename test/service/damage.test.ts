import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { DataUnusable } from '../../src/service/database/data-unusable.js';
import { openSqlite } from '../../src/service/database/sqlite.js';
import { startService } from '../../src/service/serve.js';
import { emptyFolder } from '../../src/service/storage/data-folder.js';
import { createZip } from '../support/create-zip.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

const archive = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
const refusedStart = (data: string) => startService({ data }).catch((error) => error);

/** A service with one archive. */
async function serviceWithArchive(data: string) {
  const service = await serviceForTest({ data });
  const publisher = await publisherForTest(service);
  const { signedUrl } = await registerVersion(publisher);
  expect((await uploadArchive(signedUrl, archive)).status).toBe(200);
  const { downloadUrl } = await readVersion(publisher);
  return { service, publisher, downloadUrl: downloadUrl as string };
}

describe('a database that is lost under a running service', () => {
  const losses: [string, (file: string) => void][] = [
    [
      'replaced',
      (file) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ],
    ['without its log', (file) => rmSync(`${file}-wal`)],
  ];

  it.each(losses)('is noticed if it is %s: nothing is ready, and nothing written', async (_, lose) => {
    const data = join(folderForTest(), 'data');
    const service = await serviceForTest({ data });
    expect((await ask(`${service.url}/ready`)).status).toBe(200);
    lose(join(data, 'regen.db'));
    const create = { method: 'POST', token: service.ownerToken, json: { id: 'acme', name: 'Acme' } };
    for (const answer of [
      await ask(`${service.url}/ready`),
      await ask(`${service.url}/publishers`, create),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([503, 'unavailable']);
      expect(answer.body.message).toContain('lost its data folder');
    }
  });

  const removals: [string, (folder: string) => void][] = [
    ['alone', (folder) => rmSync(join(folder, 'regen.db'))],
    ['with its folder', (folder) => rmSync(folder, { recursive: true })],
    ['with all in its folder', (folder) => emptyFolder(folder)],
    ['by moving its folder', (folder) => renameSync(folder, `${folder}-moved`)],
  ];

  it.each(removals)(
    'ends the service if it is removed %s, and leaves the place to a backup',
    async (how, lose) => {
      const data = join(folderForTest(), 'data');
      const service = await serviceForTest({ data });
      lose(data);
      expect(await service.ended).toMatchObject({ code: 'data_unusable' });
      await expect(ask(`${service.url}/ready`)).rejects.toThrow();
      const left = existsSync(data) ? readdirSync(data) : [];
      expect(left).toEqual(how === 'alone' ? left : []);
      expect(left).not.toContain('service.json');
    },
  );
});

describe('a start', () => {
  it('refuses an empty database beside stored archives', async () => {
    const data = folderForTest();
    const { service } = await serviceWithArchive(data);
    await service.stop();
    writeFileSync(join(data, 'regen.db'), '');
    const error = await refusedStart(data);
    expect(error).toBeInstanceOf(DataUnusable);
    expect(error.message).toContain('regen.db is missing or empty, but');
  });

  it('refuses the file of a young database without its log, which has all its rows', async () => {
    const data = folderForTest();
    const { service } = await serviceWithArchive(data);
    const alone = readFileSync(join(data, 'regen.db'));
    await service.stop();
    writeFileSync(join(data, 'regen.db'), alone);
    const error = await refusedStart(data);
    expect(error).toBeInstanceOf(DataUnusable);
    expect(error.message).toContain('Restore the database from a copy');
  });

  it('checks the database after a service that did not stop, and refuses a damaged one', async () => {
    const data = folderForTest();
    const { service } = await serviceWithArchive(data);
    await service.stop();
    const file = join(data, 'regen.db');
    const handle = openSync(file, 'r+');
    // Behind the header and the schema, which every start reads.
    const { size } = statSync(file);
    for (let at = 12 * 4096; at < size; at += 4096) writeSync(handle, Buffer.alloc(600, 0xff), 0, 600, at);
    closeSync(handle);
    writeFileSync(join(data, 'service.json'), '{}');
    const error = await refusedStart(data);
    expect(error).toBeInstanceOf(DataUnusable);
    expect(error.message).toMatch(/regen\.db is damaged \(.+\)\. Restore the data folder from a copy\./s);
  });

  it('continues after a service that did not stop if the database is whole', async () => {
    const data = folderForTest();
    const { service } = await serviceWithArchive(data);
    await service.stop();
    writeFileSync(join(data, 'service.json'), '{}');
    const next = await serviceForTest({ data });
    expect((await ask(`${next.url}/publishers/acme`)).status).toBe(200);
  });

  it('refuses a file that is not a database, data of a newer release, and a partial upgrade', async () => {
    const data = folderForTest();
    const file = join(data, 'regen.db');
    writeFileSync(file, 'not a database, and longer than the header of one '.repeat(20));
    expect(await refusedStart(data)).toMatchObject({
      name: 'DataUnusable',
      message: expect.stringContaining('is damaged'),
    });
    rmSync(file);
    const change = async (statement: string) => {
      const database = await openSqlite({ file, durable: false });
      await database.transaction().execute((tx) => sql.raw(statement).execute(tx));
      await database.destroy();
    };
    await change('delete from migrations where number = 6');
    expect(await refusedStart(data)).toMatchObject({
      name: 'DataUnusable',
      message: expect.stringContaining('cannot be upgraded (duplicate column name: callback)'),
    });
    rmSync(file);
    await change('insert into migrations (number) values (999)');
    expect(await refusedStart(data)).toMatchObject({
      name: 'DataUnusable',
      message: expect.stringContaining('written by a newer release'),
    });
  });

  it.skipIf(process.platform === 'win32')('refuses a folder that every user may change', async () => {
    const data = folderForTest();
    chmodSync(data, 0o777);
    expect(await refusedStart(data)).toMatchObject({
      name: 'DataUnusable',
      message: `Every user of this machine may change ${data} (mode 777). Run chmod 700 on it, or choose another folder.`,
    });
    expect(readdirSync(data)).toEqual([]);
  });
});

describe('a stop', () => {
  it('leaves everything in the database file itself', async () => {
    const data = folderForTest();
    const service = await serviceForTest({ data });
    await publisherForTest(service);
    await service.stop();
    const copy = folderForTest();
    copyFileSync(join(data, 'regen.db'), join(copy, 'regen.db'));
    const next = await serviceForTest({ data: copy });
    expect((await ask(`${next.url}/publishers/acme`)).status).toBe(200);
  });
});

it('a row with text that is not UTF-8 is answered with an error, and the service continues', async () => {
  const service = await serviceForTest();
  await publisherForTest(service);
  const { database } = service.context;
  await database
    .transaction()
    .execute((tx) => sql`update publishers set name = cast(x'6eff6d65' as text)`.execute(tx));
  const answer = await ask(`${service.url}/publishers/acme`);
  expect([answer.status, answer.body.error]).toEqual([500, 'internal']);
  expect((await ask(`${service.url}/users/me`, { token: service.ownerToken })).status).toBe(200);
});

it('reads back every kind of text', async () => {
  const { context } = await serviceForTest();
  const texts = ['', '"quoted" \\ back', '\u0001\n\t\u2028', '😀 é \u202e', 'x'.repeat(100_000)];
  for (const text of texts) {
    const { rows } = await sql<{ text: string; none: null; count: number }>`
      select ${text} as text, null as none, 9007199254740991 as count`.execute(context.database);
    expect(rows).toEqual([{ text, none: null, count: 9_007_199_254_740_991 }]);
  }
});

describe('the storage', () => {
  it('answers 404 for a file that is missing, and makes its own working folder again', async () => {
    const data = folderForTest();
    const { publisher, downloadUrl } = await serviceWithArchive(data);
    rmSync(join(data, 'objects', 'archives'), { recursive: true });
    rmSync(join(data, 'objects', '.staging'), { recursive: true });
    const missing = await ask(downloadUrl, { token: publisher.ownerToken });
    expect([missing.status, missing.body.error]).toEqual([404, 'not_found']);
    expect(missing.headers.get('etag')).toBeNull();
    const { status } = await ask(downloadUrl, { method: 'HEAD', token: publisher.ownerToken });
    expect(status).toBe(404);
    const { signedUrl } = await registerVersion(publisher, '1.0.1');
    expect((await uploadArchive(signedUrl, archive)).status).toBe(200);
  });

  it('answers 503 while it is gone as a whole, and does not begin a new one', async () => {
    const data = folderForTest();
    const { publisher, downloadUrl } = await serviceWithArchive(data);
    const { signedUrl } = await registerVersion(publisher, '1.0.1');
    const objects = join(data, 'objects');
    const readReady = () => ask(`${publisher.url}/ready`);
    expect((await readReady()).status).toBe(200);
    renameSync(objects, `${objects}.away`);
    await waitFor(async () => expect((await readReady()).status).toBe(503));
    const token = publisher.ownerToken;
    for (const answer of [await ask(downloadUrl, { token }), await uploadArchive(signedUrl, archive)])
      expect([answer.status, answer.body.error]).toEqual([503, 'unavailable']);
    expect(readdirSync(data)).not.toContain('objects');
    renameSync(`${objects}.away`, objects);
    expect((await uploadArchive(signedUrl, archive)).status).toBe(200);
    expect((await ask(downloadUrl, { token })).status).toBe(200);
  });
});

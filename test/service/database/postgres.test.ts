import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../src/service/database/database.js';
import { openDatabase } from '../../../src/service/database/open-database.js';
import { isDatabaseAway, maskPassword, openPostgres } from '../../../src/service/database/postgres.js';
import { databaseForFolder, testDatabase } from '../../support/postgres.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

async function openForTest(url: string): Promise<Database> {
  const database = await openPostgres({ url, onError: () => {} });
  onTestFinished(() => database.destroy());
  return database;
}

const newUrl = async () => (await databaseForFolder(folderForTest())).database as string;
const createKeyRow = (id: string, secret = 'x') =>
  ({ id, use: 'url', secret, created_at: '2026-01-01T00:00:00.000Z' }) as const;

/** A new database, and what makes its connections silent, as a server that is paused or gone without closing them. */
async function databaseBehindProxy(): Promise<{ readonly url: string; silence(): void }> {
  const url = new URL(await newUrl());
  const [host, port] = [url.hostname, Number(url.port || 5432)];
  const sockets: Socket[] = [];
  const between = createServer({ allowHalfOpen: true }, (socket) => {
    const server = createConnection({ host, port });
    sockets.push(socket, server);
    socket.pipe(server).on('error', () => {});
    server.pipe(socket).on('error', () => {});
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    between.close();
  });
  await once(between, 'listening');
  Object.assign(url, { hostname: '127.0.0.1', port: `${(between.address() as { port: number }).port}` });
  const silence = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { url: url.href, silence };
}

describe('a database of PostgreSQL', () => {
  it('is refused, with its address but without its password, if it cannot be reached', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    closed.close();
    const url = `postgres://regen:hush@127.0.0.1:${port}/regen`;
    const message = await openForTest(url).catch((error) => error.message);
    expect(message).toMatch(
      /^postgres:\/\/regen:\*\*\*@127\.0\.0\.1:\d+\/regen cannot be reached \(.*ECONNREFUSED.*\)\. Start it/,
    );
  });

  it('is refused, and its connection closed, if it asks for a password and there is none', async () => {
    const toMessage = (kind: number, text: string) => {
      const head = Buffer.from('R\0\0\0\0\0\0\0\0');
      head.writeInt32BE(8 + text.length, 1);
      head.writeInt32BE(kind, 5);
      return Buffer.concat([head, Buffer.from(text)]);
    };
    const server = createServer((socket) => {
      socket.once('data', () => {
        socket.write(toMessage(10, 'SCRAM-SHA-256\0\0'));
        socket.once('data', (bytes) => {
          const nonce = /r=([^,]+)/.exec(`${bytes}`)?.[1];
          socket.write(toMessage(11, `r=${nonce}more,s=c2FsdA==,i=4096`));
        });
      });
    }).listen(0, '127.0.0.1');
    const connected = once(server, 'connection');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const message = await openForTest(`postgres://regen@127.0.0.1:${port}/regen`).catch(
      (error) => error.message,
    );
    expect(message).toMatch(/^postgres:\S+ asks for a password\. Set the variable PGPASSWORD/);
    const [socket] = await connected;
    if (!socket.destroyed) await once(socket, 'close');
    server.close();
  });

  it('is shown without a password, wherever the URL has it', () => {
    expect(maskPassword('postgres://u:p%40ss@db/x')).toBe('postgres://u:***@db/x');
    expect(maskPassword('postgres://u@db/x?password=hush&sslmode=require')).toBe(
      'postgres://u@db/x?password=***&sslmode=require',
    );
    expect(maskPassword('postgres://u@db:5432/x')).toBe('postgres://u@db:5432/x');
  });

  it('that cannot be reached is distinguished from an error of a query', () => {
    expect(isDatabaseAway({ code: 'ECONNREFUSED', syscall: 'connect' })).toBe(true);
    expect(isDatabaseAway({ code: '57P01' })).toBe(true);
    expect(isDatabaseAway({ code: '28P01' })).toBe(true);
    expect(isDatabaseAway({ code: 'ENOENT', syscall: 'open' })).toBe(false);
    expect(isDatabaseAway({ code: '42P01' })).toBe(false);
  });
});

describe.skipIf(!testDatabase)('a database of PostgreSQL, which npm run test:engines starts,', () => {
  it('is refused if it sorts by the rules of a language, with the command that creates another', async () => {
    const own = await openForTest(await newUrl());
    const name = `sorted${Math.random().toString(36).slice(2)}`;
    await sql
      .raw(`create database ${name} template template0 locale_provider icu icu_locale 'en-US'`)
      .execute(own);
    const url = new URL(testDatabase as string);
    url.pathname = name;
    await expect(openForTest(url.href)).rejects.toThrow(
      /createdb --template=template0 --encoding=UTF8 --locale=C/,
    );
    await sql.raw(`drop database ${name}`).execute(own);
  });

  it('is migrated once by services that start together', async () => {
    const url = await newUrl();
    const opened = await Promise.all([1, 2, 3, 4].map(() => openForTest(url)));
    const counts = await Promise.all(
      opened.map(async (database) => {
        const { rows } = await sql<{ count: number }>`select count(*) from migrations`.execute(database);
        return rows[0]?.count;
      }),
    );
    expect(new Set(counts).size).toBe(1);
  });

  it('runs a transaction again that read what another one changed, so that no change is lost', async () => {
    const database = await openForTest(await newUrl());
    await database
      .transaction()
      .execute((tx) => tx.insertInto('totals').values({ name: 'n', value: 0 }).execute());
    const increase = () =>
      database.transaction().execute(async (tx) => {
        const { value } = await tx
          .selectFrom('totals')
          .select('value')
          .where('name', '=', 'n')
          .executeTakeFirstOrThrow();
        await tx
          .updateTable('totals')
          .set({ value: value + 1 })
          .where('name', '=', 'n')
          .execute();
      });
    await Promise.all(Array.from({ length: 8 }, increase));
    const { value } = await database
      .selectFrom('totals')
      .select('value')
      .where('name', '=', 'n')
      .executeTakeFirstOrThrow();
    expect(value).toBe(8);
  });

  it('runs a transaction again whose new row another one made first', async () => {
    const database = await openForTest(await newUrl());
    const makeOnce = (secret: string) =>
      database.transaction().execute(async (tx) => {
        const found = await tx.selectFrom('keys').select('secret').where('id', '=', 'a').executeTakeFirst();
        if (found) return found.secret;
        await tx.insertInto('keys').values(createKeyRow('a', secret)).execute();
        return secret;
      });
    const made = await Promise.all(['1', '2', '3', '4'].map(makeOnce));
    expect(new Set(made).size).toBe(1);
  });

  it('reports a violation that every attempt meets', async () => {
    const database = await openForTest(await newUrl());
    const insert = () =>
      database.transaction().execute((tx) => tx.insertInto('keys').values(createKeyRow('a')).execute());
    await insert();
    await expect(insert()).rejects.toMatchObject({ code: '23505' });
  });

  it('fails only the transaction whose connection is lost between its statements', async () => {
    const [database, other] = [await openForTest(await newUrl()), await openForTest(await newUrl())];
    const run = database.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      const pid = rows[0]?.pid;
      await sql`select pg_terminate_backend(${pid})`.execute(other);
      const isGone = async () => {
        const found = await sql`select from pg_stat_activity where pid = ${pid}`.execute(other);
        expect(found.rows).toEqual([]);
      };
      await waitFor(isGone);
      await sql`select 1`.execute(tx);
    });
    expect(isDatabaseAway(await run.catch((error) => error))).toBe(true);
    await sql`select 1`.execute(database);
  });

  it('is closed although its server is gone without closing the connections', async () => {
    const { url, silence } = await databaseBehindProxy();
    const embedded = { file: '', durable: true };
    const parts = { embedded, now: Date.now, onError: () => {}, onQuery: undefined };
    const opened = await openDatabase({ url, ...parts });
    silence();
    await opened.close();
  });

  it('that does not answer makes its service not ready, and does not keep it from stopping', async () => {
    const { url: database, silence } = await databaseBehindProxy();
    const [data, graceMs] = [folderForTest(), 100];
    const service = await serviceForTest({ database, data, storage: join(data, 'objects'), graceMs });
    silence();
    const { status, body } = await ask(`${service.url}/ready`);
    expect([status, body.message]).toEqual([503, 'The database does not answer.']);
    await service.stop();
  });

  it('ends the connections of a service within half a minute if its machine is gone without closing them', async () => {
    const service = await serviceForTest({ data: folderForTest() });
    const settings = [15, 5, 3];
    const names = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count'];
    for (const [at, name] of names.entries()) {
      const { rows } = await sql.raw(`show ${name}`).execute(service.context.database);
      // Connections of a Unix socket have no such settings, and need none.
      expect([{ [name]: `${settings[at]}` }, { [name]: '0' }]).toContainEqual(rows[0]);
    }
  });

  it('lets a transaction end that loses to shorter ones again and again', async () => {
    const database = await openForTest(await newUrl());
    await database.insertInto('keys').values(createKeyRow('counter', '0')).execute();
    const increment = (work = async () => {}) =>
      database.transaction().execute(async (tx) => {
        const counter = tx.selectFrom('keys').select('secret').where('id', '=', 'counter');
        const { secret } = await counter.executeTakeFirstOrThrow();
        await work();
        const next = `${Number(secret) + 1}`;
        await sql`update keys set secret = ${next} where id = 'counter'`.execute(tx);
      });
    let isOver = false;
    const shorter = [1, 2].map(async () => {
      while (!isOver) await increment();
    });
    await increment(() => pause(30)).finally(() => {
      isOver = true;
    });
    await Promise.all(shorter);
  });

  it('refuses text with NUL, as the embedded one does', async () => {
    const database = await openForTest(await newUrl());
    const insert = database
      .transaction()
      .execute((tx) => tx.insertInto('keys').values(createKeyRow('a\0b')).execute());
    await expect(insert).rejects.toMatchObject({ code: '22021' });
  });
});

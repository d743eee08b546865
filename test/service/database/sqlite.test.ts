import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteQueryCompiler } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findRow, insertRow } from '../../../src/service/database/database.js';
import { openSqlite } from '../../../src/service/database/sqlite.js';

const createKeyRow = (id: string) =>
  ({ id, use: 'url', secret: '-', created_at: '2030-01-01T00:00:00Z' }) as const;

async function openForTest() {
  const folder = mkdtempSync(join(tmpdir(), 'regen-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const open = () => openSqlite({ file: join(folder, 'regen.db'), durable: true });
  const countKeys = async () => {
    const database = await open();
    const { length } = await database.selectFrom('keys').select('id').execute();
    await database.destroy();
    return length;
  };
  return { database: await open(), countKeys };
}

type OpenDatabase = Awaited<ReturnType<typeof openForTest>>['database'];

/** Begins a transaction that has written and waits, as one does whose request is cut. */
async function holdTransaction(database: OpenDatabase) {
  let resume = () => {};
  const held = new Promise<void>((resolve) => {
    resume = resolve;
  });
  let hasWritten = () => {};
  const written = new Promise<void>((resolve) => {
    hasWritten = resolve;
  });
  const ended = database.transaction().execute(async (tx) => {
    await tx.insertInto('keys').values(createKeyRow('one')).execute();
    hasWritten();
    await held;
    await tx.insertInto('keys').values(createKeyRow('two')).execute();
  });
  const outcome = ended.then(
    () => 'committed',
    (error) => String(error),
  );
  await written;
  return { resume, outcome };
}

it('lets the transaction that runs end before it closes, and refuses those that wait', async () => {
  const { database, countKeys } = await openForTest();
  const { resume, outcome } = await holdTransaction(database);
  const waiting = database.transaction().execute((tx) => tx.deleteFrom('keys').execute());
  const refused = expect(waiting).rejects.toThrow('The database is closed.');
  const closed = database.destroy();
  resume();
  expect(await outcome).toBe('committed');
  await refused;
  await closed;
  expect(await countKeys()).toBe(2);
});

it('rolls a transaction back that does not end, whose later statements fail', async () => {
  const { database, countKeys } = await openForTest();
  const { resume, outcome } = await holdTransaction(database);
  await database.destroy();
  resume();
  expect(await outcome).toContain('The database is closed.');
  expect(await countKeys()).toBe(0);
});

it('builds a statement once for all values, and again for other columns or more values', async () => {
  const { database } = await openForTest();
  onTestFinished(() => database.destroy());
  const built = vi.spyOn(SqliteQueryCompiler.prototype, 'compileQuery');
  onTestFinished(() => built.mockRestore());
  const countBuilt = async (work: () => Promise<unknown>) => {
    const before = built.mock.calls.length;
    await work();
    return built.mock.calls.length - before;
  };
  await database.transaction().execute(async (tx) => {
    expect(await countBuilt(() => insertRow(tx, 'keys', createKeyRow('one')))).toBe(1);
    expect(await countBuilt(() => insertRow(tx, 'keys', createKeyRow('two')))).toBe(0);
  });
  const find = (match: Parameters<typeof findRow<'keys'>>[2]) => () => findRow(database, 'keys', match);
  expect(await countBuilt(find({ id: 'one' }))).toBe(1);
  expect(await countBuilt(find({ id: 'two' }))).toBe(0);
  expect(await countBuilt(find({ id: ['one', 'two'] }))).toBe(1);
  expect(await countBuilt(find({ id: 'one', use: 'url' }))).toBe(1);
  expect(await find({ id: 'two' })()).toMatchObject({ id: 'two' });
  expect(await find({ id: 'none' })()).toBeUndefined();
});

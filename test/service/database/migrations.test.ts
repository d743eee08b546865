import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished } from 'vitest';
import { fillWords } from '../../../src/service/database/migrate.js';
import { migrations } from '../../../src/service/database/migrations.js';
import { openSqlite, SQLITE_WORDS } from '../../../src/service/database/sqlite.js';
import { toPlainId } from '../../../src/service/registry/names.js';
import { startService } from '../../../src/service/serve.js';
import { regen } from '../../support/cli.js';
import { folderForTest } from '../../support/service.js';

const at = '2026-01-01T00:00:00.000Z';

/** A database as it was before the step with this number, with these rows. */
function createEarlier(
  file: string,
  before: number,
  rows: Readonly<Record<string, readonly object[]>>,
): void {
  const handle = new Database(file);
  handle.exec('create table migrations (number integer primary key)');
  for (const { number, statements } of migrations.filter(({ number }) => number < before)) {
    for (const statement of statements) {
      handle.exec(fillWords(statement, SQLITE_WORDS));
    }
    handle.prepare('insert into migrations (number) values (?)').run(number);
  }
  for (const [table, list] of Object.entries(rows)) {
    for (const row of list) {
      const columns = Object.keys(row);
      const marks = columns.map(() => '?').join(', ');
      handle
        .prepare(`insert into ${table} (${columns.join(', ')}) values (${marks})`)
        .run(...Object.values(row));
    }
  }
  handle.close();
}

const createPublisherRow = (id: string) => ({
  id,
  name: id,
  status: 'PublisherStatusActive',
  created_at: at,
});
const createNodeRow = (id: string) => ({
  ...{ id, folded_id: id.toLowerCase(), publisher_id: 'acme', name: id, details: '{}', search_text: '' },
  ...{ search_ranking: 0, status: 'NodeStatusActive', downloads: 0, created_at: at },
});
const createEventRow = (subject_kind: string, subject_id: string) => ({
  ...{ at, actor: 'ann', subject_kind, subject_id, action: `${subject_kind}.set` },
});
const createTokenRow = (id: string, created_by: string, expires_at: string | null) => ({
  ...{ id, publisher_id: 'acme', name: id, prefix: 'abcd', hash: id, created_by, created_at: at, expires_at },
});

it('step 9 gives existing tokens an end, and existing events and ids what new ones have', async () => {
  const file = join(folderForTest(), 'regen.db');
  createEarlier(file, 9, {
    users: ['ann', 'bob'].map((id) => ({ id, created_at: at })),
    publishers: ['acme', 'acme-2'].map(createPublisherRow),
    members: [{ publisher_id: 'acme', user_id: 'ann', role: 'owner', created_at: at }],
    nodes: ['node-a', 'node_a', 'nodeb'].map(createNodeRow),
    versions: [
      {
        ...{
          id: 'v1',
          node_id: 'node-a',
          version: '1.0.0',
          details: '{}',
          status: 'NodeVersionStatusActive',
        },
        ...{ extract_status: 'success', created_at: at },
      },
    ],
    personal_access_tokens: [
      createTokenRow('endless', 'ann', null),
      createTokenRow('ending', 'ann', '2030-01-01T00:00:00.000Z'),
      createTokenRow('left', 'bob', null),
    ],
    events: [
      ...[
        createEventRow('publisher', 'acme'),
        createEventRow('node', 'node_a'),
        createEventRow('version', 'v1'),
      ],
      ...[
        createEventRow('host_node', 'node-a@1.0.0/Blur'),
        createEventRow('member', 'acme-2/bob'),
        createEventRow('token', 'left'),
      ],
      createEventRow('task', 't1'),
    ],
  });
  const database = await openSqlite({ file, durable: false });
  onTestFinished(() => database.destroy());

  const tokens = await database.selectFrom('personal_access_tokens').selectAll().orderBy('id').execute();
  // That of a former member is gone.
  expect(tokens.map(({ id }) => id)).toEqual(['ending', 'endless']);
  expect(tokens[0]?.expires_at).toBe('2030-01-01T00:00:00.000Z');
  const days = (Date.parse(tokens[1]?.expires_at as string) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(365);

  const events = await database.selectFrom('events').select('publisher_id').orderBy('id').execute();
  expect(events.map(({ publisher_id }) => publisher_id)).toEqual([
    ...['acme', 'acme', 'acme', 'acme', 'acme-2', 'acme', null],
  ]);

  const nodes = await database.selectFrom('nodes').select('plain_id').orderBy('id').execute();
  expect(nodes.map(({ plain_id }) => plain_id)).toEqual(['nodea', null, 'nodeb']);

  await database.transaction().execute((tx) => tx.deleteFrom('members').execute());
  expect(await database.selectFrom('personal_access_tokens').select('id').execute()).toEqual([]);
});

it('step 12 keeps what tasks cost, with the model and the month of the charge, though the task is deleted', async () => {
  const file = join(folderForTest(), 'regen.db');
  const task = (id: string, operation: string, request: object) => ({
    ...{ id, operation, creator: 'ann', status: 'FAILED', request: JSON.stringify(request), images: '[]' },
    ...{ seed: 1, created_at: at },
  });
  const credit = (task_id: string, kind: string, time: string) => ({
    ...{ task_id, kind, user_id: 'ann', amount: 20, at: time },
  });
  createEarlier(file, 12, {
    users: [{ id: 'ann', created_at: at }],
    tasks: [task('t1', 'video.text2video', { model: 'vvq1' }), task('t2', 'image.relight', {})],
    credits: [
      ...[
        credit('t1', 'charge', '2026-01-31T23:59:00.000Z'),
        credit('t1', 'refund', '2026-02-01T00:00:00.000Z'),
      ],
      credit('t2', 'charge', at),
    ],
  });
  const database = await openSqlite({ file, durable: false });
  onTestFinished(() => database.destroy());
  const columns = ['task_id', 'kind', 'amount', 'month', 'operation', 'model', 'key_id'] as const;
  const read = () =>
    database.selectFrom('credits').select(columns).orderBy('task_id').orderBy('kind').execute();
  const video = { amount: 20, month: '2026-01', operation: 'video.text2video', model: 'vvq1', key_id: null };
  const expected = [
    { task_id: 't1', kind: 'charge', ...video },
    { task_id: 't1', kind: 'refund', ...video },
    { task_id: 't2', kind: 'charge', ...video, operation: 'image.relight', model: null },
  ];
  expect(await read()).toEqual(expected);
  await database.transaction().execute((tx) => tx.deleteFrom('tasks').execute());
  expect(await read()).toEqual(expected);
});

it('step 17 keeps members, makes invitations of addresses that never signed in, and folds ids that look alike', async () => {
  const file = join(folderForTest(), 'regen.db');
  const member = (publisher_id: string, user_id: string) => ({
    ...{ publisher_id, user_id, role: 'owner', created_at: at },
  });
  createEarlier(file, 17, {
    users: [
      { id: 'ann', issuer: 'regen', subject: 'ann', email: 'ann@example.org', created_at: at },
      { id: 'ghost', email: 'zoe@example.org', created_at: at },
    ],
    publishers: ['acme', 'bolt'].map(createPublisherRow),
    members: [member('acme', 'ann'), member('acme', 'ghost'), member('bolt', 'ghost')],
    nodes: ['l1ght', 'light', 'modern'].map((id, at) => ({
      ...createNodeRow(id),
      plain_id: id,
      number: at + 1,
    })),
  });
  const database = await openSqlite({ file, durable: false });
  onTestFinished(() => database.destroy());
  const members = await database.selectFrom('members').select(['publisher_id', 'user_id', 'role']).execute();
  expect(members).toEqual([{ publisher_id: 'acme', user_id: 'ann', role: 'owner' }]);
  const invitations = await database.selectFrom('invitations').selectAll().orderBy('publisher_id').execute();
  expect(invitations.map(({ publisher_id, email, role }) => [publisher_id, email, role])).toEqual([
    ['acme', 'zoe@example.org', 'owner'],
    ['bolt', 'zoe@example.org', 'owner'],
  ]);
  const days = (Date.parse(invitations[0]?.expires_at as string) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  expect(await database.selectFrom('users').select('id').execute()).toEqual([{ id: 'ann' }]);
  // Of those that look alike, one holds the form that new ids are compared with.
  const nodes = await database.selectFrom('nodes').select(['id', 'plain_id']).orderBy('id').execute();
  expect(nodes.map(({ id, plain_id }) => [id, plain_id])).toEqual([
    ['l1ght', toPlainId('light')],
    ['light', null],
    ['modern', toPlainId('modem')],
  ]);
});

it('serve migrate says which steps are missing, takes them, and refuses a folder in use or of a newer release', async () => {
  const data = folderForTest();
  const file = join(data, 'regen.db');
  createEarlier(file, 12, { users: [{ id: 'ann', created_at: at }] });
  const run = async (...more: string[]) => {
    const { exit, stdout, stderr } = await regen(['serve', 'migrate', '--data', data, '--json', ...more]);
    return { exit, answer: stdout === '' ? undefined : JSON.parse(stdout), stderr };
  };
  const newest = Math.max(...migrations.map(({ number }) => number));
  const pending = migrations.map(({ number }) => number).filter((number) => number >= 12);
  const check = await run('--check');
  expect(check).toMatchObject({ exit: 6, answer: { schema: 11, pending, rolling: false } });
  expect(check.stderr).toContain('stop all services of the earlier release');
  expect((await run('--check')).answer.schema).toBe(11);

  expect(await run()).toMatchObject({ exit: 0, answer: { schema: newest, steps: pending } });
  expect(await run('--check')).toMatchObject({
    exit: 0,
    answer: { schema: newest, pending: [], rolling: true },
  });
  expect(await run()).toMatchObject({ exit: 0, answer: { schema: newest, steps: [] } });

  const service = await startService({ data, graceMs: 0 }, { log: () => {} });
  try {
    expect((await run('--check')).exit).toBe(0);
    expect(await run()).toMatchObject({ exit: 5, stderr: expect.stringContaining('is using') });
  } finally {
    await service.stop();
  }
  const handle = new Database(file);
  handle.exec('insert into migrations (number) values (999)');
  handle.close();
  for (const more of [[], ['--check']])
    expect(await run(...more)).toMatchObject({ exit: 2, stderr: expect.stringContaining('newer release') });
});

it('serve migrate refuses a folder without data', async () => {
  const { exit, stderr } = await regen(['serve', 'migrate', '--data', folderForTest()]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('There is no regen.db')]);
});

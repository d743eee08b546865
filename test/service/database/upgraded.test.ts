import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { databaseForFolder, testDatabase } from '../../support/postgres.js';
import { ask, folderForTest, serviceForTest, startTestService } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

it('a running service goes on after a rolling step of a newer release; after another one it writes nothing and says why', async () => {
  const data = folderForTest();
  const log: { message: string; error: unknown }[] = [];
  const service = await serviceForTest(
    { data },
    { log: (_, message, fields) => void log.push({ message, error: fields?.error }) },
  );
  const { context, url, ownerToken: token } = service;
  const read = performance.now.bind(performance);
  const lookAgain = () => {
    const from = performance.now() - read() + 1_000;
    vi.spyOn(performance, 'now').mockImplementation(() => read() + from);
  };
  onTestFinished(() => void vi.restoreAllMocks());
  const addStep = (number: number, rolling: number | null) =>
    context.database
      .transaction()
      .execute((tx) =>
        sql`insert into migrations (number, rolling) values (${number}, ${rolling})`.execute(tx),
      );
  const create = (id: string) =>
    ask(`${url}/publishers`, { method: 'POST', token, json: { id, name: 'Acme' } });

  await addStep(998, 1);
  lookAgain();
  expect((await create('before')).status).toBe(201);
  expect((await ask(`${url}/ready`)).status).toBe(200);
  // A release cannot know what became of its data in steps that it does not have.
  if (testDatabase)
    await expect(
      startTestService({ database: (await databaseForFolder(data)).database as string }),
    ).rejects.toThrow('newer release');

  await addStep(999, null);
  lookAgain();
  const reason = 'A newer release has upgraded the data; it must replace this service.';
  expect(await create('after')).toMatchObject({
    status: 503,
    body: { error: 'unavailable', message: reason },
  });
  expect(await ask(`${url}/ready`)).toMatchObject({ status: 503, body: { message: reason } });
  expect((await ask(`${url}/health`)).status).toBe(200);
  expect((await ask(`${url}/publishers/before`, { token })).status).toBe(200);
  const published = await context.database.selectFrom('publishers').select('id').execute();
  expect(published).toEqual([{ id: 'before' }]);
  await waitFor(() =>
    expect(log).toContainEqual({
      message: 'Could not read the queue; retrying.',
      error: expect.stringContaining('(schema 999; this one supports'),
    }),
  );

  await service.stop();
  await expect(startTestService({ data })).rejects.toThrow(/newer release \(schema 999; .*upgrade regen/);
});

it.skipIf(!testDatabase).each([
  [14, ['drop table uplink_versions']],
  // An earlier release would make what is staged Active.
  [
    21,
    [
      'trusts drop column stage',
      'personal_access_tokens drop column stage',
      'versions drop column approve_by',
    ]
      .map((change) => `alter table ${change}`)
      .concat('drop index nodes_prefix'),
  ],
])(
  'an upgrade that services of the earlier release cannot go on after waits until they are stopped (step %i)',
  async (step, undo) => {
    const [data, storage] = [folderForTest(), folderForTest()];
    const service = await serviceForTest({ data, storage });
    const { database } = await databaseForFolder(data);
    // As it was before this step, which is not a rolling one.
    await service.context.database.transaction().execute(async (tx) => {
      for (const statement of undo) await sql.raw(statement).execute(tx);
      await sql`delete from migrations where number = ${step}`.execute(tx);
    });
    const upgrade = () => startTestService({ data: folderForTest(), database: database as string, storage });
    await expect(upgrade()).rejects.toThrow(
      /^Services of an earlier release use the database \(connected from [\w.:]+\) and could not go on after the upgrade; stop them first\.$/,
    );
    const { rows } = await sql`select number from migrations where number = ${step}`.execute(
      service.context.database,
    );
    expect(rows).toEqual([]);
    expect((await ask(`${service.url}/ready`)).status).toBe(200);

    await service.stop();
    const upgraded = await upgrade();
    expect((await ask(`${upgraded.url}/ready`)).status).toBe(200);
    await upgraded.stop();
  },
);

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { runSeed } from './run-seed.js';

// `npm run simulate -- --seeds N` tries more of them, and `--kills N` real kills, which differ in each run.

it.each([3, 15, 102])(
  'keeps what it acknowledged, when requests, writes and processes fail (seed %i)',
  async (seed) => {
    expect(await runSeed(seed)).toMatch(/^\d+ versions, \d+ tasks, \d+ webhooks; /);
  },
);

it('reports a task that is charged twice', async () => {
  const run = runSeed(1, ({ context }) =>
    context.database.transaction().execute(async (tx) => {
      await sql`insert into credits (user_id, task_id, kind, amount, at, month, operation)
        select user_id, task_id, 'refund', amount, at, month, operation from credits
        where task_id not in (select task_id from credits where kind = 'refund') limit 1`.execute(tx);
    }),
  );
  await expect(run).rejects.toThrow(/credits of \S+: \["charge","refund"\], not \["charge"\]/);
});

import { describe, expect, it } from 'vitest';
import type { JobHandler, NewJob, Queue } from '../../../src/service/queue/queue.js';
import {
  clock,
  createQueue,
  enqueueJob,
  useLeasedTable,
  waitUntilEmpty,
} from '../../support/leased-table.js';

useLeasedTable();

describe('turns', () => {
  /** Enqueues a job of the next millisecond: jobs of the same one have no order. */
  const add = (to: Queue, key: string, job: Partial<NewJob> = {}) => {
    clock.now += 1;
    return enqueueJob(to, { kind: 'check', key, owner: key.slice(0, 3), ...job });
  };

  /** The keys of jobs in the order in which they start, one at a time; `between` adds more. */
  async function findOrder(
    before: (one: Queue) => Promise<void>,
    between?: (begun: readonly string[], one: Queue) => Promise<void>,
  ) {
    const one = createQueue();
    const begun: string[] = [];
    const run: JobHandler = async ({ key }) => {
      begun.push(key);
      await between?.(begun, one);
    };
    await before(one);
    one.start({ check: { run, atOnce: 1 } });
    await waitUntilEmpty();
    return begun;
  }

  it('let the job of one owner wait for one job of an owner who has many', async () => {
    const order = await findOrder(
      async (one) => {
        for (let at = 0; at < 20; at += 1) await add(one, `ann${at}`);
      },
      async (begun, one) => {
        if (begun.length !== 3) return;
        for (const key of ['bob0', 'bob1']) await add(one, key);
        await add(one, 'eve0');
      },
    );
    expect(order.slice(0, 9)).toEqual([
      'ann0',
      'ann1',
      'ann2',
      'ann3',
      'bob0',
      'eve0',
      'ann4',
      'bob1',
      'ann5',
    ]);
    expect(order).toHaveLength(23);
  });

  it('do not favour owners who enqueue their next job when one ends', async () => {
    const order = await findOrder(
      async (one) => {
        for (const key of ['ann0', 'ann1', 'ann2', 'bob0', 'eve0']) await add(one, key);
      },
      async (begun, one) => {
        const last = begun.at(-1) as string;
        const owner = last.slice(0, 3);
        if (owner === 'ann' || begun.length > 12) return;
        await add(one, `${owner}${begun.length}`);
      },
    );
    expect(order.indexOf('ann2')).toBeLessThan(8);
  });

  it('are given to all jobs that became due while one ran, then to low-priority jobs', async () => {
    const order = await findOrder(async (one) => {
      await add(one, 'night', { last: true });
      for (let at = 0; at < 3; at += 1) await add(one, `ann${at}`, { runAt: clock.now });
      await add(one, 'bob0', { runAt: clock.now });
    });
    expect(order).toEqual(['ann0', 'bob0', 'ann1', 'ann2', 'night']);
  });
});

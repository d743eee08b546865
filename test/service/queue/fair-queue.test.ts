import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue } from '../../../src/service/queue/fair-queue.js';

/** Work that ends when it is told to, in the order in which it began. */
function createWork(queue: FairQueue) {
  const begun: { owner: string; id: number; end: () => void }[] = [];
  let ids = 0;
  const add = (owner: string, signal?: AbortSignal) => {
    const id = ids++;
    const done = queue.run(
      owner,
      () => new Promise<void>((end) => void begun.push({ owner, id, end })),
      signal,
    );
    return { id, done };
  };
  return { begun, add };
}

const settleWork = () => new Promise(setImmediate);

test('work of one owner waits for at most one of each other, whenever it comes', async () => {
  const step = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.constant(undefined));
  const steps = fc.array(step, { maxLength: 60 });
  const property = fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (before, atOnce) => {
    const { begun, add } = createWork(new FairQueue(atOnce, 1));
    let ended = 0;
    const endOne = () => begun[ended] && begun[ended++]?.end();
    for (const owner of before) {
      if (owner === undefined) endOne();
      else add(owner);
      await settleWork();
    }
    const counted = begun.length;
    const { id } = add('honest');
    await settleWork();
    for (let round = 0; !begun.some((one) => one.id === id); round += 1) {
      expect(round).toBeLessThan(100);
      // Others go on adding.
      add('a');
      endOne();
      await settleWork();
    }
    const at = begun.findIndex((one) => one.id === id);
    const waitedFor = begun.slice(counted, at).map(({ owner }) => owner);
    expect(waitedFor).toEqual([...new Set(waitedFor)]);
  });
  await fc.assert(property, { numRuns: 200, seed: 7 });
});

test('an owner runs at most its number of jobs, and does not delay the others', async () => {
  const { begun, add } = createWork(new FairQueue(3, 2));
  for (let at = 0; at < 5; at += 1) add('a');
  add('b');
  await settleWork();
  expect(begun.map(({ owner }) => owner)).toEqual(['a', 'a', 'b']);
});

test('work that is aborted while it waits never begins', async () => {
  const { begun, add } = createWork(new FairQueue(1, 1));
  add('a');
  const giving = new AbortController();
  const { done } = add('b', giving.signal);
  add('c');
  giving.abort(new Error('gone'));
  await expect(done).rejects.toThrow('gone');
  begun[0]?.end();
  await settleWork();
  expect(begun.map(({ owner }) => owner)).toEqual(['a', 'c']);
});

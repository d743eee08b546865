import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { combineExits, runInParallel } from '../../../src/cli/command/parallel.js';

test.each([
  [[], 0],
  [[0, 0], 0],
  [[3], 3],
  [[2, 2], 2],
  [[2, 3], 9],
  [[0, 8], 9],
  [[8, 0, 8], 9],
])('items that end with %j end together with %i', (exits, whole) => {
  expect(combineExits(exits)).toBe(whole);
});

test('no more items run in parallel than allowed, and all are completed', async () => {
  let underWay = 0;
  let most = 0;
  const done: number[] = [];
  await runInParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++underWay);
    await turn();
    underWay -= 1;
    done.push(item);
  });
  expect({ most, done }).toEqual({ most: 3, done: [1, 2, 3, 4, 5, 6, 7] });
});

test('an error stops new items, and running items are awaited', async () => {
  const begun: number[] = [];
  const done: number[] = [];
  async function* items() {
    for (const item of [1, 2, 3, 4, 5]) yield item;
  }
  const running = runInParallel(items(), 2, async (item) => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error('no');
    await turn();
    done.push(item);
  });
  await expect(running).rejects.toThrow('no');
  expect({ begun, done }).toEqual({ begun: [1, 2], done: [2] });
});

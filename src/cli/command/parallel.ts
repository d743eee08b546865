import { exitCodes } from '../terminal/failure.js';

/**
 * Runs a function for each item, up to `concurrency` in parallel. Items are read only when they can be started. After
 * an error no further item is started; the error is thrown once the running ones have ended.
 */
export async function runInParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  concurrency: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isBroken = false;
  const work = async () => {
    try {
      for (let next = await iterator.next(); !next.done && !isBroken; next = await iterator.next())
        await run(next.value);
    } catch (error) {
      isBroken = true;
      throw error;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const broken = workers.find(({ status }) => status === 'rejected');
  if (broken) throw (broken as PromiseRejectedResult).reason;
}

/** Combines the exit codes of several items: their common code, or 9 if they differ. */
export function combineExits(exits: Iterable<number>): number {
  const [exit = exitCodes.done, ...others] = new Set(exits);
  return others.length === 0 ? exit : exitCodes.someFailed;
}

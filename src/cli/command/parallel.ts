import { exitCodes, usage } from '../terminal/failure.js';

/**
 * Does something for each of several items, `concurrency` of them at a time; the next one is taken when there is
 * room for it. An error of one ends all: no further item is taken, those under way are waited for, then it is thrown.
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

/** The exit code of several items, from those of each: what all ended with; else 9, because only some failed. */
export function combineExits(exits: Iterable<number>): number {
  const [exit = exitCodes.done, ...others] = new Set(exits);
  return others.length === 0 ? exit : exitCodes.someFailed;
}

/** @throws Failure where `--concurrency` is not a whole number in the range */
export function readConcurrency(given: unknown, { usual, max }: { usual: number; max: number }): number {
  if (given === undefined) return usual;
  const concurrency = /^\d{1,4}$/.test(String(given)) ? Number(given) : 0;
  if (concurrency >= 1 && concurrency <= max) return concurrency;
  throw usage(`--concurrency is a whole number from 1 to ${max}, not '${given}'.`);
}

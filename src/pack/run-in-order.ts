/**
 * Runs work on items, at most `limit` at a time, and yields the results in the order of the items. Ends after all work
 * that was begun has ended.
 */
export async function* runInOrder<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  run: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = [];
  try {
    for (const item of items) {
      const result = run(item);
      // Awaited in its turn; until then a failure must not count as unhandled.
      result.catch(() => undefined);
      running.push(result);
      if (running.length >= limit) yield await (running.shift() as Promise<Result>);
    }
    while (running.length > 0) yield await (running.shift() as Promise<Result>);
  } finally {
    await Promise.allSettled(running);
  }
}

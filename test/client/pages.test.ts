import { describe, expect, it } from 'vitest';
import { items, pages } from '../../src/client/pages.js';

async function collectItems<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of list) found.push(item);
  return found;
}

const names = ['a', 'b', 'c', 'd', 'e'];
const sliceNames = (page: number, size = 2) => names.slice((page - 1) * size, page * size);

describe('a paged list', () => {
  it.each([
    ['totalPages', (page: number) => ({ nodes: sliceNames(page), page, limit: 2, total: 5, totalPages: 3 })],
    ['totalNumberOfPages', (page: number) => ({ host_nodes: sliceNames(page), totalNumberOfPages: 3 })],
    ['total', (page: number) => ({ host_nodes: sliceNames(page), total: 5 })],
  ])('is read to its end by %s', async (_, answer) => {
    const asked: number[] = [];
    const read = async (page: number) => {
      asked.push(page);
      return answer(page) as { nodes: string[] };
    };
    expect(await collectItems(items(read))).toEqual(names);
    expect(asked).toEqual([1, 2, 3]);
  });

  it('can begin in the middle', async () => {
    const read = async (page: number) => ({ host_nodes: sliceNames(page), total: 5 });
    expect(await collectItems(items(read, 2))).toEqual(['c', 'd', 'e']);
  });

  it('ends with an empty page, regardless of the count', async () => {
    const read = async (page: number) => ({ nodes: sliceNames(page), totalPages: 1_000_000 });
    expect(await collectItems(pages(read))).toHaveLength(4);
  });

  it('without pages is one empty page', async () => {
    expect(await collectItems(pages(async () => ({ nodes: [], totalPages: 0 })))).toHaveLength(1);
  });

  it('without a count is one page, because its end is unknown', async () => {
    expect(await collectItems(items(async () => ({ nodes: names })))).toEqual(names);
    expect(await collectItems(items(async () => names))).toEqual(names);
  });

  it('does not request pages that are not read', async () => {
    let asked = 0;
    const read = async (page: number) => {
      asked += 1;
      return { nodes: sliceNames(page), totalPages: 3 };
    };
    for await (const item of items(read)) if (item === 'b') break;
    expect(asked).toBe(1);
  });
});

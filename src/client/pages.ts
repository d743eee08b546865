import { requireInput } from './require-input.js';

/**
 * Reads the pages of a list, one request each, from the first to the last.
 * @example for await (const page of pages((page) => client.node.list({ publisherId, page }))) …
 */
export async function* pages<Page extends object>(
  read: (page: number) => Promise<Page>,
  first = 1,
): AsyncGenerator<Page, void, void> {
  requireInput({ read: typeof read !== 'function' && 'must be a function' });
  let seen = 0;
  for (let number = first; ; number++) {
    const page = await read(number);
    yield page;
    const count = getItems(page).length;
    seen += count;
    if (count === 0 || isLastPage(page as PageCounts, number, first === 1 ? seen : undefined)) return;
  }
}

/** Reads the items of all pages. */
export async function* items<Page extends object>(
  read: (page: number) => Promise<Page>,
  first = 1,
): AsyncGenerator<PageItem<Page>, void, void> {
  for await (const page of pages(read, first)) {
    yield* getItems(page) as PageItem<Page>[];
  }
}

/** An item of the only list in a page: of `nodes`, `host_nodes` … */
export type PageItem<Page> = Page extends readonly (infer Item)[]
  ? Item
  : { [Name in keyof Page]: Page[Name] extends readonly (infer Item)[] ? Item : never }[keyof Page];

/** The only list in a page, or the page itself if it is a list. */
export function getItems<Page extends object>(page: Page): PageItem<Page>[] {
  const list = Array.isArray(page) ? page : Object.values(page).find(Array.isArray);
  return (list ?? []) as PageItem<Page>[];
}

interface PageCounts {
  readonly totalPages?: number;
  readonly totalNumberOfPages?: number;
  readonly total?: number;
}

function isLastPage(page: PageCounts, number: number, seen: number | undefined): boolean {
  const last = page.totalPages ?? page.totalNumberOfPages;
  if (last !== undefined) return number >= last;
  // If reading began in the middle, an empty page ends it.
  if (page.total !== undefined) return seen !== undefined && seen >= page.total;
  // Without a count, reading might never end: the service may ignore `page`.
  return true;
}

import { Refused } from '../operation/refused.js';

export interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

/** How many rows to skip; limited to what the database accepts, because any page may be requested. */
export function getOffset({ page, limit }: PageQuery): number {
  return Math.min((page - 1) * limit, 2 ** 31);
}

export function countPages(total: number, limit: number): number {
  return Math.ceil(total / limit);
}

/** How many rows a list returns in all its pages: deeper pages get slower with every row to skip. */
export const MAX_LISTED_ROWS = 10_000;

/**
 * @returns how many rows to skip
 * @throws Refused invalid_request if the page is beyond `MAX_LISTED_ROWS`
 */
export function requireReachablePage(page: PageQuery): number {
  if (page.page * page.limit <= MAX_LISTED_ROWS) return (page.page - 1) * page.limit;
  const message = `must end within the first ${MAX_LISTED_ROWS} items`;
  throw new Refused('invalid_request', `page ${message}; use a filter to reach the others.`, [
    { path: 'page', message },
  ]);
}

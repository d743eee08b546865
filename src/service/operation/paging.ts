import { type RawBuilder, sql } from 'kysely';
import { MAX_ANSWER_BYTES } from './json-limits.js';
import { Refused } from './refused.js';

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

/** A row of a page, and what it says about its long texts. */
interface MeasuredRow {
  /** Bytes of all its long texts. */
  readonly bytes: number | null;
  /** Whether one of them is null because it is longer than its part of the page. */
  readonly is_cut: unknown;
}

// Decided: where a page would hold more than about 8 MB, each of its items has an equal part of that, and texts that are
// longer are left out: a smaller page, or a read of the item alone, has them. So each page of any list can be read, and
// long texts of one user do not hide the items of others.
/** @param read reads the page, with an equal part of an answer for each row, in bytes */
export async function readPage<Row extends MeasuredRow>(
  limit: number,
  read: (part: number) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows = await read(Math.floor(MAX_ANSWER_BYTES / limit));
  const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
  return rows.some((row) => row.is_cut) && bytes <= MAX_ANSWER_BYTES ? read(UNLIMITED_PART) : rows;
}

/** More than any divisor of a part makes smaller than an answer. */
const UNLIMITED_PART = 64 * MAX_ANSWER_BYTES;

/** Text columns that may take some bytes each. A longer text is null, and not read at all. */
export function limitColumns(
  columns: readonly { readonly name: string; readonly most: RawBuilder<number> }[],
) {
  const measured = columns.map(({ name, most }) => ({
    name,
    most,
    bytes: sql`octet_length(${sql.ref(name)})`,
  }));
  return {
    texts: measured.map(
      ({ name, most, bytes }) => sql<string | null>`case when ${bytes} <= ${most} then ${sql.ref(name)} end`,
    ),
    bytes: sql<number>`${sql.join(
      measured.map(({ bytes }) => sql`coalesce(${bytes}, 0)`),
      sql` + `,
    )}`.as('bytes'),
    isCut: sql<unknown>`${sql.join(
      measured.map(({ bytes, most }) => sql`${bytes} > ${most}`),
      sql` or `,
    )}`.as('is_cut'),
  };
}

export interface Page {
  readonly page: number;
  readonly limit: number;
}

/** Rows to skip. A page beyond all pages is empty, and must not make a number too large for the database. */
export function offsetOf({ page, limit }: Page): number {
  return Math.min((page - 1) * limit, 2 ** 31);
}

export function pagesOf(total: number, limit: number): number {
  return Math.ceil(total / limit);
}

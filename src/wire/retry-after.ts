/**
 * Parses the header `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
 * @param now milliseconds since the epoch
 * @returns milliseconds; undefined if it is absent or neither
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  // Some services send fractions.
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse takes '-5' and '1e3' for a year.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

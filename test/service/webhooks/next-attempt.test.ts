import { describe, expect, it } from 'vitest';
import { getNextAttemptTime } from '../../../src/service/webhooks/next-attempt.js';
import { parseRetryAfter } from '../../../src/wire/retry-after.js';

const created = Date.parse('2026-01-31T12:00:00Z');
const hour = 3_600_000;
const returnOne = () => 1;

describe('the pauses of a delivery', () => {
  it('double from a second to an hour, with jitter, for 24 hours', () => {
    let now = created;
    const pauses: number[] = [];
    for (let attempts = 1; ; attempts++) {
      const next = getNextAttemptTime({ created, now, attempts, random: returnOne });
      if (next === undefined) break;
      pauses.push((next - now) / 1000);
      now = next;
    }
    expect(pauses.slice(0, 4)).toEqual([1, 2, 4, 8]);
    expect(Math.max(...pauses)).toBe(3600);
    expect(now).toBe(created + 24 * hour);
    const shortest = getNextAttemptTime({ created, now: created, attempts: 11, random: () => 0 }) as number;
    expect(shortest - created).toBe(512_000);
  });

  it('are as long as the receiver asks, but not shorter than the backoff, nor beyond the end', () => {
    const asked = (retry: number, attempts = 1, now = created) =>
      (getNextAttemptTime({ created, now, attempts, retryAfterMs: retry, random: returnOne }) as number) -
      now;
    expect(asked(60_000)).toBe(60_000);
    expect(asked(0, 11)).toBe(1024_000);
    expect(asked(48 * hour)).toBe(24 * hour);
    expect(asked(2 * hour, 1, created + 23 * hour)).toBe(hour);
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Sat, 31 Jan 2026 12:02:00 GMT', 120_000],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', 1_500],
    ['1e3', undefined],
    ['soon', undefined],
    ['2026-01-31', undefined],
    [undefined, undefined],
  ])('%s is parsed', (header, expected) => {
    expect(parseRetryAfter(header, created)).toBe(expected);
  });
});

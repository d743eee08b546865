import { describe, expect, it } from 'vitest';
import { mostValues, refuseCrowd } from '../../../src/service/http/crowd.js';
import { serviceForTest } from '../../support/service.js';

const refused = (text: string) => {
  try {
    refuseCrowd(Buffer.from(text));
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_large' });
    return true;
  }
};

describe('a JSON text', () => {
  it.each([
    ['lists', '[]'],
    ['objects', '{}'],
    ['numbers', '1'],
    ['texts', '"a,\\",[{"'],
  ])('is refused before it is parsed where it holds too many %s', (_, value) => {
    expect(refused(`[${Array(mostValues).fill(value).join(',')}]`.slice(0, -1))).toBe(value.length === 2);
    expect(
      refused(
        `[${Array(mostValues + 2)
          .fill(value)
          .join(',')}]`,
      ),
    ).toBe(true);
  });

  it('is refused where it is nested too deep, whole or not', () => {
    expect(refused('['.repeat(mostValues + 1))).toBe(true);
  });

  it('may hold texts full of what separates values', () => {
    const text = ',[{\\"'.repeat(mostValues);
    expect(refused(`{"changelog":"${text}\\\\","version":"1.0.0"}`)).toBe(false);
    expect(refused(`{"never ends":"${text}`)).toBe(false);
  });
});

describe('a body of 20 MB of empty lists', () => {
  it('is answered before its values are made', async () => {
    const { url } = await serviceForTest();
    const before = process.memoryUsage.rss();
    const answer = await fetch(`${url}/bulk/nodes/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      // Not JSON at its end: parsed, it would be malformed.
      body: Buffer.from(`[${'[],'.repeat(6_600_000)}`),
    });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([413, 'too_large']);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 ** 2);
  });
});

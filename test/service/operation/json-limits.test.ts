import { describe, expect, it } from 'vitest';
import { MAX_VALUES, refuseOversizedJson } from '../../../src/service/operation/json-limits.js';
import { MAX_JSON_DEPTH } from '../../../src/wire/json-limits.js';
import { publisherForTest, serviceForTest } from '../../support/service.js';

const isRefused = (text: string) => {
  try {
    refuseOversizedJson(Buffer.from(text));
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
  ])('is refused before it is parsed if it has too many %s', (_, value) => {
    expect(isRefused(`[${Array(MAX_VALUES).fill(value).join(',')}]`.slice(0, -1))).toBe(value.length === 2);
    expect(
      isRefused(
        `[${Array(MAX_VALUES + 2)
          .fill(value)
          .join(',')}]`,
      ),
    ).toBe(true);
  });

  it('is refused if it is nested too deeply, even if incomplete', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
    expect(isRefused(nested(MAX_JSON_DEPTH))).toBe(false);
    expect(() => refuseOversizedJson(Buffer.from(nested(MAX_JSON_DEPTH + 1)))).toThrow(
      'deeper than 64 levels',
    );
    expect(() => refuseOversizedJson(Buffer.from('[{"a":'.repeat(MAX_JSON_DEPTH)))).toThrow(
      'deeper than 64 levels',
    );
  });

  it('may contain strings full of separators', () => {
    const text = ',[{\\"'.repeat(MAX_VALUES);
    expect(isRefused(`{"changelog":"${text}\\\\","version":"1.0.0"}`)).toBe(false);
    expect(isRefused(`{"never ends":"${text}`)).toBe(false);
  });

  it.each(['"', '\\', '\n'])('may contain long strings with %j anywhere', (one) => {
    const value = `[${'1,'.repeat(MAX_VALUES)}1]`;
    for (const length of [4090, 4094, 4095, 4096, 4097, 10_000]) {
      const text = JSON.stringify(`${'A'.repeat(length)}${one}${'A'.repeat(length)}${one}`);
      expect(isRefused(text + value)).toBe(false);
      expect(isRefused(`${text}${value},1`)).toBe(true);
      // All of this is one string that never ends.
      expect(isRefused(`${text.slice(0, -1)}${'[,'.repeat(MAX_VALUES)}`)).toBe(false);
    }
  });
});

describe('a body of 20 MB of empty lists', () => {
  it('is refused before it is parsed', async () => {
    const { url } = await serviceForTest();
    const before = process.memoryUsage.rss();
    const answer = await fetch(`${url}/bulk/nodes/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      // Invalid at its end, so parsing would report malformed JSON.
      body: Buffer.from(`[${'[],'.repeat(6_600_000)}`),
    });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([413, 'too_large']);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 ** 2);
  });
});

describe('a body of many values', () => {
  it('is refused before it is checked if it is anonymous', async () => {
    const { url, ownerToken } = await serviceForTest({ limits: { bulkPairs: 6000 } });
    const post = async (body: object, headers = {}) => {
      const answer = await fetch(`${url}/bulk/nodes/versions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return [answer.status, await answer.text()];
    };
    const many = Object.fromEntries(Array.from({ length: 25_000 }, (_, at) => [at, 1]));
    expect(await post(many)).toEqual([413, expect.stringContaining('more than 24000 values')]);
    expect((await post(many, { authorization: `Bearer ${ownerToken}` }))[0]).toBe(400);
    const pairs = Array(6000).fill({ node_id: 'a', version: '1.0.0' });
    expect((await post({ node_versions: pairs }))[0]).toBe(200);
  });
});

describe('a body of more entries than a list may hold', () => {
  it.each([
    ['pairs', '/bulk/nodes/versions', 'node_versions', Array(20_000).fill({})],
    ['tags', '/publishers/acme/nodes', 'tags', Array(20_000).fill(1)],
    [
      'translations',
      '/publishers/acme/nodes',
      'translations',
      Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [at, 1])),
    ],
  ])('is refused for the number of its %s, without checking each', async (_, path, field, entries) => {
    const { url, ownerToken } = await publisherForTest(await serviceForTest());
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ownerToken}` },
      body: JSON.stringify({ [field]: entries }),
    });
    const { details } = (await answer.json()) as { details: { path: string }[] };
    expect([answer.status, details.map(({ path }) => path)]).toEqual([400, [field]]);
  });
});

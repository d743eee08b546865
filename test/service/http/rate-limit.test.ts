import { describe, expect, it } from 'vitest';
import { startRegistry } from '../../support/registry.js';
import { type Answered, serviceForTest } from '../../support/service.js';

describe('a rate limit', () => {
  it('applies to each caller separately, and refills over time', async () => {
    let time = Date.now();
    const registry = await startRegistry({ rateLimit: 10 }, { now: () => time });
    try {
      const statuses = async (who: 'bob' | 'eve', count: number) => {
        const answers = [];
        for (let at = 0; at < count; at += 1)
          answers.push((await registry.as(who, 'GET', '/users/me')).status);
        return answers;
      };
      expect(await statuses('bob', 11)).toEqual([...Array(10).fill(200), 429]);
      expect(await statuses('eve', 1)).toEqual([200]);
      const refused = await registry.as('bob', 'GET', '/users/me');
      expect([refused.body.error, refused.headers.get('retry-after')]).toEqual(['rate_limited', '6']);
      time += 6_000;
      expect(await statuses('bob', 2)).toEqual([200, 429]);
      for (let at = 0; at < 10; at += 1) await registry.as('nobody', 'GET', '/nodes');
      expect((await registry.as('nobody', 'GET', '/nodes')).status).toBe(429);
    } finally {
      await registry.service.stop();
    }
  });

  it('counts requests with invalid credentials', async () => {
    const { url } = await serviceForTest({ rateLimit: 2 });
    const guess = async () =>
      (await fetch(`${url}/users/me`, { headers: { authorization: 'Bearer guess' } })).status;
    expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429]);
  });
});

describe('the headers of errors in the OpenAPI document', () => {
  it.each([
    [401, 'GET', 0],
    [405, 'DELETE', 0],
    [429, 'GET', 1],
  ])('are sent with a %i', async (status, method, before) => {
    const { url } = await serviceForTest({ rateLimit: 1 });
    const { components } = (await (await fetch(`${url}/openapi.json`)).json()) as Answered;
    for (let asked = 0; asked < before; asked += 1) await fetch(`${url}/users/me`);
    const answer = await fetch(`${url}/users/me`, { method });
    expect(answer.status).toBe(status);
    const named = Object.entries<Answered>(components.responses.Error.headers);
    const due = named.filter(
      ([, { required, description }]) => required || description.includes(`${status}`),
    );
    expect(due).toHaveLength(2);
    for (const [header] of due)
      expect([header, answer.headers.get(header)]).toEqual([header, expect.any(String)]);
  });
});

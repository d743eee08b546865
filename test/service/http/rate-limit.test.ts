import { describe, expect, it } from 'vitest';
import { Configuration, type ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { createRateLimit } from '../../../src/service/http/rate-limit.js';
import { startRegistry } from '../../support/registry.js';
import { type Answered, ask, serviceForTest } from '../../support/service.js';

describe('a rate limit', () => {
  it('applies to each caller separately, and refills over time', async () => {
    let time = Date.now();
    const registry = await startRegistry({ rateLimit: 10 }, { now: () => time });
    // What the registry was filled with counts as well.
    time += 60_000;
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
      for (let at = 0; at < 10; at += 1) await registry.as('guest', 'GET', '/nodes');
      expect((await registry.as('guest', 'GET', '/nodes')).status).toBe(429);
    } finally {
      await registry.service.stop();
    }
  });

  it('applies by default to services that others can reach, and to all callers but the owner', async () => {
    const waitAfter = (input: ConfigurationInput, count: number) => {
      const configuration = Configuration.parse(input);
      const take = createRateLimit({ configuration, now: () => 0 });
      let waitMs = 0;
      for (let at = 0; at < count; at += 1) waitMs = take('someone');
      return waitMs;
    };
    expect(waitAfter({}, 10_000)).toBe(0);
    expect(waitAfter({ host: '0.0.0.0' }, 600)).toBe(0);
    expect(waitAfter({ host: '0.0.0.0' }, 601)).toBe(100);
    expect(waitAfter({ host: 'localhost', trustedProxies: ['127.0.0.1'] }, 601)).toBe(100);
    expect(waitAfter({ host: '0.0.0.0', rateLimit: false }, 10_000)).toBe(0);
    const { url, ownerToken: token } = await serviceForTest({ rateLimit: 1 });
    for (let at = 0; at < 3; at += 1) expect((await ask(`${url}/users/me`, { token })).status).toBe(200);
  });

  it.each<[string, ConfigurationInput['trustedProxies'], number[]]>([
    ['no proxy is trusted', [], [200, 429, 429, 429]],
    ['this address is a trusted proxy', ['127.0.0.0/8'], [200, 200, 429, 200]],
    ['one proxy is trusted', 1, [200, 200, 429, 200]],
    ['another address is a trusted proxy', ['10.0.0.0/8', '::1'], [200, 429, 429, 429]],
  ])(
    'distinguishes clients of a proxy only if the proxy is trusted: %s',
    async (_, trustedProxies, expected) => {
      const { url } = await serviceForTest({ rateLimit: 1, trustedProxies });
      const statuses = [];
      // What a client writes itself comes first, and is not believed.
      for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.9, 192.0.2.2', '192.0.2.3']) {
        const headers = { 'x-forwarded-for': client };
        statuses.push((await ask(`${url}/nodes`, { headers })).status);
      }
      expect(statuses).toEqual(expected);
    },
  );

  it('refuses proxies that are neither addresses nor a number', () => {
    const { success, error } = Configuration.safeParse({ trustedProxies: ['proxy.example'] });
    expect(success).toBe(false);
    expect(error?.issues[0]?.message).toBe(
      'must be a list of addresses and networks such as 10.0.0.0/8, or a number of proxies',
    );
  });

  it('counts downloads, and all addresses of an IPv6 network as one client', async () => {
    const { url } = await serviceForTest({ rateLimit: 2, trustedProxies: 1 });
    const download = async (client: string) => {
      const headers = { 'x-forwarded-for': client };
      return (await ask(`${url}/archives/acme/pack/1.0.0/node.zip`, { headers })).status;
    };
    const statuses = [];
    for (const client of ['2600::1', '2600::2', '2600:0:0:0:7::3', '2600:0:0:1::1'])
      statuses.push(await download(client));
    expect(statuses).toEqual([404, 404, 429, 404]);
  });

  it('goes on when the clock is set back, and with any number of callers', () => {
    let time = Date.now();
    const configuration = Configuration.parse({ rateLimit: 2 });
    const take = createRateLimit({ configuration, now: () => time });
    expect(take('someone')).toBe(0);
    time -= 3_600_000;
    expect(take('someone')).toBe(0);
    time += 60_000;
    expect(take('someone')).toBe(0);
    const cpu = process.cpuUsage();
    for (let caller = 0; caller < 40_000; caller += 1) take(`address:${caller}`);
    expect(process.cpuUsage(cpu).user).toBeLessThan(2_000_000);
  });

  it('is one for all credentials of a user', async () => {
    const time = Date.now();
    const registry = await startRegistry({ rateLimit: 8 }, { now: () => time });
    try {
      const { token } = await registry.ok('bob', 'POST', '/users/keys', { name: 'one more' });
      const statuses = [];
      for (let at = 0; at < 8; at += 1)
        statuses.push((await ask(`${registry.url}/users/me`, { token })).status);
      expect(statuses.at(-1)).toBe(429);
      expect((await registry.as('bob', 'GET', '/users/me')).status).toBe(429);
      expect((await registry.as('eve', 'GET', '/users/me')).status).toBe(200);
    } finally {
      await registry.service.stop();
    }
  });

  it.each([
    ['GET', '/nope', 404],
    ['GET', '/openapi.json', 200],
    ['DELETE', '/nodes', 405],
    ['GET', '/results/some-task/some-file', 403],
    ['PUT', '/uploads/acme/pack/1.0.0/node.zip', 403],
  ])('counts %s %s, which is not an operation, and closes the connection', async (method, path, status) => {
    const time = Date.now();
    const { url } = await serviceForTest({ rateLimit: 1 }, { now: () => time });
    const send = async () => fetch(url + path, { method });
    const statuses = new Set<number>();
    for (let at = 0; at < 120; at += 1) statuses.add((await send()).status);
    expect([...statuses]).toEqual([status]);
    const refused = await send();
    expect([refused.status, refused.headers.get('connection')]).toEqual([429, 'close']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const other of ['/health', '/ready', '/nodes']) expect((await fetch(url + other)).status).toBe(200);
  });

  it('counts requests whose headers or query are refused', async () => {
    const time = Date.now();
    const { url } = await serviceForTest({ rateLimit: 2 }, { now: () => time });
    const statuses = [];
    for (let at = 0; at < 121; at += 1) statuses.push((await fetch(`${url}/nodes?search=%00`)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([400, 429]);
  });

  it('lets a load balancer ask every second whether the service is alive, regardless of its other requests', async () => {
    let time = Date.now();
    const { url } = await serviceForTest({ rateLimit: 1 }, { now: () => time });
    for (let at = 0; at < 130; at += 1) await fetch(`${url}/nope`);
    const statuses = new Set<number>();
    for (let second = 0; second < 200; second += 1) {
      time += 1_000;
      for (const path of ['/health', '/ready']) statuses.add((await fetch(url + path)).status);
    }
    expect([...statuses]).toEqual([200]);
    let last = 0;
    for (let at = 0; at < 130; at += 1) last = (await fetch(`${url}/health`)).status;
    expect(last).toBe(429);
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

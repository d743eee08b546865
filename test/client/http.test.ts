import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../src/client/client.js';
import type { ClientOptions } from '../../src/client/client-options.js';
import { InvalidRequestError, type NetworkError, ServiceError } from '../../src/client/errors.js';
import type { Trace } from '../../src/client/trace.js';
import { createFakeClock, listenForTest, type Reply, sendJson, serveForTest, serveRaw } from './server.js';

function clientForTest(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const clock = createFakeClock(Date.parse('2026-01-31T12:00:00Z'));
  const client = createClient({ baseUrl, ...clock, ...options });
  onTestFinished(() => client.close());
  return { client, pauses: clock.pauses };
}

async function catchFailure<Failure>(promise: Promise<unknown>): Promise<Failure> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error) => error as Failure,
  );
}

/** Fails with these statuses first, then succeeds. */
function replyWithStatuses(statuses: number[], headers = {}): Reply {
  return (_, response, number) => {
    const status = statuses[number - 1];
    if (status === undefined) sendJson(response, 200, { id: 'done' }, headers);
    else sendJson(response, status, { error: 'unavailable', message: 'Busy.' }, headers);
  };
}

const create = { body: { id: 'acme', name: 'Acme' } };
const update = { publisherId: 'acme', body: { name: 'Acme' } };
/** Breaks the connection after the request was read. */
const breakConnection: Reply = (_, response) => void response.destroy();

describe('the credential', () => {
  it('is sent as a bearer token, with the user agent', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([]));
    await clientForTest(url, { token: 'secret-1', userAgent: 'regen-cli/1.2.3' }).client.node.get({
      nodeId: 'a',
    });
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-1',
      'user-agent': 'regen-cli/1.2.3',
      accept: 'application/json',
    });
  });

  it('is read again for each attempt if it is a function, and may be absent', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([503]));
    const tokens = ['first', undefined];
    await clientForTest(url, { token: async () => tokens.shift() }).client.node.get({ nodeId: 'a' });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', undefined]);
  });

  it('is renewed once if the service rejects it, and the request is sent again', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([401, 401]));
    const refused: string[] = [];
    const renewToken = async (token: string) => refused.push(token) > 0;
    const token = () => `t${refused.length}`;
    const error = await catchFailure<ServiceError>(
      clientForTest(url, { token, renewToken }).client.node.get({ nodeId: 'a' }),
    );
    expect(error.status).toBe(401);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer t0', 'Bearer t1']);
    expect(refused).toEqual(['t0']);
  });

  it('is not sent again if there is no other', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([401]));
    await catchFailure(
      clientForTest(url, { token: 't', renewToken: async () => false }).client.node.get({ nodeId: 'a' }),
    );
    expect(seen).toHaveLength(1);
  });

  it.each(['two words', 'line\nbreak', 'ключ', ''])('%j is refused, without repeating it', async (token) => {
    const { url, seen } = await serveForTest(replyWithStatuses([]));
    const error = await catchFailure<InvalidRequestError>(
      clientForTest(url, { token }).client.node.get({ nodeId: 'a' }),
    );
    expect(error).toBeInstanceOf(InvalidRequestError);
    if (token) expect(error.message).not.toContain(token);
    expect(seen).toEqual([]);
  });
});

describe('a redirect', () => {
  it('of a read is followed with the credential within the origin', async () => {
    const { url, seen } = await serveForTest((request, response) => {
      if (request.url === '/nodes/Hello') response.writeHead(302, { location: '/nodes/hello' }).end('moved');
      else sendJson(response, 200, { id: 'hello' });
    });
    const { client } = clientForTest(url, { token: 'secret-1' });
    expect(await client.node.get({ nodeId: 'Hello' })).toEqual({ id: 'hello' });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret-1', 'Bearer secret-1']);
  });

  it('to another origin permanently drops the credential and the headers of the caller', async () => {
    const home = await serveForTest((request, response) => {
      if (request.url === '/back') sendJson(response, 200, { id: 'back' });
      else response.writeHead(307, { location: `${away.url}/away` }).end();
    });
    const away = await serveForTest((_, response) =>
      response.writeHead(302, { location: `${home.url}/back` }).end(),
    );
    const { client } = clientForTest(home.url, { token: 'secret-1' });
    const headers = { Cookie: 'a=b', 'X-Api-Key': 'secret-2', Authorization: 'Bearer secret-3' };
    await client.raw({ path: '/x', headers });
    expect(home.seen[0]?.headers).toMatchObject({ cookie: 'a=b', authorization: 'Bearer secret-3' });
    expect(JSON.stringify([away.seen, home.seen[1]])).not.toMatch(/secret|cookie|authorization/);
    expect(await client.node.get({ nodeId: 'a' })).toEqual({ id: 'back' });
    expect(JSON.stringify([away.seen, home.seen[3]])).not.toMatch(/secret|authorization/);
  });

  it('of a read is followed at most five times', async () => {
    const { url, seen } = await serveForTest((_, response, number) =>
      response.writeHead(302, { location: `/${number}` }).end(),
    );
    expect(await catchFailure(clientForTest(url).client.node.get({ nodeId: 'a' }))).toMatchObject({
      code: 'redirect',
      status: 302,
    });
    expect(seen).toHaveLength(6);
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)'])('to %s is refused', async (location) => {
    const { url } = await serveForTest((_, response) => response.writeHead(302, { location }).end());
    expect(await catchFailure(clientForTest(url).client.node.get({ nodeId: 'a' }))).toMatchObject({
      code: 'redirect',
    });
  });

  it.each([{ location: 'http://[' }, {}])('without a usable target is an error (%o)', async (headers) => {
    const { url } = await serveForTest((_, response) => response.writeHead(302, headers).end());
    expect(await catchFailure(clientForTest(url).client.node.get({ nodeId: 'a' }))).toMatchObject({
      code: 'redirect',
      status: 302,
      message: `${new URL(url).origin} redirects this request without saying where. Is the address right?`,
    });
  });

  it.each([301, 303, 307, 308])('of a change is not followed (%i)', async (status) => {
    const { url, seen } = await serveForTest((_, response) =>
      response.writeHead(status, { location: 'https://elsewhere.example/x?token=1' }).end(),
    );
    const error = await catchFailure<Error>(clientForTest(url).client.publisher.create(create));
    expect(error).toMatchObject({ name: 'ResponseError', code: 'redirect', status });
    expect(error.message).toContain('https://elsewhere.example,');
    expect(seen).toHaveLength(1);
  });
});

describe('a repeat', () => {
  it.each([429, 502, 503, 504])('follows %i for a read and for a PUT or DELETE', async (status) => {
    const { url, seen } = await serveForTest(replyWithStatuses([status, status, status]));
    expect(await clientForTest(url).client.node.get({ nodeId: 'a' })).toEqual({ id: 'done' });
    expect(seen).toHaveLength(4);
    const other = await serveForTest(replyWithStatuses([status]));
    await clientForTest(other.url).client.publisher.update(update);
    expect(other.seen.map(({ body }) => body)).toEqual([other.seen[0]?.body, other.seen[0]?.body]);
    const third = await serveForTest(replyWithStatuses([status]));
    await clientForTest(third.url).client.node.delete({ publisherId: 'acme', nodeId: 'a' });
    expect(third.seen).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 409, 500, 501])('does not follow %i', async (status) => {
    const { url, seen } = await serveForTest((_, response) =>
      sendJson(response, status, { error: 'x', message: 'y' }),
    );
    expect(await catchFailure(clientForTest(url).client.node.get({ nodeId: 'a' }))).toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });

  it('stops after the given number, with the last failure', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([503, 502, 503, 503, 503, 503]));
    const { client, pauses } = clientForTest(url);
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({ status: 503 });
    expect(seen).toHaveLength(4);
    expect(pauses).toEqual([250, 500, 1000]);
    const none = await serveForTest(replyWithStatuses([503]));
    await catchFailure(clientForTest(none.url, { retries: 0 }).client.node.get({ nodeId: 'a' }));
    expect(none.seen).toHaveLength(1);
  });

  it.each([
    ['7', 7000],
    ['Sat, 31 Jan 2026 12:00:30 GMT', 30_000],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['-5', 250],
    ['soon', 250],
  ])('waits as long as Retry-After %j says', async (header, pause) => {
    const { url } = await serveForTest(replyWithStatuses([429], { 'Retry-After': header }));
    const { client, pauses } = clientForTest(url);
    await client.publisher.create(create);
    expect(pauses).toEqual([pause]);
  });

  it('is omitted if the service asks for too long a pause', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([429], { 'Retry-After': '150' }));
    const { client, pauses } = clientForTest(url);
    const error = await catchFailure<ServiceError>(client.node.get({ nodeId: 'a' }));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error.retryAfterMs).toBe(150_000);
    expect([seen.length, pauses]).toEqual([1, []]);
  });

  it.each([
    ['50', {}, [50_000, 50_000]],
    ['120', {}, [120_000]],
    ['7', { maxPauseMs: 20_000 }, [7000, 7000]],
    ['7', { maxPauseMs: 5_000 }, []],
    ['100', { maxPauseMs: 900_000 }, [100_000]],
  ])(
    'after Retry-After %j, with %j, pauses together for no longer than allowed',
    async (header, limits, all) => {
      const { url, seen } = await serveForTest(
        replyWithStatuses([429, 429, 429, 429], { 'Retry-After': header }),
      );
      const { client, pauses } = clientForTest(url, limits);
      const error = await catchFailure<ServiceError>(client.publisher.create(create));
      expect(error).toMatchObject({ status: 429, retryAfterMs: Number(header) * 1000 });
      expect([seen.length, pauses]).toEqual([all.length + 1, all]);
    },
  );

  it('follows a broken connection for a read, also one that broke inside the answer', async () => {
    const { url, seen } = await serveForTest((_, response, number) => {
      if (number === 1) return void response.destroy();
      if (number === 3) return sendJson(response, 200, { id: 'whole' });
      response.writeHead(200, { 'content-length': 50 }).write('{"id":');
      setTimeout(() => response.destroy(), 10);
    });
    expect(await clientForTest(url).client.node.get({ nodeId: 'a' })).toEqual({ id: 'whole' });
    expect(seen).toHaveLength(3);
  });
});

describe('a POST', () => {
  it('has one random key for all attempts, and another one for the next request', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([503, 429]));
    const { client } = clientForTest(url);
    await client.publisher.create(create);
    await client.publisher.create(create);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it('has the given key', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([]));
    await clientForTest(url).client.publisher.create(create, { idempotencyKey: 'mine 1' });
    expect(seen[0]?.headers['idempotency-key']).toBe('mine 1');
  });

  it.each(['', 'ä', 'a\nb', 'x'.repeat(256)])('refuses the key %j', async (idempotencyKey) => {
    const { url } = await serveForTest(replyWithStatuses([]));
    const call = clientForTest(url).client.publisher.create(create, { idempotencyKey });
    expect(await catchFailure(call)).toBeInstanceOf(InvalidRequestError);
  });

  it('has no key if the response is a secret, and no other method has one', async () => {
    const made = { id: 'a', name: 'ci', created_at: '2026-01-31T12:00:00Z', token: 'regen_pat_x' };
    const { url, seen } = await serveForTest((_, response) => sendJson(response, 200, made));
    const { client } = clientForTest(url);
    const token = { publisherId: 'acme', body: { name: 'ci' } };
    await client.publisher.token.create(token);
    await client.publisher.update(update);
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined]);
    const call = client.publisher.token.create(token, { idempotencyKey: 'k' });
    expect(await catchFailure(call)).toBeInstanceOf(InvalidRequestError);
  });

  it('that only reads has no key, and is repeated like a GET', async () => {
    const { url, seen } = await serveForTest((_, response, number) => {
      if (number === 1) return void response.destroy();
      if (number === 2) return sendJson(response, 502, {});
      sendJson(response, 200, { node_versions: [] });
    });
    await clientForTest(url).client.version.bulk({ body: { node_versions: [] } });
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['a broken connection', breakConnection],
    ['502', replyWithStatuses([502])],
    ['504', replyWithStatuses([504])],
  ])('is not repeated after %s without such an echo', async (_, reply) => {
    const { url, seen } = await serveForTest(reply);
    await catchFailure(clientForTest(url).client.publisher.create(create));
    expect(seen).toHaveLength(1);
  });

  it('is repeated after these once the service has echoed a key', async () => {
    const { url, seen } = await serveForTest((request, response, number) => {
      const echo = { 'Idempotency-Key': request.headers['idempotency-key'] };
      if (number === 2) return void response.destroy();
      if (number === 3) return sendJson(response, 502, {});
      sendJson(response, 200, { id: 'done' }, echo);
    });
    const { client } = clientForTest(url);
    await client.publisher.create(create);
    expect(await client.publisher.create(create)).toEqual({ id: 'done' });
    expect(seen).toHaveLength(4);
    expect(seen[1]?.headers['idempotency-key']).toBe(seen[3]?.headers['idempotency-key']);
  });

  it('whose response is a secret is not repeated, because it has no key', async () => {
    const { url, seen } = await serveForTest((request, response, number) => {
      if (number === 2) return void response.destroy();
      sendJson(response, 200, { id: 'a' }, { 'Idempotency-Key': request.headers['idempotency-key'] ?? '' });
    });
    const { client } = clientForTest(url);
    await client.publisher.create(create);
    await catchFailure(client.publisher.token.create({ publisherId: 'acme', body: { name: 'ci' } }));
    expect(seen).toHaveLength(2);
  });

  it('does not trust an echo of another key', async () => {
    const { url, seen } = await serveForTest((_, response, number) => {
      if (number === 2) return void response.destroy();
      sendJson(response, 200, { id: 'a' }, { 'Idempotency-Key': 'always the same' });
    });
    const { client } = clientForTest(url);
    await client.publisher.create(create);
    await catchFailure(client.publisher.create(create));
    expect(seen).toHaveLength(2);
  });

  it('is repeated while the first request with its key is still running', async () => {
    const running = { error: 'idempotency_in_flight', message: 'Still running.' };
    const { url, seen } = await serveForTest((_, response, number) =>
      number < 3 ? sendJson(response, 409, running) : sendJson(response, 201, { id: 'done' }),
    );
    expect(await clientForTest(url).client.publisher.create(create)).toEqual({ id: 'done' });
    expect(seen).toHaveLength(3);
  });

  it('is repeated if nothing was sent', async () => {
    const { client, pauses } = clientForTest('http://127.0.0.1:1');
    const error = await catchFailure<NetworkError>(client.publisher.create(create));
    expect(error).toMatchObject({ name: 'NetworkError', code: 'refused', sent: false });
    expect(error.message).toContain('Nothing is listening at http://127.0.0.1:1.');
    expect(pauses).toHaveLength(3);
  });
});

describe('a network failure', () => {
  it('says that the request may have arrived if the connection broke before a response', async () => {
    const { url } = await serveForTest(breakConnection);
    const error = await catchFailure<NetworkError>(clientForTest(url).client.publisher.create(create));
    expect(error).toMatchObject({ name: 'NetworkError', code: 'reset', sent: 'unknown' });
  });

  it('says so too if the attempts that followed did not reach the service', async () => {
    let leave = () => {};
    const isGone = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const server = createHttpServer((request, response) => {
      request.resume();
      const { 'idempotency-key': key } = request.headers;
      if (server.listening && !hasBegun) sendJson(response, 200, { id: 'done' }, { 'Idempotency-Key': key });
      else server.close(() => leave()).closeAllConnections();
      hasBegun = true;
    });
    let hasBegun = false;
    const { client } = clientForTest(await listenForTest(server), { sleep: () => isGone });
    await client.publisher.create(create);
    const error = await catchFailure<NetworkError>(client.publisher.create(create));
    expect(error).toMatchObject({ name: 'NetworkError', code: 'refused', sent: 'unknown' });
  });

  it('says that the request arrived if the response broke off', async () => {
    const { url } = await serveForTest((_, response) => {
      response.writeHead(200, { 'content-length': 9 }).write('{');
      setTimeout(() => response.destroy(), 10);
    });
    expect(await catchFailure(clientForTest(url).client.publisher.create(create))).toMatchObject({
      code: 'reset',
      sent: true,
    });
  });

  it('names a host that does not exist', async () => {
    const { client } = clientForTest('http://no-such-host.invalid', { retries: 0 });
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({ code: 'dns', sent: false });
  });

  it('is reported if no response arrives in time; a silent service costs one timeout, not several', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, seen } = await serveForTest(() => void vi.advanceTimersByTime(500));
    const { client } = clientForTest(url, { timeoutMs: 500 });
    const error = await catchFailure<NetworkError>(client.node.get({ nodeId: 'a' }));
    expect(error).toMatchObject({ code: 'timeout', sent: 'unknown' });
    expect(error.message).toBe(`${url} did not answer within 0.5 s.`);
    expect(seen.length).toBe(1);
  });

  it('is reported if a response only drips', async () => {
    const { url } = await serveForTest((_, response) => {
      response.write('{');
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    const { client } = clientForTest(url, { timeoutMs: 300 });
    const error = await catchFailure<NetworkError>(client.node.get({ nodeId: 'a' }));
    expect(error).toMatchObject({ code: 'timeout', sent: true });
    expect(error.message).toMatch(/^The connection to \S+ (moved only \d+ bytes in|was idle for) 0.3 s\.$/);
  });

  it('is not reported while a large body is being sent slowly, but steadily', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    // Read in steps, each shorter than the timeout and all together longer.
    let tookMs = 0;
    const url = await serveRaw((request, response) => {
      request.on('data', () => {
        request.pause();
        tookMs += 5;
        vi.advanceTimersByTime(5);
        setImmediate(() => request.resume());
      });
      request.on('end', () => response.writeHead(204).end());
    });
    const { client } = clientForTest(url, { timeoutMs: 1000, retries: 0 });
    const answer = await client.raw({ method: 'POST', path: '/', body: Buffer.alloc(24 * 1024 ** 2) });
    expect(answer.status).toBe(204);
    expect(tookMs).toBeGreaterThan(1000);
    for await (const _ of answer.body);
  });

  it('is reported if a response begins in time and does not end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    // The time goes on while something can arrive, however busy the machine is.
    const advance = () => {
      if (!vi.isFakeTimers()) return;
      vi.advanceTimersByTime(1);
      setImmediate(advance);
    };
    const { url } = await serveForTest((_, response) => {
      response.write('{');
      advance();
    });
    const { client } = clientForTest(url, { retries: 0 });
    expect(await catchFailure(client.node.get({ nodeId: 'a' }, { timeoutMs: 2_000 }))).toMatchObject({
      code: 'timeout',
      sent: true,
    });
  });

  it('is reported in time while connecting, too', async () => {
    // The TLS handshake never completes.
    const url = await listenForTest(createServer(), 'https');
    const { client } = clientForTest(url, { timeoutMs: 50, retries: 0 });
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({
      code: 'timeout',
      sent: false,
    });
  });

  it('is reported if the answer is not HTTP', async () => {
    const url = await listenForTest(createServer((socket) => void socket.end('SSH-2.0-OpenSSH\r\n')));
    expect(await catchFailure(clientForTest(url).client.node.get({ nodeId: 'a' }))).toMatchObject({
      name: 'NetworkError',
    });
  });
});

describe('a signal', () => {
  const reason = new Error('enough');

  it('ends a request with its own reason before it, while waiting for the response, and in its body', async () => {
    const { url, seen } = await serveForTest((_, response, number) => {
      if (number === 2) response.write('{');
    });
    const { client } = clientForTest(url);
    const before = AbortSignal.abort(reason);
    expect(await catchFailure(client.node.get({ nodeId: 'a' }, { signal: before }))).toBe(reason);
    expect(seen).toHaveLength(0);
    for (let round = 1; round <= 2; round++) {
      const stop = new AbortController();
      const call = catchFailure(client.node.get({ nodeId: 'a' }, { signal: stop.signal }));
      await expect.poll(() => seen.length).toBe(round);
      stop.abort(reason);
      expect(await call).toBe(reason);
    }
    expect(seen).toHaveLength(2);
  });

  it('ends the pause before a repeat', async () => {
    const { url, seen } = await serveForTest(replyWithStatuses([503], { 'Retry-After': '60' }));
    const stop = new AbortController();
    const client = createClient({
      baseUrl: url,
      trace: ({ kind }) => kind === 'retry' && stop.abort(reason),
    });
    onTestFinished(() => client.close());
    expect(await catchFailure(client.node.get({ nodeId: 'a' }, { signal: stop.signal }))).toBe(reason);
    expect(seen).toHaveLength(1);
  });
});

describe('a trace', () => {
  it('reports requests, responses, redirects and repeats without secrets', async () => {
    const { url } = await serveForTest((_, response, number) => {
      if (number === 1) return sendJson(response, 503, {});
      if (number === 2)
        response.writeHead(302, { location: '/b?X-Amz-Signature=secret-2', 'set-cookie': 'secret-3' });
      response.end('{"id":"a"}');
    });
    const events: Trace[] = [];
    const { client } = clientForTest(url, { token: 'secret-1', trace: (event) => events.push(event) });
    await client.node.get({ nodeId: 'a' });
    expect(events.map(({ kind }) => kind)).toEqual([
      ...['request', 'response', 'retry', 'request', 'response', 'redirect', 'request', 'response'],
    ]);
    expect(events[0]).toMatchObject({
      method: 'GET',
      url: `${url}/nodes/a`,
      headers: { authorization: '***' },
    });
    expect(events[2]).toMatchObject({ attempt: 1, pauseMs: 250, reason: { status: 503 } });
    expect(JSON.stringify(events)).not.toContain('secret');
  });
});

describe('an IPv6 service', () => {
  it('is reached at its address', async ({ skip }) => {
    const { createServer: http } = await import('node:http');
    const server = http((_, response) => response.end('{"id":"six"}'));
    const url = await listenForTest(server, 'http', '::1').catch(() => skip('no IPv6 on this machine'));
    expect(await clientForTest(url).client.node.get({ nodeId: 'a' })).toEqual({ id: 'six' });
  });
});

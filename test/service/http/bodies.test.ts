import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBodyBudget } from '../../../src/service/http/bodies.js';
import { createZip } from '../../support/create-zip.js';
import { publisherForTest, registerVersion, serviceForTest, uploadArchive } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';
import { waitForRequest } from '../../support/wait-for-request.js';

/** Sends a whole request before it reads any of the answer, as simple clients do. */
function sendAllFirst(url: string, head: string[], body: Buffer): Promise<string> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const lines = [...head, `Host: ${host}`, `Content-Length: ${body.length}`, 'Connection: close'];
    socket.on('error', reject).pause();
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    // In parts, because a single write may be sent completely before the service reads any of it.
    const send = (at: number) => {
      if (at < body.length) socket.write(body.subarray(at, at + 65_536), () => send(at + 65_536));
      else read();
    };
    const read = () => {
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer)).resume();
    };
    send(0);
  });
}

it.each([
  ['is too large', 413, ['POST /bulk/nodes/versions HTTP/1.1', 'Content-Type: application/json']],
  ['is not JSON', 415, ['POST /bulk/nodes/versions HTTP/1.1', 'Content-Type: text/plain']],
  ['arrives without a credential', 401, ['POST /publishers HTTP/1.1', 'Content-Type: application/json']],
  ['is sent to an unknown path', 404, ['POST /nowhere HTTP/1.1', 'Content-Type: application/json']],
  ['is an upload without a signature', 403, ['PUT /uploads/a/b/1.0.0/node.zip HTTP/1.1']],
])('a body that %s is read to its end, so that the client sees the answer', async (_title, status, head) => {
  const { url } = await serviceForTest({ limits: { jsonBody: 1_000_000 } });
  const answer = await sendAllFirst(url, head, Buffer.alloc(20_000_000, 'a'));
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

const HALF_MINUTE_MS = 30_000;

/** A connection that has sent the head of a request and the first byte of its body. */
async function beginRequest(
  url: string,
  path: string,
  { method = 'POST', type = 'application/json' } = {},
): Promise<{ socket: Socket; answer: () => string }> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => {});
  const head = [`Content-Type: ${type}`, 'Content-Length: 300000'];
  socket.write([`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...head, '', '{'].join('\r\n'));
  return { socket, answer: () => answer };
}

/** A service whose intervals the test controls; the network is real. */
async function startWithFakeTimers(): Promise<string> {
  const { url } = await serviceForTest();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  return url;
}

const waitForTimer = () => waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));

describe('a body that stalls', () => {
  it('is cut off with an answer', async () => {
    const { socket, answer } = await beginRequest(await startWithFakeTimers(), '/bulk/nodes/versions');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await waitForTimer();
    vi.advanceTimersByTime(2 * HALF_MINUTE_MS);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1.1 503 .*too slowly/s);
  });

  it('is cut off if it is an upload', async () => {
    const running = await serviceForTest();
    const { signedUrl } = await registerVersion(await publisherForTest(running));
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { pathname, search } = new URL(signedUrl);
    const lines = { method: 'PUT', type: 'application/zip' };
    const { socket, answer } = await beginRequest(running.url, pathname + search, lines);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await waitForTimer();
    vi.advanceTimersByTime(2 * HALF_MINUTE_MS);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1.1 503 .*too slowly/s);
  });

  it('is cut off even if the request was refused before', async () => {
    const { socket, answer } = await beginRequest(await startWithFakeTimers(), '/nowhere');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await waitFor(() => expect(answer()).toMatch(/^HTTP\/1.1 404 /));
    vi.advanceTimersByTime(2 * HALF_MINUTE_MS);
    await closed;
  });

  it('is not cut off while enough of it arrives', async () => {
    const url = await startWithFakeTimers();
    const request = waitForRequest();
    const { socket, answer } = await beginRequest(url, '/bulk/nodes/versions');
    const { socket: served } = await request;
    await waitForTimer();
    for (let part = 0; part < 4; part += 1) {
      const before = served.bytesRead;
      socket.write(' '.repeat(70_000));
      await waitFor(() => expect(served.bytesRead).toBe(before + 70_000));
      vi.advanceTimersByTime(HALF_MINUTE_MS);
    }
    socket.write(' '.repeat(300_000 - 1 - 280_000));
    await waitFor(() => expect(answer()).toMatch(/^HTTP\/1.1 400 .*malformed_json/s));
  });
});

describe('a download that is not read', () => {
  it('is cut off after a minute or two, and one that is read goes on', async () => {
    const running = await serviceForTest();
    const publisher = await publisherForTest(running);
    const { signedUrl, node_version } = await registerVersion(publisher);
    const zip = await createZip({ '__init__.py': '', 'weights.bin': randomBytes(24 * 1024 ** 2) });
    expect((await uploadArchive(signedUrl, zip)).status).toBe(200);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { host, hostname, port, pathname } = new URL(node_version.downloadUrl);
    const head = [`GET ${pathname} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${running.ownerToken}`];
    const open = () => {
      const socket = connect(Number(port), hostname);
      socket.write([...head, '', ''].join('\r\n'));
      return socket;
    };
    const [idle, reading] = [open(), open()];
    const closed = once(idle, 'close');
    let received = 0;
    const read = new Promise<void>((resolve) => {
      reading.on('data', (chunk) => {
        received += chunk.length;
        if (received > zip.length) resolve();
      });
    });
    await read;
    idle.pause();
    await waitForTimer();
    vi.advanceTimersByTime(120_000);
    idle.resume();
    await closed;
    expect(idle.bytesRead).toBeLessThan(zip.length);
    reading.destroy();
  });
});

it('a body may be larger than a generation request if its own limit is larger', async () => {
  const { url, ownerToken } = await serviceForTest({ limits: { generationBody: 100_000 } });
  const headers = { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ id: 'acme', name: 'Acme' }).padEnd(1_000_000);
  expect((await fetch(`${url}/publishers`, { method: 'POST', headers, body })).status).toBe(201);
});

it('a request whose client is gone takes no memory for its body', async () => {
  const takeMemory = createBodyBudget(100_000);
  const app = fastify({ bodyLimit: 100_000 });
  onTestFinished(() => app.close());
  let gone = 0;
  app.addHook('onRequest', async (request, reply) => {
    request.caller = { kind: 'none', admin: false, key: 'strangers' };
    if (request.url === '/gone') await once(reply.raw, 'close');
    takeMemory(request, reply, 100_000);
    if (request.url === '/gone') gone += 1;
  });
  app.post('*', async () => 'done');
  const { hostname, port, origin } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  for (let at = 0; at < 4; at += 1) {
    const socket = connect(Number(port), hostname);
    const written = `POST /gone HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 100000\r\n\r\n`;
    socket.write(written, () => socket.destroySoon());
  }
  await waitFor(() => expect(gone).toBe(4));
  const headers = { 'content-type': 'text/plain' };
  const { status } = await fetch(`${origin}/`, { method: 'POST', headers, body: 'x'.repeat(100_000) });
  expect(status).toBe(200);
});

it.each([
  ['/proxy/imagevendor/v1/ai/image-relight', {}],
  ['/publishers', { limits: { generationBody: 150_000, jsonBody: 100_000, anonymousBody: 100_000 } }],
])('large bodies of one user leave memory for others: %s', async (path, configuration) => {
  const service = await serviceForTest(configuration);
  const [eve, bob] = await Promise.all(['eve', 'bob'].map((sub) => service.signFor({ sub })));
  const { hostname, port, host } = new URL(service.url);
  const answers = Array.from({ length: 8 }, async () => {
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    const head = [`POST ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${eve}`];
    const body = ['Content-Type: application/json', 'Transfer-Encoding: chunked', '', '1', '{', ''];
    socket.write([...head, ...body].join('\r\n'));
    return String((await once(socket, 'data'))[0]);
  });
  expect(await Promise.race(answers)).toMatch(/^HTTP\/1.1 503 .*too many large requests/s);
  // Padded, because small bodies are always received.
  const large = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${bob}`, 'content-type': 'application/json' },
    body: '{}'.padEnd(80_000),
  });
  expect(large.status).toBe(400);
});

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../src/client/client.js';
import type { NetworkError, ResponseError, ServiceError } from '../../src/client/errors.js';
import { createFakeClock, listenForTest, sendJson, serveForTest, serveRaw } from './server.js';

function clientForTest(baseUrl = 'http://127.0.0.1:1') {
  const client = createClient({ baseUrl, token: 'secret-1', ...createFakeClock() });
  onTestFinished(() => client.close());
  return client;
}

async function catchFailure<Failure>(promise: Promise<unknown>): Promise<Failure> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error) => error as Failure,
  );
}

/** Bytes whose parts are all different. */
function createBytes(size: number): Buffer {
  const words = Buffer.alloc(size + 4);
  for (let at = 0; at < size; at += 4) words.writeUInt32LE(at, at);
  return words.subarray(0, size);
}

function createStream(content: Buffer): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < content.length; at += 10_000) yield content.subarray(at, at + 10_000);
    })(),
  );
}

async function countBytes(request: IncomingMessage): Promise<number> {
  let size = 0;
  for await (const part of request) size += part.length;
  return size;
}

function createSink() {
  const parts: Buffer[] = [];
  const to = new Writable({
    write(part, _, done) {
      parts.push(Buffer.from(part));
      setImmediate(done);
    },
  });
  return { to, content: () => Buffer.concat(parts) };
}

describe('an upload', () => {
  const content = createBytes(300_000);

  it('closes each stream that it opened, also when nothing could be sent', async () => {
    const opened: Readable[] = [];
    const openStream = () => {
      opened.push(createStream(content));
      return opened.at(-1) as Readable;
    };
    await catchFailure(
      clientForTest().upload('http://127.0.0.1:1/node.zip', { openStream, size: content.length }),
    );
    expect(opened).toHaveLength(4);
    await vi.waitFor(() => expect(opened.map(({ destroyed }) => destroyed)).not.toContain(false));
  });

  it('sends the whole file with its length and type and no credential', async () => {
    const { url, seen } = await serveForTest((_, response) => response.end());
    const done: number[] = [];
    await clientForTest(url).upload(`${url}/node.zip?signature=x`, {
      openStream: () => createStream(content),
      size: content.length,
      onProgress: (bytesDone) => done.push(bytesDone),
    });
    expect(seen[0]).toMatchObject({ method: 'PUT', url: '/node.zip?signature=x' });
    expect(seen[0]?.headers).toMatchObject({ 'content-type': 'application/zip', 'content-length': '300000' });
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
    expect(seen[0]?.headers).not.toHaveProperty('transfer-encoding');
    expect(done.at(-1)).toBe(300_000);
    expect(done).toEqual([...done].sort((a, b) => a - b));
  });

  it('is sent again from a new stream if the connection breaks or the storage is busy', async () => {
    let round = 0;
    const sizes: number[] = [];
    const url = await serveRaw(async (request, response) => {
      round += 1;
      if (round === 1) return void request.once('data', () => request.destroy());
      sizes.push(await countBytes(request));
      response.writeHead(round === 2 ? 503 : 200).end();
    });
    const opened: Readable[] = [];
    const openStream = () => {
      const stream = createStream(content);
      opened.push(stream);
      return stream;
    };
    await clientForTest().upload(url, { openStream, size: content.length });
    expect(sizes).toEqual([300_000, 300_000]);
    expect(opened).toHaveLength(3);
    expect(opened.every((stream) => stream.destroyed)).toBe(true);
  });

  it('distinguishes a refused or expired URL from a broken connection', async () => {
    const refusing = await serveForTest((_, response) =>
      sendJson(response, 403, { error: 'invalid_signature', message: 'The URL is expired.' }),
    );
    const file = { openStream: () => createStream(content), size: content.length };
    const refused = await catchFailure<ServiceError>(clientForTest().upload(refusing.url, file));
    expect(refused).toMatchObject({ name: 'ServiceError', code: 'invalid_signature', status: 403 });
    expect(refusing.seen).toHaveLength(1);

    const breaking = await serveRaw((request) => void request.once('data', () => request.destroy()));
    const broken = await catchFailure<NetworkError>(
      clientForTest().upload(`${breaking}/secret?sig=secret`, file),
    );
    expect(broken).toMatchObject({ name: 'NetworkError', sent: 'unknown' });
    expect(broken.message).not.toContain('secret');
  });

  it('is not redirected', async () => {
    const { url, seen } = await serveForTest((_, response) =>
      response.writeHead(307, { location: '/other' }).end(),
    );
    const file = { openStream: () => createStream(content), size: content.length };
    expect(await catchFailure(clientForTest().upload(url, file))).toMatchObject({ code: 'redirect' });
    expect(seen).toHaveLength(1);
  });

  it('counts as broken when idle, and closes the file', async () => {
    const url = await serveRaw(() => undefined);
    const stream = createStream(createBytes(50_000_000));
    const upload = clientForTest().upload(url, {
      openStream: () => stream,
      size: 50_000_000,
      timeoutMs: 1_000,
      retries: 0,
    });
    const error = await catchFailure<NetworkError>(upload);
    expect(error).toMatchObject({ name: 'NetworkError', code: 'timeout' });
    expect(error.message).toContain('was idle');
    await expect.poll(() => stream.destroyed).toBe(true);
  });

  it('fails if the file has a different size than declared, or cannot be read', async () => {
    const { url } = await serveForTest((_, response) => response.end());
    const larger = { openStream: () => createStream(content), size: 10 };
    expect(await catchFailure(clientForTest().upload(url, larger))).toMatchObject({
      name: 'NetworkError',
      code: 'failed',
    });
    const gone = new Error('the file is gone');
    const openStream = () => {
      throw gone;
    };
    expect(await catchFailure(clientForTest().upload(url, { openStream, size: 10 }))).toBe(gone);
  });

  it.each(['file:///etc/passwd', 'nonsense'])('to %s is refused', async (url) => {
    const upload = clientForTest().upload(url, { openStream: () => createStream(content), size: 1 });
    expect(await catchFailure(upload)).toMatchObject({ name: 'InvalidRequestError' });
  });

  it('does not wait for the rest of a response whose status says enough', async () => {
    const url = await serveRaw((request, response) => {
      request.resume().on('end', () => response.write('stored'));
    });
    await clientForTest().upload(url, {
      openStream: () => createStream(content),
      size: content.length,
      timeoutMs: 1_000,
    });
  });

  it('ends on a signal', async () => {
    const url = await serveRaw(() => undefined);
    const reason = new Error('enough');
    const stop = new AbortController();
    const stream = createStream(createBytes(50_000_000));
    const onProgress = () => stop.abort(reason);
    const file = { openStream: () => stream, size: 50_000_000, onProgress, signal: stop.signal };
    expect(await catchFailure(clientForTest().upload(url, file))).toBe(reason);
  });
});

describe('a download', () => {
  it.each([
    ['no file', 204, {}, 'unexpected'],
    ['a part that was not requested', 206, { 'content-range': 'bytes 0-3/100' }, 'changed'],
  ])('refuses %s', async (_, status, headers, code) => {
    const { url } = await serveForTest((_, response) =>
      response.writeHead(status, headers).end(status === 206 ? 'part' : undefined),
    );
    const download = clientForTest().download(url, { to: createSink().to });
    expect(await catchFailure(download)).toMatchObject({ name: 'ResponseError', code, status });
  });

  const content = createBytes(400_000);

  /** Serves ranges of the content, and breaks off after the number of bytes planned for each request. */
  async function store(plan: (number | undefined)[], headers: (round: number) => Record<string, string>) {
    const ranges: (string | undefined)[] = [];
    const url = await listenForTest(
      createServer((request, response) => {
        ranges.push(request.headers.range);
        const round = ranges.length;
        const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
        const given = headers(round);
        const start = given['shift-range'] && from > 0 ? from - 1 : from;
        const rest = content.subarray(given['no-ranges'] ? 0 : start);
        const partial = from > 0 && !given['no-ranges'];
        response.writeHead(partial ? 206 : 200, {
          ...given,
          'content-length': rest.length,
          ...(partial ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
        });
        const cut = plan[round - 1];
        if (cut === undefined) response.end(rest);
        else response.write(rest.subarray(0, cut), () => setTimeout(() => response.destroy(), 10));
      }),
    );
    return { url, ranges };
  }

  it('streams the file, counts its bytes, and does not send the credential', async () => {
    const { url, seen } = await serveForTest((_, response) =>
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': content.length }).end(content),
    );
    const { to, content: got } = createSink();
    const progress: unknown[] = [];
    const onProgress = (...step: unknown[]) => progress.push(step);
    const downloaded = await clientForTest(url).download(`${url}/a.png`, { to, onProgress });
    expect(downloaded).toMatchObject({ bytes: 400_000, headers: { 'content-type': 'image/png' } });
    expect(got().equals(content)).toBe(true);
    expect(progress.at(-1)).toEqual([400_000, 400_000]);
    expect(to.writableFinished).toBe(true);
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('sends the credential only on request, and only to its own service', async () => {
    const away = await serveForTest((_, response) => response.end('x'));
    const home = await serveForTest((request, response) => {
      if (request.url === '/go') response.writeHead(302, { location: `${away.url}/x` });
      response.end('x');
    });
    const client = clientForTest(home.url);
    await client.download(`${home.url}/a`, { to: createSink().to, credential: true });
    await client.download(`${away.url}/a`, { to: createSink().to, credential: true });
    await client.download(`${home.url}/go`, { to: createSink().to, credential: true });
    expect(home.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret-1',
      'Bearer secret-1',
    ]);
    expect(away.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it('continues where it stopped, as long as there is progress', async () => {
    const plan = [100_000, 50_000, 50_000, 50_000, 50_000, 50_000];
    const { url, ranges } = await store(plan, () => ({ etag: '"one"' }));
    const { to, content: got } = createSink();
    await clientForTest().download(url, { to, retries: 1 });
    expect(createHash('sha256').update(got()).digest('hex')).toBe(
      createHash('sha256').update(content).digest('hex'),
    );
    expect(ranges[0]).toBeUndefined();
    expect(ranges.at(-1)).toMatch(/^bytes=\d+-$/);
    expect(ranges.length).toBeGreaterThanOrEqual(6);
  });

  it('skips what it has if the server does not support ranges', async () => {
    const { url } = await store([100_000], () => ({ 'no-ranges': '1', etag: '"one"' }));
    const { to, content: got } = createSink();
    await clientForTest().download(url, { to });
    expect(got().equals(content)).toBe(true);
  });

  it('fails if the file changed in between', async () => {
    const { url } = await store([100_000], (round) => ({ etag: `"${round}"`, 'no-ranges': '1' }));
    const { to } = createSink();
    const error = await catchFailure<ResponseError>(clientForTest().download(url, { to }));
    expect(error).toMatchObject({ name: 'ResponseError', code: 'changed' });
    expect(to.destroyed).toBe(true);
  });

  it('fails if the server answers with a different part than requested', async () => {
    const { url } = await store([100_000], () => ({ etag: '"one"', 'shift-range': '1' }));
    const error = await catchFailure<ResponseError>(clientForTest().download(url, { to: createSink().to }));
    expect(error).toMatchObject({ name: 'ResponseError', code: 'changed', status: 206 });
  });

  it('fails with the error of its target', async () => {
    const { url } = await store([], () => ({}));
    const full = new Error('no space left');
    const to = new Writable({ write: (_part, _encoding, done) => done(full) });
    expect(await catchFailure(clientForTest().download(url, { to }))).toBe(full);
  });

  it('fails with the error of the storage', async () => {
    const { url } = await serveForTest((_, response) => response.writeHead(410).end());
    const { to } = createSink();
    expect(await catchFailure(clientForTest().download(url, { to }))).toMatchObject({
      name: 'ServiceError',
      status: 410,
    });
  });

  it('counts as broken when idle, but not if the target is slow', async () => {
    const silent = await serveRaw((_, response) => void response.writeHead(200).write('x'));
    const call = clientForTest().download(silent, { to: createSink().to, timeoutMs: 100, retries: 0 });
    expect(await catchFailure(call)).toMatchObject({ name: 'NetworkError', code: 'timeout' });

    // More than fits into the buffers in between, so that the connection has to wait, too.
    const { url, seen } = await serveForTest((_, response) => response.end(createBytes(20_000_000)));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let parts = 0;
    const to = new Writable({
      write(_part, _encoding, done) {
        if (parts++ === 0) vi.advanceTimersByTime(1300);
        setImmediate(done);
      },
    });
    expect(await clientForTest().download(url, { to, timeoutMs: 1000, retries: 0 })).toMatchObject({
      bytes: 20_000_000,
    });
    expect(seen).toHaveLength(1);
  });
});

it('a download from an address that cannot be used closes its target', async () => {
  const { to } = createSink();
  await catchFailure(clientForTest().download('ftp://registry.example/node.zip', { to }));
  expect(to.destroyed).toBe(true);
});

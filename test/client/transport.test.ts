import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/client/client.js';
import type { ClientOptions } from '../../src/client/client-options.js';
import type { NetworkError } from '../../src/client/errors.js';
import { startRegen } from '../support/cli.js';
import { createCertificate } from './certificate.js';
import { createFakeClock, listenForTest, serveForTest } from './server.js';

const run = promisify(execFile);

function clientForTest(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const client = createClient({ baseUrl, retries: 0, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function catchFailure(promise: Promise<unknown>): Promise<NetworkError> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error) => error,
  );
}

const { cert, key } = createCertificate(['registry.example']);

function serveSecurely(reply = '{"id":"safe"}', location?: string): Promise<string> {
  const server = createSecureServer({ cert, key }, (_, response) => {
    if (location) response.writeHead(302, { location });
    response.end(reply);
  });
  return listenForTest(server, 'https');
}

/** A proxy that forwards requests for any host to one port of loopback. */
async function startTunnel(target: string, credential?: string) {
  const { port } = new URL(target);
  const seen: string[] = [];
  const allowed = (headers: NodeJS.Dict<string | string[]>) =>
    credential === undefined ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(credential).toString('base64')}`;
  const server = createServer(async (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (!allowed(request.headers)) return void response.writeHead(407).end();
    const path = new URL(request.url ?? '').pathname;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: request.headers.authorization ?? '' },
    });
    response.writeHead(answer.status).end(await answer.text());
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    if (!allowed(request.headers)) return void socket.end('HTTP/1.1 407 Not so\r\n\r\n');
    const through = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      through.pipe(socket).pipe(through);
    });
    for (const end of [through, socket])
      end.on('error', () => void [through, socket].map((one) => one.destroy()));
    onTestFinished(() => void through.destroy());
  });
  return { url: await listenForTest(server), seen };
}

it('loads the HTTP stack with the first request', async () => {
  const program = `
    const { createClient } = await import(${JSON.stringify(pathToFileURL('dist/client.js'))});
    const loaded = () => process.moduleLoadList.includes('NativeModule http');
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 });
    const before = loaded();
    await client.user.me().catch(() => {});
    console.log(before, loaded());`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);
  expect(stdout).toBe('false true\n');
});

describe('a proxy of the environment', () => {
  it('forwards plain http', async () => {
    const service = await serveForTest((_, response) => response.end('{"id":"far"}'));
    const { url, seen } = await startTunnel(service.url);
    const client = clientForTest('http://registry.example', { env: { HTTP_PROXY: url }, token: 'secret-1' });
    expect(await client.node.get({ nodeId: 'a' })).toEqual({ id: 'far' });
    expect(seen).toEqual(['GET http://registry.example/nodes/a']);
    expect(service.seen[0]?.headers.authorization).toBe('Bearer secret-1');
  });

  it('tunnels https, with the certificate of the service', async () => {
    const { url, seen } = await startTunnel(await serveSecurely());
    const env = { https_proxy: url };
    expect(
      await clientForTest('https://registry.example', { env, ca: cert }).node.get({ nodeId: 'a' }),
    ).toEqual({
      id: 'safe',
    });
    expect(seen).toEqual(['CONNECT registry.example:443']);
    const other = await catchFailure(
      clientForTest('https://other.example', { env, ca: cert }).node.get({ nodeId: 'a' }),
    );
    expect(other).toMatchObject({ name: 'NetworkError', code: 'tls', sent: false });
  });

  it('is asked for a tunnel by the program, which loads only parts of its HTTP client', async () => {
    const asked: string[] = [];
    const proxy = createServer().on('connect', ({ url }, socket) => {
      asked.push(url as string);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}`, REGEN_BASE_URL: 'https://registry.example' };
    const { exit, stderr } = await startRegen(['node', 'get', 'acme'], { env }).ended;
    expect(exit, stderr).toBe(7);
    expect(stderr).toContain('proxy');
    expect(new Set(asked)).toEqual(new Set(['registry.example:443']));
  });

  it('receives the credential in its address', async () => {
    const { url } = await startTunnel(await serveSecurely(), 'me:p@ss');
    const env = { HTTPS_PROXY: url.replace('//', '//me:p%40ss@') };
    expect(
      await clientForTest('https://registry.example', { env, ca: cert }).node.get({ nodeId: 'a' }),
    ).toEqual({
      id: 'safe',
    });
  });

  it('that refuses is named in the error', async () => {
    const { url } = await startTunnel(await serveSecurely(), 'me:secret');
    const client = clientForTest('https://registry.example', { env: { HTTPS_PROXY: url }, retries: 3 });
    const error = await catchFailure(client.node.get({ nodeId: 'a' }));
    expect(error).toMatchObject({ name: 'NetworkError', code: 'proxy', sent: false });
    const plain = clientForTest('http://registry.example', { env: { HTTP_PROXY: url } });
    expect((await catchFailure(plain.node.get({ nodeId: 'a' }))).message).toMatch(/proxy/i);
  });

  it('that does not exist is reported', async () => {
    const client = clientForTest('https://registry.example', { env: { HTTPS_PROXY: 'http://127.0.0.1:1' } });
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({
      code: 'refused',
      sent: false,
    });
  });

  it.each(['http', 'https'])(
    'that does not exist is named in the error instead of the %s service, without its password',
    async (scheme) => {
      const address = 'http://me:secret@127.0.0.1:1';
      const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
      const error = await catchFailure(
        clientForTest(`${scheme}://registry.example`, { env }).node.get({ nodeId: 'a' }),
      );
      expect(error.proxy).toBe('http://127.0.0.1:1');
      expect(error.message).toBe(
        `The proxy http://127.0.0.1:1 cannot be used to reach ${scheme}://registry.example: nothing is listening there. Check HTTP_PROXY and HTTPS_PROXY.`,
      );
      const near = clientForTest('http://no-such-host.invalid', {
        env: { ...env, NO_PROXY: 'no-such-host.invalid' },
      });
      expect((await catchFailure(near.node.get({ nodeId: 'a' }))).proxy).toBeUndefined();
    },
  );

  it('is not used for hosts of NO_PROXY and for loopback', async () => {
    const service = await serveForTest((_, response) => response.end('{"id":"near"}'));
    const { url, seen } = await startTunnel(service.url);
    expect(await clientForTest(service.url, { env: { HTTP_PROXY: url } }).node.get({ nodeId: 'a' })).toEqual({
      id: 'near',
    });
    // An empty variable counts as unset.
    const env = { HTTP_PROXY: url, no_proxy: '', NO_PROXY: 'other.example,no-such-host.invalid' };
    expect(
      await catchFailure(clientForTest('http://no-such-host.invalid', { env }).node.get({ nodeId: 'a' })),
    ).toMatchObject({
      code: 'dns',
    });
    expect(seen).toEqual([]);
  });

  it.each(['http://me:secret@:x', 'ftp://me:secret@proxy.example'])(
    'with an address such as %s is refused without repeating what it holds',
    async (address) => {
      const client = clientForTest('http://registry.example', { env: { http_proxy: address } });
      const error = await catchFailure(client.node.get({ nodeId: 'a' }));
      expect(error.message).toBe('HTTP_PROXY must be the http, https or socks5 URL of a proxy');
    },
  );
});

describe('TLS', () => {
  it('does not trust a self-signed certificate', async () => {
    const clock = createFakeClock();
    const error = await catchFailure(
      clientForTest(await serveSecurely(), { retries: 3, ...clock }).node.get({ nodeId: 'a' }),
    );
    expect(error).toMatchObject({ name: 'NetworkError', code: 'tls', sent: false });
    expect(clock.pauses).toEqual([]);
    expect(error.message).toContain('cannot be trusted');
  });

  it('trusts given certificates in addition to the built-in ones', async () => {
    expect(await clientForTest(await serveSecurely(), { ca: cert }).node.get({ nodeId: 'a' })).toEqual({
      id: 'safe',
    });
  });

  it.each(['', 'nonsense', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    'refuses %j as certificates to trust',
    async (ca) => {
      const error = await catchFailure(
        clientForTest('https://127.0.0.1:1', { ca }).node.get({ nodeId: 'a' }),
      );
      expect(error.message).toBe('ca must contain certificates in PEM form');
    },
  );

  it('is not dropped by a redirect', async () => {
    const plain = await serveForTest((_, response) => response.end('{}'));
    const client = clientForTest(await serveSecurely('', `${plain.url}/x`), { ca: cert });
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({
      name: 'ResponseError',
      code: 'redirect',
    });
    expect(plain.seen).toEqual([]);
  });
});

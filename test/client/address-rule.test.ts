import { createServer } from 'node:http';
import { connect } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AddressRule } from '../../src/client/address-rule.js';
import { createClient } from '../../src/client/client.js';
import type { ClientOptions } from '../../src/client/client-options.js';
import type { NetworkError } from '../../src/client/errors.js';
import type { Lookup } from '../../src/wire/checked-lookup.js';
import { startRegen } from '../support/cli.js';
import { listenForTest, sendJson, serveForTest } from './server.js';

/** A resolver that knows these names only. */
function createLookup(names: Readonly<Record<string, readonly string[]>>): Lookup {
  return (name, _, done) => {
    const found = names[name] ?? [];
    const error = found.length > 0 ? null : Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    done(
      error,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

const NEAR = {
  loopback: ['127.0.0.1', '127.9.9.9', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]'],
  named: ['localhost', 'db.localhost', 'LOCALHOST.', '2130706433', '0x7f.1', '017700000001'],
  private: [
    '10.0.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '[fd00::1]',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::a00:1]',
  ],
  shared: ['100.64.0.1', '100.127.255.254'],
  'link-local': ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]'],
  reserved: [
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[ff02::1]',
    '[2002:7f00:1::]',
    '[2001::1]',
    '[fec0::1]',
  ],
};
const all = Object.values(NEAR).flat();

describe('a redirect or upload URL of a service may lead', () => {
  const rule = (base: string, names: Readonly<Record<string, readonly string[]>> = {}) =>
    new AddressRule(new URL(base), { lookup: createLookup(names) });

  const isAllowed = async (one: AddressRule, url: string) => {
    try {
      await one.check(new URL(url));
      return true;
    } catch (error) {
      expect(error).toMatchObject({ name: 'AddressRefused' });
      return false;
    }
  };

  it.each(all)('not from a public address to %s', async (host) => {
    expect(await isAllowed(rule('https://93.184.216.34'), `https://${host}/x`)).toBe(false);
    const named = rule('https://registry.example', { 'registry.example': ['2606:4700::1111'] });
    expect(await isAllowed(named, `https://${host}/x`)).toBe(false);
  });

  it.each(['1.1.1.1', '[2606:4700::1111]', '[64:ff9b::808:808]'])(
    'to the public address %s',
    async (host) => {
      for (const base of ['93.184.216.34', '10.0.0.1', '127.0.0.1'])
        expect(await isAllowed(rule(`https://${base}`), `https://${host}/x`)).toBe(true);
    },
  );

  it('within a private network from a service there, but not to its machine, and further from this machine', async () => {
    const team = rule('https://registry.lan', { 'registry.lan': ['10.1.1.1'] });
    for (const host of NEAR.private) expect(await isAllowed(team, `https://${host}/x`), host).toBe(true);
    for (const host of [...NEAR.loopback, ...NEAR.shared, ...NEAR['link-local'], ...NEAR.reserved])
      expect(await isAllowed(team, `https://${host}/x`), host).toBe(false);
    for (const host of [...NEAR.private, ...NEAR.loopback, ...NEAR.named])
      expect(await isAllowed(rule('http://localhost:7717'), `http://${host}/x`), host).toBe(true);
    expect(await isAllowed(rule('http://127.0.0.1:7717'), 'http://169.254.169.254/')).toBe(false);
  });

  it('to its own address wherever that is, and never from https to http', async () => {
    for (const host of all)
      expect(await isAllowed(rule(`http://${host}:1`), `http://${host}:1/x`), host).toBe(true);
    expect(await isAllowed(rule('https://93.184.216.34'), 'http://93.184.216.34/x')).toBe(false);
    expect(await isAllowed(rule('https://127.0.0.1'), 'http://127.0.0.1/x')).toBe(false);
  });

  it('as far as it was ever seen: a name that also has a near address does not count as near', async () => {
    const names = { 'registry.example': ['127.0.0.1', '93.184.216.34'] };
    expect(await isAllowed(rule('https://registry.example', names), 'https://127.0.0.1/x')).toBe(false);
  });
});

describe('a client', () => {
  const failure = (promise: Promise<unknown>): Promise<NetworkError> =>
    promise.then(
      () => expect.unreachable('should have failed'),
      (error) => error,
    );
  const clientForTest = (baseUrl: string, options: Partial<ClientOptions>) => {
    const client = createClient({ baseUrl, ...options });
    onTestFinished(() => client.close());
    return client;
  };
  const names = {
    'registry.example': ['93.184.216.34'],
    'other.example': ['127.0.0.1'],
    'mapped.example': ['::ffff:127.0.0.1'],
  };
  const upload = { openStream: () => Readable.from(['x']), size: 1 };
  const sink = () => new Writable({ write: (_, __, done) => done() });

  it.each(['127.0.0.1', 'localhost', 'other.example', 'mapped.example'])(
    'sends nothing to %s for a service elsewhere: uploads, downloads and reads',
    async (host) => {
      const near = await serveForTest((_, response) => response.end('{}'));
      const { port } = new URL(near.url);
      const client = clientForTest('http://registry.example', { lookup: createLookup(names) });
      const url = `http://${host}:${port}/_bulk?pretty`;
      for (const call of [
        client.upload(url, upload),
        client.download(url, { to: sink() }),
        client.inspect(url),
      ]) {
        const error = await failure(call);
        expect(error).toMatchObject({ name: 'NetworkError', code: 'address', sent: false });
        expect(error.message).toMatch(
          /^http:\/\/registry\.example names \S+, which is on this machine, and http:\/\/registry\.example is not, so nothing was sent there\.$/,
        );
      }
      expect(near.seen).toEqual([]);
    },
  );

  it('does not follow a service whose own name begins to mean this machine', async () => {
    const near = await serveForTest((_, response) => response.end('{"id":"near"}'));
    const { port } = new URL(near.url);
    let addresses = ['93.184.216.34'];
    const lookup: Lookup = (name, options, done) =>
      createLookup({ 'registry.example': addresses })(name, options, done);
    const client = clientForTest(`http://registry.example:${port}`, { lookup });
    await failure(client.inspect('http://127.0.0.1:1/x'));
    addresses = ['127.0.0.1'];
    expect(await failure(client.node.get({ nodeId: 'a' }))).toMatchObject({ code: 'address' });
    expect(near.seen).toEqual([]);
  });

  /** A proxy through which a registry answers. */
  async function registryBehindProxy(
    answer: (path: string) => { status?: number; location?: string; body?: object },
  ) {
    const server = createServer(({ url = '' }, response) => {
      const { status = 200, location, body = {} } = answer(new URL(url, 'http://x').pathname);
      sendJson(response, status, body, location === undefined ? {} : { location });
    });
    server.on('connect', (_, client) => void connect(1, '127.0.0.1').on('error', () => client.destroy()));
    return { HTTP_PROXY: await listenForTest(server) };
  }

  it('does not follow redirects there, through a proxy too', async () => {
    const near = await serveForTest((_, response) => response.end('{"id":"near"}'));
    const env = await registryBehindProxy(() => ({ status: 302, location: `${near.url}/secret` }));
    const error = await failure(clientForTest('http://registry.example', { env }).node.get({ nodeId: 'a' }));
    expect(error).toMatchObject({ code: 'address' });
    expect(near.seen).toEqual([]);
  });

  it('does not download from there, and the program explains why', async () => {
    const near = await serveForTest((_, response) => response.end('zip'));
    const version = { id: 'v', node_id: 'a', version: '1.0.0', downloadUrl: `${near.url}/a.zip` };
    const env = await registryBehindProxy(() => ({ body: { ...version, archive_sha256: 'a'.repeat(64) } }));
    const surroundings = { env: { ...env, REGEN_BASE_URL: 'http://registry.example' } };
    const { exit, stderr } = await startRegen(['version', 'download', 'a'], surroundings).ended;
    expect(stderr).toContain(`names ${new URL(near.url).host}, which is on this machine, and`);
    expect(exit).toBe(7);
    expect(near.seen).toEqual([]);
  });
});

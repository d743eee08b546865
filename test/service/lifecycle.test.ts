import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../src/client/client.js';
import {
  FolderInUse,
  InvalidConfiguration,
  PortTaken,
} from '../../src/service/configuration/start-errors.js';
import { startService } from '../../src/service/serve.js';
import { readServiceFile } from '../../src/service/storage/data-folder.js';
import { readBody } from '../../src/wire/read-body.js';
import { createZip } from '../support/create-zip.js';
import { receiverForTest } from '../support/receiver.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../support/service.js';
import { waitFor } from '../support/wait-for.js';
import { waitForRequest } from '../support/wait-for-request.js';

const zip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });

describe('a start', () => {
  it('reports every problem of its configuration at once', async () => {
    const wrong = { port: 70_000, graceMs: -1, colour: 'blue' };
    const error = await startService(wrong).catch((caught) => caught);
    expect(error).toBeInstanceOf(InvalidConfiguration);
    expect(error.problems.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual([
      'colour',
      'graceMs',
      'port',
    ]);
  });

  it('is ready when it returns, and writes its address to a file that only its owner can read', async () => {
    const data = folderForTest();
    const service = await serviceForTest({ data, version: '1.2.3' });
    expect((await ask(`${service.url}/ready`)).status).toBe(200);
    expect(readServiceFile(data)).toEqual({
      url: service.url,
      socket: join(data, 'service.sock'),
      previews: ['image', 'video'],
      pid: process.pid,
      version: '1.2.3',
      instance: service.instance,
    });
    expect(readFileSync(join(data, 'owner.token'), 'utf8').trim()).toBe(service.ownerToken);
    expect(service.ownerToken).toMatch(/^regen_owner_[\w-]{43}$/);
    for (const name of ['service.json', 'service.sock', 'owner.token']) {
      expect(statSync(join(data, name)).mode & 0o777, name).toBe(0o600);
    }
    await service.stop();
    expect(existsSync(join(data, 'service.json'))).toBe(false);
    expect(existsSync(join(data, 'service.sock'))).toBe(false);
  });

  it.skipIf(process.platform === 'win32')(
    'keeps every file to its owner, even in a folder that others may enter',
    async () => {
      const data = folderForTest();
      chmodSync(data, 0o755);
      writeFileSync(join(data, 'regen.db'), '', { mode: 0o644 });
      const service = await serviceForTest({ data });
      await publisherForTest(service);
      const names = readdirSync(data).filter((name) => statSync(join(data, name)).isFile());
      expect(names).toEqual(
        expect.arrayContaining(['regen.db', 'regen.db-wal', 'regen.db-shm', 'service.lock']),
      );
      for (const name of readdirSync(data))
        expect((statSync(join(data, name)).mode & 0o077).toString(8), name).toBe('0');
    },
  );

  it('uses the owner, keys and data of an existing folder', async () => {
    const data = folderForTest();
    const first = await serviceForTest({ data });
    await publisherForTest(first);
    const token = await first.signFor({ sub: 'ann' });
    await first.stop();
    const second = await serviceForTest({ data });
    expect(second.ownerToken).toBe(first.ownerToken);
    expect((await ask(`${second.url}/publishers/acme`)).body.name).toBe('Acme');
    expect((await ask(`${second.url}/users/me`, { token })).status).toBe(200);
  });

  it('refuses a folder that another service is using, and names that service', async () => {
    const data = folderForTest();
    const first = await serviceForTest({ data });
    const error = await startService({ data }).catch((caught) => caught);
    expect(error).toBeInstanceOf(FolderInUse);
    expect(error.running).toMatchObject({ url: first.url, instance: first.instance });
    expect((await ask(`${first.url}/ready`)).status).toBe(200);
    await first.stop();
    await serviceForTest({ data });
  });

  it('refuses a port that is in use, and unlocks the folder', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void blocker.close());
    await waitFor(() => expect(blocker.listening).toBe(true));
    const { port } = blocker.address() as { port: number };
    const data = folderForTest();
    const error = await startService({ data, port }).catch((caught) => caught);
    expect(error).toBeInstanceOf(PortTaken);
    expect(error).toMatchObject({ host: '127.0.0.1', port });
    expect(readServiceFile(data)).toBeUndefined();
    await serviceForTest({ data });
  });

  it('uses a temporary folder by default, and removes it', async () => {
    const temporary = folderForTest();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const service = await serviceForTest();
    expect(readdirSync(temporary)).toHaveLength(1);
    await service.stop();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('uses the public URL in answers, if one is configured', async () => {
    const service = await serviceForTest({ publicUrl: 'https://registry.example/regen/' });
    expect(service.url).toBe('https://registry.example/regen');
  });
});

describe('the owner', () => {
  it('reaches the same service at a socket of the data folder, even if another program has the port', async () => {
    const data = folderForTest();
    const { url, ownerToken, instance } = await serviceForTest({ data, version: '1.2.3' });
    const socketPath = readServiceFile(data)?.socket as string;
    const client = createClient({ baseUrl: url, socketPath, token: ownerToken });
    onTestFinished(() => client.close());
    const answer = await client.raw({ path: '/.well-known/regen-owner' });
    expect(JSON.parse((await readBody(answer.body, 1000)).toString())).toEqual({
      instance,
      version: '1.2.3',
      engines: { 'images and videos': 'previews made on this machine' },
      vendors: [],
    });
    const elsewhere = createClient({ baseUrl: 'http://127.0.0.1:1', socketPath, token: ownerToken });
    onTestFinished(() => elsewhere.close());
    expect((await elsewhere.user.me()).credential.kind).toBe('owner');
    await expect(elsewhere.node.install({ nodeId: 'nope' })).rejects.toMatchObject({ status: 404 });
  });

  it('exchanges files over the socket, even if another program has the port of an earlier start', async () => {
    const data = folderForTest();
    const { url, ownerToken } = await serviceForTest({ data });
    const { url: earlier, received: webhooks } = await receiverForTest();
    const socketPath = readServiceFile(data)?.socket as string;
    const client = createClient({ baseUrl: url, socketPath, token: ownerToken });
    onTestFinished(() => client.close());
    const to = new PassThrough();
    const received = text(to);
    await client.download(new URL('/health', earlier).href, { to });
    expect(JSON.parse(await received)).toEqual({ status: 'ok' });
    const upload = client.upload(new URL('/nowhere', earlier).href, {
      openStream: () => Readable.from(['content']),
      size: 7,
    });
    await expect(upload).rejects.toMatchObject({ status: 404 });
    expect(webhooks).toEqual([]);
  });

  it('has a socket even if the path of the data folder is too long for a socket', async () => {
    const data = join(folderForTest(), 'a'.repeat(120));
    const { url, ownerToken, stop } = await serviceForTest({ data });
    const socketPath = readServiceFile(data)?.socket as string;
    const client = createClient({ baseUrl: url, socketPath, token: ownerToken });
    onTestFinished(() => client.close());
    expect((await client.user.me()).credential.kind).toBe('owner');
    await stop();
    expect(existsSync(dirname(socketPath))).toBe(false);
  });

  it('can replace a token that was seen', async () => {
    const data = folderForTest();
    const { url, ownerToken } = await serviceForTest({ data });
    const rotate = `${url}/.well-known/regen-owner/rotate-token`;
    expect((await ask(rotate, { method: 'POST', token: ownerToken })).status).toBe(204);
    const now = readFileSync(join(data, 'owner.token'), 'utf8').trim();
    expect(now).not.toBe(ownerToken);
    expect((await ask(`${url}/users/me`, { token: ownerToken })).status).toBe(401);
    expect((await ask(`${url}/users/me`, { token: now })).status).toBe(200);
    expect((await ask(rotate, { method: 'POST', token: ownerToken })).status).toBe(401);
  });

  it('is the only one who can stop the service', async () => {
    const service = await serviceForTest();
    const stop = `${service.url}/.well-known/regen-owner/stop`;
    const admin = await service.signFor({ sub: 'ann', roles: ['admin'] });
    for (const token of [undefined, 'wrong', admin]) {
      const answer = await ask(stop, { method: 'POST', token });
      expect([answer.status, answer.body.error]).toEqual([401, 'unauthenticated']);
    }
    const answer = await ask(stop, { method: 'POST', token: service.ownerToken });
    expect([answer.status, answer.body]).toEqual([202, { instance: service.instance }]);
    await service.ended;
    await expect(fetch(`${service.url}/ready`)).rejects.toThrow();
  });
});

/** Begins an upload. @returns how to finish it, and its status */
async function halfUpload(signedUrl: string) {
  const sending = request(signedUrl, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip', 'content-length': zip.length },
  });
  const status = new Promise<number | string>((resolve) => {
    sending.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
    sending.on('error', (error) => resolve(error.message));
  });
  const received = waitForRequest();
  sending.write(zip.subarray(0, 50));
  await received;
  return { status, finish: () => sending.end(zip.subarray(50)) };
}

describe('a stop', () => {
  it('lets a running upload finish, and its version becomes Active after the next start', async () => {
    const data = folderForTest();
    const service = await serviceForTest({ data, graceMs: 20_000 });
    const publisher = await publisherForTest(service);
    const upload = await halfUpload((await registerVersion(publisher)).signedUrl);
    const stopped = service.stop();
    await waitFor(() => expect(fetch(`${service.url}/ready`)).rejects.toThrow());
    upload.finish();
    expect(await upload.status).toBe(200);
    await stopped;
    const next = await serviceForTest({ data });
    await waitFor(async () =>
      expect((await readVersion({ ...publisher, url: next.url })).status).toBe('NodeVersionStatusActive'),
    );
  });

  it('serves requests for drainMs after it began to stop, while /ready answers 503', async () => {
    const service = await serviceForTest({ drainMs: 600_000 });
    const stopped = service.stop();
    const ready = await ask(`${service.url}/ready`);
    expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await ask(`${service.url}/health`)).status).toBe(200);
    const published = await publisherForTest(service);
    expect((await ask(`${published.url}/publishers/acme`)).status).toBe(200);
    // A second call does not wait any longer.
    await service.stop();
    await stopped;
    await expect(fetch(`${service.url}/health`)).rejects.toThrow();
  });

  it('answers a request that follows on a connection that was accepted before', async () => {
    const service = await serviceForTest({ graceMs: 20_000 });
    const { port } = new URL(service.url);
    const accept = vi.fn();
    subscribe('net.server.socket', accept);
    onTestFinished(() => void unsubscribe('net.server.socket', accept));
    const connection = connect(Number(port), '127.0.0.1');
    await waitFor(() => expect(accept).toHaveBeenCalled());
    const stopped = service.stop();
    await waitFor(() => expect(fetch(`${service.url}/ready`)).rejects.toThrow());
    connection.write(`GET /health HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    expect(await text(connection)).toMatch(/^HTTP\/1.1 200 .*connection: close\r\n/is);
    await stopped;
  });

  it('lets a request of the owner finish that came by the socket of the data folder', async () => {
    const data = folderForTest();
    const service = await serviceForTest({ data, graceMs: 20_000 });
    const body = JSON.stringify({ id: 'acme', name: 'Acme' });
    const sending = request({
      socketPath: readServiceFile(data)?.socket,
      method: 'POST',
      path: '/publishers',
      headers: {
        authorization: `Bearer ${service.ownerToken}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    const received = waitForRequest();
    sending.write(body.slice(0, 5));
    await received;
    const stopped = service.stop();
    await waitFor(() => expect(fetch(`${service.url}/ready`)).rejects.toThrow());
    const answered = once(sending, 'response');
    sending.end(body.slice(5));
    expect((await answered)[0].statusCode).toBe(201);
    await stopped;
  });

  it('is not ready while the disk has less space than configured', async () => {
    const full = await serviceForTest({ minFreeDiskBytes: Number.MAX_SAFE_INTEGER });
    const answer = await ask(`${full.url}/ready`);
    expect([answer.status, answer.body.message]).toEqual([503, 'The disk of the service is almost full.']);
    expect((await ask(`${full.url}/health`)).status).toBe(200);
    const { signedUrl } = await registerVersion(await publisherForTest(full));
    const refused = await uploadArchive(signedUrl, Buffer.from('archive'));
    expect([refused.status, refused.body.message]).toEqual([503, answer.body.message]);
  });

  it('aborts requests and jobs that take longer than the grace period', async () => {
    const service = await serviceForTest({ graceMs: 100 });
    const publisher = await publisherForTest(service);
    const upload = await halfUpload((await registerVersion(publisher)).signedUrl);
    await service.stop();
    expect(await upload.status).toMatch(/hang up|ECONNRESET/);
  });

  it('happens once, however often it is requested', async () => {
    const service = await serviceForTest();
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();
    await service.ended;
  });
});

/** A clock that moves by hand, and tells when the service has looked at it some times more. */
function countedClock() {
  let reads = 0;
  return {
    time: Date.now(),
    now() {
      reads += 1;
      return this.time;
    },
    isReadAgain(): Promise<void> {
      const before = reads;
      return waitFor(() => expect(reads).toBeGreaterThan(before + 9));
    },
  };
}

describe('a service that stops when idle', () => {
  it('stops after it was idle for long enough', async () => {
    const clock = countedClock();
    const service = await serviceForTest({ idleMs: 500 }, { now: () => clock.now() });
    clock.time += 499;
    expect((await ask(`${service.url}/health`)).status).toBe(200);
    clock.time += 499;
    await clock.isReadAgain();
    expect((await ask(`${service.url}/health`)).status).toBe(200);
    clock.time += 501;
    await service.ended;
  });

  it('keeps running during an upload and while a job is due soon, but not for a later job', async () => {
    const clock = countedClock();
    const service = await serviceForTest({ idleMs: 500 }, { now: () => clock.now() });
    let ended = false;
    void service.ended.then(() => {
      ended = true;
    });
    const publisher = await publisherForTest(service);
    const upload = await halfUpload((await registerVersion(publisher)).signedUrl);
    clock.time += 10_000;
    await clock.isReadAgain();
    expect(ended).toBe(false);
    upload.finish();
    expect(await upload.status).toBe(200);
    const { database, queue } = service.context;
    await database
      .transaction()
      .execute((tx) => queue.enqueue(tx, { kind: 'unknown here', key: 'a', owner: 'ann' }));
    clock.time += 10_000;
    await clock.isReadAgain();
    expect(ended).toBe(false);
    await database
      .transaction()
      .execute((tx) => tx.deleteFrom('jobs').where('kind', '=', 'unknown here').execute());
    await clock.isReadAgain();
    expect(await queue.hasWorkBy(clock.time + 25 * 3_600_000)).toBe(true);
    // Polled, because a job that is still running counts as work until the next check.
    const later = () => {
      clock.time += 10_000;
      return ended;
    };
    await expect.poll(later).toBe(true);
  });
});

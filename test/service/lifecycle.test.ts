import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readServiceFile } from '../../src/service/folder.js';
import { ownerProof } from '../../src/service/http/owner-proof.js';
import { startService } from '../../src/service/serve.js';
import { FolderInUse, InvalidConfiguration, PortTaken } from '../../src/service/start-failures.js';
import { zipOf } from '../support/archives.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  register,
  serviceForTest,
  versionOf,
} from '../support/service.js';

const zip = await zipOf({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
const nonce = 'abcdefghijklmnop';

describe('a start', () => {
  it('names everything wrong with its configuration at once', async () => {
    const wrong = { port: 70_000, graceMs: -1, colour: 'blue' };
    const error = await startService(wrong).catch((caught) => caught);
    expect(error).toBeInstanceOf(InvalidConfiguration);
    expect(error.problems.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual([
      'colour',
      'graceMs',
      'port',
    ]);
  });

  it('is ready when it returns, and says where it listens in a file of its owner alone', async () => {
    const data = folderForTest();
    const service = await serviceForTest({ data, version: '1.2.3' });
    expect((await ask(`${service.url}/ready`)).status).toBe(200);
    const announced = { url: service.url, pid: process.pid, version: '1.2.3', instance: service.instance };
    expect(readServiceFile(data)).toEqual(announced);
    expect(readFileSync(join(data, 'owner.token'), 'utf8').trim()).toBe(service.ownerToken);
    expect(service.ownerToken).toMatch(/^regen_owner_[\w-]{43}$/);
    for (const name of ['service.json', 'owner.token']) {
      expect(statSync(join(data, name)).mode & 0o777, name).toBe(0o600);
    }
    await service.stop();
    expect(existsSync(join(data, 'service.json'))).toBe(false);
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

  it('finds again what the folder holds: owner, keys and data', async () => {
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

  it('refuses a folder another service works on, and names that one', async () => {
    const data = folderForTest();
    const first = await serviceForTest({ data });
    const error = await startService({ data }).catch((caught) => caught);
    expect(error).toBeInstanceOf(FolderInUse);
    expect(error.running).toMatchObject({ url: first.url, instance: first.instance });
    expect((await ask(`${first.url}/ready`)).status).toBe(200);
    await first.stop();
    await serviceForTest({ data });
  });

  it('refuses a port that is taken, and leaves the folder to others', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void blocker.close());
    await vi.waitFor(() => expect(blocker.listening).toBe(true));
    const { port } = blocker.address() as { port: number };
    const data = folderForTest();
    const error = await startService({ data, port }).catch((caught) => caught);
    expect(error).toBeInstanceOf(PortTaken);
    expect(error).toMatchObject({ host: '127.0.0.1', port });
    expect(readServiceFile(data)).toBeUndefined();
    await serviceForTest({ data });
  });

  it('without a folder uses a temporary one, and leaves nothing behind', async () => {
    const temporary = folderForTest();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const service = await serviceForTest();
    expect(readdirSync(temporary)).toHaveLength(1);
    await service.stop();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('answers with the address clients reach it at, where one is configured', async () => {
    const service = await serviceForTest({ publicUrl: 'https://registry.example/regen/' });
    expect(service.url).toBe('https://registry.example/regen');
  });
});

describe('the owner', () => {
  it('is given a proof that the listener holds the folder, made for this address and this question', async () => {
    const { url, ownerToken, instance } = await serviceForTest({ version: '1.2.3' });
    const answer = await ask(`${url}/.well-known/regen-owner?nonce=${nonce}`);
    expect([answer.status, answer.body]).toEqual([
      200,
      { instance, version: '1.2.3', proof: ownerProof(ownerToken, nonce, url) },
    ]);
    expect(answer.body.proof).not.toBe(ownerProof(ownerToken, nonce, 'http://127.0.0.1:1'));
    expect(JSON.stringify(answer.body)).not.toContain(ownerToken);
  });

  it('is asked for a nonce of 16 to 128 base64url characters', async () => {
    const { url } = await serviceForTest();
    const bad = ['', '?nonce=short', `?nonce=${'a'.repeat(129)}`, `?nonce=${nonce}%0A`];
    for (const query of [...bad, `?nonce=${nonce}&nonce=${nonce}`]) {
      const answer = await ask(`${url}/.well-known/regen-owner${query}`);
      expect([answer.status, answer.body.error], query).toEqual([400, 'invalid_request']);
    }
  });

  it('alone stops the service from outside', async () => {
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

/** Begins an upload, and gives the means to end it. */
async function halfUpload(signedUrl: string) {
  const sending = request(signedUrl, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip', 'content-length': zip.length },
  });
  const status = new Promise<number | string>((resolve) => {
    sending.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
    sending.on('error', (error) => resolve(error.message));
  });
  sending.write(zip.subarray(0, 50));
  await new Promise((resolve) => setTimeout(resolve, 100));
  return { status, finish: () => sending.end(zip.subarray(50)) };
}

describe('a stop', () => {
  it('lets a running upload end, and its version becomes Active after the next start', async () => {
    const data = folderForTest();
    const service = await serviceForTest({ data, graceMs: 20_000 });
    const publisher = await publisherForTest(service);
    const upload = await halfUpload((await register(publisher)).signedUrl);
    const stopped = service.stop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(fetch(`${service.url}/ready`)).rejects.toThrow();
    upload.finish();
    expect(await upload.status).toBe(200);
    await stopped;
    const next = await serviceForTest({ data });
    await vi.waitFor(
      async () =>
        expect((await versionOf({ ...publisher, url: next.url })).status).toBe('NodeVersionStatusActive'),
      { timeout: 10_000 },
    );
  });

  it('cuts what takes longer than the grace', async () => {
    const service = await serviceForTest({ graceMs: 100 });
    const publisher = await publisherForTest(service);
    const upload = await halfUpload((await register(publisher)).signedUrl);
    await service.stop();
    expect(await upload.status).toMatch(/hang up|ECONNRESET/);
  });

  it('comes once, however often it is asked for', async () => {
    const service = await serviceForTest();
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();
    await service.ended;
  });
});

describe('a service that ends when idle', () => {
  it('ends after nobody asked anything for long enough', async () => {
    let time = Date.now();
    const service = await serviceForTest({ idleMs: 500 }, { now: () => time });
    time += 499;
    expect((await ask(`${service.url}/health`)).status).toBe(200);
    time += 499;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect((await ask(`${service.url}/health`)).status).toBe(200);
    time += 501;
    await service.ended;
  });

  it('stays while an upload runs and while a job is due soon, not for one due later', async () => {
    let time = Date.now();
    const service = await serviceForTest({ idleMs: 500 }, { now: () => time });
    let ended = false;
    void service.ended.then(() => {
      ended = true;
    });
    const publisher = await publisherForTest(service);
    const upload = await halfUpload((await register(publisher)).signedUrl);
    time += 10_000;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(ended).toBe(false);
    upload.finish();
    expect(await upload.status).toBe(200);
    const { database, queue } = service.context;
    await database.transaction().execute((tx) => queue.enqueue(tx, { kind: 'unknown here', key: 'a' }));
    time += 10_000;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(ended).toBe(false);
    await database
      .transaction()
      .execute((tx) => tx.deleteFrom('jobs').where('kind', '=', 'unknown here').execute());
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await queue.busyBy(time + 25 * 3_600_000)).toBe(true);
    // Again and again, because a job that still runs at one look counts as work until the next.
    const later = () => {
      time += 10_000;
      return ended;
    };
    await expect.poll(later, { timeout: 20_000 }).toBe(true);
  });
});

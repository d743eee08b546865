import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunningService } from '../../../src/service/serve.js';
import { createZip } from '../../support/create-zip.js';
import { listFiles } from '../../support/list-files.js';
import {
  type Answered,
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  type TestPublisher,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const someZip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n', 'readme.md': '# Pack\n' });
const otherZip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}  # other\n' });
const hashBytes = (content: Buffer) => createHash('sha256').update(content).digest('hex');

interface Setting {
  readonly service: RunningService;
  readonly publisher: TestPublisher;
  /** The files of the storage, including staged ones. */
  objects(): string[];
}

async function createSetting(
  input: Parameters<typeof serviceForTest>[0] = {},
  now?: () => number,
): Promise<Setting> {
  const data = folderForTest();
  const service = await serviceForTest({ data, ...input }, now ? { now } : {});
  const publisher = await publisherForTest(service);
  const objects = () => listFiles(join(data, 'objects'));
  return { service, publisher, objects };
}

const object = expect.stringMatching(/^archives.acme.pack.1\.0\.0.[0-9a-f-]{36}\.zip$/);

/** Writes raw text to the service. @returns its answers until the connection ends or the expected text is there */
function sendRaw(
  url: string,
  head: readonly string[],
  write: (send: (chunk: Buffer) => void, end: () => void) => void,
) {
  const { hostname, port, pathname, search } = new URL(url);
  return new Promise<string>((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => {
      socket.write([`PUT ${pathname}${search} HTTP/1.1`, `Host: ${hostname}`, ...head, '', ''].join('\r\n'));
      write(
        (chunk) => socket.write(chunk),
        () => socket.destroy(),
      );
    });
    socket.on('data', (chunk) => {
      answer += chunk;
      if (/\r\n\r\n.*}$/s.test(answer)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}

async function waitForStatus(publisher: TestPublisher, status: string, version = '1.0.0'): Promise<Answered> {
  return waitFor(async () => {
    const found = await readVersion(publisher, version);
    expect(found.status).toBe(`NodeVersionStatus${status}`);
    return found;
  });
}

const WITHOUT_NODES = 'The pack registers no node, so the version is listed without nodes.';

describe('an upload', () => {
  it('is answered with size and digest once file and row are stored, and the version becomes Active', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const answer = await uploadArchive(signedUrl, someZip);
    expect([answer.status, answer.body]).toEqual([200, { size: someZip.length, sha256: hashBytes(someZip) }]);
    expect(await readVersion(publisher)).toMatchObject({ archive_sha256: hashBytes(someZip) });
    expect(objects()).toEqual([object]);
    const { status_reason } = await waitForStatus(publisher, 'Active');
    expect(status_reason).toBe(WITHOUT_NODES);
    const node = await ask(`${publisher.url}/nodes/pack`);
    expect(node.body.latest_version.version).toBe('1.0.0');
  });

  it('accepts a version with build metadata, with an encoded or a plain plus sign', async () => {
    const { publisher } = await createSetting();
    const { signedUrl, node_version } = await registerVersion(publisher, '1.0.0+linux.1');
    expect(node_version.downloadUrl).toContain('1.0.0%2Blinux.1/node.zip');
    expect((await uploadArchive(signedUrl.replace('%2B', '+'), someZip)).status).toBe(200);
    await waitForStatus(publisher, 'Active', '1.0.0+linux.1');
    expect((await ask(node_version.downloadUrl)).status).toBe(200);
  });

  it('is refused with a modified URL', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    await registerVersion(publisher, '2.0.0');
    const later = new URL(signedUrl);
    later.searchParams.set('expires', String(Number(later.searchParams.get('expires')) + 1));
    const bare = new URL(signedUrl);
    bare.search = '';
    const twice = `${signedUrl}&versionId=x`;
    const changed = [signedUrl.replace('/1.0.0/', '/2.0.0/'), later, bare, twice, signedUrl.slice(0, -1)];
    for (const url of changed) {
      const answer = await uploadArchive(String(url), someZip);
      expect([answer.status, answer.body.error], String(url)).toEqual([403, 'invalid_signature']);
    }
    expect(objects()).toEqual([]);
  });

  it('is refused once its URL is 15 minutes old, and a new registration returns a new URL', async () => {
    let time = Date.now();
    const { publisher } = await createSetting({}, () => time);
    const { signedUrl, node_version } = await registerVersion(publisher);
    time += 15 * 60_000 + 1_000;
    const late = await uploadArchive(signedUrl, someZip);
    expect([late.status, late.body.error]).toEqual([403, 'invalid_signature']);
    const again = await registerVersion(publisher);
    expect(again.node_version.id).toBe(node_version.id);
    expect((await uploadArchive(again.signedUrl, someZip)).status).toBe(200);
  });

  it('is refused with another content type than zip, or with an encoding', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    for (const [name, value] of [
      ['content-type', 'application/json'],
      ['content-type', 'application/octet-stream'],
      ['content-encoding', 'gzip'],
    ] as const) {
      const answer = await uploadArchive(signedUrl, someZip, { headers: { [name]: value } });
      expect([answer.status, answer.body.error]).toEqual([415, 'unsupported_media_type']);
    }
    const without = await sendRaw(signedUrl, ['Content-Length: 3'], (send) => send(Buffer.from('abc')));
    expect(without).toMatch(/^HTTP\/1.1 415 /);
    expect(objects()).toEqual([]);
  });

  it('is refused if it is a range of an archive', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const headers = { 'content-range': `bytes 0-99/${someZip.length}` };
    const answer = await uploadArchive(signedUrl, someZip.subarray(0, 100), { headers });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'Content-Range']);
    expect(objects()).toEqual([]);
  });

  it('leaves nothing if it has more bytes than announced', async () => {
    const { service, publisher, objects } = await createSetting();
    const { storage } = service.context;
    const { remove, write } = storage;
    const settled = new Promise<void>((resolve) => {
      Object.assign(storage, {
        remove: (key: string) => remove.call(storage, key).finally(resolve),
        write: (...given: Parameters<typeof write>) =>
          write.apply(storage, given).catch((error) => {
            resolve();
            throw error;
          }),
      });
    });
    const { signedUrl } = await registerVersion(publisher);
    const head = ['Content-Type: application/zip', `Content-Length: ${someZip.length}`];
    const answer = await sendRaw(signedUrl, head, (send) =>
      send(Buffer.concat([someZip, Buffer.alloc(100, '!')])),
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    await settled;
    expect(objects()).toEqual([]);
    expect((await uploadArchive(signedUrl, someZip)).status).toBe(200);
  });

  it('is refused unread if it announces too many bytes', async () => {
    const { publisher, objects } = await createSetting({ limits: { archive: 1_000 } });
    const { signedUrl } = await registerVersion(publisher);
    const head = ['Content-Type: application/zip', 'Content-Length: 1001'];
    const answer = await sendRaw(signedUrl, head, () => {});
    expect(answer).toMatch(/^HTTP\/1.1 413 .*too_large/s);
    expect(objects()).toEqual([]);
  });

  it('is answered even if the client keeps sending a body that is too large', async () => {
    const { publisher } = await createSetting({ limits: { archive: 1_000 } });
    const { signedUrl } = await registerVersion(publisher);
    const answer = await uploadArchive(signedUrl, Buffer.alloc(20_000_000));
    expect([answer.status, answer.body.error]).toEqual([413, 'too_large']);
  });

  it('is refused without a length, and read to its end, so that the connection stays usable', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const { hostname, port, pathname, search, host } = new URL(signedUrl);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    let answers = '';
    socket.on('data', (chunk) => {
      answers += chunk;
    });
    const send = (...lines: string[]) => socket.write([...lines, `Host: ${host}`, '', ''].join('\r\n'));
    send(`PUT ${pathname}${search} HTTP/1.1`, 'Content-Type: application/zip', 'Transfer-Encoding: chunked');
    const chunk = Buffer.concat([Buffer.from('f4240\r\n'), Buffer.alloc(1_000_000), Buffer.from('\r\n')]);
    for (let count = 0; count < 20; count += 1) socket.write(chunk);
    socket.write('0\r\n\r\n');
    send('GET /health HTTP/1.1');
    await waitFor(() => expect(answers).toMatch(/^HTTP\/1.1 411 .*length_required.*HTTP\/1.1 200 /s));
    expect(objects()).toEqual([]);
    expect((await uploadArchive(signedUrl, someZip)).status).toBe(200);
  });

  it('leaves nothing when it is interrupted, and can be repeated with the same URL', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const head = ['Content-Type: application/zip', `Content-Length: ${someZip.length}`];
    await sendRaw(signedUrl, head, async (send, cut) => {
      send(someZip.subarray(0, 50));
      await waitFor(() => expect(objects()).toHaveLength(1));
      cut();
    });
    await waitFor(() => expect(objects()).toEqual([]));
    expect(await readVersion(publisher)).toMatchObject({ status: 'NodeVersionStatusPending' });
    expect((await uploadArchive(signedUrl, someZip)).status).toBe(200);
  });

  it('is not called incomplete when the bucket or the database closes a connection', async () => {
    const { service, publisher } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const { storage } = service.context;
    const { write } = storage;
    storage.write = () => Promise.reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
    expect((await uploadArchive(signedUrl, someZip)).status).toBeGreaterThanOrEqual(500);
    storage.write = write.bind(storage);
    expect((await uploadArchive(signedUrl, someZip)).status).toBe(200);
  });

  it('may be repeated with the same bytes, in case the answer was lost, but not with others', async () => {
    const { publisher } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const first = await uploadArchive(signedUrl, someZip);
    const again = await uploadArchive(signedUrl, someZip);
    expect([again.status, again.body]).toEqual([200, first.body]);
    await waitForStatus(publisher, 'Active');
    expect((await uploadArchive(signedUrl, someZip)).status).toBe(200);
    const sameSize = Buffer.from(someZip);
    sameSize[40] = (sameSize[40] as number) ^ 1;
    for (const others of [otherZip, sameSize]) {
      const answer = await uploadArchive(signedUrl, others);
      expect([answer.status, answer.body.error]).toEqual([400, 'version_exists']);
    }
    const kept = await fetch((await readVersion(publisher)).downloadUrl);
    expect(hashBytes(Buffer.from(await kept.arrayBuffer()))).toBe(hashBytes(someZip));
  });

  it('succeeds for one of several concurrent uploads, and row and file agree', async () => {
    const { service, publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const zips = await Promise.all(
      Array.from({ length: 8 }, (_, index) => createZip({ '__init__.py': `x = ${index}\n` })),
    );
    const answers = await Promise.all(zips.map((zip) => uploadArchive(signedUrl, zip)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)]);
    const winner = answers.find(({ status }) => status === 200)?.body;
    const row = await service.context.database.selectFrom('versions').selectAll().executeTakeFirstOrThrow();
    expect(row.archive_sha256).toBe(winner.sha256);
    expect(objects()).toEqual([object]);
    const { downloadUrl } = await waitForStatus(publisher, 'Active');
    const file = Buffer.from(await (await fetch(downloadUrl)).arrayBuffer());
    expect(hashBytes(file)).toBe(winner.sha256);
  });

  it('is refused if the version was deleted during it, and leaves nothing', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl, node_version } = await registerVersion(publisher);
    const head = ['Content-Type: application/zip', `Content-Length: ${someZip.length}`];
    const answer = await sendRaw(signedUrl, head, async (send) => {
      send(someZip.subarray(0, 50));
      await waitFor(() => expect(objects()).toHaveLength(1));
      const version = `${publisher.url}/publishers/acme/nodes/pack/versions/${node_version.id}`;
      expect((await ask(version, { method: 'DELETE', token: publisher.ownerToken })).status).toBe(204);
      send(someZip.subarray(50));
    });
    expect(answer).toMatch(/^HTTP\/1.1 400 .*version_exists/s);
    expect(objects()).toEqual([]);
  });

  it.each([
    ['PUT', '/admin/nodes/pack', { status: 'NodeStatusBanned' }, 'HTTP/1.1 403', 'banned'],
    ['PUT', '/admin/publishers/acme', { status: 'PublisherStatusBanned' }, 'HTTP/1.1 403', 'banned'],
    ['DELETE', '/publishers/acme/nodes/pack', undefined, 'HTTP/1.1 404', 'not_found'],
    [
      'PUT',
      '/admin/nodes/pack/versions/1.0.0',
      { status: 'NodeVersionStatusBanned', status_reason: 'spam' },
      'HTTP/1.1 400',
      'version_exists',
    ],
    [
      'PUT',
      '/admin/nodes/pack/versions/1.0.0',
      { status: 'NodeVersionStatusFlagged', status_reason: 'spam' },
      'HTTP/1.1 400',
      'version_exists',
    ],
  ])(
    'is refused after %s %s, even during it, and leaves nothing',
    async (method, path, json, ...expected) => {
      const { publisher, objects } = await createSetting();
      const { signedUrl } = await registerVersion(publisher);
      const head = ['Content-Type: application/zip', `Content-Length: ${someZip.length}`];
      const during = await sendRaw(signedUrl, head, async (send) => {
        send(someZip.subarray(0, 50));
        await waitFor(() => expect(objects()).toHaveLength(1));
        const done = await ask(publisher.url + path, { method, json, token: publisher.ownerToken });
        expect(done.status).toBeLessThan(300);
        send(someZip.subarray(50));
      });
      const after = await sendRaw(signedUrl, head, (send) => send(someZip));
      for (const answer of [during, after]) {
        expect(answer).toContain(expected[0]);
        expect(answer).toContain(`"${expected[1]}"`);
      }
      expect(objects()).toEqual([]);
      expect((await readVersion(publisher)).status).not.toBe('NodeVersionStatusActive');
    },
  );

  it('counts for a registration that was repeated during it', async () => {
    const { publisher, objects } = await createSetting();
    const { signedUrl } = await registerVersion(publisher);
    const head = ['Content-Type: application/zip', `Content-Length: ${someZip.length}`];
    let fresh = '';
    const answer = await sendRaw(signedUrl, head, async (send) => {
      send(someZip.subarray(0, 50));
      await waitFor(() => expect(objects()).toHaveLength(1));
      fresh = (await registerVersion(publisher)).signedUrl;
      send(someZip.subarray(50));
    });
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect((await uploadArchive(fresh, otherZip)).body.error).toBe('version_exists');
    await waitForStatus(publisher, 'Active');
  });

  it('makes the version Flagged, with the reason, if it is not an archive', async () => {
    const { publisher } = await createSetting();
    const bad: [version: string, content: Buffer, reason: RegExp][] = [
      ['1.0.1', Buffer.from('this is no archive'), /zip/i],
      ['1.0.2', someZip.subarray(0, someZip.length - 30), /zip|archive/i],
    ];
    for (const [version, content, reason] of bad) {
      const { signedUrl } = await registerVersion(publisher, version);
      expect((await uploadArchive(signedUrl, content)).status).toBe(200);
      const found = await waitForStatus(publisher, 'Flagged', version);
      expect(found.host_node_extract_status).toBe('failed');
      expect(found.status_reason).toMatch(reason);
    }
  });
});

describe('a registered version', () => {
  it('becomes Deleted as no_archive without an upload for 24 hours, and its number is free again', async () => {
    let time = Date.now();
    const { publisher, service } = await createSetting({}, () => time);
    await registerVersion(publisher);
    time += 23 * 3_600_000;
    const { signedUrl } = await registerVersion(publisher);
    time += 2 * 3_600_000;
    // Registered again 2 hours ago, so it is not due.
    const abandoned = service.context.database
      .selectFrom('jobs')
      .select('run_at')
      .where('kind', '=', 'abandon-version');
    expect((await abandoned.execute()).filter(({ run_at }) => Date.parse(run_at) <= time)).toEqual([]);
    expect(await readVersion(publisher)).toMatchObject({ status: 'NodeVersionStatusPending' });
    time += 22 * 3_600_000;
    const { status_reason } = await waitForStatus(publisher, 'Deleted');
    expect(status_reason).toBe('no_archive');
    expect((await uploadArchive(signedUrl, someZip)).status).toBe(403);
    const again = await registerVersion(publisher);
    expect((await uploadArchive(again.signedUrl, someZip)).status).toBe(200);
    await waitForStatus(publisher, 'Active');
  });

  it('says why it is still Pending while the check fails, and becomes Active once it succeeds', async () => {
    let time = Date.now();
    const { publisher, service } = await createSetting({}, () => time);
    const { signedUrl } = await registerVersion(publisher);
    const { borrow } = service.context.storage;
    Object.assign(service.context.storage, {
      borrow: async () => Promise.reject(new Error('EIO: i/o error')),
    });
    expect((await uploadArchive(signedUrl, someZip)).status).toBe(200);
    await waitFor(async () => {
      const { status, status_reason } = await readVersion(publisher);
      expect(status).toBe('NodeVersionStatusPending');
      expect(status_reason).toMatch(/will retry/);
    });
    Object.assign(service.context.storage, { borrow });
    const failed = service.context.database
      .selectFrom('jobs')
      .select('kind')
      .where('last_error', 'is not', null);
    await waitFor(async () => expect(await failed.execute()).toHaveLength(1));
    time += 60_000;
    expect((await waitForStatus(publisher, 'Active')).status_reason).toBe(WITHOUT_NODES);
  });
});

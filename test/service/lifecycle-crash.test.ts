import { once } from 'node:events';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import yazl from 'yazl';
import { createZip } from '../support/create-zip.js';
import { listFiles } from '../support/list-files.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  type TestPublisher,
  uploadArchive,
} from '../support/service.js';
import { serviceProcessForTest } from '../support/service-in-process.js';
import { waitFor } from '../support/wait-for.js';

/** The same signed URL at the address of the restarted service. */
function movedTo(url: string, signedUrl: string): string {
  return signedUrl.replace(/^http:\/\/[^/]+/, url);
}

function becomesActive(publisher: TestPublisher): Promise<void> {
  return waitFor(async () => expect((await readVersion(publisher)).status).toBe('NodeVersionStatusActive'));
}

const zip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });

describe('a service that is killed', () => {
  it('loses nothing that it acknowledged, after a registration and half an upload', async () => {
    const data = folderForTest();
    const first = await serviceProcessForTest({ data });
    const publisher = await publisherForTest(first);
    const { signedUrl, node_version } = await registerVersion(publisher);
    await first.kill();

    const second = await serviceProcessForTest({ data });
    const after = { ...publisher, url: second.url };
    expect(second.ownerToken).toBe(first.ownerToken);
    expect(await readVersion(after)).toMatchObject({
      id: node_version.id,
      status: 'NodeVersionStatusPending',
    });
    const half = request(movedTo(second.url, signedUrl), {
      method: 'PUT',
      headers: { 'content-type': 'application/zip', 'content-length': zip.length },
    });
    half.on('error', () => {});
    half.write(zip.subarray(0, zip.length / 2));
    await waitFor(() => expect(listFiles(join(data, 'objects'))).toHaveLength(1));
    await second.kill();

    const third = await serviceProcessForTest({ data });
    const last = { ...publisher, url: third.url };
    expect(listFiles(join(data, 'objects'))).toEqual([]);
    expect(await readVersion(last)).toMatchObject({ status: 'NodeVersionStatusPending' });
    expect((await ask((await readVersion(last)).downloadUrl, { token: last.ownerToken })).status).toBe(404);
    expect((await uploadArchive(movedTo(third.url, signedUrl), zip)).status).toBe(200);
    await becomesActive(last);
  });

  it('makes the version Active after the upload was acknowledged, even if killed during the check', async () => {
    const data = folderForTest();
    const first = await serviceProcessForTest({ data }, { more: 'hold-check' });
    const publisher = await publisherForTest(first);
    const { signedUrl } = await registerVersion(publisher);
    const checking = first.receive('checking');
    expect((await uploadArchive(signedUrl, zip)).status).toBe(200);
    await checking;
    await first.kill();

    const second = await serviceProcessForTest({ data });
    await becomesActive({ ...publisher, url: second.url });
  });

  it('keeps an upload that it answered just before', async () => {
    const data = folderForTest();
    const first = await serviceProcessForTest({ data });
    const publisher = await publisherForTest(first);
    const { signedUrl } = await registerVersion(publisher);
    expect((await uploadArchive(signedUrl, zip)).status).toBe(200);
    await first.kill();

    const second = await serviceProcessForTest({ data });
    const after = { ...publisher, url: second.url };
    await becomesActive(after);
    const { downloadUrl } = await readVersion(after);
    expect(Buffer.from(await (await fetch(downloadUrl)).arrayBuffer())).toEqual(zip);
  });
});

describe('a full disk', () => {
  it('fails an upload with 503, keeps nothing of it, and accepts the next one that fits', async () => {
    const data = folderForTest();
    const service = await serviceProcessForTest(
      { data },
      // Blocks of 512 bytes.
      { within: ['sh', '-c', 'ulimit -f 16384; exec "$0" "$@"'] },
    );
    const publisher = await publisherForTest(service);
    const { signedUrl } = await registerVersion(publisher);
    const answer = await uploadArchive(signedUrl, Buffer.alloc(20_000_000));
    expect([answer.status, answer.body.error]).toEqual([503, 'unavailable']);
    expect(listFiles(join(data, 'objects'))).toEqual([]);
    expect((await uploadArchive(signedUrl, zip)).status).toBe(200);
    await becomesActive(publisher);
  });
});

describe('the memory of a service', () => {
  it('does not grow with an archive of 200 MB, received and checked', async () => {
    const service = await serviceProcessForTest({});
    const publisher = await publisherForTest(service);
    const { signedUrl } = await registerVersion(publisher);
    const before = service.receive('maxRss');
    service.child.send('memory');
    const { maxRss: atFirst } = await before;

    const archive = new yazl.ZipFile();
    archive.addReadStream(Readable.from(createMegabytes(200)), 'weights.bin', { compress: false });
    archive.addBuffer(Buffer.from('NODE_CLASS_MAPPINGS = {}\n'), '__init__.py');
    archive.end();
    const path = join(folderForTest(), 'node.zip');
    await pipeline(archive.outputStream, createWriteStream(path));
    const headers = { 'content-type': 'application/zip', 'content-length': statSync(path).size };
    const sending = request(signedUrl, { method: 'PUT', headers });
    const answered = once(sending, 'response');
    await pipeline(createReadStream(path), sending);
    expect((await answered)[0].statusCode).toBe(200);
    await becomesActive(publisher);

    const after = service.receive('maxRss');
    service.child.send('memory');
    expect((await after).maxRss - atFirst).toBeLessThan(200_000_000);
  });
});

function* createMegabytes(count: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(1_000_000, index);
}

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { AwsClient } from 'aws4fetch';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkStore } from '../../../src/service/maintenance/check-store.js';
import { requireStorage } from '../../../src/service/storage/open-storage.js';
import { createS3Storage, type S3Options } from '../../../src/service/storage/s3.js';
import { ObjectMissing, removeOthers, StorageAway, TooLarge } from '../../../src/service/storage/storage.js';
import { createZip } from '../../support/create-zip.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { testBucket } from '../../support/s3.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const MIB = 1024 ** 2;
const key = 'archives/acme/pack/1.0.0+linux.1/a(b).zip';
const hashBytes = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const createStream = (...chunks: (string | Buffer)[]) =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

async function collectNames(names: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const name of names) collected.push(name);
  return collected;
}

/** Its own prefix of a bucket. */
async function bucketForTest(options: Partial<S3Options> = {}) {
  const scratch = folderForTest();
  const bucket = testBucket as NonNullable<typeof testBucket>;
  const all = { ...bucket, prefix: `p/${randomUUID()}`, scratch, redirect: false, ...options };
  return { storage: await createS3Storage(all), scratch, options: all };
}

describe.skipIf(!testBucket)('a bucket', () => {
  it('stores an object, with its size and SHA-256, and reads it whole or a range of it', async () => {
    const { storage } = await bucketForTest();
    const content = Buffer.from('hello world');
    expect(await storage.write(key, createStream('hello ', 'world'), 11)).toEqual({
      key,
      size: 11,
      sha256: hashBytes(content),
    });
    expect(await text(await storage.read(key))).toBe('hello world');
    expect(await text(await storage.read(key, { start: 2, end: 4 }))).toBe('llo');
  });

  it.each([0, 8 * MIB, 8 * MIB + 1, 20 * MIB])('stores %i bytes unchanged', async (size) => {
    const { storage } = await bucketForTest();
    const content = randomBytes(size);
    const chunks = Array.from({ length: Math.ceil(size / 70_001) }, (_, at) =>
      content.subarray(at * 70_001, (at + 1) * 70_001),
    );
    expect(await storage.write(key, createStream(...chunks), size)).toMatchObject({
      size,
      sha256: hashBytes(content),
    });
    const { path, release } = await storage.borrow(key);
    expect(readFileSync(path).equals(content)).toBe(true);
    await release();
  });

  it('keeps nothing of a source that fails or is too large', async () => {
    const { storage } = await bucketForTest();
    const cut = Readable.from(
      (async function* () {
        yield Buffer.alloc(17 * MIB);
        throw new Error('cut');
      })(),
    );
    await expect(storage.write(key, cut, 100 * MIB)).rejects.toThrow('cut');
    await expect(storage.write(key, createStream(Buffer.alloc(9 * MIB)), 8 * MIB)).rejects.toThrow(TooLarge);
    await expect(storage.read(key)).rejects.toThrow(ObjectMissing);
  });

  it('lists its objects, more than fit into one answer too, and those below a folder', async () => {
    const { storage } = await bucketForTest();
    const names = Array.from({ length: 1_003 }, (_, at) => `tasks/t/${at}`);
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((name) => storage.write(name, createStream('x'), 1)));
    await storage.write('tasks/tt/other', createStream('x'), 1);
    await storage.write(key, createStream('x'), 1);
    expect((await collectNames(storage.list('tasks/t'))).sort()).toEqual(names.sort());
    expect((await collectNames(storage.list())).sort()).toEqual([key, ...names, 'tasks/tt/other'].sort());
    await removeOthers(storage, 'tasks/t', ['tasks/t/7']);
    await storage.remove('tasks/t/7000');
    expect(await collectNames(storage.list('tasks'))).toEqual(['tasks/t/7', 'tasks/tt/other']);
  });

  it('is refused with a wrong key, and leaves no file where an object is missing', async () => {
    const { options, scratch, storage } = await bucketForTest();
    const wrong = await createS3Storage({ ...options, secretAccessKey: 'wrong' });
    await expect(wrong.write(key, createStream('x'), 1)).rejects.toThrow(StorageAway);
    await expect(requireStorage(wrong)).rejects.toThrow(
      /^The bucket \w+ refused a request \(403 SignatureDoesNotMatch\)\. Correct the settings/,
    );
    await expect(storage.borrow(key)).rejects.toThrow(ObjectMissing);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it.each([false, true])(
    'holds archives and results of a service, which clients download (redirected: %s)',
    async (redirect) => {
      const { options } = await bucketForTest();
      process.env.TEST_S3_SECRET = options.secretAccessKey;
      const { endpoint, accessKeyId, bucket, prefix } = options;
      const data = folderForTest();
      const service = await serviceForTest({
        data,
        storage: `s3://${bucket}/${prefix}`,
        s3: { endpoint, accessKeyId, secretAccessKey: { env: 'TEST_S3_SECRET' }, redirect },
      });
      const publisher = await publisherForTest(service);
      const { signedUrl } = await registerVersion(publisher);
      const zip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
      expect((await uploadArchive(signedUrl, zip)).status).toBe(200);
      await waitFor(async () =>
        expect((await readVersion(publisher)).status).toBe('NodeVersionStatusActive'),
      );
      const asking = { url: service.url, token: service.ownerToken };
      const task = await waitForTask(asking, await startTask(asking));
      const { downloadUrl } = await readVersion(publisher);
      const direct = await fetch(downloadUrl, { redirect: 'manual' });
      expect([direct.status, direct.headers.get('location')?.startsWith(`${endpoint}`)]).toEqual(
        redirect ? [302, true] : [200, undefined],
      );
      const archive = await fetch(downloadUrl);
      expect(archive.headers.get('content-disposition')).toBe('attachment; filename="pack-1.0.0.zip"');
      expect(Buffer.from(await archive.arrayBuffer()).equals(zip)).toBe(true);
      const part = await fetch(downloadUrl, { headers: { range: 'bytes=0-1' } });
      expect([part.status, await part.text()]).toEqual([206, 'PK']);
      const result = await fetch(task.generated[0]);
      expect([result.status, result.headers.get('content-type')]).toEqual([200, 'image/png']);
      const { database, storage } = service.context;
      await waitFor(async () =>
        expect(await checkStore(database, storage)).toMatchObject({ objects: 2, problems: [] }),
      );
      expect(readdirSync(data)).not.toContain('objects');
      expect(readdirSync(join(data, 'scratch'))).toEqual([]);
      expect((await ask(`${service.url}/ready`)).status).toBe(200);
    },
  );
});

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A bucket whose answers a test decides. */
async function serverForTest(handle: Handle, prefix = '') {
  const server = createServer(async (request, response) => handle(request, response, await text(request)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const given = {
    endpoint,
    bucket: 'b',
    prefix,
    region: 'us-east-1',
    accessKeyId: 'id',
    redirect: false,
  };
  return createS3Storage({ ...given, secretAccessKey: 'secret', scratch: folderForTest() });
}

describe('the requests to a bucket', () => {
  it('are signed as in the example of Amazon', async () => {
    // Amazon S3 API reference, "Authenticating Requests: Using Query Parameters".
    const client = new AwsClient({
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      region: 'us-east-1',
      service: 's3',
    });
    const url = 'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Expires=86400';
    const signed = await client.sign(url, { aws: { signQuery: true, datetime: '20130524T000000Z' } });
    expect(new URL(signed.url).searchParams.get('X-Amz-Signature')).toBe(
      'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    );
  });

  it('are answered in full by a bucket that closes the connection before the object is read', async () => {
    const content = Buffer.alloc(64 * 1024, 'a');
    let closed: Promise<unknown> | undefined;
    const storage = await serverForTest((_, response) => {
      closed = once(response.socket as Socket, 'close');
      response.writeHead(200, { connection: 'close', 'content-length': content.length }).end(content);
    });
    const object = await storage.read('k');
    await closed;
    expect((await buffer(object)).equals(content)).toBe(true);
  });

  it('are repeated while it is busy, with the same body and its digest', async () => {
    const bodies: unknown[] = [];
    const storage = await serverForTest(({ headers }, response, body) => {
      bodies.push([body, headers['x-amz-content-sha256']]);
      response.statusCode = bodies.length < 3 ? 503 : 200;
      response.end();
    });
    await storage.write('k', createStream('x'), 1);
    expect(bodies).toEqual(Array(3).fill(['x', hashBytes(Buffer.from('x'))]));
  });

  it('fail if the bucket cannot put the parts together, and give the upload up', async () => {
    const seen: string[] = [];
    const storage = await serverForTest(({ method, url }, response) => {
      seen.push(`${method} ${url}`);
      if (url?.endsWith('?uploads=')) return response.end('<r><UploadId>a&amp;b</UploadId></r>');
      if (method === 'PUT') return response.setHeader('etag', '"x"').end();
      if (method === 'POST') return response.end('<Error><Code>InternalError</Code></Error>');
      return response.end();
    });
    await expect(storage.write('k', createStream(Buffer.alloc(9 * MIB)), 10 * MIB)).rejects.toThrow(
      'The bucket could not complete an upload (InternalError).',
    );
    expect(seen).toEqual([
      'POST /b/k?uploads=',
      'PUT /b/k?partNumber=1&uploadId=a%26b',
      'PUT /b/k?partNumber=2&uploadId=a%26b',
      'POST /b/k?uploadId=a%26b',
      'DELETE /b/k?uploadId=a%26b',
    ]);
  });

  it('take an upload as complete whose answer was lost', async () => {
    let isComplete = false;
    const storage = await serverForTest(({ method, url }, response) => {
      if (url?.endsWith('?uploads=')) return response.end('<r><UploadId>u</UploadId></r>');
      if (method === 'PUT') return response.setHeader('etag', '"x"').end();
      if (method === 'HEAD') return response.end();
      if (method === 'DELETE' || isComplete)
        return response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
      isComplete = true;
      return response.destroy();
    });
    const size = 9 * MIB;
    expect(await storage.write('k', createStream(Buffer.alloc(size)), size)).toMatchObject({
      key: 'k',
      size,
    });
  });

  it('remove nothing where a server says that there is nothing', async () => {
    const storage = await serverForTest((_, response) =>
      response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>'),
    );
    await storage.remove('k');
    await expect(storage.read('k')).rejects.toThrow(ObjectMissing);
  });

  it('list only below the prefix, which may be all that the key may list', async () => {
    const seen: unknown[] = [];
    const storage = await serverForTest(({ url }, response) => {
      seen.push(new URL(url as string, 'http://b').searchParams.get('prefix'));
      response.end('<r></r>');
    }, 'team/regen');
    await storage.requireReady();
    await collectNames(storage.list());
    await collectNames(storage.list('tasks/a'));
    expect(seen).toEqual(['team/regen/', 'team/regen/', 'team/regen/tasks/a/']);
  });

  it('say that the bucket does not exist or cannot be reached, without the key', async () => {
    const missing = await serverForTest((_, response) => {
      response.statusCode = 404;
      response.end('<Error><Code>NoSuchBucket</Code></Error>');
    });
    await expect(missing.requireReady()).rejects.toThrow(
      'The bucket b refused a request (404 NoSuchBucket).',
    );
    await expect(missing.read('k')).rejects.toThrow('The bucket b refused a request (404 NoSuchBucket).');
    const away = await createS3Storage({
      endpoint: 'http://127.0.0.1:1',
      bucket: 'b',
      prefix: '',
      region: 'us-east-1',
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      scratch: folderForTest(),
      redirect: false,
    });
    await expect(away.requireReady()).rejects.toThrow(/^The bucket b cannot be reached/);
    await expect(away.read('k')).rejects.toThrow(/^The bucket b cannot be reached \(.*ECONNREFUSED|bad port/);
  });
});

it('a service whose bucket lacks a key or a secret does not start, and says what is missing', async () => {
  const refused = serviceForTest({ storage: 's3://bucket', s3: { secretAccessKey: { env: 'NOT_THERE' } } });
  await expect(refused).rejects.toThrow(
    's3.accessKeyId is missing, and so is the environment variable AWS_ACCESS_KEY_ID',
  );
  await expect(refused).rejects.toThrow(
    's3.secretAccessKey names the environment variable NOT_THERE, which is missing',
  );
  await expect(serviceForTest({ storage: 's3:/x' })).rejects.toThrow('must be a bucket such as s3://name');
});

it('a service keeps its files in a folder that the configuration names', async () => {
  const [data, storage] = [folderForTest(), join(folderForTest(), 'shared')];
  const service = await serviceForTest({ data, storage });
  const publisher = await publisherForTest(service);
  const zip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
  expect((await uploadArchive((await registerVersion(publisher)).signedUrl, zip)).status).toBe(200);
  await waitFor(async () => expect((await readVersion(publisher)).status).toBe('NodeVersionStatusActive'));
  expect(readdirSync(storage)).toContain('archives');
  expect(readdirSync(data)).not.toContain('objects');
});

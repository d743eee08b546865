import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, createServer, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UnfitFileError } from '../../../src/disk/folder-file.js';
import { isMachineTrouble } from '../../../src/disk/machine-trouble.js';
import { readPicture, readSize } from '../../../src/preview/image/picture.js';
import { getInputKey } from '../../../src/service/generation/task-files.js';
import { runWithin, TimedOut } from '../../../src/service/network/run-within.js';
import type { Engine, ImageOperation } from '../../../src/service/operation/engine.js';
import { createZip } from '../../support/create-zip.js';
import {
  formatStatusPath,
  pixel,
  readTask,
  startPaths,
  startTask,
  unwrapTask,
  waitForTask,
} from '../../support/generation.js';
import {
  type Answered,
  ask,
  folderForTest,
  publisherForTest,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';
import { serviceProcessForTest } from '../../support/service-in-process.js';
import { videoPaths } from '../../support/videos.js';
import { waitFor } from '../../support/wait-for.js';

async function listenForTest(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The arguments that run a program with a file system of so many MB at a folder. */
const onSmallDisk = (folder: string, size = 4) => [
  ...['unshare', '--map-root-user', '--mount', 'sh', '-c'],
  ...[`mount -t tmpfs -o size=${size}m tmpfs "$0" && exec "$@"`, folder],
];
const [unshare, ...options] = onSmallDisk(tmpdir()) as [string, ...string[]];
const canMount = spawnSync(unshare, [...options, 'true']).status === 0;

test.skipIf(!canMount)(
  'a full disk does not make an image invalid, and the request may be repeated',
  async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const create = { width: 1600, height: 1600, channels: 3, background: '#888', noise } as const;
    const large = await sharp({ create }).png().toBuffer();
    expect(large.length).toBeGreaterThan(5 * 1024 ** 2);
    const origin = await listenForTest((_, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(large),
    );
    const folder = folderForTest();
    const { url, token } = await serviceProcessForTest(
      { data: join(folder, 'data') },
      { within: onSmallDisk(folder) },
    );
    const path = url + startPaths['image.relight'];
    const refused = await ask(path, { method: 'POST', token, json: { image: `${origin}/large.png` } });
    expect([refused.status, refused.body.error]).toEqual([503, 'unavailable']);
    expect((await ask(path, { method: 'POST', token, json: { image: pixel } })).status).toBe(200);
  },
);

test.skipIf(!canMount)('uploads and inputs that one user holds open leave the disk to others', async () => {
  const MB = 1024 ** 2;
  const [unshare, ...mount] = onSmallDisk(folderForTest(), 64) as [string, ...string[]];
  const folder = mount.at(-1) as string;
  const settings = { minFreeDiskBytes: 16 * MB, quotas: { tasksInFlight: 20 } };
  const { child, url } = await serviceProcessForTest(
    { ...settings, data: join(folder, 'data') },
    { within: [unshare, ...mount] },
  );
  const enter = async (sub: string) => {
    child.send({ sub, email: `${sub}@example.org` });
    const [{ token }] = await once(child, 'message');
    const post = (path: string, json: object) => ask(url + path, { method: 'POST', token, json });
    await post('/publishers', { id: sub, name: sub });
    const { token: personal } = (await post(`/publishers/${sub}/tokens`, { name: 'ci' })).body;
    const register = async (version: string) => {
      const json = { node: { name: sub }, node_version: { version }, personal_access_token: personal };
      return (await post(`/publishers/${sub}/nodes/${sub}-pack/versions`, json)).body.signedUrl as string;
    };
    return { post, register };
  };
  const [eve, bob] = [await enter('eve'), await enter('bob')];
  const agent = new Agent({ keepAlive: true });
  const film = Buffer.alloc(7 * MB);
  Buffer.from('0000000c667479706d703432', 'hex').copy(film);
  // It never ends, so that its file stays as it is.
  const origin = await listenForTest((_, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 8 * MB }).write(film);
  });
  const statuses: unknown[] = [];
  for (let at = 0; at < 5; at += 1) {
    const headers = { 'content-type': 'application/zip', 'content-length': 8 * MB };
    const sending = request(await eve.register(`1.0.${at}`), { method: 'PUT', headers, agent });
    onTestFinished(() => void sending.destroy());
    sending.on('error', () => {}).on('response', ({ statusCode }) => statuses.push(statusCode));
    sending.write(Buffer.alloc(7 * MB));
    const json = { video_creation_id: 'unknown', video_url: `${origin}/${at}.mp4` };
    const preparing = eve.post(videoPaths['video.extend'], json);
    preparing.then(
      ({ status }) => statuses.push(status),
      () => {},
    );
  }
  await waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(7));
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect((await ask(`${url}/ready`)).status).toBe(200);
  const archive = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
  expect((await uploadArchive(await bob.register('1.0.0'), archive)).status).toBe(200);
  expect((await bob.post(startPaths['image.relight'], { image: pixel })).status).toBe(200);
});

test('a service that was paused for longer than fetching may take fetches on', async () => {
  const seconds = 6;
  let child: ChildProcess | undefined;
  const origin = await listenForTest(async (_, response) => {
    child?.kill('SIGSTOP');
    await pause(seconds * 1000 + 500);
    response
      .writeHead(200, { 'content-type': 'video/mp4' })
      .end(Buffer.from('0000000c667479706d703432', 'hex'));
    child?.kill('SIGCONT');
  });
  const limits = { videoSeconds: seconds };
  const service = await serviceProcessForTest({ limits });
  child = service.child;
  const json = { video_creation_id: 'unknown', video_url: `${origin}/a.mp4` };
  const started = await ask(service.url + videoPaths['video.extend'], {
    method: 'POST',
    token: service.token,
    json,
  });
  expect([started.status, started.body.state]).toEqual([200, 'created']);
});

/** Connections that take the file handles of a process until only some are left. They are given back one at a time. */
async function takeHandles({ pid }: ChildProcess, url: string, limit: number, left: number) {
  const { hostname, port } = new URL(url);
  const taken: Socket[] = [];
  onTestFinished(() => void taken.forEach((socket) => void socket.destroy()));
  while (readdirSync(`/proc/${pid}/fd`).length < limit - left) {
    const socket = connect(Number(port), hostname).on('error', () => {});
    await once(socket, 'connect');
    taken.push(socket);
    // The service accepts it in its own time.
    await waitFor(() => expect(readdirSync(`/proc/${pid}/fd`).length).toBeGreaterThan(taken.length));
  }
  return () => void taken.pop()?.destroy();
}

test.skipIf(process.platform !== 'linux')(
  'a service that runs out of file handles during uploads and tasks answers 503, and fails and flags nothing',
  async () => {
    const handles = 128;
    const program = ['sh', '-c', `ulimit -n ${handles}; exec "$@" 2> /dev/null`, 'sh'];
    const { child, url, ownerToken } = await serviceProcessForTest({ rateLimit: 1e6 }, { within: program });
    const token = ownerToken;
    const publisher = await publisherForTest({ url, ownerToken });
    const archive = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
    const numbers = Array.from({ length: 10 }, (_, at) => `1.0.${at}`);
    const uploads: string[] = [];
    for (const number of numbers) uploads.push((await registerVersion(publisher, number)).signedUrl);
    // The image library is loaded.
    await waitForTask({ url, token }, await startTask({ url, token }));
    const giveBack = await takeHandles(child, url, handles, 4);
    // Without a handle, the service accepts no connection, so that no request has an outcome either.
    const giving = setInterval(giveBack, 200);
    onTestFinished(() => clearInterval(giving));

    const refusals: unknown[] = [];
    /** Sends a request until it succeeds. Each outcome of 10 gives a handle back. */
    let outcomes = 0;
    const insist = (send: () => ReturnType<typeof ask>) =>
      waitFor(async () => {
        const answer = await send().catch(() => undefined);
        outcomes += 1;
        if (outcomes % 10 === 0) giveBack();
        if (answer && answer.status >= 300) refusals.push([answer.status, answer.body.error]);
        expect(answer?.status).toBeLessThan(300);
        return answer?.body as Answered;
      });
    const post = (key: string) => ({
      ...{ method: 'POST', token, json: { image: pixel }, headers: { 'idempotency-key': key } },
    });
    const [tasks] = await Promise.all([
      Promise.all(numbers.map((key) => insist(() => ask(url + startPaths['image.relight'], post(key))))),
      Promise.all(uploads.map((signedUrl) => insist(() => uploadArchive(signedUrl, archive)))),
    ]);
    const ended = async (path: string, read: (body: Answered) => string, active: RegExp) => {
      const isOver = async () => {
        const status = read(await insist(() => ask(url + path, { token })));
        expect(status).not.toMatch(active);
        return status;
      };
      return waitFor(isOver);
    };
    const statuses = await Promise.all([
      ...numbers.map((number) =>
        ended(`/nodes/pack/versions/${number}`, ({ status }) => status, /StatusPending$/),
      ),
      ...tasks.map((body) =>
        ended(
          formatStatusPath('image.relight', unwrapTask(body).task_id),
          (found) => unwrapTask(found).status,
          /CREATED|IN_PROGRESS/,
        ),
      ),
    ]);
    expect(new Set(statuses)).toEqual(new Set(['NodeVersionStatusActive', 'COMPLETED']));
    expect(refusals.filter((refusal) => `${refusal}` !== '503,unavailable')).toEqual([]);
    expect(refusals).not.toEqual([]);
  },
);

/** An engine whose tasks wait until the service stops. */
const waiting: Engine<ImageOperation> = {
  ...{ name: 'waiting', atOnce: 1, resumes: true },
  run: (_, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
};

test('a task whose input is gone for a while is tried again, and neither failed nor refunded', async () => {
  const data = folderForTest();
  const accepting = await serviceForTest({ data }, { engines: { image: waiting } });
  const id = await startTask({ url: accepting.url, token: accepting.ownerToken });
  await accepting.context.storage.remove(getInputKey(id, 'image'));
  await accepting.stop();
  const logged: string[] = [];
  const {
    url,
    ownerToken: token,
    context,
  } = await serviceForTest({ data }, { log: (_, message) => void logged.push(message) });
  await waitFor(() => expect(logged).toContain('Job run-image-task failed; retrying.'));
  expect(await readTask({ url, token }, id)).toMatchObject({ status: 'IN_PROGRESS' });
  await context.storage.write(getInputKey(id, 'image'), Readable.from(Buffer.from(pixel, 'base64')), 1000);
  await waitFor(async () =>
    expect(await readTask({ url, token }, id)).toMatchObject({ status: 'COMPLETED' }),
  );
});

test('a picture whose file is missing fails with the error of the system, and not because it cannot be decoded', async () => {
  const missing = join(folderForTest(), 'picture.png');
  await expect(readSize(missing)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(readPicture(missing)).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('time limits of what waits for others', () => {
  test('do not count the time in which the process does not run', async () => {
    const answer = await runWithin(500, undefined, async (signal) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 800);
      await new Promise(setImmediate);
      signal.throwIfAborted();
      return 'answer';
    });
    expect(answer).toBe('answer');
  });

  test('end what takes longer, and say whether it was the caller who ended it', async () => {
    const never = (signal: AbortSignal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await expect(runWithin(20, undefined, never)).rejects.toBeInstanceOf(TimedOut);
    const ended = AbortSignal.abort(new Error('The service ends.'));
    await expect(runWithin(20, ended, async () => ended.throwIfAborted())).rejects.toThrow(
      'The service ends.',
    );
  });
});

test.each([
  [Object.assign(new Error('open'), { code: 'EMFILE' }), true],
  [Object.assign(new Error('write'), { code: 'ENOSPC' }), true],
  [Object.assign(new Error('write'), { code: 'EFBIG' }), true],
  [new UnfitFileError('big.png', 'EFBIG', 'is larger than 1 MiB'), false],
  [Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' }), true],
  [new Error('The image cannot be decoded.', { cause: new Error('timeout: 40% complete') }), true],
  [new RangeError('Array buffer allocation failed'), true],
  [AbortSignal.abort().reason, true],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), false],
  [new Error('Input buffer contains unsupported image format'), false],
  [new Error('heif: Memory allocation error: Security limit exceeded'), false],
])('%o is trouble of the machine: %o', (error, expected) => {
  expect(isMachineTrouble(error)).toBe(expected);
});

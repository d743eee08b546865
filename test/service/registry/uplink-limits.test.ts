import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fetchMedia } from '../../../src/service/network/fetch-media.js';
import { createZip } from '../../support/create-zip.js';
import { listenOn } from '../../support/listen.js';
import { folderForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const version = { id: 'v', version: '1.0.0', downloadUrl: 'https://example.com/node.zip' };
const many = 20_002;

/** What a registry answers to each read, with a list of this many parts. */
const answers: readonly (readonly [string, (parts: number) => object])[] = [
  ['/nodes/x/versions', (parts) => Array.from({ length: parts }, () => ({ version: '1.0.0' }))],
  ['/nodes/x/versions', (parts) => Array.from({ length: parts }, () => ({}))],
  [
    '/nodes/x/versions',
    (parts) => [Object.fromEntries(Array.from({ length: parts }, (_, at) => [`k${at}`, 1]))],
  ],
  ['/nodes/x', (parts) => ({ id: 'x', name: 'X', tags: Array.from({ length: parts }, () => 't') })],
  [
    '/nodes/x/versions/1.0.0',
    (parts) => ({ ...version, dependencies: Array.from({ length: parts }, () => 'd') }),
  ],
  ['/nodes/x/install', (parts) => ({ ...version, unknown: Array.from({ length: parts }, () => 1) })],
  [
    '/nodes/x/versions/1.0.0/host-nodes',
    (parts) => ({
      host_nodes: Array.from({ length: parts }, () => ({ host_node_name: 'G' })),
      totalNumberOfPages: 1,
    }),
  ],
];

test.each(answers)(
  'an answer to %s with more values or bytes than an anonymous client may send is ignored (%#)',
  async (path, create) => {
    let body = JSON.stringify(create(many));
    const far = await listenOn((_, response) => {
      response.setHeader('content-type', 'application/json').end(body);
    });
    onTestFinished(far.close);
    const { url } = await serviceForTest({ uplink: { url: far.url } });
    expect((await fetch(url + path)).status).toBe(503);
    body = JSON.stringify(create(2)) + ' '.repeat(4 * 1024 ** 2);
    expect((await fetch(url + path)).status).toBe(503);
    body = JSON.stringify(create(2));
    expect((await fetch(url + path)).status).toBe(200);
  },
);

/** A registry whose archives `slow…` never arrive. */
async function slowRegistry() {
  const zip = await createZip({
    'pyproject.toml': '[project]\nname = "x"\nversion = "1.0.0"\n',
    '__init__.py': '',
  });
  const waiting = new Set<string>();
  const { url, close } = await listenOn((request, response) => {
    const [, id = ''] = /^\/(?:nodes|archives)\/([\w-]+)/.exec(request.url as string) ?? [];
    if (request.url?.startsWith('/archives')) {
      response.writeHead(200, { 'content-type': 'application/zip' });
      if (!id.startsWith('slow')) return void response.end(zip);
      waiting.add(id);
      response.on('close', () => waiting.delete(id));
      return void response.write('PK');
    }
    const body = request.url?.includes('/install')
      ? { ...version, node_id: id, downloadUrl: `${url}/archives/${id}.zip` }
      : { id, name: id };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  onTestFinished(close);
  return { url, waiting };
}

test('slow archives of some users do not keep others from theirs', async () => {
  const far = await slowRegistry();
  let time = Date.now();
  const service = await serviceForTest(
    { uplink: { url: far.url }, registry: { read: 'authenticated' } },
    { now: () => time },
  );
  const askAs = async (user: string, id: string) => {
    const token = await service.signFor({ sub: user, email: `${user}@example.org` });
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${service.url}/uplink/${id}/1.0.0/node.zip`, { headers })).status;
  };
  const slow: Promise<number>[] = [];
  // One user has two of them at a time, for all archives.
  for (const id of ['slow-1', 'slow-2', 'slow-3', 'slow-4']) slow.push(askAs('ann', id));
  await waitFor(() => expect(far.waiting.size).toBe(2));
  expect(await askAs('zoe', 'fast-1')).toBe(200);
  expect(far.waiting.size).toBe(2);

  // Several users take all places, for one turn.
  for (const at of [5, 6, 7, 8, 9, 10]) slow.push(askAs(`user-${at}`, `slow-${at}`));
  await waitFor(() => expect(far.waiting.size).toBe(8));
  expect(await askAs('zoe', 'fast-2')).toBe(503);
  time += 31_000;
  expect(await askAs('zoe', 'fast-2')).toBe(200);
  expect(await Promise.race(slow)).toBe(503);
});

test.each(['nothing at all', 'a byte now and then'])('a server that sends %s is given up', async (what) => {
  const { url, close } = await listenOn((_, response) => {
    response.writeHead(200, { 'content-type': 'application/zip' }).flushHeaders();
    if (what === 'nothing at all') return;
    const timer = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(timer));
  });
  onTestFinished(close);
  const own = { serviceOrigin: url, loopbackAllowed: true, httpsOnly: false };
  const limits = { bytes: 10_000_000, seconds: 600, media: 'archive' } as const;
  const minSpeed = { bytesPerSecond: 1_000_000, windowMs: 200 };
  const fetching = fetchMedia(new URL(url), join(folderForTest(), 'a.zip'), { ...own, ...limits, minSpeed });
  await expect(fetching).rejects.toThrow('it sent its file too slowly');
});

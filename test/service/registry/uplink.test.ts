import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { regen } from '../../support/cli.js';
import { comfyRegistryForTest } from '../../support/comfy-registry.js';
import { listenOn } from '../../support/listen.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';

/** A registry with a publisher acme and the nodes that are named, Active. */
async function registryWith(names: readonly string[], input: ConfigurationInput = {}) {
  const service = await serviceForTest(input);
  const { personalAccessToken } = await publisherForTest(service);
  const env = {
    REGEN_BASE_URL: service.url,
    REGEN_TOKEN: service.ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  const publish = async (name: string, version = '1.0.0') => {
    const { exit, stderr } = await regen(['version', 'publish', packForTest({ name, version })], { env });
    expect(exit, stderr).toBe(0);
  };
  for (const name of names) await publish(name);
  return { service, publish, env };
}

const readAnswer = async (url: string, init: RequestInit = {}) => {
  const answer = await fetch(url, init);
  const text = await answer.text();
  return { status: answer.status, body: JSON.parse(text) };
};

const digestAt = async (url: string) => {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return createHash('sha256')
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest('hex');
};

describe.each(['regen', 'comfy'])('two registries in a row, the other one with the names of %s', (naming) => {
  test('a node of the other is installed through the private one, and again after the other is down', async () => {
    const far = await registryWith(['remote'], { naming });
    const near = await registryWith([], { uplink: { url: far.service.url, naming } });
    const { url } = near.service;
    const node = await readAnswer(`${url}/nodes/remote`);
    expect(node.body).toMatchObject({ id: 'remote', latest_version: { version: '1.0.0' } });
    expect(node.body.latest_version.downloadUrl).toBe(`${url}/uplink/remote/1.0.0/node.zip`);
    const definitions = await readAnswer(`${url}/nodes/remote/versions/1.0.0/host-nodes`);
    expect(definitions.body.host_nodes).toMatchObject([{ host_node_name: 'Greet' }]);
    const readPage = async (path: string) => (await fetch(`${url}/web/nodes/remote${path}`)).text();
    expect(await readPage('/versions/1.0.0')).toContain('aria-label="Node Greet in the graph editor"');
    // Only the other registry has a page of the publisher.
    expect(await readPage('')).not.toContain('/web/publishers/');
    const original = await digestAt(`${far.service.url}/archives/acme/remote/1.0.0/node.zip`);
    const cwd = folderForTest();
    const download = () => regen(['version', 'download', 'remote', '--force'], { env: near.env, cwd });
    const first = await download();
    expect(first.exit, first.stderr).toBe(0);
    const saved = readFileSync(join(cwd, 'remote-1.0.0.zip'));
    expect(createHash('sha256').update(saved).digest('hex')).toBe(original);
    await far.publish('remote', '1.1.0');

    expect((await readAnswer(`${url}/nodes/remote/install?version=9.9.9`)).status).toBe(404);
    await far.service.stop();
    const second = await download();
    expect(second.exit, second.stderr).toBe(0);
    const page = await readPage('/versions/1.0.0');
    expect(page).toContain('<h1>remote 1.0.0</h1>');
    expect(page).toContain('<p>The registry behind this one does not answer; try again soon.</p>');
    const installed = await readAnswer(`${url}/nodes/remote/install`);
    expect(installed.body).toMatchObject({ version: '1.0.0', archive_sha256: original });
    // Not another version in its place.
    expect((await readAnswer(`${url}/nodes/remote/install?version=0.9.0`)).status).toBe(503);
    expect((await readAnswer(`${url}/nodes/remote/versions`)).body).toMatchObject([{ version: '1.0.0' }]);
    expect((await readAnswer(`${url}/nodes/remote`)).body).toMatchObject({ name: 'Pack' });
    const other = await readAnswer(`${url}/nodes/never-served`);
    expect([other.status, other.body.error]).toEqual([503, 'unavailable']);
  });
});

/** Reads all pages of a list. */
const readPages = async (url: string, query: string) => {
  const pages: string[][] = [];
  for (let page = 1, last = 1; page <= last; page += 1) {
    const { status, body } = await readAnswer(`${url}/nodes?page=${page}&${query}`);
    expect(status).toBe(200);
    pages.push(body.nodes.map(({ id }: { id: string }) => id));
    last = body.totalPages;
  }
  return pages;
};

const readBulk = async (url: string, pairs: readonly [node_id: string, version: string][]) => {
  const json = { node_versions: pairs.map(([node_id, version]) => ({ node_id, version })) };
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(json);
  const answer = await readAnswer(`${url}/bulk/nodes/versions`, { method: 'POST', headers, body });
  return answer.body.node_versions;
};

test.each(['regen', 'comfy'])(
  'ComfyUI-Manager finds and installs a node of the other registry, in the names of %s',
  async (naming) => {
    const far = await registryWith(['remote'], { naming });
    const near = await registryWith(['local'], { naming: 'comfy', uplink: { url: far.service.url, naming } });
    const { url } = near.service;
    // As its cnr_utils.py asks, in its order.
    const list = await readAnswer(
      `${url}/nodes?page=1&limit=30&comfyui_version=v0.3.50&form_factor=git-linux`,
    );
    expect(list.body).toMatchObject({ page: 1, total: 2, totalPages: 1 });
    const [own, other] = list.body.nodes;
    expect([own.id, other]).toEqual([
      'local',
      expect.objectContaining({ id: 'remote', name: 'Pack', repository: '' }),
    ]);
    const { version } = other.latest_version;
    const installed = await readAnswer(`${url}/nodes/remote/install?version=${version}`);
    expect(installed.body).toMatchObject({ version: '1.0.0', deprecated: false, changelog: '' });
    expect(installed.body).toMatchObject({ downloadUrl: other.latest_version.downloadUrl, dependencies: [] });
    expect(installed.body.downloadUrl).toBe(`${url}/uplink/remote/1.0.0/node.zip`);
    await digestAt(installed.body.downloadUrl);
    const statuses = 'statuses=NodeVersionStatusActive&statuses=NodeVersionStatusPending';
    const [listed] = (await readAnswer(`${url}/nodes/remote/versions?${statuses}`)).body;
    expect([listed.version, listed.changelog, listed.createdAt]).toEqual(['1.0.0', '', expect.any(String)]);
    expect((await readAnswer(`${url}/nodes/remote`)).body.latest_version.version).toBe('1.0.0');
    expect((await readAnswer(`${url}/nodes/remote/install`)).body.version).toBe('1.0.0');
    const found = await readAnswer(`${url}/nodes/search?search=remote&limit=1`);
    expect(found.body).toMatchObject({ total: 1, nodes: [{ id: 'remote' }] });
  },
);

test('a list has the nodes held here first, and each node of the other registry once', async () => {
  const far = await registryWith(['alpha', 'beta', 'delta', 'own', 'refused']);
  const uplink = { url: far.service.url, deny: ['refused'] };
  const { service } = await registryWith(['own', 'zeta', 'yankee'], { uplink });
  const one = await readPages(service.url, 'limit=100');
  expect(one.map((ids) => ids.sort(byPlace))).toEqual([['own', 'yankee', 'zeta', 'alpha', 'beta', 'delta']]);
  for (const limit of [1, 2, 3, 5]) {
    const pages = await readPages(service.url, `limit=${limit}`);
    expect(pages.flat().sort(byPlace)).toEqual(one[0]);
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
  }
  const named = await readPages(service.url, 'node_id=ALPHA&node_id=zeta&node_id=refused&node_id=missing');
  expect(named).toEqual([['zeta', 'alpha']]);
  expect(await readPages(service.url, 'node_id=missing')).toEqual([[]]);
  await far.service.stop();
  expect((await readPages(service.url, 'limit=100'))[0]?.sort()).toEqual(['own', 'yankee', 'zeta']);
});

/** Nodes held here first; those of one registry have no order that matters here. */
const byPlace = (one: string, other: string) => {
  const isOwn = (id: string) => Number(!['own', 'yankee', 'zeta'].includes(id));
  return isOwn(one) - isOwn(other) || (one < other ? -1 : 1);
};

test('a node of a list that has no valid form hides no other', async () => {
  const nodes = [
    { id: 'odd', name: 7 },
    { id: '../x', name: 'Path' },
    { name: 'Nameless' },
    'text',
    { id: 'short', name: 'Short', latest_version: { version: '1.1', node_id: 'short' } },
    { id: 'lies', name: 'Lies', latest_version: { version: '1.0.0', node_id: 'other' } },
  ];
  const answers: unknown[] = [{ nodes, total: 6 }, { nodes: 'none' }, { nodes: [], total: -1 }, []];
  const far = await listenOn((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers.shift()));
  });
  onTestFinished(far.close);
  const { url } = await serviceForTest({ uplink: { url: far.url } });
  const { body } = await readAnswer(`${url}/nodes`);
  expect(body.nodes).toEqual([
    expect.objectContaining({ id: 'short', latest_version: expect.objectContaining({ version: '1.1' }) }),
    { id: 'lies', name: 'Lies' },
  ]);
  for (const _ of [1, 2, 3])
    expect((await readAnswer(`${url}/nodes`)).body).toMatchObject({ nodes: [], total: 0 });
  expect(answers).toEqual([]);
});

test('a bulk read asks the other registry for what is not held here', async () => {
  const far = await registryWith(['remote', 'own', 'refused']);
  const uplink = { url: far.service.url, deny: ['refused'] };
  const { service, env } = await registryWith(['own'], { uplink });
  const pairs: [string, string][] = [
    ['own', '1.0.0'],
    ['remote', '1.0.0'],
    ['own', '2.0.0'],
    ['refused', '1.0.0'],
    ['remote', '1.0.0'],
    ['remote', '2.0.0'],
  ];
  const items = await readBulk(service.url, pairs);
  expect(items.map(({ identifier: { node_id, version } }: Item) => [node_id, version])).toEqual(pairs);
  expect(items.map(({ status }: Item) => status)).toEqual([
    'success',
    'success',
    'not_found',
    'not_found',
    'success',
    'not_found',
  ]);
  expect(items[0].node_version).not.toHaveProperty('from_uplink');
  expect(items[1].node_version).toMatchObject({
    from_uplink: true,
    downloadUrl: `${service.url}/uplink/remote/1.0.0/node.zip`,
  });
  await far.service.stop();
  const later = await readBulk(service.url, pairs);
  expect(later.map(({ status }: Item) => status)).toEqual([
    'success',
    'not_found',
    'not_found',
    'not_found',
    'not_found',
    'not_found',
  ]);
  expect(later[1].error_message).toContain('does not answer');
  // A namesake over there does not count as published here.
  const again = await regen(['version', 'publish', packForTest({ name: 'remote' })], { env });
  expect(again.exit, again.stderr).toBe(0);
});

interface Item {
  readonly identifier: { readonly node_id: string; readonly version: string };
  readonly status: string;
}

describe('a version that is not written as SemVer', () => {
  test('of the other registry is read and installed as it is written there', async () => {
    const registry = await comfyRegistryForTest();
    const home = folderForTest();
    await regen(['config', 'set', 'profiles.far.base_url', registry.url], { home });
    await regen(['config', 'set', 'profiles.far.naming', 'comfy'], { home });
    const far = { REGEN_BASE_URL: registry.url, REGEN_PUBLISH_TOKEN: registry.pat };
    const published = await regen(['version', 'publish', packForTest()], { home, env: far });
    expect(published.exit, published.stderr).toBe(0);
    (registry.versions[0] as { version: string }).version = '1.1';
    const uplink = { url: registry.url, naming: 'comfy' };
    const { service, env } = await registryWith([], { naming: 'comfy', uplink });
    const { url } = service;
    const { body: node } = await readAnswer(`${url}/nodes/pack`);
    expect(node.latest_version.version).toBe('1.1');
    expect((await readAnswer(`${url}/nodes`)).body.nodes[0].latest_version.version).toBe('1.1');
    const paths = ['install', 'install?version=1.1', 'versions/1.1'];
    const downloadUrl = `${url}/uplink/pack/1.1/node.zip`;
    for (const path of paths) {
      const { status, body } = await readAnswer(`${url}/nodes/pack/${path}`);
      expect([path, status, body]).toMatchObject([path, 200, { version: '1.1', downloadUrl }]);
    }
    expect((await readAnswer(`${url}/nodes/pack/versions`)).body).toMatchObject([{ version: '1.1' }]);
    expect(await readBulk(url, [['pack', '1.1']])).toMatchObject([
      { identifier: { version: '1.1' }, status: 'success', node_version: { version: '1.1' } },
    ]);
    const cwd = folderForTest();
    for (const given of [['1.1'], []]) {
      const ran = await regen(['version', 'download', 'pack', ...given, '--force'], { env, cwd });
      expect([ran.exit, ran.stderr]).toEqual([0, expect.stringContaining('Downloaded pack 1.1')]);
    }
    const got = await regen(['version', 'get', 'pack', '1.1', '--json'], { env });
    expect(JSON.parse(got.stdout)).toMatchObject({ version: '1.1' });
  });

  test.each(['regen', 'comfy'])(
    'finds the full spelling that the other registry in the names of %s has',
    async (naming) => {
      const far = await registryWith([], { naming });
      await far.publish('remote', '1.1.0');
      const uplink = { url: far.service.url, naming };
      const { service } = await registryWith([], { naming: 'comfy', uplink });
      const { url } = service;
      const find = async (path: string) => {
        const { status, body } = await readAnswer(`${url}/nodes/remote/${path}`);
        return [status, body.version];
      };
      for (const path of ['install?version=1.1', 'versions/1.1', 'versions/v1.1'])
        expect([path, ...(await find(path))]).toEqual([path, 200, '1.1.0']);
      expect((await find('install?version=1'))[0]).toBe(404);
      const items = await readBulk(url, [
        ['remote', '1.1'],
        ['remote', '1'],
      ]);
      expect(items).toMatchObject([
        { identifier: { version: '1.1' }, status: 'success', node_version: { version: '1.1.0' } },
        { status: 'not_found' },
      ]);
      await digestAt(`${url}/uplink/remote/1.1.0/node.zip`);
      await far.service.stop();
      expect(await find('install?version=1.1')).toEqual([200, '1.1.0']);
    },
  );
});

test('names held here always win, also what looks like them and what was deleted', async () => {
  const far = await registryWith(['tools', 'gone', 'lo-cal']);
  const near = await registryWith(['tools', 'gone', 'local'], { uplink: { url: far.service.url } });
  const own = await readAnswer(`${near.service.url}/nodes/tools/install`);
  expect(own.body.downloadUrl).toContain('/archives/acme/tools/');
  expect((await readAnswer(`${near.service.url}/nodes/lo-cal`)).status).toBe(404);
  await regen(['node', 'delete', 'acme', 'gone', '--yes'], { env: near.env });
  expect((await readAnswer(`${near.service.url}/nodes/gone/install`)).status).toBe(404);
  expect((await readAnswer(`${near.service.url}/uplink/tools/1.0.0/node.zip`)).status).toBe(404);
});

test('rules refuse nodes, and their archives', async () => {
  const far = await registryWith(['good-one', 'good-bad', 'other']);
  const uplink = { url: far.service.url, allow: ['good-*'], deny: ['*-bad'] };
  const { url } = (await registryWith([], { uplink })).service;
  expect((await readAnswer(`${url}/nodes/good-one`)).status).toBe(200);
  for (const path of ['/nodes/good-bad', '/nodes/Other/install', '/uplink/good-bad/1.0.0/node.zip']) {
    const { status, body } = await readAnswer(url + path);
    expect([status, body.error, body.message]).toEqual([
      403,
      'not_offered',
      expect.stringContaining('rules'),
    ]);
  }
});

test('a registry that answers about another node does not lead around the rules', async () => {
  const version = {
    id: 'v',
    node_id: 'other',
    version: '1.0.0',
    downloadUrl: 'https://example.com/node.zip',
  };
  const answers: [end: string, answer: object][] = [
    ['/nodes/same', { id: 'other', name: 'Other' }],
    ['/nodes/like', { id: 'like', name: 'Like', latest_version: version }],
    ['/install', version],
    ['/versions', [version]],
    ['/versions/1.0.0', version],
    ['/host-nodes', { host_nodes: [{ host_node_name: 'Greet', node_id: 'other' }], totalNumberOfPages: 1 }],
    ['/nodes/good', { id: 'GOOD', name: 'Good', latest_version: { ...version, node_id: 'good' } }],
  ];
  const far = await listenOn((request, response) => {
    const path = String(request.url).split('?')[0] as string;
    // As for an id that was renamed.
    if (path === '/nodes/moved') response.writeHead(302, { location: '/nodes/same' }).end();
    else {
      const [, answer] = answers.find(([end]) => path.endsWith(end)) ?? [];
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    }
  });
  onTestFinished(far.close);
  const { url } = await serviceForTest({ uplink: { url: far.url, deny: ['other'] } });
  const versions = ['/nodes/same/versions/1.0.0', '/nodes/same/versions/1.0.0/host-nodes'];
  for (const path of ['/nodes/same', '/nodes/moved', '/nodes/like', '/nodes/same/install', ...versions])
    expect([path, (await readAnswer(url + path)).status]).toEqual([path, 404]);
  expect((await readAnswer(`${url}/uplink/same/1.0.0/node.zip`)).status).toBe(404);
  expect((await readAnswer(`${url}/nodes/good`)).status).toBe(200);
});

test.each([
  ['nested too deeply', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['made of too many values', `[${'[],'.repeat(1_500_000)}[]]`],
])('an answer that is %s counts as none', async (_, translations) => {
  const far = await listenOn((_, response) => {
    const answer = `{"id":"pack","name":"Pack","translations":${translations}}`;
    response.setHeader('content-type', 'application/json').end(answer);
  });
  onTestFinished(far.close);
  const lines: string[] = [];
  const log = (_: string, message: string, facts?: object) => lines.push(message + JSON.stringify(facts));
  const { url } = await serviceForTest({ uplink: { url: far.url } }, { log });
  expect((await readAnswer(`${url}/nodes/pack`)).status).toBe(503);
  expect(lines.join()).toContain('The uplink gives no usable answer');
});

test('requests to the other registry never bypass the rules of access', async () => {
  const asked: string[] = [];
  const far = await listenOn((request, response) => {
    asked.push(request.url as string);
    response.setHeader('content-type', 'application/json').end('{"id":"other","version":"../x"}');
  });
  onTestFinished(far.close);
  const { url } = await serviceForTest({ uplink: { url: far.url, deny: ['other'] } });
  const { host, hostname, port } = new URL(url);
  const status = async (path: string) => {
    // Not with fetch, which resolves the dots.
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return Number(String((await once(socket, 'data'))[0]).split(' ')[1]);
  };
  for (const path of [
    '/nodes/..',
    '/nodes/%2e%2e/versions',
    '/nodes/../install',
    '/nodes/good%2F..%2Fother',
    '/nodes/good/versions/..%2F..%2Fother',
    '/nodes/good/versions/../host-nodes',
    '/nodes/good/versions/1.0.0/host-nodes/..%5C..%5C..%5Cother',
    '/uplink/../1.0.0/node.zip',
    '/uplink/..%2F..%2Fx/1.0.0/node.zip',
    '/uplink/good/..%2Fx/node.zip',
  ])
    expect([path, await status(path)]).toEqual([path, 404]);
  expect(asked).toEqual([]);
});

test('a version keeps the bytes that were fetched first', async () => {
  const registry = await comfyRegistryForTest();
  const home = folderForTest();
  const far = { REGEN_BASE_URL: registry.url, REGEN_PUBLISH_TOKEN: registry.pat };
  await regen(['config', 'set', 'profiles.far.base_url', registry.url], { home });
  await regen(['config', 'set', 'profiles.far.naming', 'comfy'], { home });
  const { exit, stderr } = await regen(['version', 'publish', packForTest()], { home, env: far });
  expect(exit, stderr).toBe(0);
  const { url } = (await registryWith([], { uplink: { url: registry.url, naming: 'comfy' } })).service;
  const before = await digestAt(`${url}/uplink/pack/1.0.0/node.zip`);
  registry.replaceArchives(Buffer.from('other bytes'));
  expect(await digestAt(`${url}/uplink/pack/1.0.0/node.zip`)).toBe(before);
  registry.versions.push({ ...registry.versions[0], id: 'bad', version: '2.0.0' });
  registry.addArchive('bad', Buffer.from('not a zip'));
  expect((await readAnswer(`${url}/uplink/pack/2.0.0/node.zip`)).status).toBe(503);
  registry.versions.push({ ...registry.versions[0], id: 'odd', version: '3.0.0', downloadUrl: 'node.zip' });
  expect((await readAnswer(`${url}/uplink/pack/3.0.0/node.zip`)).status).toBe(503);
});

test('a kept version that the other registry withdrew is deprecated, and a banned node is refused', async () => {
  const far = await registryWith(['gone', 'banned']);
  const { url } = (await registryWith([], { uplink: { url: far.service.url } })).service;
  for (const name of ['gone', 'banned']) await digestAt(`${url}/uplink/${name}/1.0.0/node.zip`);
  const change = (path: string, method: string, body?: object) =>
    fetch(far.service.url + path, {
      ...{
        method,
        headers: { authorization: `Bearer ${far.env.REGEN_TOKEN}`, 'content-type': 'application/json' },
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  expect((await change('/publishers/acme/nodes/gone/versions/1.0.0', 'DELETE')).status).toBe(204);
  expect((await change('/admin/nodes/banned', 'PUT', { status: 'NodeStatusBanned' })).status).toBe(200);
  const gone = await readAnswer(`${url}/nodes/gone/versions/1.0.0`);
  const deprecation_message = 'The registry behind this one no longer offers this version.';
  expect(gone).toMatchObject({ status: 200, body: { deprecated: true, deprecation_message } });
  expect((await readAnswer(`${url}/nodes/gone/install?version=1.0.0`)).status).toBe(200);
  for (const path of ['/nodes/banned', '/nodes/banned/versions', '/nodes/banned/versions/1.0.0'])
    expect(await readAnswer(url + path)).toMatchObject({ status: 403, body: { error: 'banned' } });
});

test('an archive at a private address is not fetched', async () => {
  const registry = await comfyRegistryForTest();
  registry.nodes.set('inward', { id: 'inward', name: 'Inward' });
  registry.versions.push({
    id: 'x',
    node_id: 'inward',
    version: '1.0.0',
    status: 'NodeVersionStatusActive',
    downloadUrl: 'https://10.0.0.1/node.zip',
  });
  const lines: string[] = [];
  const service = await serviceForTest(
    { uplink: { url: registry.url, naming: 'comfy' } },
    { log: (_, message, facts) => lines.push(`${message} ${JSON.stringify(facts)}`) },
  );
  expect((await readAnswer(`${service.url}/uplink/inward/1.0.0/node.zip`)).status).toBe(503);
  expect(lines.join('\n')).toContain('its address is not public');
});

test('reads that need a credential are refused without one, archives included', async () => {
  const { service, env } = await registryWith(['pack'], { registry: { read: 'authenticated' } });
  for (const path of ['/nodes', '/nodes/pack', '/host-nodes', '/archives/acme/pack/1.0.0/node.zip']) {
    expect((await readAnswer(service.url + path)).status, path).toBe(401);
    const headers = { authorization: `Bearer ${env.REGEN_PUBLISH_TOKEN}` };
    expect((await fetch(service.url + path, { headers })).status, path).toBe(200);
  }
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
});

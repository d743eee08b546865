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

const read = async (url: string, init: RequestInit = {}) => {
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
    const node = await read(`${url}/nodes/remote`);
    expect(node.body).toMatchObject({ id: 'remote', latest_version: { version: '1.0.0' } });
    expect(node.body.latest_version.downloadUrl).toBe(`${url}/uplink/remote/1.0.0/node.zip`);
    const definitions = await read(`${url}/nodes/remote/versions/1.0.0/host-nodes`);
    expect(definitions.body.host_nodes).toMatchObject([{ host_node_name: 'Greet' }]);
    const original = await digestAt(`${far.service.url}/archives/acme/remote/1.0.0/node.zip`);
    const cwd = folderForTest();
    const download = () => regen(['version', 'download', 'remote', '--force'], { env: near.env, cwd });
    const first = await download();
    expect(first.exit, first.stderr).toBe(0);
    const saved = readFileSync(join(cwd, 'remote-1.0.0.zip'));
    expect(createHash('sha256').update(saved).digest('hex')).toBe(original);
    await far.publish('remote', '1.1.0');

    expect((await read(`${url}/nodes/remote/install?version=9.9.9`)).status).toBe(404);
    await far.service.stop();
    const second = await download();
    expect(second.exit, second.stderr).toBe(0);
    const installed = await read(`${url}/nodes/remote/install`);
    expect(installed.body).toMatchObject({ version: '1.0.0', archive_sha256: original });
    // Not another version in its place.
    expect((await read(`${url}/nodes/remote/install?version=0.9.0`)).status).toBe(503);
    expect((await read(`${url}/nodes/remote/versions`)).body).toMatchObject([{ version: '1.0.0' }]);
    expect((await read(`${url}/nodes/remote`)).body).toMatchObject({ name: 'Pack' });
    const other = await read(`${url}/nodes/never-served`);
    expect([other.status, other.body.error]).toEqual([503, 'unavailable']);
  });
});

test('lists and bulk reads show what is held here', async () => {
  const far = await registryWith(['remote']);
  const near = await registryWith(['local'], { uplink: { url: far.service.url } });
  const list = await read(`${near.service.url}/nodes`);
  expect(list.body.nodes.map(({ id }: { id: string }) => id)).toEqual(['local']);
  const bulk = await read(`${near.service.url}/bulk/nodes/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ node_versions: [{ node_id: 'remote', version: '1.0.0' }] }),
  });
  expect(bulk.body.node_versions[0].status).toBe('not_found');
  expect((await read(`${near.service.url}/nodes/neither`)).status).toBe(404);
});

test('names held here always win, also what looks like them and what was deleted', async () => {
  const far = await registryWith(['tools', 'gone', 'lo-cal']);
  const near = await registryWith(['tools', 'gone', 'local'], { uplink: { url: far.service.url } });
  const own = await read(`${near.service.url}/nodes/tools/install`);
  expect(own.body.downloadUrl).toContain('/archives/acme/tools/');
  expect((await read(`${near.service.url}/nodes/lo-cal`)).status).toBe(404);
  await regen(['node', 'delete', 'acme', 'gone', '--yes'], { env: near.env });
  expect((await read(`${near.service.url}/nodes/gone/install`)).status).toBe(404);
  expect((await read(`${near.service.url}/uplink/tools/1.0.0/node.zip`)).status).toBe(404);
});

test('rules refuse nodes, and their archives', async () => {
  const far = await registryWith(['good-one', 'good-bad', 'other']);
  const uplink = { url: far.service.url, allow: ['good-*'], deny: ['*-bad'] };
  const { url } = (await registryWith([], { uplink })).service;
  expect((await read(`${url}/nodes/good-one`)).status).toBe(200);
  for (const path of ['/nodes/good-bad', '/nodes/Other/install', '/uplink/good-bad/1.0.0/node.zip']) {
    const { status, body } = await read(url + path);
    expect([status, body.error, body.message]).toEqual([403, 'forbidden', expect.stringContaining('rules')]);
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
    expect([path, (await read(url + path)).status]).toEqual([path, 404]);
  expect((await read(`${url}/uplink/same/1.0.0/node.zip`)).status).toBe(404);
  expect((await read(`${url}/nodes/good`)).status).toBe(200);
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
  expect((await read(`${url}/nodes/pack`)).status).toBe(503);
  expect(lines.join()).toContain('The uplink did not answer');
});

test('what is asked of the other registry never leads around the rules', async () => {
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

test('the bytes fetched first stay those of the version', async () => {
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
  expect((await read(`${url}/uplink/pack/2.0.0/node.zip`)).status).toBe(503);
  registry.versions.push({ ...registry.versions[0], id: 'odd', version: '3.0.0', downloadUrl: 'node.zip' });
  expect((await read(`${url}/uplink/pack/3.0.0/node.zip`)).status).toBe(503);
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
  expect((await read(`${service.url}/uplink/inward/1.0.0/node.zip`)).status).toBe(503);
  expect(lines.join('\n')).toContain('its address is not public');
});

test('reads that need a credential are closed to strangers, archives included, and open to everyone else', async () => {
  const { service, env } = await registryWith(['pack'], { registry: { read: 'authenticated' } });
  for (const path of ['/nodes', '/nodes/pack', '/host-nodes', '/archives/acme/pack/1.0.0/node.zip']) {
    expect((await read(service.url + path)).status, path).toBe(401);
    const headers = { authorization: `Bearer ${env.REGEN_PUBLISH_TOKEN}` };
    expect((await fetch(service.url + path, { headers })).status, path).toBe(200);
  }
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refreshListing } from '../../src/service/registry/listed-host-nodes.js';
import { serveRaw } from '../client/server.js';
import { homeForTest, regen } from '../support/cli.js';
import { createZip } from '../support/create-zip.js';
import { createFilmingEngine, film } from '../support/filming-engine.js';
import { pixel } from '../support/generation.js';
import { packForTest } from '../support/packs.js';
import { registryForFile } from '../support/registry.js';
import { type Answered, folderForTest, serviceForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

const registry = registryForFile({ naming: 'comfy' }, { engines: { video: createFilmingEngine() } });

/** A request as a client of the other service sends it. */
async function sendRequest(
  method: string,
  path: string,
  { token, json, headers = {} }: { token?: string | undefined; json?: unknown; headers?: object } = {},
): Promise<{ status: number; body: Answered; headers: Headers }> {
  const answer = await fetch(registry().url + path, {
    method,
    headers: {
      ...headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
}

const getAnnToken = () => registry().tokens.ann;

describe('a service with the naming comfy', () => {
  test('lets its clients publish with the token in the body alone, an empty name and a short version', async () => {
    const { status, body } = await sendRequest('POST', '/publishers/acme/nodes/wild/versions', {
      json: {
        personal_access_token: registry().tokens.pat,
        node: { id: 'wild', name: '', supported_comfyui_version: '>=0.3' },
        node_version: { version: '1.21', supported_comfyui_frontend_version: '1.2', dependencies: [] },
      },
    });
    expect([status, body.node_version]).toMatchObject([
      201,
      {
        version: '1.21.0',
        comfy_node_extract_status: 'pending',
        supported_comfyui_frontend_version: '1.2',
        changelog: '',
        status_reason: '',
      },
    ]);
    const node = await sendRequest('GET', '/nodes/wild');
    expect(node.body).toMatchObject({
      name: 'wild',
      supported_comfyui_version: '>=0.3',
      description: '',
      tags: [],
    });
  });

  test('answers what comfy-cli and ComfyUI-Manager send, from publishing to installing', async () => {
    const empty = {
      ...{ supported_os: [], supported_accelerators: [] },
      ...{ supported_comfyui_version: '', supported_comfyui_frontend_version: '' },
    };
    const json = {
      personal_access_token: registry().tokens.pat,
      node: {
        ...{ id: 'light-tools', description: '', icon: '', name: '', license: '{"text": "MIT"}' },
        ...{ repository: 'https://github.com/me/light-tools', banner_url: '', ...empty },
      },
      node_version: { version: '1.0.0', dependencies: ['numpy>=1'], ...empty, changelog: 'First: light' },
    };
    const path = '/publishers/acme/nodes/light-tools/versions';
    const published = await sendRequest('POST', path, { json });
    expect([published.status, published.body.node_version.changelog]).toEqual([201, 'First: light']);
    await registry().active('light-tools', '1.1.0');

    const page = await sendRequest(
      'GET',
      '/nodes?page=1&limit=30&comfyui_version=unknown&form_factor=git-linux',
    );
    expect(page.body.totalPages).toEqual(expect.any(Number));
    const everywhere = [...page.body.nodes, ...(await sendRequest('GET', '/nodes')).body.nodes];
    for (const node of everywhere)
      expect(node).toMatchObject({
        id: expect.any(String),
        name: expect.any(String),
        description: expect.any(String),
      });
    const node = await sendRequest('GET', '/nodes/light-tools');
    expect(node.body).toMatchObject({ latest_version: { version: '1.1.0' }, publisher: { name: 'Acme' } });
    const versions = await sendRequest(
      'GET',
      '/nodes/light-tools/versions?statuses=NodeVersionStatusActive&statuses=NodeVersionStatusPending',
    );
    expect(versions.body.map((one: Answered) => [one.version, one.deprecated, typeof one.changelog])).toEqual(
      [['1.1.0', false, 'string']],
    );
    for (const query of ['', '?version=1.1.0']) {
      const { status, body } = await sendRequest('GET', `/nodes/light-tools/install${query}`);
      expect([status, body.version, body.dependencies]).toEqual([200, '1.1.0', []]);
      expect(body.downloadUrl).toContain('/archives/acme/light-tools/1.1.0/');
    }
  });

  test('answers in both names where both have the path, and in its own where they differ', async () => {
    await registry().active('both', '1.0.0');
    const { body } = await sendRequest('GET', '/nodes/both/versions/1.0.0');
    expect(body.host_node_extract_status).toBe(body.comfy_node_extract_status);
    const theirs = await sendRequest('GET', '/nodes/both/versions/1.0.0/comfy-nodes');
    expect(theirs.body).toEqual({ comfy_nodes: [], totalNumberOfPages: 0 });
    const ours = await sendRequest('GET', '/nodes/both/versions/1.0.0/host-nodes');
    expect(ours.body).toEqual({ host_nodes: [], totalNumberOfPages: 0 });
    const filtered = await sendRequest('GET', '/comfy-nodes?comfy_node_name=Nothing');
    expect(filtered.body).toEqual({ comfy_nodes: [], total: 0 });
    expect((await sendRequest('GET', '/host-nodes?comfy_node_name=Nothing')).status).toBe(400);
  });

  test('says of each listed definition which node and version have it', async () => {
    const { id } = await registry().active('listed', '1.2.0');
    const definition = '{"category":"image"}';
    await registry().change(async (tx) => {
      const row = { version_id: id, node_id: 'listed', name: 'Blur', policy: 'HostNodePolicyActive' };
      await tx
        .insertInto('host_nodes')
        .values({ ...row, definition })
        .execute();
      await refreshListing(tx, 'listed');
    });
    const place = { node_id: 'listed', node_version: '1.2.0', category: 'image' };
    for (const query of ['comfy_node_name=Blur', 'node_id=listed', 'node_id=listed&node_version=1.2.0']) {
      const { body } = await sendRequest('GET', `/comfy-nodes?${query}`);
      expect(body.comfy_nodes, query).toMatchObject([{ comfy_node_name: 'Blur', ...place }]);
    }
    const ours = await sendRequest('GET', '/host-nodes?host_node_name=Blur');
    expect(ours.body.host_nodes).toMatchObject([{ host_node_name: 'Blur', ...place }]);
    const one = await sendRequest('GET', '/nodes/listed/versions/1.2.0/comfy-nodes/Blur');
    expect(one.body).not.toHaveProperty('node_id');
  });

  test('takes the paths that only its clients know', async () => {
    await registry().active('aliased', '1.0.0');
    const list = await sendRequest(
      'GET',
      '/nodes?page=1&limit=30&comfyui_version=0.3&form_factor=git-linux&latest=true',
    );
    expect(list.body.nodes.map(({ id }: { id: string }) => id)).toContain('aliased');
    const found = await sendRequest('GET', '/nodes/search?search=aliased');
    expect(found.body).toMatchObject({ total: 1, nodes: [{ id: 'aliased' }] });
    const sorted = await sendRequest('GET', '/nodes?sort=create_time;desc&limit=1');
    expect(sorted.body.nodes[0].id).toBe('aliased');
    const free = await sendRequest('GET', '/publishers/validate?username=brand-new');
    expect(free.body).toEqual({ isAvailable: true });
    const versions = await sendRequest('GET', '/nodes/aliased/versions?include_status_reason=true');
    expect(versions.body).toMatchObject([{ version: '1.0.0', status_reason: '' }]);
    expect((await sendRequest('GET', '/nodes/aliased/versions?reason=true')).status).toBe(400);
    const mine = await sendRequest('GET', '/users/publishers/', { token: getAnnToken() });
    expect(mine.body).toMatchObject([{ id: 'acme' }]);
    expect((await sendRequest('GET', '/publishers', { token: getAnnToken() })).body).toEqual(mine.body);
    const me = await sendRequest('GET', '/users', { token: registry().tokens.admin });
    expect(me.body).toMatchObject({ isAdmin: true });
    const nodes = await sendRequest('GET', '/publishers/acme/nodes', { token: getAnnToken() });
    expect(nodes.body.map(({ id }: { id: string }) => id)).toContain('aliased');
    const admin = registry().tokens.admin;
    expect(
      (await sendRequest('POST', '/publishers/acme/nodes/aliased/ban', { token: getAnnToken() })).status,
    ).toBe(403);
    const other = await sendRequest('POST', '/publishers/elsewhere/nodes/aliased/ban', { token: admin });
    expect(other.status).toBe(404);
    const banned = await sendRequest('POST', '/publishers/acme/nodes/aliased/ban', { token: admin });
    expect([banned.status, banned.body.status]).toEqual([200, 'NodeStatusBanned']);
    expect((await sendRequest('GET', '/nodes/aliased')).status).toBe(403);
  });

  test.each(['1.1', 'v1.1', '1.1-beta', '2'])(
    'answers for a version published as %s under that spelling',
    async (spelling) => {
      const node = `spelled-${spelling.replace(/\W/g, '-')}`;
      const held = { '1.1': '1.1.0', 'v1.1': '1.1.0', '1.1-beta': '1.1.0-beta', '2': '2.0.0' }[spelling];
      const json = {
        node: { id: node, name: '' },
        node_version: { version: spelling },
        personal_access_token: registry().tokens.pat,
      };
      const { status, body } = await sendRequest('POST', `/publishers/acme/nodes/${node}/versions`, { json });
      expect([status, body.node_version?.version]).toEqual([201, held]);
      const pack = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
      const headers = { 'content-type': 'application/zip' };
      const uploaded = await fetch(body.signedUrl, { method: 'PUT', headers, body: pack });
      expect(uploaded.status).toBe(200);
      await waitFor(async () =>
        expect((await sendRequest('GET', `/nodes/${node}/install`)).status).toBe(200),
      );
      const paths = [
        `install?version=${spelling}`,
        `install?version=${held}`,
        'install',
        `versions/${spelling}`,
      ];
      for (const path of paths)
        expect([path, (await sendRequest('GET', `/nodes/${node}/${path}`)).body.version]).toEqual([
          path,
          held,
        ]);
      const definitions = await sendRequest('GET', `/nodes/${node}/versions/${spelling}/comfy-nodes`);
      expect(definitions.status).toBe(200);
      const pairs = [spelling, '9.9'].map((version) => ({ node_id: node, version }));
      const bulk = await sendRequest('POST', '/bulk/nodes/versions', { json: { node_versions: pairs } });
      expect(bulk.body.node_versions).toMatchObject([
        { identifier: { version: spelling }, status: 'success', node_version: { version: held } },
        { identifier: { version: '9.9' }, status: 'not_found' },
      ]);
      expect((await sendRequest('GET', `/nodes/${node}/install?version=9.9`)).status).toBe(404);
    },
  );

  test('lists the nodes that its clients name, and no others', async () => {
    for (const id of ['named-one', 'named-two', 'named-three']) await registry().active(id, '1.0.0');
    const ids = (body: Answered) => body.nodes.map(({ id }: { id: string }) => id);
    const two = await sendRequest(
      'GET',
      '/nodes?node_id=named-two&node_id=Named-One&node_id=missing&limit=100',
    );
    expect([two.body.total, ids(two.body).sort()]).toEqual([2, ['named-one', 'named-two']]);
    expect(ids((await sendRequest('GET', '/nodes?node_id=named-three')).body)).toEqual(['named-three']);
    const paged = await sendRequest('GET', '/nodes?node_id=named-one&node_id=named-two&limit=1&page=2');
    expect(paged.body).toMatchObject({ total: 2, totalPages: 2, nodes: [{}] });
    const both = await sendRequest('GET', '/nodes/search?search=named&node_id=named-one');
    expect(ids(both.body)).toEqual(['named-one']);
    const many = Array.from({ length: 101 }, (_, number) => `node_id=n${number}`).join('&');
    expect((await sendRequest('GET', `/nodes?${many}`)).status).toBe(400);
  });

  test('accepts the key header of its clients as a credential, and does not allow it for other origins', async () => {
    const token = registry().tokens.ann as string;
    await registry().publish('draft', '1.0.0');
    const path = '/nodes/draft/versions/1.0.0';
    expect((await sendRequest('GET', path)).status).toBe(404);
    expect((await sendRequest('GET', path, { headers: { 'x-api-key': token } })).status).toBe(200);
    expect((await sendRequest('GET', '/nodes/both', { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
    expect((await sendRequest('GET', '/nodes/draft')).headers.get('vary')).toContain('x-api-key');
  });

  test('reports problems with the field names of the request', async () => {
    const path = '/proxy/vidu/text2video';
    const wrong = await sendRequest('POST', path, {
      token: getAnnToken(),
      json: { prompt: 'x', model: 'viduq2-pro', duration: 12 },
    });
    expect([wrong.status, wrong.body]).toMatchObject([
      400,
      {
        error: 'invalid_request',
        message: 'duration must be 1 to 8 with viduq2-pro; 8 is the nearest.',
        details: [{ path: 'duration', message: 'must be 1 to 8 with viduq2-pro; 8 is the nearest' }],
      },
    ]);
    const update = (json: object) =>
      sendRequest('PUT', '/publishers/acme/nodes/both', { token: getAnnToken(), json });
    const long = 'x'.repeat(1001);
    expect((await update({ supported_comfyui_version: long })).body.message).toContain(
      'supported_comfyui_version',
    );
    expect((await update({ supported_hostui_version: long })).body.message).toContain(
      'supported_hostui_version',
    );
  });

  test('extends a video by its URL or its creation id, and echoes only what was given', async () => {
    const source = `${await serveRaw((_, response) => response.end(film))}/a.mp4`;
    const json = { model: 'viduq2-turbo', video_url: source, prompt: 'on' };
    const started = await sendRequest('POST', '/proxy/vidu/extend', { token: getAnnToken(), json });
    expect([started.status, started.body]).toMatchObject([200, { model: 'viduq2-turbo', video_url: source }]);
    expect(started.body).not.toHaveProperty('video_creation_id');
    const neither = await sendRequest('POST', '/proxy/vidu/extend', {
      token: getAnnToken(),
      json: { prompt: 'on' },
    });
    expect(neither.status).toBe(400);
    const ours = await sendRequest('POST', '/proxy/videovendor/extend', {
      token: getAnnToken(),
      json: { video_url: source },
    });
    expect(ours.body.message).toContain('video_creation_id is required');
  });

  test('makes a video from an image at the path that its clients have for that', async () => {
    const json = { model: 'viduq2-pro', images: [pixel], duration: 2, resolution: '540p', prompt: 'a boat' };
    const { status, body } = await sendRequest('POST', '/proxy/vidu/img2video', {
      token: getAnnToken(),
      json,
    });
    expect([status, body]).toMatchObject([200, { model: 'viduq2-pro', duration: 2 }]);
    const creations = await sendRequest('GET', `/proxy/vidu/tasks/${body.task_id}/creations`, {
      token: getAnnToken(),
    });
    expect(creations.status).toBe(200);
  });

  test('takes definitions as its builder sends them', async () => {
    await registry().active('built', '1.0.0');
    const path = '/nodes/built/versions/1.0.0/comfy-nodes';
    const build = { cloud_build_info: { build_id: 'b-1', location: 'global' }, status: 'success' };
    const nodes = { Bright: { comfy_node_name: 'Bright', category: 'light', function: 'run' } };
    const token = registry().tokens.admin;
    const wrong = await sendRequest('POST', path, { token, json: { ...build, nodez: nodes } });
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('nodez')]);
    const ours = await sendRequest('POST', '/nodes/built/versions/1.0.0/host-nodes', {
      token,
      json: { nodes: {} },
    });
    expect([ours.status, ours.body.message]).toEqual([400, expect.stringContaining('success is required')]);
    expect((await sendRequest('POST', path, { token, json: { ...build, nodes } })).status).toBe(204);
    const stored = await sendRequest('GET', path);
    expect(stored.body.comfy_nodes).toMatchObject([{ comfy_node_name: 'Bright', category: 'light' }]);
  });

  test.each([
    ['POST', '/nodes/both/reviews?star=5', 'This registry has no reviews.'],
    ['POST', '/publishers/acme/nodes/both/claim-my-node', 'ask an admin'],
    ['GET', '/publishers/acme/permissions', 'GET /users/me'],
    ['POST', '/customers/storage', 'Base64'],
    ['POST', '/proxy/vidu/multiframe', 'img2video'],
  ])('explains why it does not support %s %s', async (method, path, words) => {
    const { status, body } = await sendRequest(method, path, {
      token: getAnnToken(),
      ...(method === 'POST' && { json: {} }),
    });
    expect([status, body]).toEqual([404, { error: 'not_found', message: expect.stringContaining(words) }]);
    expect((await sendRequest('GET', '/nodes/both/reviews')).body.message).toBe(
      'Nothing found at /nodes/both/reviews.',
    );
  });

  test('wraps the status of a style transfer as that service does', async () => {
    const image = '/proxy/freepik/v1/ai/image-style-transfer';
    const json = { image: pixel, reference_image: pixel };
    const { body } = await sendRequest('POST', image, { token: getAnnToken(), json });
    const status = await sendRequest('GET', `${image}/${body.task_id}`, { token: getAnnToken() });
    expect(status.body.data.task_id).toBe(body.task_id);
    const ours = await sendRequest('GET', `/proxy/imagevendor/v1/ai/image-style-transfer/${body.task_id}`, {
      token: getAnnToken(),
    });
    expect(ours.body.task_id).toBe(body.task_id);
  });

  test('has an OpenAPI document in each spelling', async () => {
    const { body: theirs } = await sendRequest('GET', '/openapi');
    const text = JSON.stringify(theirs);
    for (const word of [
      'comfy-nodes',
      'freepik',
      '/vidu/',
      'github_stars',
      'viduq3-pro',
      'ComfyNodePolicyBanned',
    ])
      expect(text).toContain(word);
    const { body: ours } = await sendRequest('GET', '/openapi.json');
    expect(Object.keys(ours.paths)).toContain('/host-nodes');
    expect(text).not.toMatch(
      /hostui|host_node_|"host_nodes|"\/host-nodes|HostNodePolicy|imagevendor|videovendor|repo_stars|vvq/,
    );
    const readBody = (path: string) => theirs.paths[path].post.requestBody.content['application/json'].schema;
    const extend = readBody('/proxy/vidu/extend');
    expect(extend).not.toHaveProperty('required');
    expect(extend).not.toHaveProperty('allOf');
    expect(extend.anyOf).toEqual([{ required: ['video_creation_id'] }, { required: ['video_url'] }]);
    expect(JSON.stringify(extend)).not.toContain('together');
    const definitions = readBody('/nodes/{nodeId}/versions/{version}/comfy-nodes');
    expect(definitions).not.toHaveProperty('required');
    expect(Object.keys(definitions.properties)).toContain('cloud_build_info');
    expect(
      ours.paths['/proxy/videovendor/extend'].post.requestBody.content['application/json'].schema,
    ).toMatchObject({
      required: ['video_creation_id', 'video_url'],
    });
    expect(theirs.paths['/publishers/{publisherId}/ban'].post).not.toHaveProperty('requestBody');
    expect(
      theirs.paths['/publishers/{publisherId}/nodes'].get.responses[200].content['application/json'].schema
        .type,
    ).toBe('array');
  });

  test('serves regen itself in either spelling', async () => {
    const home = homeForTest();
    const { url, tokens } = registry();
    const env = { REGEN_TOKEN: tokens.ann as string, REGEN_PUBLISH_TOKEN: tokens.pat as string };
    const run = async (line: readonly string[], profile: string) => {
      const ran = await regen(line, { home, env: { ...env, REGEN_PROFILE: profile } });
      expect(ran.exit, ran.stderr).toBe(0);
      return ran.stdout;
    };
    for (const profile of ['plain', 'wild'])
      await regen(
        ['config', 'set', `profiles.${profile}.base_url`, `${url}${profile === 'wild' ? '/' : ''}`],
        { home },
      );
    await regen(['config', 'set', 'profiles.wild.naming', 'comfy'], { home });
    await run(['version', 'publish', packForTest({ name: 'first' })], 'wild');
    await run(['version', 'publish', packForTest({ name: 'second' })], 'plain');
    expect(await run(['host-nodes', 'list', 'first', '1.0.0', '--json'], 'plain')).toContain(
      'host_node_name',
    );
  });
});

test('a service without a naming knows none of these', async () => {
  const { url } = await serviceForTest();
  for (const path of ['/comfy-nodes', '/nodes/search', '/openapi']) {
    expect((await fetch(url + path)).status, path).toBe(404);
  }
  expect((await fetch(`${url}/nodes?form_factor=x`)).status).toBe(400);
});

test('a naming file with mistakes prevents the start, and all of them are named', async () => {
  const file = join(folderForTest(), 'names.json');
  writeFileSync(file, '{"fields": {"repo_star": "stars"}, "query": {"serch": "q"}}');
  await expect(serviceForTest({ naming: file })).rejects.toThrow(
    /naming\.fields\.repo_star is not a field of the contract.*naming\.query\.serch/s,
  );
  await expect(serviceForTest({ naming: `${file}.missing` })).rejects.toThrow(
    /naming names .*\.missing, which cannot be read/,
  );
});

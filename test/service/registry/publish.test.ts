import { describe, expect, it } from 'vitest';
import { createZip } from '../../support/create-zip.js';
import { publishBody, registryForFile, startRegistry } from '../../support/registry.js';
import { uploadArchive } from '../../support/service.js';

const registry = registryForFile();
const toVersionsPath = (node: string) => `/publishers/acme/nodes/${node}/versions`;

describe('publishing', () => {
  it('creates the node, registers the version as Pending and returns its upload URL', async () => {
    const { as, tokens, ok, url } = registry();
    const node = { name: 'Made', description: 'By publishing', downloads: 5 };
    const node_version = { changelog: 'First', dependencies: ['numpy'], status: 'NodeVersionStatusActive' };
    const body = publishBody(tokens.pat, '1.0.0+build.1', { node, node_version });
    const { status, body: published } = await as('pat', 'POST', toVersionsPath('made'), body);
    expect(status).toBe(201);
    expect(published.node_version).toMatchObject({
      node_id: 'made',
      version: '1.0.0+build.1',
      status: 'NodeVersionStatusPending',
      changelog: 'First',
      dependencies: ['numpy'],
      deprecated: false,
      host_node_extract_status: 'pending',
      downloadUrl: `${url}/archives/acme/made/1.0.0%2Bbuild.1/node.zip`,
    });
    const archive = await createZip({ '__init__.py': 'x = 1\n' });
    expect((await uploadArchive(published.signedUrl, archive)).status).toBe(200);
    expect(await ok('guest', 'GET', '/nodes/made')).toMatchObject({
      name: 'Made',
      description: 'By publishing',
    });
  });

  it('names the node after its id by default, and changes only the given fields', async () => {
    const { publish, ok } = registry();
    await publish('patched', '1.0.0', { node: { description: 'Old', author: 'Ann' } });
    expect(await ok('guest', 'GET', '/nodes/patched')).toMatchObject({
      name: 'patched',
      description: 'Old',
    });
    await publish('patched', '1.0.1', { node: { description: 'New' } });
    expect(await ok('guest', 'GET', '/nodes/patched')).toMatchObject({ description: 'New', author: 'Ann' });
  });

  it('takes an empty name as none: a new node is named by its id, and a known one keeps its name', async () => {
    const { as, ok, publish } = registry();
    await publish('nameless', '1.0.0', { node: { name: '' } });
    expect((await ok('ann', 'GET', '/nodes/nameless')).name).toBe('nameless');
    await publish('nameless', '1.1.0', { node: { name: 'Named' } });
    await publish('nameless', '1.2.0', { node: { name: '' } });
    expect((await ok('ann', 'GET', '/nodes/nameless')).name).toBe('Named');
    for (const [method, path] of [
      ['POST', '/publishers/acme/nodes'],
      ['PUT', '/publishers/acme/nodes/nameless'],
    ] as const) {
      const { status, body } = await as('ann', method, path, { id: 'nameless', name: '' });
      expect([method, status, body.details[0].path]).toEqual([method, 400, 'name']);
    }
  });

  it('is refused without changes if the version or the node is taken', async () => {
    const { as, ok, tokens, active } = registry();
    await active('full', '1.0.0');
    await active('full', '1.1.0', 'NodeVersionStatusFlagged');
    for (const [version, state] of [
      ['1.0.0', 'Active'],
      ['1.1.0', 'Flagged'],
    ] as const) {
      const body = publishBody(tokens.pat, version, { node: { name: 'Changed' } });
      const answer = await as('ann', 'POST', toVersionsPath('full'), body);
      expect([answer.status, answer.body.error]).toEqual([400, 'version_exists']);
      expect(answer.body.message).toContain(state);
    }
    expect((await ok('guest', 'GET', '/nodes/full')).name).toBe('full');
    const spelled = await as('ann', 'POST', toVersionsPath('FULL'), publishBody(tokens.pat, '2.0.0'));
    expect([spelled.body.error, spelled.body.message]).toEqual([
      'duplicate_node',
      expect.stringContaining(' full '),
    ]);
    await ok('eve', 'POST', '/publishers', { id: 'rival', name: 'Rival' });
    await ok('eve', 'POST', '/publishers/rival/nodes', { id: 'theirs', name: 'Theirs' });
    const theirs = await as('ann', 'POST', toVersionsPath('theirs'), publishBody(tokens.pat, '1.0.0'));
    expect(theirs.body.error).toBe('duplicate_node');
    await ok('ann', 'DELETE', '/publishers/acme/nodes/full');
    const deleted = await as('ann', 'POST', toVersionsPath('full'), publishBody(tokens.pat, '2.0.0'));
    expect(deleted.body.error).toBe('node_deleted');
    const invalid = await as('ann', 'POST', toVersionsPath('-x'), publishBody(tokens.pat, '1.0.0'));
    expect([invalid.status, invalid.body.details[0].path]).toEqual([400, 'nodeId']);
  });

  it('requires the ids of the path in the body, and a strict semantic version', async () => {
    const { as, tokens } = registry();
    const body = publishBody(tokens.pat, '1.0.0', { node: { id: 'a' }, node_version: { node_id: 'b' } });
    const ids = await as('ann', 'POST', toVersionsPath('c'), body);
    expect(ids.body.details.map(({ path }: { path: string }) => path)).toEqual([
      'node.id',
      'node_version.node_id',
    ]);
    for (const [text, right] of [
      ['v1.2', '1.2.0'],
      ['1.0', '1.0.0'],
      ['1.0.0rc1', '1.0.0-rc.1'],
    ] as const) {
      const answer = await as('ann', 'POST', toVersionsPath('c'), publishBody(tokens.pat, text));
      expect([answer.status, answer.body.details[0].path]).toEqual([400, 'node_version.version']);
      expect(answer.body.message).toContain(right);
    }
  });

  it('requires a valid token of this publisher in the body, for every caller', async () => {
    const { as, ok } = registry();
    await ok('eve', 'POST', '/publishers', { id: 'evil', name: 'Evil' });
    const { token } = await ok('eve', 'POST', '/publishers/evil/tokens', { name: 'x' });
    for (const pat of [token, 'regen_pat_x', 'nonsense', `regen_pat_${'a'.repeat(43)}`]) {
      const { status, body } = await as('ann', 'POST', toVersionsPath('new'), publishBody(pat, '1.0.0'));
      expect([status, body.error]).toEqual([400, 'invalid_personal_access_token']);
      expect(JSON.stringify(body)).not.toContain(pat);
    }
    expect((await as('ann', 'GET', '/nodes/new')).status).toBe(404);
  });

  it('works without an Authorization header only if the configuration allows it', async () => {
    const body = publishBody(registry().tokens.pat, '1.0.0');
    expect((await registry().as('guest', 'POST', toVersionsPath('open'), body)).status).toBe(401);
    const open = await startRegistry({ publish: { bearer: 'optional' } });
    try {
      const published = await open.as(
        'guest',
        'POST',
        toVersionsPath('open'),
        publishBody(open.tokens.pat, '1.0.0'),
      );
      expect(published.status).toBe(201);
      const wrong = await open.as('guest', 'POST', toVersionsPath('open'), publishBody('wrong', '1.0.1'));
      expect(wrong.body.error).toBe('invalid_personal_access_token');
      const update = await open.as('guest', 'PUT', `${toVersionsPath('open')}/1.0.0`, { deprecated: true });
      expect(update.status).toBe(401);
      // Idempotency keys are told apart by the token in the body.
      await open.ok('eve', 'POST', '/publishers', { id: 'eves', name: 'Eve' });
      const { token } = await open.ok('eve', 'POST', '/publishers/eves/tokens', { name: 'ci' });
      const statuses = [];
      for (const [publisher, pat] of [
        ['acme', open.tokens.pat],
        ['eves', token],
      ]) {
        const path = `/publishers/${publisher}/nodes/${publisher}-keyed/versions`;
        const key = { 'idempotency-key': 'build-1' };
        statuses.push((await open.as('guest', 'POST', path, publishBody(pat, '1.0.0'), key)).status);
      }
      expect(statuses).toEqual([201, 201]);
    } finally {
      await open.service.stop();
    }
  });

  it('does not use up a number before an upload', async () => {
    const { publish, ok } = registry();
    const first = await publish('again', '1.0.0', { node_version: { changelog: 'First', tags: ['x'] } });
    const second = await publish('again', '1.0.0', { node_version: { changelog: 'Second' } });
    expect(second.node_version).toMatchObject({ id: first.node_version.id, changelog: 'Second' });
    expect(second.node_version).not.toHaveProperty('tags');
    await ok('ann', 'DELETE', `${toVersionsPath('again')}/1.0.0`);
    const third = await publish('again', '1.0.0');
    expect(third.node_version).toMatchObject({
      id: first.node_version.id,
      status: 'NodeVersionStatusPending',
    });
    expect(third.node_version).not.toHaveProperty('status_reason');
  });

  it('registers one row for two concurrent requests', async () => {
    const { publish, ok } = registry();
    const answers = await Promise.all([1, 2, 3].map(() => publish('rush', '1.0.0')));
    expect(new Set(answers.map(({ node_version }) => node_version.id)).size).toBe(1);
    expect(await ok('ann', 'GET', '/nodes/rush/versions')).toHaveLength(1);
  });
});

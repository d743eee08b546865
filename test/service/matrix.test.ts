import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operations } from '../../src/contract/operation.js';
import { newAdminToken } from '../../src/service/auth/admin-tokens.js';
import { newPersonalAccessToken } from '../../src/service/auth/personal-access-tokens.js';
import type { ImageOperation } from '../../src/service/generation/engine.js';
import { imageFields } from '../../src/service/generation/operations.js';
import type { ServedOperation } from '../../src/service/http/handler.js';
import { served } from '../../src/service/http/routes.js';
import { copyingEngine } from '../support/copying-engine.js';
import { pixel, startedTask } from '../support/generation.js';
import { publishBody, type Registry, registryForFile } from '../support/registry.js';
import { ask } from '../support/service.js';

// Every operation with every kind of caller. After a wanted change: UPDATE_MATRIX=1 npx vitest run test/service/matrix.test.ts
const golden = new URL('../golden/matrix.txt', import.meta.url);
const registry = registryForFile({}, { engines: { image: copyingEngine() } });

/** What one operation is tried on: a publisher of Ann with Bob as its member, made for the purpose. */
interface Stage {
  readonly publisher: string;
  /** Active, with the version 1.0.0 Active and 2.0.0 Pending. */
  readonly node: string;
  readonly bannedNode: string;
  readonly tokenId: string;
  readonly memberId: string;
  readonly token: string;
  /** Of an admin token that nobody uses. */
  readonly jti: string;
}

interface Trial {
  /** Where an operation is tried on several things: on which. */
  readonly on?: string;
  readonly params?: (stage: Stage) => Record<string, string>;
  readonly query?: string;
  readonly body?: (stage: Stage) => object;
}

const ofPublisher = ({ publisher }: Stage) => ({ publisherId: publisher });
const ofMember = (stage: Stage) => ({ ...ofPublisher(stage), userId: stage.memberId });
const ofNode = ({ node }: Stage) => ({ nodeId: node });
const ownNode = (stage: Stage) => ({ ...ofPublisher(stage), ...ofNode(stage) });
const ownVersion = (stage: Stage) => ({ ...ownNode(stage), versionId: '1.0.0' });
const ofVersion = (version: string) => (stage: Stage) => ({ ...ofNode(stage), version });
const definition = (version: string) => (stage: Stage) => ({
  ...ofVersion(version)(stage),
  hostNodeName: 'Blur',
});
const banned = ({ bannedNode }: Stage) => ({ nodeId: bannedNode });
const missing = () => ({ publisherId: 'missing', nodeId: 'missing', versionId: '1.0.0' });

/** Ann's, one for each operation that starts some. */
const tasks = new Map<string, string>();
const task = (operation: ImageOperation) => () => ({ task_id: tasks.get(operation) as string });
const noTask = () => ({ task_id: 'missing' });

const trials: { readonly [Name in ServedOperation]: readonly Trial[] } = {
  'publisher.create': [{ body: () => ({ id: `new-${randomUUID()}`.slice(0, 20), name: 'New' }) }],
  'publisher.get': [{ params: ofPublisher }, { on: 'missing', params: missing }],
  'publisher.list': [{}],
  'publisher.update': [
    { params: ofPublisher, body: () => ({ name: 'Other' }) },
    { on: 'missing', params: missing, body: () => ({}) },
  ],
  'publisher.token.create': [{ params: ofPublisher, body: () => ({ name: 'Other' }) }],
  'publisher.token.list': [{ params: ofPublisher }],
  'publisher.token.revoke': [{ params: (stage) => ({ ...ofPublisher(stage), tokenId: stage.tokenId }) }],
  'publisher.member.add': [
    { params: ofPublisher, body: () => ({ email: 'new@example.org', role: 'member' }) },
  ],
  'publisher.member.list': [{ params: ofPublisher }],
  'publisher.member.set': [{ params: ofMember, body: () => ({ role: 'owner' }) }],
  'publisher.member.remove': [{ params: ofMember }],
  'node.create': [{ params: ofPublisher, body: () => ({ id: randomUUID(), name: 'New' }) }],
  'node.get': [{ params: ofNode }, { on: 'banned', params: banned }, { on: 'missing', params: missing }],
  'node.list': [{ params: ofPublisher }, { on: 'missing', params: missing }],
  'node.search': [{}],
  'node.update': [
    { params: ownNode, body: () => ({ name: 'Other' }) },
    { on: 'banned', params: (stage) => ({ ...ofPublisher(stage), ...banned(stage) }), body: () => ({}) },
    { on: 'missing', params: missing, body: () => ({}) },
  ],
  'node.delete': [{ params: ownNode }],
  'node.install': [{ params: ofNode }, { on: 'draft', params: ofNode, query: '?version=2.0.0' }],
  'version.publish': [
    { params: ownNode, body: ({ token }) => publishBody(token, '3.0.0') },
    { on: 'token of another', params: ownNode, body: () => publishBody(registry().tokens.pat, '3.0.0') },
    { on: 'missing', params: missing, body: ({ token }) => publishBody(token, '3.0.0') },
  ],
  'version.update': [{ params: ownVersion, body: () => ({ deprecated: true }) }],
  'version.get': [{ params: ofVersion('1.0.0') }, { on: 'draft', params: ofVersion('2.0.0') }],
  'version.list': [{ params: ofNode }, { on: 'banned', params: banned }],
  'version.delete': [{ params: ownVersion }],
  'version.history': [{ params: ownVersion }],
  'version.bulk': [{ body: ({ node }) => ({ node_versions: [{ node_id: node, version: '2.0.0' }] }) }],
  'hostNodes.get': [{ params: definition('1.0.0') }, { on: 'draft', params: definition('2.0.0') }],
  'hostNodes.listAll': [{}],
  'hostNodes.list': [{ params: ofVersion('1.0.0') }, { on: 'draft', params: ofVersion('2.0.0') }],
  'hostNodes.define': [
    { params: ofVersion('2.0.0'), body: () => ({ success: true, nodes: { Sharpen: {} } }) },
  ],
  'user.me': [{}],
  'image.relight': [{ body: () => ({ image: pixel }) }],
  'image.relightStatus': [{ params: task('image.relight') }, { on: 'missing', params: noTask }],
  'image.styleTransfer': [{ body: () => ({ image: pixel, reference_image: pixel }) }],
  'task.get': [{ params: task('image.relight') }],
  'image.styleTransferStatus': [{ params: task('image.styleTransfer') }],
  'image.skinEnhancer': [{ body: () => ({ image: pixel }) }],
  'image.skinEnhancerStatus': [{ params: task('image.skinEnhancer') }],
  'image.upscaler': [{ body: () => ({ image: pixel }) }],
  'image.upscalerStatus': [{ params: task('image.upscaler') }],
  'webhook.secret': [{}],
  'webhook.rotateSecret': [{}],
  'webhook.deliveries': [{}],
  'admin.generateToken': [{}],
  'admin.node.set': [
    { params: ofNode, body: () => ({ status: 'NodeStatusBanned' }) },
    { on: 'missing', params: missing, body: () => ({ status: 'NodeStatusBanned' }) },
  ],
  'admin.version.setStatus': [
    { params: ofVersion('1.0.0'), body: () => ({ status: 'NodeVersionStatusBanned' }) },
    {
      on: 'nothing uploaded',
      params: ofVersion('2.0.0'),
      body: () => ({ status: 'NodeVersionStatusActive' }),
    },
  ],
  'admin.hostNode.setPolicy': [
    { params: definition('1.0.0'), body: () => ({ policy: 'HostNodePolicyBanned' }) },
  ],
  'admin.publisher.set': [{ params: ofPublisher, body: () => ({ status: 'PublisherStatusBanned' }) }],
  'admin.audit': [{}],
  'admin.token.list': [{}],
  'admin.token.revoke': [{ params: ({ jti }) => ({ jti }) }],
  'service.protectedResource': [{}],
};

let stages = 0;

async function makeStage({ ok, change, service }: Registry): Promise<Stage> {
  const number = ++stages;
  const [publisher, node, bannedNode] = [`stage-${number}`, `node-${number}`, `banned-${number}`];
  await ok('ann', 'POST', '/publishers', { id: publisher, name: 'Stage' });
  const path = `/publishers/${publisher}`;
  const bob = { email: 'bob@example.org', role: 'member' };
  const member = await ok('ann', 'POST', `${path}/members`, bob);
  const { id: tokenId, token } = await ok('ann', 'POST', `${path}/tokens`, { name: 'ci' });
  for (const version of ['1.0.0', '2.0.0']) {
    await ok('ann', 'POST', `${path}/nodes/${node}/versions`, publishBody(token, version));
  }
  await ok('ann', 'POST', `${path}/nodes`, { id: bannedNode, name: 'Banned' });
  await ok('admin', 'PUT', `/admin/nodes/${bannedNode}`, { status: 'NodeStatusBanned' });
  const { jti } = await change((tx) => newAdminToken(tx, service.context, member.id));
  await change(async (tx) => {
    const uploaded_at = new Date(service.context.now()).toISOString();
    const active = { status: 'NodeVersionStatusActive', uploaded_at };
    const rows = await tx
      .selectFrom('versions')
      .select(['id', 'version'])
      .where('node_id', '=', node)
      .execute();
    await tx
      .updateTable('versions')
      .set(active)
      .where('node_id', '=', node)
      .where('version', '=', '1.0.0')
      .execute();
    const latest_version_id = rows.find(({ version }) => version === '1.0.0')?.id;
    await tx.updateTable('nodes').set({ latest_version_id }).where('id', '=', node).execute();
    for (const { id } of rows) {
      const blur = { node_id: node, name: 'Blur', definition: '{}', policy: 'HostNodePolicyActive' };
      await tx
        .insertInto('host_nodes')
        .values({ version_id: id, ...blur })
        .execute();
    }
  });
  return { publisher, node, bannedNode, tokenId, memberId: member.id, token, jti };
}

async function expiredToken({ change, service }: Registry): Promise<string> {
  const { token, prefix, hash } = newPersonalAccessToken();
  const created_at = new Date(service.context.now()).toISOString();
  await change(async (tx) => {
    const row = await tx
      .selectFrom('personal_access_tokens')
      .selectAll()
      .where('publisher_id', '=', 'acme')
      .executeTakeFirstOrThrow();
    const expires_at = '2020-01-01T00:00:00.000Z';
    const values = { ...row, id: randomUUID(), prefix, hash, created_at, expires_at };
    await tx.insertInto('personal_access_tokens').values(values).execute();
  });
  return token;
}

/** Admin tokens of an admin: one that is valid, one revoked, one whose hour is over. */
async function adminTokens({
  change,
  ok,
  service,
}: Registry): Promise<Record<'valid' | 'revoked' | 'expired', string>> {
  const { id } = await ok('admin', 'GET', '/users/me');
  const make = (ago = 0) =>
    change((tx) => newAdminToken(tx, { ...service.context, now: () => service.context.now() - ago }, id));
  // The expired one first, because making the next one clears it away.
  const expired = await make(3_600_000);
  const [valid, revoked] = [await make(), await make()];
  await ok('admin', 'DELETE', `/admin/tokens/${revoked.jti}`);
  return { valid: valid.token, revoked: revoked.token, expired: expired.token };
}

interface AsCaller {
  readonly token: (stage: Stage) => string | undefined;
  /** What has happened before this one calls. */
  readonly before?: (stage: Stage) => Promise<unknown>;
}

/** Each kind of caller. The last one leaves no stage that another could use. */
async function callersOf(here: Registry): Promise<Record<string, AsCaller>> {
  const { tokens, service, ok } = here;
  const expired = await service.signFor({ sub: 'ann', expiresInSeconds: -60 });
  const expiredPersonal = await expiredToken(here);
  const adminToken = await adminTokens(here);
  const ban = ({ publisher }: Stage) =>
    ok('admin', 'PUT', `/admin/publishers/${publisher}`, { status: 'PublisherStatusBanned' });
  return {
    none: { token: () => undefined },
    malformed: { token: () => 'malformed' },
    expired: { token: () => expired },
    stranger: { token: () => tokens.eve },
    member: { token: () => tokens.bob },
    owner: { token: () => tokens.ann },
    'its token': { token: ({ token }) => token },
    "other's token": { token: () => tokens.pat },
    'expired token': { token: () => expiredPersonal },
    admin: { token: () => tokens.admin },
    'admin token': { token: () => adminToken.valid },
    'revoked admin token': { token: () => adminToken.revoked },
    'expired admin token': { token: () => adminToken.expired },
    "banned publisher's owner": { token: () => tokens.ann, before: ban },
  };
}

it('answers every kind of caller of every operation as the golden table says', async () => {
  const callers = await callersOf(registry());
  // His invitation is taken up first: a stage gives an admin token to whoever its member is.
  await registry().ok('bob', 'GET', '/users/me');
  const ann = { url: registry().url, token: registry().tokens.ann };
  for (const operation of Object.keys(imageFields) as ImageOperation[]) {
    tasks.set(operation, await startedTask({ ...ann, operation }));
  }
  const lines = [['operation', ...Object.keys(callers)]];
  for (const [name, { method, path }] of operations(served)) {
    for (const { on, params = () => ({}), query = '', body } of trials[name as ServedOperation]) {
      const cells: string[] = [];
      let stage = await makeStage(registry());
      for (const { token, before } of Object.values(callers)) {
        await before?.(stage);
        const values: Record<string, string> = params(stage);
        const target = path.replace(/\{(\w+)\}/g, (_, param: string) =>
          encodeURIComponent(values[param] as string),
        );
        const answer = await ask(registry().url + target + query, {
          method,
          token: token(stage),
          json: body?.(stage),
        });
        cells.push(answer.status < 300 ? `${answer.status}` : `${answer.status} ${answer.body.error}`);
        // What succeeded may have changed what the next caller is tried on.
        if (method !== 'GET' && answer.status < 300) stage = await makeStage(registry());
      }
      lines.push([on ? `${name}, ${on}` : name, ...cells]);
    }
  }
  const table = tableOf(lines);
  if (process.env.UPDATE_MATRIX) writeFileSync(golden, table);
  expect(table).toBe(readFileSync(golden, 'utf8'));
}, 60_000);

function tableOf(lines: readonly string[][]): string {
  const widths = (lines[0] as string[]).map((_, at) =>
    Math.max(...lines.map((line) => (line[at] as string).length)),
  );
  const padded = lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] as number))
      .join('  ')
      .trimEnd(),
  );
  return `${padded.join('\n')}\n`;
}

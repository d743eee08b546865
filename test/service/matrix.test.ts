import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contract, type OperationName } from '../../src/contract/index.js';
import { type Operation, operations } from '../../src/contract/operation.js';
import { newAdminToken } from '../../src/service/auth/admin-tokens.js';
import type { ImageOperation, TaskOperation } from '../../src/service/generation/engine.js';
import { type AsCaller, callersOf, invalidCredentials } from '../support/callers.js';
import { copyingEngine } from '../support/copying-engine.js';
import { filmingEngine } from '../support/filming-engine.js';
import { pixel, startedTask, startPaths } from '../support/generation.js';
import { startIssuer, type TestIssuer } from '../support/issuer.js';
import { publishBody, type Registry, startRegistry } from '../support/registry.js';
import { ask } from '../support/service.js';
import { smallestVideos, startedVideo, videoAt } from '../support/videos.js';

// Every operation with every kind of caller. After a wanted change: UPDATE_MATRIX=1 npx vitest run test/service/matrix.test.ts
const golden = new URL('../golden/matrix.txt', import.meta.url);
let issuer: TestIssuer;
let here: Registry;
const registry = () => here;

beforeAll(async () => {
  issuer = await startIssuer();
  const engines = { image: copyingEngine(), video: filmingEngine() };
  here = await startRegistry({ issuers: [{ issuer: issuer.url }] }, { engines });
});
afterAll(async () => {
  await here.service.stop();
  await issuer.stop();
});

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
const task = (operation: TaskOperation) => () => ({ task_id: tasks.get(operation) as string });
const noTask = () => ({ task_id: 'missing' });

const trials: { readonly [Name in OperationName]: readonly Trial[] } = {
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
  'video.text2video': [{ body: () => ({ prompt: 'A boat' }) }],
  'video.startEnd2video': [{ body: () => ({ images: [pixel] }) }],
  'video.extend': [
    {
      on: "the owner's",
      body: () => ({
        ...smallestVideos['video.extend'],
        video_creation_id: `${tasks.get('video.text2video')}-0`,
      }),
    },
  ],
  'video.creations': [{ params: task('video.text2video') }, { on: 'missing', params: noTask }],
  'video.prices': [{}],
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
let standing: Promise<Stage> | undefined;

/** The last stage, or another one where that was changed. */
function stageNow(): Promise<Stage> {
  standing ??= makeStage(here);
  return standing;
}

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

it('answers every kind of caller of every operation as the golden table says', async () => {
  const callers = await callersOf(here, issuer);
  const invalid = await invalidCredentials(here, issuer);
  // His invitation is taken up first: a stage gives an admin token to whoever its member is.
  await here.ok('bob', 'GET', '/users/me');
  const ann = { url: here.url, token: here.tokens.ann };
  for (const operation of Object.keys(startPaths) as ImageOperation[]) {
    tasks.set(operation, await startedTask({ ...ann, operation }));
  }
  const { task_id } = await startedVideo(ann);
  tasks.set('video.text2video', task_id);
  await videoAt(ann, task_id);
  const blocks = [[everyInvalid, ...Object.keys(invalid).map((name) => `  ${name}`)].join('\n')];
  for (const [name, operation] of operations(contract)) {
    for (const trial of trials[name as OperationName]) {
      const answers = await tryOut(operation, trial, callers, Object.values(invalid));
      blocks.push(blockOf(trial.on ? `${name}, ${trial.on}` : name, answers));
    }
  }
  const table = `${blocks.join('\n\n')}\n`;
  if (process.env.UPDATE_MATRIX) writeFileSync(golden, table);
  expect(table).toBe(readFileSync(golden, 'utf8'));
}, 120_000);

const everyInvalid = 'every invalid credential';

/** What each caller is answered: `200`, `401 unauthenticated`. */
async function tryOut(
  { method, path }: Operation,
  { params = () => ({}), query = '', body }: Trial,
  callers: Readonly<Record<string, AsCaller>>,
  invalid: readonly string[],
): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const send = async (tokenOf: AsCaller['token']) => {
    const stage = await stageNow();
    const values: Record<string, string> = params(stage);
    const target = path.replace(/\{(\w+)\}/g, (_, param: string) =>
      encodeURIComponent(values[param] as string),
    );
    const answer = await ask(here.url + target + query, {
      method,
      token: tokenOf(stage),
      json: body?.(stage),
    });
    return answer.status < 300 ? `${answer.status}` : `${answer.status} ${answer.body.error}`;
  };
  // Alike, or each would need a line of its own.
  const refusals = new Set(await Promise.all(invalid.map((token) => send(() => token))));
  answers.set(everyInvalid, [...refusals].join(' or '));
  for (const [name, { token, before }] of Object.entries(callers)) {
    await before?.(await stageNow());
    const answer = await send(token);
    answers.set(name, answer);
    // What succeeded may have changed what the next caller is tried on.
    const mayChange = method !== 'GET' && path.includes('{');
    if (mayChange && answer.startsWith('2')) standing = undefined;
  }
  await liftBan();
  return answers;
}

/** Makes the stage again what it was before it was a banned publisher's. */
async function liftBan(): Promise<void> {
  if (!standing) return;
  const { publisher } = await standing;
  await here.ok('admin', 'PUT', `/admin/publishers/${publisher}`, {
    status: 'PublisherStatusActive',
  });
}

/** One line for each answer, with all who are given it. */
function blockOf(title: string, answers: ReadonlyMap<string, string>): string {
  const kinds = [...new Set(answers.values())].sort();
  const width = Math.max(...kinds.map(({ length }) => length));
  const who = (kind: string) => [...answers].filter(([, answer]) => answer === kind).map(([name]) => name);
  return [title, ...kinds.map((kind) => `  ${kind.padEnd(width)}  ${who(kind).join(', ')}`)].join('\n');
}

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { getOperation, listTaskOperations, type OperationName } from '../../src/contract/index.js';
import { checkValue } from '../../src/contract/schema/check.js';
import { describeFields, type FieldDescription } from '../../src/contract/schema/fields.js';
import { findImageFields } from '../../src/contract/schema/image-rules.js';
import { createAdminToken } from '../../src/service/auth/admin-tokens.js';
import type { ImageOperation } from '../../src/service/operation/engine.js';
import { refreshListing } from '../../src/service/registry/listed-host-nodes.js';
import { createJobClaims } from './ci-jobs.js';
import { pixel, startPaths, startTask, waitForTask } from './generation.js';
import type { TestIssuer } from './issuer.js';
import { publishBody, type Registry } from './registry.js';
import { smallestVideos, startVideo, waitForVideo } from './videos.js';

/** What operations are tried on: a publisher of Ann with Bob as its member, made for the purpose, and tasks of Ann. */
export interface Stage {
  readonly publisher: string;
  /** Has no nodes. */
  readonly emptyPublisher: string;
  /** Eve's, to which Ann is invited. */
  readonly invitingPublisher: string;
  /** Active, with the version 1.0.0 Active and 2.0.0 Pending. */
  readonly node: string;
  readonly bannedNode: string;
  readonly tokenId: string;
  readonly memberId: string;
  /** Of an API key of Ann. */
  readonly keyId: string;
  /** Of a task of Ann, and pending. */
  readonly deliveryId: string;
  readonly token: string;
  /** A token that is limited to another node. */
  readonly limitedToken: string;
  /** Of an admin token that is not used. */
  readonly jti: string;
  /** A token for another publisher. */
  readonly otherToken: string;
  /** A trust of the publisher, and an identity token that it accepts once. */
  readonly trustId: string;
  readonly identityToken: string;
  /** The ids of Ann's tasks, by the operation that started them. */
  readonly tasks: ReadonlyMap<string, string>;
}

/** One request that succeeds for a caller with permission, unless `on` says otherwise. */
export interface Trial {
  /** What it is tried on, if an operation has several trials. */
  readonly on?: string;
  /** Path parameters other than those of the stage. */
  readonly params?: (stage: Stage) => Record<string, string>;
  readonly query?: string;
  /** Other than the required fields with the simplest values. */
  readonly body?: (stage: Stage) => object;
}

const onBanned: Trial = { on: 'banned', params: ({ bannedNode }) => ({ nodeId: bannedNode }) };
const onMissing: Trial = { on: 'missing', params: () => ({ publisherId: 'missing', nodeId: 'missing' }) };
const identified: Trial = {
  body: ({ identityToken, node }) => ({ token: identityToken, nodes: [node] }),
};
const onInviting: Trial = { params: ({ invitingPublisher }) => ({ publisherId: invitingPublisher }) };
const onDraft: Trial = { on: 'draft', params: () => ({ version: '2.0.0' }) };
const onMissingTask: Trial = { on: 'missing', params: () => ({ task_id: 'missing' }) };

/** Trials of the operations for which the derived one is not enough: several, or a body with a certain meaning. */
const trials: { readonly [Name in OperationName]?: readonly Trial[] } = {
  'publisher.create': [{ body: () => ({ id: `new-${randomUUID()}`.slice(0, 20), name: 'New' }) }],
  'publisher.get': [{}, onMissing],
  'publisher.validate': [{ query: '?username=new-one' }],
  'publisher.delete': [
    { params: ({ emptyPublisher }) => ({ publisherId: emptyPublisher }) },
    { on: 'with nodes' },
    onMissing,
  ],
  'user.openPage': [{ body: () => ({ path: '/web/tasks' }) }],
  'publisher.update': [{ body: () => ({ name: 'Other' }) }, { ...onMissing, body: () => ({}) }],
  'publisher.member.add': [{ body: () => ({ email: 'new@example.org', role: 'member' }) }],
  'publisher.trust.add': [
    {
      body: () => ({
        ...{ issuer: 'github', repository: 'octo/other', workflow: 'ci.yml', nodes: ['not-yet'] },
        ...{ environment: 'release', ref: 'refs/heads/main', claims: { ref_type: 'branch' } },
      }),
    },
  ],
  'publisher.trust.check': [identified],
  'publisher.trust.exchange': [
    identified,
    { on: 'missing', params: () => ({ publisherId: 'missing' }), body: () => ({ token: 'none' }) },
  ],
  'publisher.accept': [onInviting, onMissing],
  'publisher.decline': [onInviting, onMissing],
  'publisher.member.set': [{ body: () => ({ role: 'owner' }) }],
  'node.create': [{ body: () => ({ id: randomUUID(), name: 'New' }) }],
  'node.get': [{}, onBanned, onMissing],
  'node.list': [{}, onMissing],
  'node.update': [
    { body: () => ({ name: 'Other' }) },
    { ...onBanned, body: () => ({}) },
    { ...onMissing, body: () => ({}) },
  ],
  'node.install': [{}, { on: 'draft', query: '?version=2.0.0' }],
  'version.publish': [
    { body: ({ token }) => publishBody(token, '3.0.0') },
    { on: 'token of another', body: ({ otherToken }) => publishBody(otherToken, '3.0.0') },
    { ...onMissing, body: ({ token }) => publishBody(token, '3.0.0') },
  ],
  'version.approve': [
    { params: () => ({ versionId: '0.9.0' }) },
    { on: 'not staged', params: () => ({ versionId: '2.0.0' }) },
  ],
  'version.update': [{ body: () => ({ deprecated: true }) }],
  'version.get': [{}, onDraft],
  'version.statement': [{}, onDraft],
  'version.list': [{}, onBanned],
  'hostNodes.bulk': [
    { body: ({ node }) => ({ names: ['Hello'], node_versions: [{ node_id: node, version: '2.0.0' }] }) },
  ],
  'version.bulk': [{ body: ({ node }) => ({ node_versions: [{ node_id: node, version: '2.0.0' }] }) }],
  'hostNodes.get': [{}, onDraft],
  'hostNodes.list': [{}, onDraft],
  'hostNodes.define': [
    { params: () => ({ version: '2.0.0' }), body: () => ({ success: true, nodes: { Sharpen: {} } }) },
  ],
  'image.relightStatus': [{}, onMissingTask],
  'video.text2video': [{ body: () => ({ prompt: 'A boat' }) }],
  'video.startEnd2video': [{ body: () => ({ images: [pixel] }) }],
  'video.extend': [
    {
      on: "the owner's",
      body: ({ tasks }) => ({
        ...smallestVideos['video.extend'],
        video_creation_id: `${tasks.get('video.text2video')}-0`,
      }),
    },
  ],
  'video.creations': [{}, onMissingTask],
  'task.cancel': [
    { on: 'cancelled before', params: ({ tasks }) => ({ task_id: tasks.get('task.cancel') as string }) },
    { on: 'that ended' },
    onMissingTask,
  ],
  'admin.node.set': [
    { body: () => ({ status: 'NodeStatusBanned' }) },
    { ...onMissing, body: () => ({ status: 'NodeStatusBanned' }) },
  ],
  'admin.version.setStatus': [
    { body: () => ({ status: 'NodeVersionStatusBanned' }) },
    {
      on: 'nothing uploaded',
      params: () => ({ version: '2.0.0' }),
      body: () => ({ status: 'NodeVersionStatusActive' }),
    },
  ],
  'admin.hostNode.setPolicy': [{ body: () => ({ policy: 'HostNodePolicyBanned' }) }],
  'admin.user.set': [
    { body: () => ({ credits_per_month: 500 }) },
    { on: 'missing', params: () => ({ userId: 'missing' }), body: () => ({ credits_per_month: 'default' }) },
  ],
  'user.usage': [{ query: '?by=day&from=2026-01-01&to=2026-01-31' }],
  'admin.usage': [{ query: '?by=user&from=2026-01-01&to=2026-01-31' }],
  'admin.publisher.member.set': [
    { body: () => ({ role: 'owner' }) },
    { ...onMissing, body: () => ({ role: 'owner' }) },
  ],
  'admin.publisher.member.remove': [{}, onMissing],
  'admin.publisher.set': [{ body: () => ({ status: 'PublisherStatusBanned' }) }],
};

/** The trials of an operation. One that is not listed above has a single trial, derived from its declaration. */
export function listTrials(name: OperationName): readonly Trial[] {
  return trials[name] ?? [{}];
}

export interface TrialRequest {
  readonly params: Record<string, string>;
  readonly query: string;
  readonly body: unknown;
}

/** @throws Error saying what to add to this file, if the request cannot be derived from the declaration */
export function buildRequest(name: OperationName, trial: Trial, stage: Stage): TrialRequest {
  const { params, query = '', body } = trial;
  const known = { ...listParams(name, stage), ...params?.(stage) };
  const names = Object.keys(getOperation(name).params.shape);
  const missing = names.filter((param) => known[param] === undefined);
  if (missing.length > 0) {
    throw new Error(`${name}: add the path parameter ${missing.join(', ')} to listParams in trials.ts.`);
  }
  return {
    params: Object.fromEntries(names.map((param) => [param, known[param] as string])),
    query,
    body: body ? body(stage) : deriveBody(name),
  };
}

/** A value for every path parameter of the contract. */
function listParams(name: OperationName, stage: Stage): Record<string, string | undefined> {
  const started = listTaskOperations().find((operation) => getOperation(operation).task?.read === name);
  return {
    publisherId: stage.publisher,
    nodeId: stage.node,
    versionId: '1.0.0',
    version: '1.0.0',
    hostNodeName: 'Blur',
    tokenId: stage.tokenId,
    trustId: stage.trustId,
    userId: stage.memberId,
    keyId: stage.keyId,
    deliveryId: stage.deliveryId,
    jti: stage.jti,
    task_id: stage.tasks.get(started ?? 'image.relight'),
  };
}

function deriveBody(name: OperationName): unknown {
  const { body } = getOperation(name);
  if (!body) return undefined;
  const images = findImageFields(body);
  const fields = body instanceof z.ZodObject ? Object.entries(describeFields(body)) : [];
  const required = fields.filter(([, { required }]) => required);
  const derived = Object.fromEntries(
    required.map(([field, leaf]) => [field, images.includes(field) ? pixel : deriveValue(leaf)]),
  );
  const checked = checkValue(body, derived, {});
  if (checked.ok) return derived;
  const problems = checked.problems.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new Error(`${name}: add a trial with a valid body to trials.ts (${problems.join('; ')}).`);
}

function deriveValue({ type, enum: values, minimum = 1 }: FieldDescription): unknown {
  if (values) return values[0];
  if (type === 'boolean') return true;
  return type === 'integer' || type === 'number' ? minimum : 'Example';
}

/** Starts one task of each operation that reads one back, as Ann. */
export async function startTasks({ url, tokens, change }: Registry): Promise<ReadonlyMap<string, string>> {
  const ann = { url, token: tokens.ann };
  const tasks = new Map<string, string>();
  for (const operation of Object.keys(startPaths) as ImageOperation[]) {
    tasks.set(operation, await startTask({ ...ann, operation }));
  }
  // Cancelling is tried on a task that was cancelled, because one that runs may end before.
  const cancelled = await startTask(ann);
  await waitForTask(ann, cancelled);
  await change((tx) =>
    tx
      .updateTable('tasks')
      .set({ status: 'FAILED', error_code: 'cancelled' })
      .where('id', '=', cancelled)
      .execute(),
  );
  tasks.set('task.cancel', cancelled);
  const { task_id } = await startVideo(ann);
  await waitForVideo(ann, task_id);
  for (const operation of listTaskOperations('video')) tasks.set(operation, task_id);
  return tasks;
}

let stages = 0;

/** @param issuer of CI jobs, which the registry accepts as github */
export async function createStage(
  registry: Registry,
  tasks: Stage['tasks'],
  issuer: Pick<TestIssuer, 'sign'>,
): Promise<Stage> {
  const { ok, join, change, service, tokens } = registry;
  const number = ++stages;
  const [publisher, node, bannedNode] = [`stage-${number}`, `node-${number}`, `banned-${number}`];
  const emptyPublisher = `empty-${number}`;
  const invitingPublisher = `inviting-${number}`;
  await ok('ann', 'POST', '/publishers', { id: emptyPublisher, name: 'Empty' });
  await ok('ann', 'POST', '/publishers', { id: publisher, name: 'Stage' });
  const path = `/publishers/${publisher}`;
  const member = await join('bob', publisher, 'member');
  await ok('eve', 'POST', '/publishers', { id: invitingPublisher, name: 'Inviting' });
  const ann = { email: 'ann@example.org', role: 'member' };
  await ok('eve', 'POST', `/publishers/${invitingPublisher}/members`, ann);
  const { id: tokenId, token } = await ok('ann', 'POST', `${path}/tokens`, { name: 'ci' });
  const limited = { name: 'limited', nodes: ['elsewhere'] };
  const { token: limitedToken } = await ok('ann', 'POST', `${path}/tokens`, limited);
  for (const version of ['1.0.0', '2.0.0']) {
    await ok('ann', 'POST', `${path}/nodes/${node}/versions`, publishBody(token, version));
  }
  const staged = { ...publishBody(token, '0.9.0'), stage: true };
  await ok('ann', 'POST', `${path}/nodes/${node}/versions`, staged);
  await change((tx) =>
    tx
      .updateTable('versions')
      .set({ archive_tree: '00'.repeat(32), uploaded_at: '2026-01-01T00:00:00.000Z' })
      .where('node_id', '=', node)
      .where('version', '=', '0.9.0')
      .execute(),
  );
  await ok('ann', 'POST', `${path}/nodes`, { id: bannedNode, name: 'Banned' });
  await ok('admin', 'PUT', `/admin/nodes/${bannedNode}`, { status: 'NodeStatusBanned' });
  const { jti } = await change((tx) => createAdminToken(tx, service.context, member.id));
  await activateFirst(registry, node);
  const otherToken = tokens.pat as string;
  const { id: keyId } = await ok('ann', 'POST', '/users/keys', { name: 'script' });
  const deliveryId = await insertDelivery(registry, tasks.get('image.relight') as string);
  const ids = {
    publisher,
    emptyPublisher,
    invitingPublisher,
    node,
    bannedNode,
    tokenId,
    memberId: member.id,
    keyId,
    jti,
  };
  const trusted = { issuer: 'github', repository: 'octo/light', workflow: 'release.yml' };
  const { id: trustId } = await ok('ann', 'POST', `${path}/trusts`, trusted);
  const identityToken = await issuer.sign(createJobClaims({ aud: 'ci' }));
  return { ...ids, deliveryId, token, limitedToken, otherToken, trustId, identityToken, tasks };
}

/** A delivery to an address that is not called, as it is not public. */
async function insertDelivery({ change, service }: Registry, taskId: string): Promise<string> {
  const id = `msg_${randomUUID()}`;
  const created_at = new Date(service.context.now()).toISOString();
  const next_at = new Date(service.context.now() + 3_600_000).toISOString();
  await change(async (tx) => {
    const { creator: user_id, status: state } = await tx
      .selectFrom('tasks')
      .select(['creator', 'status'])
      .where('id', '=', taskId)
      .executeTakeFirstOrThrow();
    const times = { attempts: 0, reason: null, next_at, created_at };
    const row = { id, task_id: taskId, user_id, state, url: 'http://10.0.0.1/', status: 'pending' as const };
    await tx
      .insertInto('webhook_deliveries')
      .values({ ...row, ...times })
      .execute();
  });
  return id;
}

/** Makes version 1.0.0 Active, and gives each version a definition. */
function activateFirst({ change, service }: Registry, node: string): Promise<void> {
  return change(async (tx) => {
    const uploaded_at = new Date(service.context.now()).toISOString();
    const versions = await tx
      .selectFrom('versions')
      .select(['id', 'version'])
      .where('node_id', '=', node)
      .execute();
    const first = versions.find(({ version }) => version === '1.0.0');
    const digests = { archive_sha256: '0'.repeat(64), archive_tree: '1'.repeat(64) };
    const active = { status: 'NodeVersionStatusActive', uploaded_at, ...digests };
    await tx
      .updateTable('versions')
      .set(active)
      .where('id', '=', first?.id as string)
      .execute();
    await tx.updateTable('nodes').set({ latest_version_id: first?.id }).where('id', '=', node).execute();
    const blur = { node_id: node, name: 'Blur', definition: '{}', policy: 'HostNodePolicyActive' };
    for (const { id } of versions) {
      await tx
        .insertInto('host_nodes')
        .values({ version_id: id, ...blur })
        .execute();
    }
    await refreshListing(tx, node);
  });
}

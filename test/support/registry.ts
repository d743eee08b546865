import { afterAll, beforeAll } from 'vitest';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import type { Tx } from '../../src/service/database/database.js';
import {
  changeVersionStatus,
  markUploaded,
  type VersionStatus,
} from '../../src/service/registry/version-states.js';
import type { RunningService, ServiceParts } from '../../src/service/serve.js';
import { type Answered, ask, startTestService } from './service.js';

/** The people of a registry's stories. Ann owns the publisher acme, Bob is its member, Eve belongs to neither. */
export type Who = 'ann' | 'bob' | 'eve' | 'admin' | 'guest' | 'pat';

export interface Registry {
  readonly service: RunningService;
  readonly url: string;
  /** The bearer token of a person; of `pat`, acme's personal access token; of `guest`, none. */
  readonly tokens: Record<Who, string | undefined>;
  /** One request, as `who`. */
  as(
    who: Who,
    method: string,
    path: string,
    json?: unknown,
    headers?: Record<string, string>,
  ): ReturnType<typeof ask>;
  /** The body of a request that succeeds. */
  ok(who: Who, method: string, path: string, json?: unknown): Promise<Answered>;
  /** Makes a person a member, who accepts the invitation of an owner. */
  join(who: Who, publisherId: string, role: 'owner' | 'member', owner?: Who): Promise<Answered>;
  /** Registers a version of a node of acme. */
  publish(
    nodeId: string,
    version: string,
    fields?: { node?: object; node_version?: object },
  ): Promise<Answered>;
  /** Registers a version and takes it through an upload and its check. */
  active(nodeId: string, version: string, status?: VersionStatus): Promise<Answered>;
  /** Does to the tables what another part of the service would. */
  change<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
}

/** A service with the publisher acme, shared by the tests of a file. */
export function registryForFile(input: ConfigurationInput = {}, parts: ServiceParts = {}): () => Registry {
  let registry: Registry | undefined;
  beforeAll(async () => {
    registry = await startRegistry(input, parts);
  });
  afterAll(() => registry?.service.stop());
  return () => registry as Registry;
}

export async function startRegistry(
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<Registry> {
  const service = await startTestService(input, parts);
  const person = (sub: string, roles?: string[]) =>
    service.signFor({ sub, email: `${sub}@example.org`, name: sub, roles });
  const tokens: Record<Who, string | undefined> = {
    ann: await person('ann'),
    bob: await person('bob'),
    eve: await person('eve'),
    admin: await person('root', ['admin']),
    guest: undefined,
    pat: undefined,
  };
  const as: Registry['as'] = (who, method, path, json, headers) =>
    ask(service.url + path, { method, json, token: tokens[who], ...(headers && { headers }) });
  const ok: Registry['ok'] = async (...request) => {
    const { status, body } = await as(...request);
    if (status >= 300) throw new Error(`${request.slice(0, 3).join(' ')}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  await ok('ann', 'POST', '/publishers', { id: 'acme', name: 'Acme' });
  const join: Registry['join'] = async (who, publisherId, role, owner = 'ann') => {
    await ok(who, 'GET', '/users/me');
    await ok(owner, 'POST', `/publishers/${publisherId}/members`, { email: `${who}@example.org`, role });
    return ok(who, 'POST', `/users/invitations/${publisherId}/accept`);
  };
  await join('bob', 'acme', 'member');
  tokens.pat = (await ok('ann', 'POST', '/publishers/acme/tokens', { name: 'ci' })).token;

  const change: Registry['change'] = (work) => service.context.database.transaction().execute(work);
  const publish: Registry['publish'] = (nodeId, version, fields = {}) =>
    ok('ann', 'POST', `/publishers/acme/nodes/${nodeId}/versions`, publishBody(tokens.pat, version, fields));
  const active: Registry['active'] = async (nodeId, version, status = 'NodeVersionStatusActive') => {
    const { node_version } = await publish(nodeId, version);
    await change(async (tx) => {
      const now = service.context.now();
      const versionId = node_version.id;
      await markUploaded(tx, { versionId, archive: { key: 'none', size: 1, sha256: '00'.repeat(32) }, now });
      await tx
        .updateTable('versions')
        .set({ archive_tree: '00'.repeat(32) })
        .where('id', '=', versionId)
        .execute();
      const checked = status === 'NodeVersionStatusFlagged' ? status : 'NodeVersionStatusActive';
      await changeVersionStatus(tx, { versionId, to: checked, right: 'service', actor: 'service', now });
      if (status !== checked)
        await changeVersionStatus(tx, { versionId, to: status, right: 'admin', actor: 'root', now });
    });
    return node_version;
  };
  return { service, url: service.url, tokens, as, ok, join, publish, active, change };
}

export function publishBody(
  personal_access_token: string | undefined,
  version: string,
  { node = {}, node_version = {} }: { node?: object; node_version?: object } = {},
): object {
  return { node, node_version: { version, ...node_version }, personal_access_token };
}

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resolveOutput } from '../../../src/cli/terminal/save.js';
import { contract } from '../../../src/contract/index.js';
import { createOpenApiDocument } from '../../../src/contract/openapi.js';
import type { Tx } from '../../../src/service/database/database.js';
import { regen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { filesForTest, packForTest } from '../../support/packs.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
} from '../../support/service.js';

/** A service with acme's pack 1.0.0 published by the command line. */
async function createPublished() {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  const owner = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const done = await regen(['version', 'publish', packForTest()], {
    env: { ...owner, REGEN_PUBLISH_TOKEN: publisher.personalAccessToken },
  });
  expect(done.exit, done.stderr).toBe(0);
  return { service, publisher, owner, anyone: { REGEN_BASE_URL: service.url } };
}

test('saves the latest version, says where, and counts one download', async () => {
  const { service, publisher, anyone: env } = await createPublished();
  const cwd = folderForTest();
  const { exit, stdout, stderr } = await regen(['version', 'download', 'pack'], { env, cwd });
  expect(exit, stderr).toBe(0);
  expect(stdout).toBe(`${join(cwd, 'pack-1.0.0.zip')}\n`);
  const { downloadUrl } = await readVersion(publisher);
  const original = Buffer.from(await (await fetch(downloadUrl)).arrayBuffer());
  expect(readFileSync(join(cwd, 'pack-1.0.0.zip')).equals(original)).toBe(true);
  expect(readdirSync(cwd)).toEqual(['pack-1.0.0.zip']);
  await service.context.installs.write();
  expect((await ask(`${service.url}/nodes/pack`)).body.downloads).toBe(1);
});

test('never writes over a file unless forced, and tells size and digest with --json', async () => {
  const { anyone: env } = await createPublished();
  const cwd = folderForTest();
  mkdirSync(join(cwd, 'packs'));
  writeFileSync(join(cwd, 'packs', 'pack-1.0.0.zip'), 'mine');
  const argv = ['version', 'download', 'pack', '1.0.0', '-o', 'packs'];
  const refused = await regen(argv, { env, cwd });
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain('--force');
  expect(readFileSync(join(cwd, 'packs', 'pack-1.0.0.zip'), 'utf8')).toBe('mine');
  const { stdout } = await regen([...argv, '--force', '--json'], { env, cwd });
  const saved = readFileSync(join(cwd, 'packs', 'pack-1.0.0.zip'));
  expect(JSON.parse(stdout)).toEqual({
    path: join(cwd, 'packs', 'pack-1.0.0.zip'),
    node_id: 'pack',
    version: '1.0.0',
    size: saved.length,
    sha256: createHash('sha256').update(saved).digest('hex'),
  });
});

test.each([
  ['an unknown node', ['nothing'], 3],
  ['an unknown version', ['pack', '9.9.9'], 3],
])('ends with not found for %s', async (_, args, code) => {
  const { anyone: env } = await createPublished();
  const { exit, stdout } = await regen(['version', 'download', ...args], { env, cwd: folderForTest() });
  expect({ exit, stdout }).toEqual({ exit: code, stdout: '' });
});

test('tells a flagged, a pending and a deleted version apart', async () => {
  const { service, publisher, owner: env } = await createPublished();
  const { node_version } = await registerVersion(publisher, '2.0.0');
  const get = (version: string) =>
    regen(['version', 'download', 'pack', version], { env, cwd: folderForTest() });
  expect((await get('2.0.0')).exit).toBe(8);
  const flag = (tx: Tx) =>
    tx
      .updateTable('versions')
      .set({ status: 'NodeVersionStatusFlagged', status_reason: 'eval in x.py' })
      .where('id', '=', node_version.id)
      .execute();
  await service.context.database.transaction().execute(flag);
  const flagged = await get('2.0.0');
  expect(flagged.exit).toBe(6);
  expect(flagged.stderr).toContain('eval in x.py');
  await regen(['version', 'delete', 'acme', 'pack', '1.0.0', '--yes'], { env });
  expect((await get('1.0.0')).exit).toBe(3);
});

/** A service that has nothing but what service.md lists. */
async function bareService(
  digest: string | undefined,
  { published, declared = false }: { published?: string; declared?: boolean } = {},
): Promise<string> {
  let url = '';
  const answer: RequestListener = async (request, response) => {
    const version = {
      ...{ version: '1.0.0', status: 'NodeVersionStatusActive', downloadUrl: `${url}/file.zip` },
      ...(published && { archive_sha256: published }),
    };
    const bodies: Record<string, unknown> = {
      ...(declared && { '/openapi.json': createOpenApiDocument(contract, { version: '1.0.0' }) }),
      '/nodes/pack': { id: 'pack', latest_version: version },
      '/bulk/nodes/versions': {
        node_versions: [
          { identifier: { node_id: 'pack', version: '1.0.0' }, status: 'success', node_version: version },
        ],
      },
    };
    if (request.url === '/file.zip') {
      response.writeHead(200, digest === undefined ? {} : { 'repr-digest': `sha-256=:${digest}:` });
      return response.end('archive');
    }
    const body = bodies[request.url?.split('?')[0] as string];
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(body ?? {}));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;
}

test.each([
  ['the latest', []],
  ['a named', ['1.0.0']],
])('finds %s version on a service that has no install operation', async (_, args) => {
  const cwd = folderForTest();
  const env = { REGEN_BASE_URL: await bareService(undefined) };
  const { exit, stderr } = await regen(['version', 'download', 'pack', ...args], { env, cwd });
  expect(exit, stderr).toBe(0);
  expect(readFileSync(join(cwd, 'pack-1.0.0.zip'), 'utf8')).toBe('archive');
});

const archiveDigest = createHash('sha256').update('archive').digest('hex');

test.each([
  ['with the digest that the registry publishes', { published: archiveDigest }, 0, ''],
  ['with another digest than the registry publishes', { published: '0'.repeat(64) }, 7, 'nothing was saved'],
  ['without a digest, if the registry declares one', { declared: true }, 7, 'gives no digest'],
  ['without a digest, if the registry declares none', {}, 0, 'publishes no digests'],
])('download saves an archive %s', async (_, registry, exit, said) => {
  const cwd = folderForTest();
  const env = { REGEN_BASE_URL: await bareService(undefined, registry) };
  const done = await regen(['version', 'download', 'pack'], { env, cwd });
  expect(done.exit, done.stderr).toBe(exit);
  expect(done.stderr).toContain(said);
  if (exit === 0 && said === '') expect(done.stderr).not.toContain('digest');
  expect(readdirSync(cwd)).toEqual(exit === 0 ? ['pack-1.0.0.zip'] : []);
});

test('download deletes an archive that differs from what the service announced', async () => {
  const cwd = folderForTest();
  const env = { REGEN_BASE_URL: await bareService(createHash('sha256').update('other').digest('base64')) };
  const { exit, stderr } = await regen(['version', 'download', 'pack'], { env, cwd });
  expect(exit).toBe(7);
  expect(stderr).toContain('nothing was saved');
  expect(existsSync(join(cwd, 'pack-1.0.0.zip'))).toBe(false);
  expect(readdirSync(cwd)).toEqual([]);
});

test('a file name from a service never leads out of the folder', () => {
  expect(resolveOutput('/here', undefined, '../../etc/x-1.zip')).toBe('/here/__.._etc_x-1.zip');
  expect(resolveOutput('/here', 'there/', '..')).toBe('/here/there/_');
  expect(resolveOutput('/here', 'own.zip', 'x.zip')).toBe('/here/own.zip');
});

test.each([
  ['another version', ['pack', '1.0.0'], { node_id: 'pack', version: '0.9.0' }],
  ['another node', ['pack'], { node_id: 'other', version: '1.0.0' }],
])('refuses an answer about %s, and fetches nothing', async (_, args, about) => {
  const asked: string[] = [];
  const server = await listenOn((request, response) => {
    asked.push(request.url as string);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...about, downloadUrl: `${server.url}/file.zip` }));
  });
  onTestFinished(server.close);
  const cwd = folderForTest();
  const run = await regen(['version', 'download', ...args], { env: { REGEN_BASE_URL: server.url }, cwd });
  expect(run).toMatchObject({ exit: 7, stdout: '' });
  expect(run.stderr).toContain(`answered about ${about.node_id} ${about.version} instead of pack 1.0.0`);
  expect(asked).toHaveLength(1);
  expect(readdirSync(cwd)).toEqual([]);
});

test('download accepts a version in another letter case', async () => {
  const { anyone: env } = await createPublished();
  expect((await regen(['version', 'download', 'PACK', '1.0.0'], { env, cwd: folderForTest() })).exit).toBe(0);
});

test('an output path that cannot be written is named in the message', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  await regen(['version', 'publish', packForTest()], { env });
  const cwd = filesForTest({ file: '' });
  const { exit, stderr } = await regen(['version', 'download', 'pack', '1.0.0', '-o', 'file/x.zip'], {
    env,
    cwd,
  });
  expect(exit).toBe(2);
  expect(stderr).not.toContain('bug');
});

import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Statement } from '../../../src/contract/statement.js';
import { rotateSigningKey } from '../../../src/service/auth/keys.js';
import { encodeForSigning, openEnvelope } from '../../../src/wire/envelope.js';
import { createZip } from '../../support/create-zip.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';

async function publishOne() {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  const { signedUrl } = await registerVersion(publisher, '1.0.0');
  const pending = await ask(`${service.url}/nodes/pack/versions/1.0.0/statement`);
  expect(pending.status).toBe(404);
  await uploadArchive(signedUrl, await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' }));
  await expect
    .poll(async () => (await readVersion(publisher, '1.0.0')).status)
    .toBe('NodeVersionStatusActive');
  const readStatement = async () => (await ask(`${service.url}/nodes/pack/versions/1.0.0/statement`)).body;
  const readKeys = async () => (await ask(`${service.url}/.well-known/regen-keys`)).body.keys;
  return { service, publisher, readStatement, readKeys };
}

test('the service vouches for the archive and the files of an Active version', async () => {
  const { publisher, readStatement, readKeys } = await publishOne();
  const [envelope, keys] = [await readStatement(), await readKeys()];
  expect(keys).toHaveLength(1);
  expect(keys[0]).not.toHaveProperty('d');
  const opened = openEnvelope('application/vnd.in-toto+json', envelope, keys);
  const { archive_sha256 } = await readVersion(publisher, '1.0.0');
  expect(Statement.parse(opened?.value)).toMatchObject({
    subject: [{ name: 'pack-1.0.0.zip', digest: { sha256: archive_sha256 } }],
    predicateType: 'urn:regen:version:1',
    predicate: { node_id: 'pack', version: '1.0.0', verdict: 'Active', registry: publisher.url },
  });
  expect(await readStatement()).toEqual(envelope);
  const changed = { ...envelope, payload: Buffer.from('{}').toString('base64') };
  expect(openEnvelope('application/vnd.in-toto+json', changed, keys)).toBeUndefined();
});

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
  'openssl verifies a statement with the PEM that the service publishes',
  async () => {
    const { readStatement, readKeys } = await publishOne();
    const { payloadType, payload, signatures } = await readStatement();
    const [{ pem }] = await readKeys();
    const folder = folderForTest();
    const write = (name: string, content: string | Buffer) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const verify = (bytes: Buffer) =>
      spawnSync('openssl', [
        ...['pkeyutl', '-verify', '-pubin', '-rawin', '-inkey', write('key.pem', pem)],
        ...['-in', write('signed', encodeForSigning(payloadType, bytes))],
        ...['-sigfile', write('signature', Buffer.from(signatures[0].sig, 'base64'))],
      ]).status;
    const bytes = Buffer.from(payload, 'base64');
    expect(verify(bytes)).toBe(0);
    bytes.writeUInt8(bytes.readUInt8(10) ^ 1, 10);
    expect(verify(bytes)).not.toBe(0);
    expect(
      execFileSync('openssl', ['pkey', '-pubin', '-in', join(folder, 'key.pem'), '-text']).toString(),
    ).toContain('ED25519');
  },
);

test('a new key is signed with the one before it, whose private part is then gone', async () => {
  const { service, readStatement, readKeys } = await publishOne();
  const [first] = await readKeys();
  const { database, keys, now } = service.context;
  await rotateSigningKey(database, now);
  await keys.reload();
  const [second, old] = await readKeys();
  expect(old).toMatchObject({ kid: first.kid, retired_at: expect.any(String) });
  expect(openEnvelope('application/vnd.regen.key+json', second.endorsement, [first])?.value).toMatchObject({
    kid: second.kid,
    x: second.x,
  });
  expect((await readStatement()).signatures[0].keyid).toBe(second.kid);
  const rows = await database.selectFrom('keys').selectAll().where('use', '=', 'statement').execute();
  const parts = rows.map(({ id, secret }) => [id, 'd' in JSON.parse(secret).jwk]);
  expect(Object.fromEntries(parts)).toEqual({ [first.kid]: false, [second.kid]: true });
});

test('a version that is banned or deleted loses its statement', async () => {
  const { publisher, readStatement } = await publishOne();
  await ask(`${publisher.url}/admin/nodes/pack/versions/1.0.0`, {
    method: 'PUT',
    token: publisher.ownerToken,
    json: { status: 'NodeVersionStatusBanned', status_reason: 'malware' },
  });
  expect(await readStatement()).toMatchObject({ error: 'not_found' });
});

import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { regen } from '../../support/cli.js';
import { createZip } from '../../support/create-zip.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { databaseForFolder, testDatabase } from '../../support/postgres.js';
import { testBucket } from '../../support/s3.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const zip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });

describe.skipIf(!testDatabase || !testBucket)('a copy to PostgreSQL and S3', () => {
  it('has every row and every object, and a service goes on with it, as does one with its backup', async () => {
    const data = folderForTest();
    const embedded = { data, database: undefined, storage: undefined };
    const service = await serviceForTest(embedded);
    const publisher = await publisherForTest(service);
    await uploadArchive((await registerVersion(publisher)).signedUrl, zip);
    await waitFor(async () => expect((await readVersion(publisher)).status).toBe('NodeVersionStatusActive'));
    const asking = { url: service.url, token: service.ownerToken };
    const task = await startTask(asking);
    await waitForTask(asking, task);
    const config = join(folderForTest(), 'regen.json');
    const bucket = testBucket as NonNullable<typeof testBucket>;
    process.env.TEST_S3_SECRET = bucket.secretAccessKey;
    const settings = {
      ...(await databaseForFolder(randomUUID())),
      storage: `s3://${bucket.bucket}/${randomUUID()}`,
      s3: {
        endpoint: bucket.endpoint,
        accessKeyId: bucket.accessKeyId,
        secretAccessKey: { env: 'TEST_S3_SECRET' },
      },
    };
    writeFileSync(config, JSON.stringify(settings));
    const env = { TEST_S3_SECRET: bucket.secretAccessKey };
    const copy = () => regen(['serve', 'copy', '--to', config, '--data', data, '--json'], { env });
    expect(await copy()).toMatchObject({ exit: 5, stderr: expect.stringContaining('is using') });
    await service.stop();
    const { exit, stdout } = await copy();
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      { data, rows: expect.any(Number), objects: 2, bytes: expect.any(Number), problems: [] },
    ]);
    expect(existsSync(join(data, 'regen.db'))).toBe(true);
    expect(await copy()).toMatchObject({ exit: 5, stderr: expect.stringContaining('choose an empty one') });

    const moved = await serviceForTest({ ...settings, data: folderForTest() });
    const there = { ...publisher, url: moved.url, ownerToken: moved.ownerToken };
    const version = await readVersion(there);
    expect(Buffer.from(await (await fetch(version.downloadUrl)).arrayBuffer()).equals(zip)).toBe(true);
    expect((await ask(`${moved.url}/nodes?search=pack`)).body.nodes).toHaveLength(1);
    await uploadArchive((await registerVersion(there, '2.0.0')).signedUrl, zip);
    await waitFor(async () =>
      expect((await readVersion(there, '2.0.0')).status).toBe('NodeVersionStatusActive'),
    );

    const check = (...more: string[]) => regen(['serve', 'check', '--json', ...more], { env });
    expect(await check('--config', config)).toMatchObject({ exit: 0 });
    const backup = join(folderForTest(), 'backup.zip');
    const written = await regen(['serve', 'backup', backup, '--config', config, '--json'], { env });
    expect([written.exit, JSON.parse(written.stdout)]).toEqual([
      0,
      { backup, objects: 3, bytes: expect.any(Number), problems: [] },
    ]);
    const restored = join(folderForTest(), 'restored');
    expect(await regen(['serve', 'restore', backup, '--data', restored])).toMatchObject({ exit: 0 });
    const back = await serviceForTest({ ...embedded, data: restored });
    const again = { ...publisher, url: back.url, ownerToken: back.ownerToken };
    const archive = await fetch((await readVersion(again, '2.0.0')).downloadUrl);
    expect(Buffer.from(await archive.arrayBuffer()).equals(zip)).toBe(true);
    expect((await ask(`${back.url}/nodes?search=pack`)).body.nodes).toHaveLength(1);
    await uploadArchive((await registerVersion(again, '3.0.0')).signedUrl, zip);
    for await (const object of moved.context.storage.list('archives'))
      await moved.context.storage.remove(object);
    expect(await check('--config', config)).toMatchObject({ exit: 6 });
  });
});

it('a copy needs a configuration that names a database and a place for files', async () => {
  const data = folderForTest();
  const config = join(data, 'regen.json');
  const copy = () => regen(['serve', 'copy', '--to', config, '--data', data]);
  expect(await regen(['serve', 'copy', '--data', data])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('--to is missing'),
  });
  writeFileSync(config, '{}');
  expect((await copy()).stderr).toContain('names no PostgreSQL database');
  writeFileSync(config, '{"database":"postgres://127.0.0.1/x"}');
  expect((await copy()).stderr).toContain('names no place for files');
  writeFileSync(config, '{"database":"postgres://127.0.0.1/x","data":"/nowhere"}');
  expect((await copy()).stderr).toContain('There is no regen.db');
});

import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { regen } from '../../support/cli.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

it('an embedded database is used with the storage of its files only, wherever they are moved', async () => {
  const data = folderForTest();
  const [taken, other] = [folderForTest(), folderForTest()];
  await (await serviceForTest({ data, storage: taken })).stop();
  const reason = `The files of this database are in ${taken}`;
  await expect(serviceForTest({ data, storage: other })).rejects.toThrow(reason);
  await expect(serviceForTest({ data })).rejects.toThrow(reason);
  renameSync(taken, join(other, 'moved'));
  await (await serviceForTest({ data, storage: join(other, 'moved') })).stop();
});

it('a service without a storage setting may get one later, and a backup has its files beside it again', async () => {
  const data = folderForTest();
  const storage = join(data, 'objects');
  await (await serviceForTest({ data })).stop();
  expect(existsSync(join(storage, 'store-id'))).toBe(false);
  await (await serviceForTest({ data, storage })).stop();
  const backup = join(folderForTest(), 'backup');
  const env = { REGEN_SERVE_STORAGE: storage };
  const { exit, stderr } = await regen(['serve', 'backup', backup, '--data', data], { env });
  expect(exit, stderr).toBe(0);
  await serviceForTest({ data: backup });
});

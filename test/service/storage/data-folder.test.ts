import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OwnerTokenInvalid, startService } from '../../../src/service/index.js';
import { folderForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

describe("the owner's token of a data folder", () => {
  it.each(['', 'guess', `regen_owner_${'a'.repeat(42)}`, `regen_owner_${'a'.repeat(42)}!`])(
    'is refused if it is %j, and the folder is unlocked for the next start',
    async (content) => {
      const data = folderForTest();
      const file = join(data, 'owner.token');
      writeFileSync(file, content, { mode: 0o600 });
      const refused = startService({ data });
      await expect(refused).rejects.toThrow(OwnerTokenInvalid);
      await expect(refused).rejects.toThrow(`${file} does not contain a valid owner's token; delete it`);
      rmSync(file);
      const { ownerToken } = await serviceForTest({ data });
      expect(readFileSync(file, 'utf8')).toBe(`${ownerToken}\n`);
    },
  );

  it('is written again if it is removed while the service runs', async () => {
    const data = folderForTest();
    const { ownerToken } = await serviceForTest({ data });
    const file = join(data, 'owner.token');
    rmSync(file);
    await waitFor(async () => expect(readFileSync(file, 'utf8')).toBe(`${ownerToken}\n`));
  });
});

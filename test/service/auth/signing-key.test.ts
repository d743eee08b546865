import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { expect, it } from 'vitest';
import { signToken } from '../../../src/service/auth/tokens.js';
import { FolderInUse, rotateKeyIn } from '../../../src/service/index.js';
import { regen } from '../../support/cli.js';
import { testDatabase } from '../../support/postgres.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';

const hour = 3_600_000;
const readKid = (token: string) => decodeProtectedHeader(token).kid;

it('the signing key can be rotated while the service runs, and tokens of the old key stay valid until they expire', async () => {
  const data = folderForTest();
  let time = Math.floor(Date.now() / 1000) * 1000;
  const service = await serviceForTest({ data }, { now: () => time });
  const me = async (token: string) => (await ask(`${service.url}/users/me`, { token })).status;
  const before = await service.signFor({ sub: 'ann' });
  const { token: admin } = (
    await ask(`${service.url}/admin/generate-token`, { method: 'POST', token: service.ownerToken })
  ).body;

  const { exit, stdout, stderr } = await regen(['serve', 'rotate-key', '--data', data, '--json']);
  expect([exit, stderr]).toEqual([0, '']);
  const { kid } = JSON.parse(stdout);
  const after = await service.signFor({ sub: 'ann' });
  expect(readKid(after)).toBe(kid);
  expect(readKid(before)).not.toBe(kid);
  const { events } = (await ask(`${service.url}/admin/audit`, { token: admin })).body;
  expect(events[0]).toMatchObject({ action: 'key.rotate', kind: 'key', id: kid, by: 'owner' });

  time += hour - 1;
  expect([await me(before), await me(admin), await me(after)]).toEqual([200, 200, 200]);
  time += 1;
  expect([await me(before), await me(admin), await me(after)]).toEqual([401, 401, 401]);
  // An expired key is not accepted, even for a token that is valid longer.
  const [old] = service.context.keys.token.filter(({ retiredAt }) => retiredAt !== undefined);
  const keys = { ...service.context.keys, token: [{ kid: old?.kid as string, jwk: old?.jwk ?? {} }] };
  expect(await me(await signToken({ keys, now: () => time }, { sub: 'ann' }))).toBe(401);
});

it.skipIf(testDatabase)(
  'the signing key can be rotated while no service runs, and the next one uses both keys',
  async () => {
    const data = folderForTest();
    const first = await serviceForTest({ data });
    const before = await first.signFor({ sub: 'ann' });
    await expect(rotateKeyIn(data, Date.now)).rejects.toThrow(FolderInUse);
    await first.stop();

    const { exit, stdout } = await regen(['serve', 'rotate-key', '--data', data]);
    expect(exit).toBe(0);
    const second = await serviceForTest({ data });
    const after = await second.signFor({ sub: 'ann' });
    expect(stdout).toContain(readKid(after));
    for (const token of [before, after])
      expect((await ask(`${second.url}/users/me`, { token })).status).toBe(200);
  },
);

it.skipIf(testDatabase)(
  'the signing key is not rotated in a folder that cannot be used, and the reason is printed',
  async () => {
    const data = folderForTest();
    await (await serviceForTest({ data })).stop();
    writeFileSync(join(data, 'owner.token'), 'damaged');
    const { exit, stderr } = await regen(['serve', 'rotate-key', '--data', data]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining("does not contain a valid owner's token")]);
    rmSync(join(data, 'owner.token'));
    writeFileSync(join(data, 'regen.db'), 'damaged');
    const damaged = await regen(['serve', 'rotate-key', '--data', data, '--json']);
    expect([damaged.exit, JSON.parse(damaged.stderr)]).toMatchObject([
      2,
      { error: { code: 'data_unusable' } },
    ]);
  },
);

it('the signing key is rotated only in a folder with data, and only by its owner', async () => {
  const nowhere = await regen(['serve', 'rotate-key', '--data', folderForTest()]);
  expect([nowhere.exit, nowhere.stderr]).toEqual([
    3,
    expect.stringContaining('is not the data folder of a service'),
  ]);
  const { url, signFor } = await serviceForTest();
  const token = await signFor({ sub: 'root', roles: ['admin'] });
  const path = `${url}/.well-known/regen-owner/rotate-key`;
  expect((await ask(path, { method: 'POST', token })).status).toBe(401);
  expect((await ask(path, { method: 'POST' })).status).toBe(401);
});

it('the signing key signs tokens for at most an hour, after which the previous key is dropped', async () => {
  const { signFor } = await serviceForTest();
  await expect(signFor({ sub: 'ann', expiresInSeconds: 3601 })).rejects.toThrow('at most 3600 s');
});

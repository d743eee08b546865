import { expect, test } from 'vitest';
import { regen } from '../support/cli.js';
import { publisherForTest, serviceForTest } from '../support/service.js';

async function withNode() {
  const service = await serviceForTest();
  await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  await regen(['node', 'create', 'acme', '--id', 'light', '--name', 'Light'], { env });
  const remove = (answers: readonly boolean[] | undefined, ...flags: string[]) =>
    regen(['node', 'delete', 'acme', 'light', ...flags], { env, ...(answers && { answers }) });
  const isThere = async () =>
    (await regen(['node', 'search', '--json'], { env })).stdout.includes('"id":"light"');
  return { remove, isThere };
}

test('a person is asked before a node is deleted, and a no changes nothing', async () => {
  const { remove, isThere } = await withNode();
  const { exit, stderr } = await remove([false]);
  expect(exit, stderr).toBe(2);
  expect(stderr).toBe('error: Nothing was changed.\n');
  expect(await isThere()).toBe(true);
  expect((await remove([true])).exit).toBe(0);
  expect(await isThere()).toBe(false);
});

test.each(['--yes', '-y'])('%s answers the question beforehand', async (flag) => {
  const { remove, isThere } = await withNode();
  expect((await remove([], flag)).exit).toBe(0);
  expect(await isThere()).toBe(false);
});

test('without a terminal a script is not asked', async () => {
  const { remove, isThere } = await withNode();
  expect((await remove(undefined)).exit).toBe(0);
  expect(await isThere()).toBe(false);
});

test.each([
  [['version', 'delete', 'acme', 'light', '1.0.0']],
  [['publisher', 'token', 'revoke', 'acme', '018f4a5e-0000-7000-8000-000000000000']],
  [['publisher', 'member', 'remove', 'acme', '018f4a5e-0000-7000-8000-000000000000']],
])('%j asks, and sends nothing after a no', async (argv) => {
  const { exit, stderr } = await regen(argv, {
    answers: [false],
    env: { REGEN_BASE_URL: 'http://127.0.0.1:9' },
  });
  expect([exit, stderr]).toEqual([2, 'error: Nothing was changed.\n']);
});

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen, type Surroundings } from '../../support/cli.js';
import { publisherForTest, serviceForTest } from '../../support/service.js';

async function createRegistry() {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  const surroundings: Surroundings = {
    home: homeForTest(),
    env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken },
  };
  return {
    publisher,
    run: (argv: readonly string[], more = {}) => regen(argv, { ...surroundings, ...more }),
    surroundings,
  };
}

test('publisher token check says whether the token of the environment can publish', async () => {
  const { publisher, run, surroundings } = await createRegistry();
  const check = ['publisher', 'token', 'check', 'acme'];
  expect((await run(check)).stderr).toContain('No token of acme is stored for');
  const withToken = (REGEN_PUBLISH_TOKEN: string) => ({ env: { ...surroundings.env, REGEN_PUBLISH_TOKEN } });
  const good = await run(check, withToken(publisher.personalAccessToken));
  expect(good.exit, good.stderr).toBe(0);
  expect(good.stdout).toMatch(/^publisher\tacme\nsource\tREGEN_PUBLISH_TOKEN\n/);
  expect(
    (await run(['publisher', 'token', 'check', 'other'], withToken(publisher.personalAccessToken))).stderr,
  ).toContain('belongs to another publisher');
  expect(await run(check, withToken('regen_pat_wrong'))).toMatchObject({
    exit: 4,
    stderr: expect.stringContaining('is unknown, expired or revoked'),
  });
  const limited = await run(['publisher', 'token', 'create', 'acme', 'one', '--nodes', 'pack']);
  const onlyPack = withToken(limited.stdout.trim());
  expect((await run([...check, '--node', 'pack'], onlyPack)).exit).toBe(0);
  expect((await run([...check, '--node', 'light'], onlyPack)).stderr).toContain('is limited to pack');
});

test('a new token is written into a private file, and may end at the beginning of a day', async () => {
  const { run } = await createRegistry();
  const cwd = homeForTest();
  const path = join(cwd, 'token.txt');
  const argv = ['publisher', 'token', 'create', 'acme', 'ci', '--expires-at', '2199-12-01'];
  const create = (...flags: string[]) => run([...argv, '--output-file', 'token.txt', ...flags], { cwd });
  const made = await create();
  expect([made.exit, made.stdout]).toEqual([0, `${path}\n`]);
  expect(readFileSync(path, 'utf8')).toMatch(/^regen_pat_[\w-]+\n$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect((await create()).exit).toBe(2);
  const forced = await create('--force', '--json');
  expect(JSON.parse(forced.stdout)).toMatchObject({
    path,
    name: 'ci',
    expires_at: '2199-12-01T00:00:00.000Z',
  });
  expect(forced.stdout).not.toContain('regen_pat_');
  expect((await run([...argv, '--json'], { cwd })).stdout).toContain('"token":"regen_pat_');
});

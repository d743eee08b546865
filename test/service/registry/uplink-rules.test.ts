import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { parseConfiguration } from '../../../src/service/configuration/configuration.js';
import { regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { ask, folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';

const DAY = 24 * 60 * 60_000;
const start = Date.parse('2026-06-01T00:00:00Z');

type Uplink = NonNullable<ConfigurationInput['uplink']>;

/** A registry with the node remote in three versions, a week apart, and one in front of it 10 days after the first. */
async function twoRegistries(rules: Partial<Uplink>, age = 10) {
  let now = start;
  const far = await serviceForTest({}, { now: () => now });
  const { personalAccessToken } = await publisherForTest(far);
  const env = {
    REGEN_BASE_URL: far.url,
    REGEN_TOKEN: far.ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
    const { exit, stderr } = await regen(['version', 'publish', packForTest({ name: 'remote', version })], {
      env,
    });
    expect(exit, stderr).toBe(0);
    now += 4 * DAY;
  }
  const near = await serviceForTest({ uplink: { url: far.url, ...rules } }, { now: () => start + age * DAY });
  const get = (path: string) => ask(`${near.url}${path}`);
  return { far, near, get };
}

describe('versions of the registry behind', () => {
  test('are offered once they are old enough, and the newest says until when others wait', async () => {
    const { get } = await twoRegistries({ minAgeDays: 5 });
    const { body: node } = await get('/nodes/remote');
    expect(node.latest_version).toMatchObject({
      version: '1.1.0',
      status_reason: 'By the rules of this registry, 2.0.0 is held back until 2026-06-14T00:00:00.000Z.',
    });
    expect((await get('/nodes/remote/install')).body.version).toBe('1.1.0');
    const { body: list } = await get('/nodes/remote/versions');
    expect(list.map(({ version }: { version: string }) => version)).toEqual(['1.1.0', '1.0.0']);
    for (const path of ['/nodes/remote/versions/2.0.0', '/nodes/remote/install?version=2.0.0']) {
      const { status, body } = await get(path);
      expect([status, body.message]).toEqual([
        403,
        'Version 2.0.0 of the node remote is held back until 2026-06-14T00:00:00.000Z by the rules of this registry.',
      ]);
    }
    expect((await get('/uplink/remote/2.0.0/node.zip')).status).toBe(403);
    expect((await get('/uplink/remote/1.1.0/node.zip')).status).toBe(200);
    const { body: search } = await get('/nodes?search=remote');
    expect(search.nodes[0].latest_version).toBeUndefined();
  });

  test('are left out from a date on, and by ranges', async () => {
    const dated = await twoRegistries({ asOf: '2026-06-02' });
    expect((await dated.get('/nodes/remote')).body.latest_version.version).toBe('1.0.0');
    const denied = await twoRegistries({ deny: ['remote@>=1.1 <2'] });
    expect((await denied.get('/nodes/remote/versions/1.1.0')).status).toBe(403);
    expect((await denied.get('/nodes/remote')).body.latest_version.version).toBe('2.0.0');
    const bulk = { method: 'POST', json: { node_versions: [{ node_id: 'remote', version: '1.1.0' }] } };
    const { body } = await ask(`${denied.near.url}/bulk/nodes/versions`, bulk);
    expect(body.node_versions[0]).toMatchObject({
      status: 'not_found',
      error_message: 'Version 1.1.0 of the node remote is denied by the rules of this registry.',
    });
  });

  test('are not offered with a date in the future or none, or if none is left', async () => {
    const { get } = await twoRegistries({ minAgeDays: 1 }, -3);
    expect((await get('/nodes/remote')).body.latest_version).toBeUndefined();
    const { status, body } = await get('/nodes/remote/install');
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining('No version of the node remote is offered'),
    ]);
  });

  test('that were kept are refused once a rule denies them', async () => {
    const { near, far } = await twoRegistries({});
    expect((await ask(`${near.url}/uplink/remote/2.0.0/node.zip`)).status).toBe(200);
    const uplink = near.context.configuration.uplink as { deny: string[] };
    uplink.deny = ['remote@2'];
    await far.stop();
    expect((await ask(`${near.url}/uplink/remote/2.0.0/node.zip`)).status).toBe(403);
    expect((await ask(`${near.url}/nodes/remote/install?version=2.0.0`)).status).toBe(403);
  });
});

test.each(['pack@', 'pack@odd range', '@1.0.0', 'pack@1.x || nope'])(
  'the rule %s is refused',
  async (rule) => {
    const uplink = { url: 'https://registry.example.com', deny: [rule] };
    await expect(parseConfiguration({ uplink }, {})).rejects.toThrow();
  },
);

test('prefetched archives are installed and vouched for after the registry behind is gone', async () => {
  const { near, far } = await twoRegistries({});
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'packs.txt'), '# for the studio\nremote\nremote@1.0.0\nmissing\n');
  const nodes = [{ id: 1, type: 'Greet', properties: { cnr_id: 'remote', ver: '1.1.0' } }];
  writeFileSync(join(cwd, 'flow.json'), JSON.stringify({ nodes, links: [], version: 0.4 }));
  const env = { REGEN_BASE_URL: near.url, REGEN_TOKEN: near.ownerToken };
  const line = ['serve', 'prefetch', 'packs.txt', '--workflow', 'flow.json'];
  const { exit, stdout, stderr } = await regen(line, { env, cwd });
  expect([exit, stderr]).toEqual([9, expect.stringContaining('1 of 4 could not be fetched.')]);
  expect(stdout).toMatch(
    /^remote\t2\.0\.0\tkept\t\nremote\t1\.0\.0\tkept\t\nmissing\t\tfailed\t.*\nremote\t1\.1\.0\tkept\t\n$/,
  );
  await far.stop();
  for (const version of ['2.0.0', '1.0.0', '1.1.0'])
    expect((await regen(['version', 'download', 'remote', version], { env, cwd })).exit).toBe(0);
  const verified = await regen(['version', 'verify', 'remote', '1.0.0'], { env, cwd });
  expect([verified.exit, verified.stdout]).toEqual([0, expect.stringContaining('Mirrored')]);
});

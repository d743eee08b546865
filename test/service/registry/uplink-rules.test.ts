import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { parseConfiguration } from '../../../src/service/configuration/configuration.js';
import { regen } from '../../support/cli.js';
import { createZip } from '../../support/create-zip.js';
import { listFiles } from '../../support/list-files.js';
import { listenOn } from '../../support/listen.js';
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

/** A registry that says what it likes of its only version, and one in front of it. */
async function lyingRegistry(rules: Partial<Uplink> = {}) {
  const archive = await createZip({ 'pyproject.toml': '[project]\nname = "x"\nversion = "1.0.0"\n' });
  const told: Record<'install' | 'list', Record<string, unknown>> = { install: {}, list: {} };
  const far = await listenOn((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (path === '/node.zip')
      return void response.writeHead(200, { 'content-type': 'application/zip' }).end(archive);
    const version = { id: 'v', node_id: 'x', version: '1.0.0', downloadUrl: `${far.url}/node.zip` };
    const [one, listed] = [told.install, told.list].map((facts) => ({ ...version, ...facts }));
    const node = { id: 'x', name: 'X', latest_version: listed };
    const answer = path.endsWith('/install') ? one : path.endsWith('/versions') ? [listed] : node;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  onTestFinished(far.close);
  const data = folderForTest();
  const near = await serviceForTest({ data, uplink: { url: far.url, ...rules } }, { now: () => start });
  const read = async (path: string) => (await fetch(near.url + path)).status;
  return { told, data, near, read };
}

const daysAgo = (days: number) => new Date(start - days * DAY).toISOString();

test('a registry that tells different dates of a version gets it past no rule with the later one', async () => {
  const { told, near, read } = await lyingRegistry({ minAgeDays: 7 });
  const archive = '/uplink/x/1.0.0/node.zip';
  told.list.createdAt = daysAgo(30);
  for (const createdAt of [daysAgo(1), daysAgo(-400), 'yesterday', '', 0, undefined, [daysAgo(30)]]) {
    told.install.createdAt = createdAt;
    expect([createdAt, await read(archive)]).toEqual([
      createdAt,
      expect.toSatisfy((status) => status >= 400),
    ]);
  }
  told.install.createdAt = daysAgo(8);
  expect(await read(archive)).toBe(200);
  // What it says later changes nothing of what is kept.
  told.install.createdAt = daysAgo(1);
  expect(await read(archive)).toBe(200);
  expect((await ask(`${near.url}/nodes/x/install?version=1.0.0`)).body.createdAt).toBe(daysAgo(8));
  // A version that it calls young again is not the latest, and no error.
  told.list.createdAt = daysAgo(-1);
  expect((await ask(`${near.url}/nodes/x`)).body.latest_version).toBeUndefined();
});

test.each([
  ['..', '../../../../tmp/x', '..\\..\\x', 'a/../../b', '.', '/etc/x'],
  ['1.0.0\0', 'x'.repeat(300), 'CON', '1.0.0/', 'a\nb', '\u202e1.0.0', '%2e%2e%2fx'],
])(
  'a version with a name that is a path or no text leaves no file outside its folder (%#)',
  async (...names) => {
    const { told, data, read } = await lyingRegistry();
    const before = readdirSync(data).sort();
    for (const version of names) {
      told.install.version = version;
      told.list.version = version;
      const status = await read(`/uplink/x/${encodeURIComponent(version)}/node.zip`);
      expect([version, status]).toEqual([version, expect.toSatisfy((code) => code < 500 || code === 503)]);
    }
    expect(readdirSync(data).sort()).toEqual(before);
    for (const path of listFiles(join(data, 'objects')))
      expect(path).toMatch(/(^|[\\/])uplink[\\/]x[\\/][\w-]+\.zip$/);
  },
);

test('what cannot be an id is not fetched ahead: lines are refused at once, and workflows stop nothing else', async () => {
  const { near } = await lyingRegistry();
  const cwd = folderForTest();
  const odd = [
    '../../etc/passwd@1',
    'x@../../y',
    '-x',
    '@',
    'x\u0007y',
    'a b',
    'é',
    'x'.repeat(5000),
    '__proto__',
  ];
  writeFileSync(join(cwd, 'odd.txt'), ['x', ...odd].join('\r\n'));
  writeFileSync(join(cwd, 'packs.txt'), '\ufeffx\r\n');
  const nodes = ['../admin', 'http://127.0.0.1/', '', 7, null].map((cnr_id, id) => ({
    ...{ id, type: 'A', properties: { cnr_id, ver: '../1' } },
  }));
  writeFileSync(join(cwd, 'flow.json'), JSON.stringify({ nodes, links: [], version: 0.4 }));
  const env = { REGEN_BASE_URL: near.url, REGEN_TOKEN: near.ownerToken };
  const refused = await regen(['serve', 'prefetch', 'odd.txt'], { env, cwd });
  expect([refused.exit, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('9 problems; nothing was sent.');
  expect(refused.stderr).toContain("odd.txt, line 4: '-x' must be written as node or node@range.");
  const line = ['serve', 'prefetch', 'packs.txt', '--workflow', 'flow.json', '--json'];
  const { exit, stdout, stderr } = await regen(line, { env, cwd });
  expect([exit, stderr]).toEqual([9, '']);
  const rows: { node_id: string; status: string }[] = JSON.parse(stdout);
  expect(rows.filter(({ status }) => status === 'kept').map(({ node_id }) => node_id)).toEqual(['x']);
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
  expect(stderr).not.toContain('--profile');
  await far.stop();
  for (const version of ['2.0.0', '1.0.0', '1.1.0'])
    expect((await regen(['version', 'download', 'remote', version], { env, cwd })).exit).toBe(0);
  const verified = await regen(['version', 'verify', 'remote', '1.0.0'], { env, cwd });
  expect([verified.exit, verified.stdout]).toEqual([0, expect.stringContaining('Mirrored')]);
});

test('prefetch from a service that has no uplink names the setting, and the flags for another service', async () => {
  const { url, ownerToken } = await serviceForTest();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'packs.txt'), 'remote\n');
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken };
  const { exit, stderr } = await regen(['serve', 'prefetch', 'packs.txt'], { env, cwd });
  expect(exit).toBe(3);
  expect(stderr).toContain('A node must be in the registry behind');
  expect(stderr).toContain('pass --profile or --base-url');
});

test.each([
  ['while the registry behind the service is down', 'remote@1.0.0', {}, 7, 'does not answer'],
  ['of a node that a rule refuses', 'remote', { deny: ['remote'] }, 4, 'does not pass on remote'],
  ['of a version that a rule refuses', 'remote@1.0.0', { deny: ['remote@1'] }, 4, 'is denied by the rules'],
  ['of a node that there is not', 'missing', {}, 3, 'no node missing here, nor in the registry'],
  [
    'of a version that there is not',
    'remote@1.5.0',
    {},
    3,
    'no version 1.5.0 of the node remote here, nor in the registry',
  ],
  ['of a range that no version is in', 'remote@^3', {}, 3, 'the newest are 2.0.0, 1.1.0, 1.0.0'],
] as const)('prefetch %s says that, and exits as an install does', async (_, wanted, rules, exit, reason) => {
  const { near, far } = await twoRegistries(rules as Partial<Uplink>);
  if (exit === 7) await far.stop();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'packs.txt'), wanted);
  const env = { REGEN_BASE_URL: near.url, REGEN_TOKEN: near.ownerToken };
  const ran = await regen(['serve', 'prefetch', 'packs.txt'], { env, cwd });
  expect([ran.exit, ran.stdout]).toEqual([exit, expect.stringContaining(reason)]);
  expect(ran.stderr.includes('its setting uplink')).toBe(reason.includes('nor in the registry'));
  const installed = await regen(['node', 'install', wanted, '--into', '.'], { env, cwd });
  expect(installed.exit).toBe(exit);
});

test('prefetch exits 9 if only some fail, or for different reasons', async () => {
  const { near } = await twoRegistries({ deny: ['refused'] });
  const cwd = folderForTest();
  const env = { REGEN_BASE_URL: near.url, REGEN_TOKEN: near.ownerToken };
  const fetchAhead = async (lines: string) => {
    writeFileSync(join(cwd, 'packs.txt'), lines);
    return (await regen(['serve', 'prefetch', 'packs.txt'], { env, cwd })).exit;
  };
  expect(await fetchAhead('remote\nrefused')).toBe(9);
  expect(await fetchAhead('missing\nrefused')).toBe(9);
  expect(await fetchAhead('missing\nabsent')).toBe(3);
});

test('prefetch takes ranges as an install does', async () => {
  const { near } = await twoRegistries({});
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'packs.txt'), 'remote@^1\nremote@latest\nremote@1.0\n');
  const env = { REGEN_BASE_URL: near.url, REGEN_TOKEN: near.ownerToken };
  const { exit, stdout } = await regen(['serve', 'prefetch', 'packs.txt'], { env, cwd });
  expect([exit, stdout]).toEqual([
    0,
    'remote\t1.1.0\tkept\t\nremote\t2.0.0\tkept\t\nremote\t1.0.0\tkept\t\n',
  ]);
});

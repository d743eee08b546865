import { expect, test } from 'vitest';
import { type Ran, regen, type Surroundings } from '../support/cli.js';
import { packForTest } from '../support/packs.js';
import { publisherForTest, serviceForTest } from '../support/service.js';

async function signedIn(): Promise<(argv: readonly string[], more?: Surroundings) => Promise<Ran>> {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = {
    REGEN_BASE_URL: service.url,
    REGEN_TOKEN: service.ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  return (argv, more = {}) => regen(argv, { ...more, env: { ...env, ...more.env } });
}

const parseOutput = ({ stdout }: Ran) => JSON.parse(stdout);

test('a publisher is created, shown, listed and updated', async () => {
  const run = await signedIn();
  expect(
    await run(['publisher', 'create', 'light', '--name', 'Light', '--website', 'https://light.example']),
  ).toMatchObject({
    exit: 0,
  });
  expect(
    parseOutput(await run(['publisher', 'update', 'light', '--support', 'mail', '--json'])),
  ).toMatchObject({
    id: 'light',
    name: 'Light',
    website: 'https://light.example',
    support: 'mail',
  });
  expect((await run(['publisher', 'list'])).stdout).toContain(
    'light\tLight\tPublisherStatusActive\thttps://light.example',
  );
  expect((await run(['publisher', 'create', 'light', '--name', 'Again'])).exit).toBe(5);
});

test('a token is shown once, masked in the list, and revoked', async () => {
  const run = await signedIn();
  const { stdout: token } = await run(['publisher', 'token', 'create', 'acme', 'release']);
  expect(token).toMatch(/^regen_pat_\S{43}\n$/);
  const tokens = parseOutput(await run(['publisher', 'token', 'list', 'acme', '--json'])) as {
    id: string;
    name: string;
  }[];
  const made = tokens.find(({ name }) => name === 'release');
  expect(JSON.stringify(tokens)).not.toContain(token.trim());
  expect(
    parseOutput(await run(['publisher', 'token', 'revoke', 'acme', made?.id as string, '--yes', '--json'])),
  ).toEqual({});
  const { exit } = await run(['node', 'list', 'acme'], { env: { REGEN_TOKEN: token.trim() } });
  expect(exit).toBe(4);
});

test('a person is invited, sees it, and becomes a member by accepting', async () => {
  const service = await serviceForTest();
  await publisherForTest(service);
  const token = await service.signFor({ sub: 'zoe', email: 'zoe@example.org' });
  const as = (REGEN_TOKEN: string) => (argv: string) =>
    regen(argv.split(' '), { env: { REGEN_BASE_URL: service.url, REGEN_TOKEN } });
  const [owner, zoe] = [as(service.ownerToken), as(token)];
  await owner('publisher member add acme zoe@example.org --role member');
  expect((await owner('publisher member list acme')).stdout).toMatch(/\tzoe@example.org\t\tmember\ttrue\n/);
  expect((await zoe('publisher list')).stdout).toBe('');
  expect((await zoe('publisher invitations')).stdout).toMatch(/^acme\tAcme\tmember\t/);
  expect((await zoe('publisher accept acme')).exit).toBe(0);
  expect((await zoe('publisher list')).stdout).toMatch(/^acme\t/);
  expect((await zoe('publisher decline acme')).exit).toBe(3);
});

test('nodes are created, changed, searched, listed page by page and all at once, and deleted', async () => {
  const run = await signedIn();
  for (const id of ['a1', 'b2', 'c3'])
    await run(['node', 'create', 'acme', '--id', id, '--name', `Node ${id}`, '--tags', 'x', '--tags', 'y']);
  expect(parseOutput(await run(['node', 'list', 'acme', '--limit', '2', '--json']))).toMatchObject({
    total: 3,
    totalPages: 2,
    page: 1,
  });
  expect((await run(['node', 'list', 'acme', '--limit', '2', '--page', '2'])).stdout).toBe(
    'c3\tNode c3\t\t0\tNodeStatusActive\t\n',
  );
  const all = parseOutput(await run(['node', 'list', 'acme', '--limit', '2', '--all', '--json']));
  expect(all).toMatchObject({ total: 3, totalPages: 1, limit: 3, page: 1 });
  expect(all.nodes.map(({ id }: { id: string }) => id)).toEqual(['a1', 'b2', 'c3']);
  const lines = (await run(['node', 'list', 'acme', '--limit', '1', '--all', '--ndjson'])).stdout
    .trim()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(['a1', 'b2', 'c3']);
  expect(
    parseOutput(await run(['node', 'update', 'acme', 'a1', '--description', 'Lights', '--json'])),
  ).toMatchObject({
    description: 'Lights',
    tags: ['x', 'y'],
  });
  expect((await run(['node', 'search', 'lights'])).stdout).toMatch(/^a1\t/);
  expect((await run(['node', 'delete', 'acme', 'a1', '--yes'])).exit).toBe(0);
  expect((await run(['node', 'get', 'a1'], { env: { REGEN_TOKEN: '', REGEN_PUBLISH_TOKEN: '' } })).exit).toBe(
    3,
  );
});

test('a version is updated, listed, shown with its history, and deleted', async () => {
  const run = await signedIn();
  await run(['version', 'publish', packForTest()]);
  expect(
    parseOutput(
      await run([
        'version',
        'update',
        'acme',
        'pack',
        '1.0.0',
        '--deprecated',
        '--changelog',
        'Old',
        '--json',
      ]),
    ),
  ).toMatchObject({
    deprecated: true,
    changelog: 'Old',
  });
  expect(
    parseOutput(await run(['version', 'update', 'acme', 'pack', '1.0.0', '--no-deprecated', '--json'])),
  ).toMatchObject({
    deprecated: false,
    changelog: 'Old',
  });
  expect((await run(['version', 'list', 'pack'])).stdout).toMatch(
    /^1\.0\.0\tNodeVersionStatusActive\tfalse\t/,
  );
  const history = parseOutput(await run(['version', 'history', 'acme', 'pack', '1.0.0', '--json'])) as {
    status: string;
  }[];
  expect(history.map(({ status }) => status)).toEqual([
    'NodeVersionStatusPending',
    'NodeVersionStatusActive',
  ]);
  expect((await run(['version', 'delete', 'acme', 'pack', '1.0.0', '--yes'])).exit).toBe(0);
  expect((await run(['version', 'get', 'pack', '2.0.0'])).exit).toBe(3);
});

test('bulk reads arguments and standard input, keeps order and duplicates, splits large requests, and exits 9', async () => {
  const run = await signedIn();
  await run(['version', 'publish', packForTest()]);
  const mixed = await run(['version', 'bulk', 'pack@1.0.0', 'nope@1.0.0']);
  expect(mixed.exit).toBe(9);
  expect(mixed.stdout).toMatch(
    /^pack\t1\.0\.0\tsuccess\tNodeVersionStatusActive\t\nnope\t1\.0\.0\tnot_found\t\t/,
  );
  const pairs = Array.from({ length: 2_300 }, (_, index) => (index % 2 ? 'pack@1.0.0' : `gone@1.0.${index}`));
  const many = await run(['version', 'bulk', '--json'], { stdin: `${pairs.join('\n')}\n` });
  const items = parseOutput(many).node_versions as { identifier: { node_id: string; version: string } }[];
  expect(items.map(({ identifier }) => `${identifier.node_id}@${identifier.version}`)).toEqual(pairs);
  expect((await run(['version', 'bulk', 'pack@1.0.0'])).exit).toBe(0);
  const wrong = await run(['version', 'bulk', 'pack', '@1']);
  expect(wrong.exit).toBe(2);
  expect(wrong.stderr).toContain("'pack' must be written as node@version");
});

test('host nodes are listed of one version, of all nodes, and by the three filters', async () => {
  const run = await signedIn();
  await run(['version', 'publish', packForTest()]);
  const row = 'Greet\tpack\tgreet\t["STRING"]\tHostNodePolicyActive\tfalse';
  expect((await run(['host-nodes', 'list', 'pack', '1.0.0'])).stdout).toBe(`${row}\n`);
  for (const filters of [[], ['--node-id', 'pack', '--host-node-name', 'Greet']])
    expect((await run(['host-nodes', 'list', ...filters])).stdout).toBe(`${row}\tpack\t1.0.0\n`);
  expect((await run(['host-nodes', 'list', '--host-node-name', 'Other'])).stdout).toBe('');
  expect(parseOutput(await run(['host-nodes', 'list', 'pack', '1.0.0', '--json']))).toMatchObject({
    totalNumberOfPages: 1,
  });
  expect(parseOutput(await run(['host-nodes', 'list', '--json']))).toMatchObject({ total: 1 });
  expect(parseOutput(await run(['host-nodes', 'get', 'pack', '1.0.0', 'Greet', '--json']))).toMatchObject({
    input_types: '{"required":{"name":["STRING",{"default":"you"}]}}',
    return_types: '["STRING"]',
  });
});

test('all problems of the input are reported by flag before anything is sent', async () => {
  const { exit, stdout, stderr } = await regen(
    ['node', 'create', 'acme', '--id', 'no good', '--description', 'x'.repeat(1001)],
    { env: { REGEN_BASE_URL: 'http://127.0.0.1:9' } },
  );
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain('--id must be');
  expect(stderr).toContain('--name is required');
  expect(stderr).toContain('--description must have at most 1000 characters');
});

test('a whole body replaces its flags, warns of what the service ignores, and excludes flags', async () => {
  const run = await signedIn();
  const body = JSON.stringify({ id: 'whole', name: 'Whole', rating: 5, frob: true });
  const made = await run(['node', 'create', 'acme', '--body', '-'], { stdin: body });
  expect(parseOutput(await run(['node', 'get', 'whole', '--json']))).toMatchObject({ name: 'Whole' });
  expect(made.stderr).toContain("'rating'");
  expect(made.stderr).toContain("'frob'");
  const both = await run(['node', 'create', 'acme', '--body', body, '--name', 'x']);
  expect(both.exit).toBe(2);
  expect(both.stderr).toContain('--name and --body cannot be used together');
});

test('a token without a named service changes nothing and says which variable is missing', async () => {
  const { exit, stderr } = await regen(['publisher', 'create', 'x-y', '--name', 'X'], {
    env: { REGEN_TOKEN: 'secret' },
  });
  expect(exit).toBe(2);
  expect(stderr).toContain('REGEN_BASE_URL');
  expect(stderr).not.toContain('secret');
});

test('an unreachable service exits 7 with one line of advice', async () => {
  const { exit, stdout, stderr } = await regen(['node', 'get', 'x', '--json'], {
    env: { REGEN_BASE_URL: 'http://127.0.0.1:9' },
  });
  expect({ exit, stdout }).toEqual({ exit: 7, stdout: '' });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'refused' } });
});

test('text of other users is printed without control characters', async () => {
  const run = await signedIn();
  const hostile = 'red \u001b[31m bell \u0007 title \u001b]0;x\u0007 back \u202e end';
  await run(['node', 'create', 'acme', '--id', 'evil', '--name', 'Evil', '--description', hostile]);
  const { stdout } = await run(['node', 'get', 'evil'], { terminal: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(stdout).toContain('red  bell \\u0007 title  back \\u202e end');
  expect(parseOutput(await run(['node', 'get', 'evil', '--json'])).description).toBe(hostile);
});

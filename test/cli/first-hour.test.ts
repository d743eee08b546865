import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.js';
import { completeTopics } from '../../src/cli/views/topics.js';
import { Destination } from '../../src/flows/tasks/destination.js';
import { homeForTest, regen } from '../support/cli.js';
import { listenOn } from '../support/listen.js';
import { registryForFile } from '../support/registry.js';
import { folderForTest } from '../support/service.js';

const registry = registryForFile();

function createEnvironment(who: 'admin' | 'ann' | 'bob' | 'eve'): Record<string, string> {
  return { REGEN_BASE_URL: registry().url, REGEN_TOKEN: registry().tokens[who] as string };
}

const runAs = (argv: readonly string[], who: 'admin' | 'ann' | 'bob' | 'eve' = 'ann') =>
  regen(argv, { env: createEnvironment(who) });

describe('a failure with --json is one JSON object on stderr, and nothing else', () => {
  const failing: readonly (readonly string[])[] = [
    ['version', 'publish', 'empty'],
    ['version', 'publish', 'nowhere'],
    ['version', 'check', 'nowhere'],
    ['version', 'pack', 'nowhere'],
    ['version', 'download', 'nope'],
    ['version', 'get', 'nope', '1.0.0'],
    ['version', 'diff', 'nope'],
    ['version', 'delete', 'nope', '1.0.0'],
    ['node', 'get', 'nope'],
    ['node', 'scaffold', 'empty'],
    ['image', 'upscale', 'empty/pyproject.toml'],
    ['image', 'relight', 'photo.jpg'],
    ['video', 'text2video', 'a boat', '--duration', '999'],
    ['batch', 'jobs.jsonl'],
    ['task', 'wait', 'nope'],
    ['webhook', 'trigger', '--to', 'http://127.0.0.1:9/'],
    ['serve', '--config', 'wrong.toml', '--check'],
    ['config', 'get', 'nope'],
    ['nonsense'],
    ['node', 'get', 'x', '--nonsense'],
  ];

  it.each(failing.map((argv) => [argv.join(' '), argv] as const))('regen %s', async (_, argv) => {
    const cwd = folderForTest();
    mkdirSync(join(cwd, 'empty'));
    await regen(['node', 'init', 'empty', '--publisher', 'acme'], { cwd });
    writeFileSync(join(cwd, 'jobs.jsonl'), '{"command": "image relight", "image": "gone.jpg"}\n');
    writeFileSync(join(cwd, 'wrong.toml'), 'prot = 3\n');
    const { exit, stderr } = await regen([...argv, '--json'], { cwd, env: createEnvironment('ann') });
    expect(exit).not.toBe(0);
    const { error } = JSON.parse(stderr);
    expect([typeof error.code, typeof error.message]).toEqual(['string', 'string']);
  });
});

describe('users', () => {
  it('are listed and found by a part of their address or name', async () => {
    await registry().ok('eve', 'GET', '/users/me');
    const { stdout } = await runAs(['admin', 'user', 'list', '--json'], 'admin');
    expect(JSON.parse(stdout).users.map(({ email }: { email?: string }) => email)).toContain(
      'eve@example.org',
    );
    const found = await runAs(['admin', 'user', 'list', 'EVE@', '--json'], 'admin');
    expect(JSON.parse(found.stdout)).toMatchObject({
      total: 1,
      users: [{ email: 'eve@example.org', name: 'eve' }],
    });
    for (const pattern of ['%', '_', '!', "'"]) {
      const none = await runAs(['admin', 'user', 'list', pattern, '--json'], 'admin');
      expect([pattern, JSON.parse(none.stdout).total]).toEqual([pattern, 0]);
    }
    expect((await runAs(['admin', 'user', 'list'])).exit).toBe(4);
  });

  it('get a budget by their address, in any letter case', async () => {
    const { exit, stdout } = await runAs(
      ['admin', 'user', 'set', 'Eve@Example.org', '500', '--json'],
      'admin',
    );
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({
        email: 'eve@example.org',
        budget: expect.objectContaining({ credits_per_month: 500 }),
      }),
    ]);
    const unknown = await runAs(['admin', 'user', 'set', 'eve@example.or', '500'], 'admin');
    expect([unknown.exit, unknown.stderr]).toEqual([
      3,
      'error: There is no user with the email address eve@example.or.\n',
    ]);
  });

  it('are removed from a publisher by their address', async () => {
    await registry().join('eve', 'acme', 'member');
    const { exit, stderr } = await runAs([
      'publisher',
      'member',
      'remove',
      'acme',
      'eve@example.org',
      '--yes',
    ]);
    expect(exit, stderr).toBe(0);
    const { stdout } = await runAs(['publisher', 'member', 'list', 'acme', '--json']);
    expect(stdout).not.toContain('eve@example.org');
  });
});

describe('versions', () => {
  it('are named by the node alone, and the earlier order of arguments still works', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await registry().active('order', version);
    const both = [['order'], ['acme', 'order']];
    for (const names of both) {
      const history = await runAs(['version', 'history', ...names, '1.0.0', '--json']);
      expect(JSON.parse(history.stdout).at(-1)).toMatchObject({ status: 'NodeVersionStatusActive' });
      const updated = await runAs([
        'version',
        'update',
        ...names,
        '1.0.0',
        '--changelog',
        names.join(),
        '--json',
      ]);
      expect(JSON.parse(updated.stdout).changelog).toBe(names.join());
      const named = await runAs(['node', 'update', ...names, '--name', names.join(), '--json']);
      expect(JSON.parse(named.stdout).name).toBe(names.join());
    }
    const dry = await runAs(['version', 'delete', 'order', '1.0.0', '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout).url).toMatch(/\/publishers\/acme\/nodes\/order\/versions\/1\.0\.0$/);
    expect((await runAs(['version', 'delete', 'order', '1.0.0'])).stderr).toContain(
      '--yes is required to delete version 1.0.0 of order.',
    );
    expect((await runAs(['version', 'delete', 'order', '1.0.0', '--yes'])).exit).toBe(0);
    expect((await runAs(['version', 'delete', 'acme', 'order', '1.1.0', '--yes'])).exit).toBe(0);
    expect((await runAs(['version', 'delete', 'a', 'b', 'c', 'd', '--yes'])).exit).toBe(2);
  });

  it('that do not exist are refused with those that do, newest first', async () => {
    for (const version of ['1.0.0', '1.9.0', '1.10.0']) await registry().active('listed', version);
    await registry().publish('listed', '2.0.0');
    const get = ['version', 'get', 'listed', '1.0.1'];
    expect((await runAs(get, 'eve')).stderr).toBe(
      'error: The node listed has no Active version 1.0.1; it has 1.10.0, 1.9.0, 1.0.0.\n',
    );
    // Drafts are named to members only.
    expect((await runAs(get)).stderr).toContain('it has 2.0.0, 1.10.0, 1.9.0, 1.0.0.');
    expect((await runAs(['version', 'history', 'listed', '9.9.9'])).stderr).toContain('it has 2.0.0, 1.10.0');
  });

  it('may be called latest', async () => {
    for (const version of ['1.0.0', '1.1.0']) await registry().active('newest', version);
    const get = await runAs(['version', 'get', 'newest', 'latest', '--json']);
    expect(JSON.parse(get.stdout).version).toBe('1.1.0');
    expect((await runAs(['version', 'history', 'newest', 'latest'])).exit).toBe(0);
    const diff = await runAs(['version', 'diff', 'newest']);
    expect(diff.stderr).toContain('Comparing newest 1.0.0 with 1.1.0');
    expect((await runAs(['version', 'diff', 'newest', '1.0.0', 'latest'])).exit).toBe(0);
    await registry().publish('draft', '1.0.0');
    const none = await runAs(['version', 'get', 'draft', 'latest']);
    expect([none.exit, none.stderr]).toEqual([3, expect.stringContaining('has no active version')]);
    expect((await runAs(['version', 'diff', 'newest', '--exit-code'])).exit).toBe(0);
  });

  it('tell those who download them why they are deprecated, until the mark is removed', async () => {
    await registry().active('old', '1.0.0');
    const deprecate = ['version', 'deprecate', 'old', '1.x'];
    const message = 'Use 2.0.0\u001b[31m; it is faster';
    const marked = await runAs([...deprecate, '--message', message, '--json']);
    expect(JSON.parse(marked.stdout)).toMatchObject([{ deprecated: true, deprecation_message: message }]);
    const { stderr } = await runAs(['version', 'download', 'old', '-o', `${folderForTest()}/`], 'eve');
    expect(stderr).toContain('warning: old 1.0.0 is deprecated: Use 2.0.0; it is faster\n');
    expect((await runAs([...deprecate, '--message', 'Another reason'])).exit).toBe(0);
    expect((await runAs([...deprecate, '--undo', '--message', 'x'])).exit).toBe(2);
    const undone = await runAs([...deprecate, '--undo', '--json']);
    expect(JSON.parse(undone.stdout)[0]).not.toHaveProperty('deprecation_message');
  });

  it('are filtered by short and long names of statuses, which help and completion show', async () => {
    await registry().active('short', '1.0.0');
    for (const status of ['active', 'Active', 'NodeVersionStatusActive']) {
      const { stdout } = await runAs(['version', 'list', 'short', '--statuses', status, '--json']);
      expect(JSON.parse(stdout)).toHaveLength(1);
    }
    const help = await runAs(['admin', 'review', '--help']);
    expect(help.stdout).not.toContain('NodeVersionStatus');
    const offered = await runAs(['__complete', '--current=', '--', 'version', 'list', 'short', '--statuses']);
    expect(offered.stdout).not.toContain('NodeVersionStatus');
  });
});

it('no help shows the long name of a status', () => {
  const { commands } = commandTree();
  const long = commands.filter((command) => {
    const { arguments: positionals, flags, examples, notes = [] } = command;
    const texts = [...positionals, ...flags].map(({ description = '' }) => description);
    return /(?:Status|Policy)(?:Active|Banned|Flagged|Pending|Deleted|LocalOnly)/.test(
      [...texts, ...examples, ...notes].join(),
    );
  });
  // Notes of fields that help repeats from the contract.
  expect(long.map(({ words }) => words.join(' '))).toEqual([]);
});

describe('hints follow the code of an error', () => {
  it.each([
    ['admin_required', ['admin', 'audit'], 'Ask an admin of the service'],
    ['not_found', ['node', 'get', 'nope'], undefined],
    ['forbidden', ['publisher', 'audit', 'acme'], 'See who is signed in'],
  ] as const)('%s', async (code, argv, hint) => {
    const { stderr } = await runAs([...argv, '--json'], 'eve');
    expect(JSON.parse(stderr).error).toMatchObject({
      code,
      ...(hint && { hint: expect.stringContaining(hint) }),
    });
    if (!hint) expect(JSON.parse(stderr).error).not.toHaveProperty('hint');
  });

  it.each(['REGEN_TOKEN', 'REGEN_ADMIN_TOKEN', 'REGEN_PUBLISH_TOKEN'])(
    'a wrong %s is named',
    async (name) => {
      const env = { REGEN_BASE_URL: registry().url, [name]: 'junk' };
      const { exit, stderr } = await regen(['publisher', 'list'], { env });
      expect([exit, stderr]).toEqual([
        4,
        expect.stringContaining(`The token of ${name} is unknown, expired or revoked`),
      ]);
      expect(stderr).not.toContain('auth login');
    },
  );
});

it('an admin token in REGEN_ADMIN_TOKEN is used', async () => {
  const { stdout } = await runAs(['admin', 'generate-token'], 'admin');
  const env = { REGEN_BASE_URL: registry().url, REGEN_ADMIN_TOKEN: stdout.trim() };
  expect((await regen(['admin', 'audit'], { env })).exit).toBe(0);
});

it('an https address of a service without TLS is explained', async () => {
  const { url } = registry();
  const { exit, stderr } = await regen(['node', 'get', 'x', '--base-url', url.replace('http:', 'https:')]);
  expect(exit).toBe(7);
  expect(stderr).toContain('does not use TLS; its address may begin with http:// instead of https://.');
  expect(stderr).not.toMatch(/routines|openssl/i);
});

it('new tokens and keys are shown on a terminal only with --show, and nothing is created without it', async () => {
  const env = createEnvironment('ann');
  const creating = [
    ['key', 'create', 'script'],
    ['publisher', 'token', 'create', 'acme', 'ci'],
  ];
  for (const argv of creating) {
    const refused = await regen(argv, { env, terminal: true });
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('pass --show')]);
    const shown = await regen([...argv, '--show'], { env, terminal: true });
    expect([shown.exit, shown.stdout]).toEqual([0, expect.stringMatching(/^regen_\w+/)]);
    expect((await regen(argv, { env })).exit).toBe(0);
  }
  expect(JSON.parse((await runAs(['key', 'list', '--json'])).stdout)).toHaveLength(2);
});

it('an API key of several operations, its limit and what it spent are shown', async () => {
  const operations = ['--operations', 'image.relight,video.text2video'];
  const env = createEnvironment('eve');
  expect((await regen(['key', 'create', 'night run', ...operations, '--credits', '40'], { env })).exit).toBe(
    0,
  );
  const piped = await regen(['key', 'list'], { env });
  const cells = piped.stdout.trimEnd().split('\t');
  expect([cells[3], ...cells.slice(-2)]).toEqual(['image.relight, video.text2video', '40', '0']);
  const shown = await regen(['key', 'list'], { env, terminal: true, columns: 80 });
  expect(shown.stdout).toMatch(/NAME .*TOTAL CREDITS +TOTAL USED\n\w+ +night run .* 40 +0\n$/);
});

it('inviting a member again and publishing without a token show the command that helps', async () => {
  await registry().join('bob', 'acme', 'member');
  const again = ['publisher', 'member', 'add', 'acme', 'bob@example.org', '--role', 'owner'];
  expect((await runAs(again)).stderr).toBe(
    'error: bob@example.org is already a member with the role member.\nhint: Change the role with: regen publisher member set <publisher> <email> <role>\n',
  );
  const cwd = folderForTest();
  expect((await regen(['node', 'scaffold', 'light-tools', '--publisher', 'acme'], { cwd })).exit).toBe(0);
  const published = await regen(['version', 'publish', 'light-tools'], {
    cwd,
    env: createEnvironment('bob'),
  });
  expect(published.stderr).toContain(
    'Owners create one, also for members, with: regen publisher token create acme <name> --output-file token.txt',
  );
});

describe('other names', () => {
  it.each([
    ['image upscale', 'image upscaler'],
    ['image enhance-skin', 'image skin-enhancer'],
    ['video interpolate', 'video start-end2video'],
  ])('%s is %s, in help, completion and batches', async (alias, name) => {
    const help = await regen([...alias.split(' '), '--help']);
    expect(help.stdout).toBe((await regen([...name.split(' '), '--help'])).stdout);
    expect(help.stdout).toContain(`Also: regen ${alias}`);
    const flags = async (words: string) =>
      (await regen(['__complete', '--current=--', '--', ...words.split(' ')])).stdout;
    expect(await flags(alias)).toBe(await flags(name));
    const cwd = folderForTest();
    const images = alias.startsWith('video')
      ? { images: ['https://example.com/a.png'] }
      : { image: 'https://example.com/a.png' };
    writeFileSync(join(cwd, 'jobs.jsonl'), `${JSON.stringify({ command: alias, ...images })}\n`);
    const dry = await regen(['batch', 'jobs.jsonl', '--dry-run'], { cwd, env: createEnvironment('ann') });
    expect(dry.exit, dry.stderr).toBe(0);
  });
});

it('the list of all commands has every first word of the tree', () => {
  const tree = commandTree();
  const listed = completeTopics(tree).commands?.blocks.flatMap(({ items = [] }) =>
    items.map(([name]) => name),
  );
  expect(listed).toEqual(tree.words);
});

it('wrong values are repeated, with the one that they may mean', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.jpg'), Buffer.from('ffd8ff', 'hex'));
  const style = await regen(['image', 'relight', 'photo.jpg', '--style', 'brigther'], { cwd });
  expect(style.stderr).toContain("not 'brigther' (did you mean brighter?).");
  const scale = await regen(['image', 'upscale', 'photo.jpg', '--scale-factor', '99'], { cwd });
  expect(scale.stderr).toContain("--scale-factor must be at most 16, not '99'.");
  const long = await regen(['image', 'relight', 'photo.jpg', '--style', 'x'.repeat(5000)], { cwd });
  expect(long.stderr.length).toBeLessThan(1000);
  const kind = await regen(['task', 'list', '--kind', 'videos']);
  expect([kind.exit, kind.stderr]).toEqual([
    2,
    expect.stringContaining("'--kind videos' names no kind of task"),
  ]);
  expect((await regen(['task', 'show', '@last:nothing'])).stderr).toContain(
    "'@last:nothing' names no kind of task",
  );
});

it('files without an image are refused together, before anything is sent', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.jpg'), Buffer.from('ffd8ff', 'hex'));
  writeFileSync(join(cwd, 'page.jpg'), '<!doctype html>');
  writeFileSync(join(cwd, 'clip.png'), '\0\0\0\x18ftypmp42\0\0\0\0');
  // What this version of regen does not know may be an image.
  writeFileSync(join(cwd, 'new.jxl'), Buffer.from('ff0afa7f', 'hex'));
  const { exit, stderr } = await regen(
    ['image', 'upscale', 'photo.jpg', 'page.jpg', 'clip.png', 'new.jxl', '--base-url', 'http://127.0.0.1:1'],
    { cwd },
  );
  expect([exit, stderr]).toEqual([
    2,
    [
      'error: 2 problems; nothing was sent.',
      '  <image> is not an image: page.jpg',
      '  <image> is not an image: clip.png',
      '',
    ].join('\n'),
  ]);
});

describe('a node and its version', () => {
  it('are also understood as node@version, and as the latest one', async () => {
    await registry().active('paired', '1.0.0');
    await registry().active('paired', '1.1.0');
    const { stdout } = await runAs(['version', 'get', 'paired@1.0.0', '--json']);
    expect(JSON.parse(stdout).version).toBe('1.0.0');
    for (const argv of [['paired@latest'], ['paired', 'latest']]) {
      const { exit, stderr } = await runAs(['host-nodes', 'list', ...argv]);
      expect([exit, stderr]).toEqual([0, expect.not.stringContaining('latest')]);
    }
    const listed = await runAs(['host-nodes', 'list', 'paired@latest', '--host-node-name', 'x', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual({ host_nodes: [], total: 0 });
  });

  it('in another order lead to a hint how to write them', async () => {
    expect((await runAs(['version', 'get', '1.0.0', 'paired'])).stderr).toContain(
      '1.0.0 is a version number; the node comes first.',
    );
    const install = await runAs(['node', 'install', 'paired', '1.0.0', '--into', folderForTest()]);
    expect([install.exit, install.stderr]).toEqual([2, expect.stringContaining('write it behind its node')]);
  });
});

it('a profile keeps its address until its credentials are removed', async () => {
  const home = homeForTest();
  const run = (...argv: string[]) => regen(argv, { home, stdin: registry().tokens.ann as string });
  await run('config', 'set', 'profiles.own.base_url', registry().url);
  await run('auth', 'login', '--with-token', '--profile', 'own');
  const refused = await run('config', 'unset', 'profiles.own.base_url');
  expect([refused.exit, refused.stderr]).toEqual([
    2,
    expect.stringContaining('regen auth logout --profile own'),
  ]);
  expect((await run('auth', 'logout', '--profile', 'own')).exit).toBe(0);
  expect((await run('config', 'unset', 'profiles.own.base_url')).exit).toBe(0);
});

it('doctor gives its advice below the table on a terminal', async () => {
  const { stdout, stderr } = await regen(['doctor', '--base-url', 'http://127.0.0.1:9'], {
    terminal: true,
    columns: 80,
  });
  expect(stdout).not.toContain('ADVICE');
  expect(stderr).toMatch(/^service: /m);
});

it('names that other programs use for commands lead to one of ours', async () => {
  for (const [argv, meant] of [
    [['publish'], 'version publish'],
    [['install', 'x'], 'node install'],
    [['node', 'publish'], 'version publish'],
    [['adduser'], 'auth login'],
    [['browse'], 'open'],
    [['ping'], 'doctor'],
    [['update'], 'node install'],
    [['view', 'x'], 'node get'],
    [['node', 'info', 'x'], 'node get'],
    [['version', 'yank', 'x'], 'version deprecate'],
    [['webhook', 'list'], 'webhook deliveries'],
    [['auth', 'whoami'], 'auth status'],
    [['logs'], 'serve logs'],
    [['serve', 'restart'], 'serve stop, then regen serve'],
    [['admin', 'version', 'ban', 'x@1.0.0'], 'admin version set-status'],
  ] as const)
    expect((await regen(argv)).stderr).toMatch(
      new RegExp(`^error: Unknown command '\\w+'\\.\nhint: Did you mean: regen ${meant}\n$`),
    );
});

it('listing the nodes of a publisher without a credential leads to the search, which needs none', async () => {
  const env = { REGEN_BASE_URL: registry().url };
  const { exit, stderr } = await regen(['node', 'list', 'acme'], { env });
  expect(exit).toBe(4);
  expect(stderr).toMatch(/regen node search .*--publisher-id acme\n$/);
  expect((await regen(['node', 'search', '--publisher-id', 'acme'], { env })).exit).toBe(0);
});

it('the flag for webhooks of videos leads to that of images, and the other way', async () => {
  for (const [argv, flag] of [
    [['image', 'upscale', 'a.png', '--callback-url', 'http://127.0.0.1:9'], 'webhook-url'],
    [['video', 'text2video', 'x', '--webhook-url', 'http://127.0.0.1:9'], 'callback-url'],
  ] as const)
    expect((await regen(argv)).stderr).toContain(`(Did you mean --${flag}?)`);
});

it('completion offers topics, settings and the newest task', async () => {
  const complete = async (current: string, ...words: string[]) =>
    (await regen(['__complete', `--current=${current}`, '--', ...words])).stdout
      .split('\n')
      .map((line) => line.split('\t')[0]);
  expect(await complete('', 'help')).toEqual(expect.arrayContaining(['node', 'exit-codes', 'commands']));
  expect(await complete('', 'help', 'node')).toEqual(expect.arrayContaining(['get', 'scaffold']));
  expect(await complete('', 'config', 'set')).toEqual(expect.arrayContaining(['profile', 'confirm_credits']));
  expect(await complete('@l', 'task', 'wait')).toContain('@last');
  // Bash takes the @ for a word.
  expect(await complete('l', 'task', 'wait', '@')).toEqual(expect.arrayContaining(['last', 'last:video']));
});

it('a confirmation that is declined is not called an error', async () => {
  await registry().active('kept', '1.0.0');
  const { exit, stderr } = await regen(['version', 'delete', 'kept', '1.0.0'], {
    env: createEnvironment('ann'),
    answers: [false],
  });
  expect(exit).toBe(2);
  expect(stderr).toContain('Cancelled. Nothing was changed.');
  expect(stderr).not.toContain('error:');
});

it('results of several files are named after them in a folder, with ids only where names clash', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex');
  const server = await listenOn((_, response) => response.end(png));
  onTestFinished(server.close);
  const cwd = folderForTest();
  const download = async (_: string, { to }: { to: NodeJS.WritableStream }) => {
    await new Promise<void>((done) => to.end(png, done));
    return { headers: {}, bytes: png.length };
  };
  const claimed = new Set<string>();
  const save = (name: string, task_id: string, how = {}) =>
    new Destination(cwd, 'out/', { force: false, receipt: false, claimed, ...how }).save(
      { download } as never,
      `${server.url}/x.png`,
      { name, task_id, index: 1 },
      new AbortController().signal,
    );
  for (const [name, id] of [
    ['my holiday', 'a'],
    ['cat', 'b'],
    ['cat', 'c'],
  ] as const)
    await save(name, id);
  await save('cat', 'd', { force: true });
  expect(readdirSync(join(cwd, 'out')).sort()).toEqual([
    'cat-c.png',
    'cat-d.png',
    'cat.png',
    'my holiday.png',
  ]);
  await save('cat', 'e', { force: true, claimed: new Set() });
  expect(readdirSync(join(cwd, 'out'))).toHaveLength(4);
  // As several programs that save into the same folder at once.
  const ids = ['f', 'g', 'h', 'i'];
  await Promise.all(ids.map((id) => save('dog', id, { claimed: new Set() })));
  expect(readdirSync(join(cwd, 'out')).filter((name) => name.startsWith('dog'))).toHaveLength(4);
});

it('task list asks services about tasks that were last seen running', async () => {
  const home = homeForTest();
  const { stdout } = await regen(['task', 'list', '--json'], { home });
  expect(JSON.parse(stdout)).toEqual([]);
});

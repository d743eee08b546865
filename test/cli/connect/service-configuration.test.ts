import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readConfiguration } from '../../../src/cli/connect/service-configuration.js';
import { homeForTest, regen, startRegen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

function writeConfiguration(name: string, text: string): string {
  const path = join(folderForTest(), name);
  writeFileSync(path, text);
  return path;
}

it('a configuration may be TOML or JSON, and its data folder is relative to the file', async () => {
  const toml = writeConfiguration(
    'regen.toml',
    'data = "data"\n[[issuers]]\nissuer = "https://login.example.com"\n',
  );
  const issuers = [{ issuer: 'https://login.example.com' }];
  expect(await readConfiguration(toml)).toEqual({ data: join(toml, '../data'), issuers });
  const json = writeConfiguration('regen.json', JSON.stringify({ data: '/data', issuers }));
  expect(await readConfiguration(json)).toEqual({ data: '/data', issuers });
});

it('all problems of a configuration are reported with their paths before anything starts', async () => {
  const text = 'port = 70000\n[[issuers]]\nissuer = "http://login.example.com"\nclient_id = "x"\n';
  const { exit, stdout, stderr } = await regen(['serve', '--config', writeConfiguration('regen.toml', text)]);
  expect([exit, stdout]).toEqual([2, '']);
  for (const path of [
    'port must be',
    'issuers.0.issuer must be an https URL',
    'issuers.0.client_id is not a setting (did you mean clientId?)',
  ])
    expect(stderr).toContain(path);
});

it.each([
  ['a.toml', 'port = \n', 'not valid TOML: line 1, column 8: invalid value.'],
  ['a.toml', 'generation.record = "a"\n[generation]\n', 'line 2, column 2: [generation] is already defined.'],
  ['a.toml', 'key = 1\nkey = "secret"\n', 'line 2, column 1: key is already defined.'],
  ['a.json', '{', 'not valid JSON'],
  ['a.json', 'null', 'must be an object'],
  ['a.json', '[]', 'must be an object'],
])('%s with %j fails with a message', async (name, text, sentence) => {
  const { exit, stderr } = await regen(['serve', '--config', writeConfiguration(name, text)]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});

it('a configuration that does not exist or is not a file fails with a message', async () => {
  const folder = folderForTest();
  mkdirSync(join(folder, 'a.toml'));
  const missing = await regen(['serve', '--config', 'no.toml'], { cwd: folder });
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('File not found')]);
  const noFile = await regen(['serve', '--config', 'a.toml'], { cwd: folder });
  expect([noFile.exit, noFile.stderr]).toEqual([2, expect.stringContaining('a.toml is a folder')]);
});

it('flags override variables, variables the file, and the file the defaults', async () => {
  const config = writeConfiguration(
    'regen.toml',
    'host = "::1"\nport = 1\ngraceMs = 7\n[limits]\nbulkPairs = 5\n',
  );
  const { exit, stdout } = await regen(['serve', '--config', config, '--port', '3', '--print-config'], {
    env: { REGEN_SERVE_PORT: '2', REGEN_SERVE_HOST: '127.0.0.2', REGEN_SERVE_LIMITS__JSON_BODY: '9' },
  });
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    host: '127.0.0.2',
    port: 3,
    graceMs: 7,
    limits: { bulkPairs: 5, jsonBody: 9, archiveEntries: 50_000 },
  });
});

it('lists in variables are JSON, and a variable ending in _FILE names the file of the value', async () => {
  const issuer = writeConfiguration('issuers', '[{"issuer":"https://login.example.com"}]\n');
  const { stdout } = await regen(['serve', '--print-config'], {
    env: { REGEN_SERVE_ISSUERS_FILE: issuer, REGEN_SERVE_TRUSTED_PROXIES: '["10.0.0.0/8"]' },
  });
  expect(JSON.parse(stdout)).toMatchObject({
    issuers: [{ issuer: 'https://login.example.com' }],
    trustedProxies: ['10.0.0.0/8'],
  });
});

it('a value and a file for the same setting are refused, in any order', async () => {
  const pair = [
    ['REGEN_SERVE_PORT', '1'],
    ['REGEN_SERVE_PORT_FILE', writeConfiguration('port', '2')],
  ];
  for (const entries of [pair, [...pair].reverse()]) {
    const { exit, stderr } = await regen(['serve', '--check'], { env: Object.fromEntries(entries) });
    expect(exit).toBe(2);
    expect(stderr).toContain('REGEN_SERVE_PORT_FILE and REGEN_SERVE_PORT are both set; unset one');
  }
});

it('all wrong variables are reported by name', async () => {
  const { exit, stderr } = await regen(['serve', '--check'], {
    env: { REGEN_SERVE_PROT: '1', REGEN_SERVE_ISSUERS: 'x', REGEN_SERVE_HOST_FILE: '/nowhere' },
  });
  expect(exit).toBe(2);
  expect(stderr).toContain('REGEN_SERVE_PROT is not the variable of a setting');
  expect(stderr).toContain('REGEN_SERVE_ISSUERS must be JSON');
  expect(stderr).toContain('REGEN_SERVE_HOST_FILE names /nowhere, which cannot be read (ENOENT)');
});

it('a number at an exclusive bound is refused with the bound in the message', async () => {
  const { stderr } = await regen(['serve', '--check'], { env: { REGEN_SERVE_RATE_LIMIT: '0' } });
  expect(stderr).toContain('rateLimit must be more than 0');
});

it('serve status and serve stop find the data folder in the configuration file or the variable that serve uses', async () => {
  const data = folderForTest();
  await serviceForTest({ data });
  const config = writeConfiguration('regen.toml', `data = ${JSON.stringify(data)}\n`);
  const home = folderForTest();
  const byFile = await regen(['serve', 'status', '--json', '--config', config], { home });
  const byVariable = await regen(['serve', 'status', '--json'], { home, env: { REGEN_SERVE_DATA: data } });
  const env = {
    REGEN_SERVE_DATA_FILE: writeConfiguration('folder', `${data}\n`),
    REGEN_SERVE_HOTS: 'of no concern',
  };
  const byFileOfVariable = await regen(['serve', 'status', '--json'], { home, env });
  for (const { stdout } of [byFile, byVariable, byFileOfVariable])
    expect(JSON.parse(stdout)).toMatchObject({ data });
  expect((await regen(['serve', 'status'], { home })).exit).toBe(7);
  const second = await regen(['serve', '--config', config, '--port', '0'], { home });
  expect(second.stderr).toContain(`Stop the running service with: regen serve stop --config ${config}`);
});

it.each(['5', '""', '[]', '{}'])('a data folder of %s is refused, and the setting is named', async (data) => {
  const config = writeConfiguration('regen.json', `{"data":${data}}`);
  for (const command of [
    '--check',
    '--detach',
    'status',
    'stop',
    'rotate-key',
    'check',
    'prune',
    'migrate',
  ]) {
    const { exit, stderr } = await regen(['serve', command, '--config', config]);
    expect([command, exit, stderr]).toEqual([command, 2, expect.stringMatching(/\bdata must/)]);
  }
});

it('the paths of a configuration are relative to its file, and those of variables to the current folder', async () => {
  const config = writeConfiguration(
    'regen.json',
    `{"naming":"a.json","uplink":{"url":"https://x.test","naming":"b.json"},
      "generation":{"image":{"engine":"upstream","vendor":"./mine.json"},"video":{"vendor":"vidu"}}}`,
  );
  const folder = join(config, '..');
  expect(await readConfiguration(config)).toMatchObject({
    naming: join(folder, 'a.json'),
    uplink: { naming: join(folder, 'b.json') },
    generation: { image: { vendor: join(folder, 'mine.json') }, video: { vendor: 'vidu' } },
  });
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'port'), '5');
  const env = { REGEN_SERVE_NAMING: 'c.json', REGEN_SERVE_DATA: 'data', REGEN_SERVE_PORT_FILE: 'port' };
  const { stdout } = await regen(['serve', '--print-config'], { cwd, env });
  expect(JSON.parse(stdout)).toMatchObject({ naming: join(cwd, 'c.json'), data: join(cwd, 'data'), port: 5 });
});

it('serve --detach uses the configuration of serve, and reports why a start failed', async () => {
  const taken = await listenOn(() => {});
  onTestFinished(taken.close);
  const { port } = new URL(taken.url);
  const cwd = folderForTest();
  const metrics = { token: { env: 'METRICS_TOKEN' } };
  writeFileSync(join(cwd, 'regen.json'), JSON.stringify({ port: Number(port), metrics }));
  writeFileSync(join(cwd, 'folder'), 'data');
  copyFileSync('src/contract/naming/comfy.json', join(cwd, 'names.json'));
  const env = {
    REGEN_SERVE_DATA_FILE: 'folder',
    REGEN_SERVE_NAMING: 'names.json',
    METRICS_TOKEN: 'token-of-metrics',
  };
  const surroundings = { cwd, home: homeForTest(), env };
  const detach = ['serve', '--detach', '--config', 'regen.json'];
  const refused = await startRegen(detach, surroundings).ended;
  expect([refused.exit, refused.stderr]).toEqual([7, expect.stringContaining(`Port ${port} on 127.0.0.1`)]);
  expect(refused.stderr).not.toContain('REGEN_LOCAL_PORT');
  const onPostgres = { ...env, REGEN_SERVE_PORT: '0', REGEN_SERVE_DATABASE: 'postgres://127.0.0.1:1/x' };
  const unreachable = await startRegen(detach, { ...surroundings, env: onPostgres }).ended;
  expect([unreachable.exit, unreachable.stderr]).toEqual([2, expect.stringContaining('cannot be reached')]);
  const started = await startRegen([...detach, '--port', '0'], surroundings).ended;
  onTestFinished(async () => void (await startRegen(['serve', 'stop'], surroundings).ended));
  expect(started.exit, started.stderr).toBe(0);
  expect(existsSync(join(cwd, 'data', 'service.json'))).toBe(true);
});

it('unknown names are refused in every table', async () => {
  const config = writeConfiguration('regen.toml', 'colour = 1\n[limits]\ncolour = 3\n[quotas]\ncolour = 3\n');
  const { exit, stderr } = await regen(['serve', '--config', config, '--check']);
  expect(exit).toBe(2);
  for (const name of ['colour', 'limits.colour', 'quotas.colour'])
    expect(stderr).toContain(`${name} is not a setting`);
});

it('a check finds the missing keys of all vendors, starts nothing and prints no key', async () => {
  const vendor = (env: string) =>
    `engine = "upstream"\nbaseUrl = "https://vendor.example.com"\nkey = { env = "${env}" }\n`;
  const config = writeConfiguration(
    'regen.toml',
    `[generation.image]\n${vendor('KEY_A')}[generation.video]\n${vendor('KEY_B')}`,
  );
  const failed = await regen(['serve', '--config', config, '--check']);
  expect(failed.exit).toBe(2);
  expect(failed.stderr).toContain('generation.image.key names the environment variable KEY_A');
  expect(failed.stderr).toContain('generation.video.key names the environment variable KEY_B');
  const env = { KEY_A: 'secret-key-a', KEY_B: 'secret-key-b' };
  const checked = await regen(['serve', '--config', config, '--check'], { env });
  expect([checked.exit, checked.stdout]).toEqual([0, '']);
  const printed = await regen(['serve', '--config', config, '--print-config'], { env });
  expect(printed.exit).toBe(0);
  expect(printed.stdout).not.toContain('secret-key');
});

it('the password of the database is masked, and kinds of jobs are chosen only where others run the rest', async () => {
  const env = { REGEN_SERVE_DATABASE: 'postgres://regen:hush@db.example.com/regen' };
  const printed = await regen(['serve', '--work', 'check-archive, deliver-webhook', '--print-config'], {
    env,
  });
  expect(JSON.parse(printed.stdout)).toMatchObject({
    database: 'postgres://regen:***@db.example.com/regen',
    work: ['check-archive', 'deliver-webhook'],
  });
  const none = await regen(['serve', '--no-work', '--print-config'], { env });
  expect(JSON.parse(none.stdout).work).toEqual([]);
  for (const [flags, message] of [
    [['--no-work'], 'work needs a database that other services share'],
    [['--work', 'dream'], 'work.0 must be'],
  ] as const) {
    const { exit, stderr } = await regen(['serve', ...flags, '--check']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
});

it('serve init writes a file in which settings can be uncommented, and keeps an existing one', async () => {
  const folder = folderForTest();
  const { exit, stdout } = await regen(['serve', 'init'], { cwd: folder });
  const path = join(folder, 'regen.toml');
  expect([exit, stdout]).toEqual([0, `${path}\n`]);
  const text = readFileSync(path, 'utf8');
  expect(await readConfiguration(path)).toEqual({});
  writeFileSync(
    path,
    text.replace(
      /^#(?=port = 7|graceMs|limits\.archive|limits\.bulk|(?:metrics\.)?host = "127.0.0.1"$)/gm,
      '',
    ),
  );
  const env = { REGEN_SERVE_DATA: folder };
  const printed = await regen(['serve', '--config', path, '--print-config'], { env });
  expect(printed.stdout).toBe((await regen(['serve', '--print-config'], { env })).stdout);
  expect(Object.keys(await readConfiguration(path)).sort()).toEqual([
    'graceMs',
    'host',
    'limits',
    'metrics',
    'port',
  ]);
  expect((await regen(['serve', 'init'], { cwd: folder })).exit).toBe(5);
});

it('serve init creates the folder of its file, and refuses a name that does not end in .toml', async () => {
  const path = join(folderForTest(), 'etc', 'regen', 'regen.toml');
  expect(await regen(['serve', 'init', path])).toMatchObject({ exit: 0, stdout: `${path}\n` });
  const json = join(folderForTest(), 'regen.json');
  const refused = await regen(['serve', 'init', json]);
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('ends in .toml')]);
  expect(existsSync(json)).toBe(false);
});

it('each problem of a configuration has its line, and the name that may be meant', async () => {
  const config = writeConfiguration(
    'regen.toml',
    `prot = 3
port = "many"
"quotas".creditsPerMonth = -1

[webhooks]
allowedNetworks = [
  "10.0.0.0/8",
  "nonsense",
]

[[publish.issuers]]
issuer = "https://one.example.com"
[[publish.issuers]]
issuer = "http://two.example.com"
`,
  );
  const { exit, stderr } = await regen(['serve', '--config', config, '--check']);
  expect(exit).toBe(2);
  expect(stderr).toContain('prot is not a setting (did you mean port?) (regen.toml, line 1)');
  expect(stderr).toMatch(/port must be .* \(regen\.toml, line 2\)/);
  expect(stderr).toMatch(/quotas\.creditsPerMonth must be .* \(regen\.toml, line 3\)/);
  expect(stderr).toMatch(/webhooks\.allowedNetworks\.1 must be .* \(regen\.toml, line 6\)/);
  expect(stderr).toMatch(/publish\.issuers\.1\S* .*\(regen\.toml, line 1[34]\)/);
  const single = await regen([
    'serve',
    '--config',
    writeConfiguration('one.toml', '\n\nprot = 3\n'),
    '--check',
  ]);
  expect(single.stderr).toContain('prot is not a setting (did you mean port?) (one.toml, line 3).');
});

it('every default that serve init and the page of settings show is the one in effect', async () => {
  const folder = folderForTest();
  await regen(['serve', 'init', join(folder, 'regen.toml')]);
  const text = readFileSync(join(folder, 'regen.toml'), 'utf8');
  const shown = [...text.matchAll(/^(# Not set\. Example:\n)?#([a-z]\S*) = (.+)$/gm)].map(
    ([, example, name, value]) => ({ example, setting: [name, value] }),
  );
  const defaults = shown.flatMap(({ example, setting }) => (example ? [] : [setting]));
  expect([defaults.length > 60, shown.length > 90]).toEqual([true, true]);

  const env = { REGEN_SERVE_DATA: folder, KEY: 'key' };
  const print = async (lines: string) => {
    const { stdout, stderr } = await regen(
      ['serve', '--config', writeConfiguration('regen.toml', lines), '--print-config'],
      { env },
    );
    expect(stderr).toBe('');
    return stdout;
  };
  const vendor = ['image', 'video'].map((kind) =>
    ['engine = "upstream"', 'baseUrl = "https://vendor.example.com"', 'key.env = "KEY"']
      .map((line) => `generation.${kind}.${line}\n`)
      .join(''),
  );
  // Some settings are about another service, and need its address.
  const parts: [name: RegExp, given: string][] = [
    [/^uplink\./, 'uplink.url = "https://registry.example.com"\n'],
    [/^generation\.(image|video)\.(vendor|answerMs|models)$/, vendor.join('')],
    [/./, ''],
  ];
  let left = defaults;
  for (const [pattern, given] of parts) {
    const lines = left.filter(([name = '']) => pattern.test(name));
    left = left.filter((one) => !lines.includes(one));
    expect(lines.length).toBeGreaterThan(1);
    const uncommented = lines.map(([name, value]) => `${name} = ${value}\n`).join('');
    expect(await print(given + uncommented)).toBe(await print(given));
  }

  const rows = [...readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `(\S+)`<br>.*\| (.*) \|$/gm)];
  const listed = rows.map(([, name, value = '']) => [name, value.trim().replace(/^`(.*)`$/, '$1')]);
  expect(listed.filter(([, value]) => value).sort()).toEqual(defaults.sort());
});

it.each([
  ['publicUrl = "https://me:hunter2@registry.example.com"', 'publicUrl'],
  ['publicUrl = "https://hunter2@registry.example.com"', 'publicUrl'],
  ['publicUrl = "https://registry.example.com/?token=hunter2"', 'publicUrl'],
  ['publicUrl = "https://registry.example.com/#hunter2"', 'publicUrl'],
  ['[s3]\nendpoint = "https://me:hunter2@s3.example.com"', 's3.endpoint'],
  ['[cors]\norigins = ["https://me:hunter2@web.example.com"]', 'cors.origins.0'],
])('an address that others see has no secret in it: %s', async (text, path) => {
  const { exit, stderr } = await regen(['serve', '--config', writeConfiguration('regen.toml', `${text}\n`)]);
  expect(exit).toBe(2);
  expect(stderr).toContain(
    `${path} must be an http or https URL without a user name, password, query or fragment`,
  );
  expect(stderr).not.toContain('hunter2');
});

it.each([
  'issuers = [{ issuer = "https://me:hunter2@login.example.com" }]',
  '[uplink]\nurl = "https://me:hunter2@registry.example.com"',
  '[generation.image]\nengine = "upstream"\nbaseUrl = "https://me:hunter2@vendor.example.com"\nkey = { env = "K" }',
])('an address of another service has no secret in it: %s', async (text) => {
  const { exit, stderr } = await regen(['serve', '--config', writeConfiguration('regen.toml', `${text}\n`)]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('without credentials, query or fragment')]);
  expect(stderr).not.toContain('hunter2');
});

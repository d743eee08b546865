import { execFile } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Store } from '../../../src/cli/connect/store.js';
import { findOtherWriter } from '../../../src/disk/other-users.js';
import { homeForTest, regen } from '../../support/cli.js';
import { png } from '../../support/generation-double.js';
import { listenOn } from '../../support/listen.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const run = promisify(execFile);

test('50 concurrent changes by processes are all kept', async () => {
  const path = join(folderForTest(), 'store.json');
  const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
  const portions = Array.from({ length: 10 }, (_, index) => keys.slice(index * 5, index * 5 + 5));
  await Promise.all(
    portions.map((portion) => run(process.execPath, ['dist/test/store-process.js', path, ...portion])),
  );
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).sort()).toEqual([...keys].sort());
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a relative HOME starts at the current folder, and relative XDG variables are ignored', async () => {
  const { stdout } = await regen(['config', 'path'], {
    home: 'people/ann',
    env: { XDG_CONFIG_HOME: 'here' },
  });
  expect(stdout).toBe(`${resolve('people/ann/.config/regen/config.json')}\n`);
});

test('a corrupt file is renamed and reported, and a new one started', async () => {
  const path = join(folderForTest(), 'store.json');
  writeFileSync(path, '{"token": "half', { mode: 0o600 });
  const said: string[] = [];
  const store = new Store(path, (sentence) => said.push(sentence));
  await store.change((values) => ({ ...values, a: 1 }));
  expect(store.read()).toEqual({ a: 1 });
  expect(said).toHaveLength(1);
  const aside = readdirSync(dirname(path)).find((name) => name.includes('corrupt')) as string;
  expect(readFileSync(join(dirname(path), aside), 'utf8')).toBe('{"token": "half');
});

test('a file that others can read gets private permissions, and a note is printed', () => {
  const path = join(folderForTest(), 'store.json');
  writeFileSync(path, '{"a":1}');
  chmodSync(path, 0o644);
  const said: string[] = [];
  expect(new Store(path, (sentence) => said.push(sentence)).read()).toEqual({ a: 1 });
  expect(said.join()).toContain('readable by other users');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.runIf(process.geteuid)(
  'a file that other users can change is not used, and stays as it is',
  async () => {
    const home = homeForTest();
    const config = join(home, '.config', 'regen', 'config.json');
    await regen(['config', 'set', 'profiles.lab.base_url', 'https://lab.example'], { home });
    for (const mode of [0o620, 0o602]) {
      chmodSync(config, mode);
      for (const argv of [
        ['config', 'list'],
        ['config', 'set', 'autostart', 'false'],
        ['auth', 'status'],
      ]) {
        const { exit, stderr } = await regen(argv, { home });
        expect([exit, stderr]).toEqual([
          2,
          `error: ${config} can be changed by other users, so it is not used.\nhint: If you trust what it contains, fix it with: chmod go-w ${config}\n`,
        ]);
      }
      expect(statSync(config).mode & 0o777).toBe(mode);
    }
    chmodSync(config, 0o600);
    expect((await regen(['config', 'list'], { home })).stdout).toContain('https://lab.example');
  },
);

test.runIf(process.geteuid)('stored credentials that other users can change are not sent', async () => {
  const home = homeForTest();
  const service = await serviceForTest();
  const env = { REGEN_BASE_URL: service.url };
  await regen(['auth', 'login', '--with-token'], { home, env, stdin: service.ownerToken });
  const folder = join(home, '.config', 'regen', 'credentials');
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.json'));
  chmodSync(join(folder, file), 0o660);
  const { exit, stderr } = await regen(['auth', 'status'], { home, env });
  expect(exit).toBe(2);
  expect(stderr).toContain(`${file} can be changed by other users, so it is not used.`);
});

test.runIf(process.geteuid)('a folder in which other users can replace files is named once', async () => {
  const home = homeForTest();
  await regen(['config', 'set', 'autostart', 'false'], { home });
  const folder = join(home, '.config', 'regen');
  chmodSync(folder, 0o770);
  let said = '';
  const onSaid = (text: string) => {
    said = text;
  };
  const { exit, stdout } = await regen(['config', 'get', 'autostart'], { home, onSaid });
  expect([exit, stdout]).toEqual([0, 'false\n']);
  const warning = `warning: ${folder} can be changed by other users. Fix it with: chmod go-w ${folder}\n`;
  await waitFor(() => expect(said).toBe(warning));
});

test.runIf(process.geteuid)('a service says that other users can replace its data', async () => {
  const data = folderForTest();
  chmodSync(data, 0o777);
  const { exit, stderr } = await regen(['serve', '--data', data, '--check']);
  expect(exit).toBe(0);
  expect(stderr).toContain(`${data} can be changed by other users. Fix it with: chmod go-w ${data}`);
});

test.runIf(process.geteuid?.() === 0)('what belongs to another user is used by root alone', async () => {
  const path = join(folderForTest(), 'store.json');
  writeFileSync(path, '{"a":1}', { mode: 0o600 });
  chownSync(path, 65534, 65534);
  expect(findOtherWriter(path)).toBeUndefined();
  const spy = vi.spyOn(process as { geteuid: () => number }, 'geteuid').mockReturnValue(1000);
  onTestFinished(() => spy.mockRestore());
  expect(findOtherWriter(path)).toBe('owner');
  expect(() => new Store(path, () => {}).read()).toThrow(`${path} belongs to another user`);
});

test.each([0o444, 0o664])(
  'a token file of mode %o, such as a mounted secret, is read and left as it is',
  async (mode) => {
    const service = await serviceForTest();
    const file = join(folderForTest(), 'token');
    writeFileSync(file, `${service.ownerToken}\n`);
    chmodSync(file, mode);
    const argv = ['auth', 'status', '--base-url', service.url, '--token-file', file];
    expect(await regen(argv)).toMatchObject({ exit: 0 });
    expect(statSync(file).mode & 0o777).toBe(mode);
  },
);

test('a token is not sent over plain http to another machine, unless a profile allows it', async () => {
  const home = homeForTest();
  const url = 'http://registry.invalid';
  const look = () => regen(['auth', 'status', '--base-url', url], { home, env: { REGEN_TOKEN: 'token' } });
  const refused = await look();
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain(`${url} is not encrypted, so the credential was not sent.`);
  await regen(['config', 'set', 'profiles.lab.base_url', url], { home });
  await regen(['config', 'set', 'profiles.lab.allow_http', 'true'], { home });
  expect((await look()).exit).toBe(7);

  await regen(['config', 'set', 'profiles.strict.base_url', url], { home });
  const as = (profile: string) =>
    regen(['auth', 'status', '--profile', profile], { home, env: { REGEN_TOKEN: 'token' } });
  expect((await as('lab')).exit).toBe(7);
  const strict = await as('strict');
  expect([strict.exit, strict.stderr]).toEqual([
    2,
    expect.stringContaining('allow http for a profile: regen config set profiles.strict.allow_http true'),
  ]);
});

test('a token is kept for its service alone, and forgotten on logout', async () => {
  const service = await serviceForTest();
  const other = await serviceForTest();
  const home = homeForTest();
  const at = (url: string) => ({ home, env: { REGEN_BASE_URL: url } });
  const login = await regen(['auth', 'login', '--with-token'], {
    ...at(service.url),
    stdin: `${service.ownerToken}\n`,
  });
  expect(login).toMatchObject({ exit: 0, stdout: '' });
  const status = await regen(['auth', 'status', '--json'], at(service.url));
  expect(JSON.parse(status.stdout)).toMatchObject({ id: 'owner', admin: true, service: service.url });
  expect(status.stdout).not.toContain(service.ownerToken);
  expect((await regen(['auth', 'status'], at(other.url))).exit).toBe(4);
  expect((await regen(['auth', 'token'], at(service.url))).stdout.trim()).toBe(service.ownerToken);
  expect((await regen(['auth', 'token'], { ...at(service.url), terminal: true })).exit).toBe(2);
  await regen(['auth', 'logout'], at(service.url));
  expect((await regen(['auth', 'status'], at(service.url))).exit).toBe(4);
});

test('a token that the service does not accept is not kept', async () => {
  const service = await serviceForTest();
  const surroundings = { home: homeForTest(), env: { REGEN_BASE_URL: service.url } };
  const { exit } = await regen(['auth', 'login', '--with-token'], { ...surroundings, stdin: 'wrong' });
  expect(exit).toBe(4);
  expect((await regen(['auth', 'token'], surroundings)).exit).toBe(4);
});

test('signing in with an address and the name of a profile adds the profile', async () => {
  const service = await serviceForTest();
  const home = homeForTest();
  const login = (address: string) =>
    regen(['auth', 'login', '--profile', 'own', '--base-url', address, '--with-token'], {
      home,
      stdin: service.ownerToken,
    });
  // An address or a token that does not work is not kept.
  expect((await login('http://127.0.0.1:9')).exit).toBe(7);
  const { exit, stderr } = await login(service.url);
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain('Use it with --profile own, or by default: regen config set profile own\n');
  await regen(['config', 'set', 'profile', 'own'], { home });
  expect((await regen(['auth', 'status'], { home })).stdout).toContain('profile\town\n');
  const other = await login('http://127.0.0.1:9');
  expect([other.exit, other.stderr]).toEqual([
    2,
    expect.stringContaining(`already has the address ${service.url}.`),
  ]);
  const argv = ['auth', 'login', '--profile', 'local', '--base-url', service.url, '--with-token'];
  const local = await regen(argv, { home, stdin: service.ownerToken });
  expect([local.exit, local.stderr]).toEqual([2, expect.stringContaining('is the embedded service')]);
});

test('settings show their source, and unknown settings are refused', async () => {
  const home = homeForTest();
  expect(
    (await regen(['config', 'set', 'profiles.team.base_url', 'https://registry.example'], { home })).exit,
  ).toBe(0);
  expect((await regen(['config', 'set', 'profile', 'team'], { home })).exit).toBe(0);
  const absent = await regen(['config', 'set', 'profile', 'nope'], { home });
  expect([absent.exit, absent.stderr]).toEqual([2, expect.stringContaining("no profile 'nope'")]);
  const { stdout } = await regen(['config', 'list'], { home, env: { REGEN_PROFILE: 'other' } });
  const file = join(home, '.config', 'regen', 'config.json');
  expect(stdout).toContain(`profile\tother\tREGEN_PROFILE\n`);
  expect(stdout).toContain(`profiles.team.base_url\thttps://registry.example\t${file}\n`);
  expect(stdout).toContain('autostart\ttrue\tdefault\n');
  expect((await regen(['config', 'get', 'profile'], { home })).stdout).toBe('team\n');
  await regen(['config', 'unset', 'profile'], { home });
  expect((await regen(['config', 'get', 'profile'], { home })).stdout).toBe('local\n');
  expect((await regen(['config', 'get', 'nope'], { home })).exit).toBe(2);
  expect((await regen(['config', 'set', 'autostart', 'maybe'], { home })).exit).toBe(2);
  expect(
    (await regen(['config', 'set', 'profiles.local.base_url', 'https://x.example'], { home })).exit,
  ).toBe(2);
});

/** A HOME with the profiles ann and bob for one service, and a token of each. */
async function twoAccounts() {
  const service = await serviceForTest();
  const home = homeForTest();
  const run = (argv: readonly string[], stdin = '') => regen(argv, { home, stdin });
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  await regen(['publisher', 'create', 'acme', '--name', 'Acme'], { env });
  const made = await regen(['publisher', 'token', 'create', 'acme', 'ci', '--json'], { env });
  for (const name of ['ann', 'bob']) await run(['config', 'set', `profiles.${name}.base_url`, service.url]);
  const readKind = async (...named: string[]) =>
    (await run(['auth', 'status', ...named, '--jq', '.credential.kind'])).stdout.trim();
  return {
    service,
    home,
    run,
    readKind,
    tokens: { ann: service.ownerToken, bob: JSON.parse(made.stdout).token },
  };
}

test('two accounts on one service are two profiles', async () => {
  const { run, readKind, tokens } = await twoAccounts();
  for (const name of ['ann', 'bob'] as const) {
    const { exit, stderr } = await run(['auth', 'login', '--profile', name, '--with-token'], tokens[name]);
    expect(exit, stderr).toBe(0);
  }
  expect(await readKind('--profile', 'ann')).toBe('owner');
  expect(await readKind('--profile', 'bob')).toBe('personal_access_token');
  expect((await run(['auth', 'logout', '--profile', 'bob'])).exit).toBe(0);
  expect((await run(['auth', 'status', '--profile', 'bob'])).exit).toBe(4);
  expect(await readKind('--profile', 'ann')).toBe('owner');
});

test('a profile without credentials uses those of its address, and keeps its own from then on', async () => {
  const { service, run, readKind, tokens } = await twoAccounts();
  const address = ['--base-url', service.url];
  expect((await run(['auth', 'login', ...address, '--with-token'], tokens.ann)).exit).toBe(0);
  expect(await readKind('--profile', 'bob')).toBe('owner');
  expect((await run(['auth', 'login', '--profile', 'bob', '--with-token'], tokens.bob)).exit).toBe(0);
  expect(await readKind('--profile', 'bob')).toBe('personal_access_token');
  expect(await readKind(...address)).toBe('owner');
});

test('a token of a profile is not sent to a new address of the profile', async () => {
  const { run, tokens } = await twoAccounts();
  const other = await serviceForTest();
  expect((await run(['auth', 'login', '--profile', 'bob', '--with-token'], tokens.bob)).exit).toBe(0);
  await run(['config', 'set', 'profiles.bob.base_url', other.url]);
  const { exit, stderr } = await run(['auth', 'status', '--profile', 'bob']);
  expect(exit).toBe(4);
  expect(stderr).toContain('Not signed in');
});

test('a task is read with the account that started it', async () => {
  const { home, run, tokens } = await twoAccounts();
  const photo = join(folderForTest(), 'photo.png');
  writeFileSync(photo, png);
  for (const name of ['ann', 'bob'] as const)
    await run(['auth', 'login', '--profile', name, '--with-token'], tokens[name]);
  const started = await run(['image', 'relight', photo, '--no-wait', '--profile', 'ann']);
  expect(started.exit, started.stderr).toBe(0);
  await run(['config', 'set', 'profile', 'bob']);
  const { exit, stderr } = await regen(['task', 'wait', '@last'], { home });
  expect(exit, stderr).toBe(0);
});

const nowhere = 'http://127.0.0.1:9';

test('a missing token file and an empty one have different messages', async () => {
  const cwd = folderForTest();
  const argv = ['node', 'get', 'x', '--base-url', nowhere, '--token-file', 'nofile'];
  const { exit, stderr } = await regen(argv, { cwd });
  expect([exit, stderr]).toEqual([2, 'error: File not found: nofile (from --token-file).\n']);
});

test('what has more than a token is refused before anything is sent, wherever it is read from', async () => {
  const requests: unknown[] = [];
  const { url, close } = await listenOn((request, response) => {
    requests.push(request.url);
    response.writeHead(404).end();
  });
  onTestFinished(close);
  const service = await serviceForTest();
  const cwd = folderForTest();
  const create = async (...argv: string[]) => {
    const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    return (await regen(['admin', 'generate-token', ...argv], { env })).stdout;
  };
  const plain = (await create()).trim();
  const wrong = [
    await create('--format', 'env'),
    `export REGEN_ADMIN_TOKEN="${plain}"`,
    await create('--format', 'header'),
  ];
  wrong.push(await create('--format', 'json'), `${plain} ${plain}`);
  wrong.push(`Bearer ${plain}`, `"${plain}"`, `'${plain}`, `“${plain}”`, `${plain}\u0001`);
  const publish = ['version', 'publish', packForTest()];
  for (const content of wrong) {
    writeFileSync(join(cwd, 'token.txt'), content);
    const asks: readonly (readonly [string[], object])[] = [
      [['admin', 'audit', '--token-file', 'token.txt'], {}],
      [['admin', 'audit', '--token-file', '-'], { stdin: content }],
      [['auth', 'login', '--with-token'], { stdin: content }],
      [['admin', 'audit'], { env: { REGEN_KEY_FILE: 'token.txt' } }],
      [['admin', 'audit'], { env: { REGEN_ADMIN_TOKEN_FILE: 'token.txt' } }],
      [['admin', 'audit'], { env: { REGEN_TOKEN: content } }],
      [['admin', 'audit'], { env: { REGEN_ADMIN_TOKEN: content } }],
      [publish, { env: { REGEN_PUBLISH_TOKEN: content } }],
      [publish, { env: { REGEN_ID_TOKEN: content } }],
      [[...publish, '--id-token-file', 'token.txt'], {}],
    ];
    for (const [argv, given] of asks) {
      const { exit, stderr } = await regen([...argv, '--base-url', url], { cwd, ...given });
      expect({ argv, given, exit, stderr }).toMatchObject({
        exit: 2,
        stderr: expect.stringMatching(
          /must contain only the token, but contains (a variable|a header|JSON|several words|the word Bearer|quotation marks|characters).*\nhint: /,
        ),
      });
      expect(stderr).not.toContain(plain.slice(0, 20));
    }
  }
  expect(requests).toEqual([]);
  writeFileSync(join(cwd, 'token.txt'), `${plain}\n`);
  const asked = await regen(['admin', 'audit', '--token-file', 'token.txt', '--base-url', service.url], {
    cwd,
  });
  expect(asked.exit).toBe(0);
});

test('a personal access token that is pasted with quotation marks is refused', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const { exit, stderr } = await regen(['version', 'publish', packForTest()], {
    env: { REGEN_BASE_URL: service.url },
    answers: [`"${personalAccessToken}"`],
  });
  expect([exit, stderr]).toEqual([2, expect.stringContaining('but contains quotation marks')]);
  expect(stderr).not.toContain(personalAccessToken.slice(0, 20));
});

test.each(['REGEN_TOKEN', 'REGEN_ADMIN_TOKEN'])(
  'a service that requires a token names the empty %s',
  async (name) => {
    const service = await serviceForTest();
    const { exit, stderr } = await regen(['video', 'text2video', 'a boat'], {
      env: { REGEN_BASE_URL: service.url, [name]: ' ' },
    });
    expect([exit, stderr]).toEqual([
      4,
      expect.stringContaining(`hint: ${name} is empty. In a CI job, check that the job can read the secret.`),
    ]);
  },
);

test('auth status names the publishers whose tokens are stored where no one is signed in', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const surroundings = { home: homeForTest(), env: { REGEN_BASE_URL: service.url } };
  const login = ['auth', 'login', '--with-token', '--publisher', 'acme'];
  expect((await regen(login, { ...surroundings, stdin: personalAccessToken })).exit).toBe(0);
  const { exit, stderr } = await regen(['auth', 'status'], surroundings);
  expect([exit, stderr]).toEqual([4, expect.stringContaining('A token for publishing is stored for acme.')]);
});

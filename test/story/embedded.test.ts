import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { entry, homeForTest, homeWithService, startRegen, stopEmbedded } from '../support/cli.js';
import { pixel } from '../support/generation.js';
import { serviceForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

const getDataFolder = (home: string) => join(home, '.local', 'share', 'regen');
const readRecord = (home: string) =>
  JSON.parse(readFileSync(join(getDataFolder(home), 'service.json'), 'utf8'));
const readOwnerToken = (home: string) =>
  readFileSync(join(getDataFolder(home), 'owner.token'), 'utf8').trim();

async function runInHome(home: string, argv: readonly string[], env: Record<string, string> = {}) {
  return startRegen(argv, { home, env }).ended;
}

test('the first command starts the service, says so in one line, and answers', async () => {
  const home = homeWithService();
  const first = await runInHome(home, ['publisher', 'list']);
  expect(first).toMatchObject({ exit: 0, stdout: '' });
  expect(first.stderr).toMatch(
    /^Started the embedded service at http:\/\/127\.0\.0\.1:\d+, with its data in .*\nNothing to list\.\n$/,
  );
  const second = await runInHome(home, ['publisher', 'list', '--json']);
  expect(second).toEqual({ exit: 0, stdout: '[]\n', stderr: '' });
  expect(Object.keys(readRecord(home)).sort()).toEqual([
    'instance',
    'pid',
    'previews',
    'socket',
    'url',
    'version',
  ]);
  for (const name of ['service.json', 'owner.token']) {
    expect(statSync(join(getDataFolder(home), name)).mode & 0o777).toBe(0o600);
  }
});

test('what is not found without a named service says that only the service of this account was asked', async () => {
  const home = homeWithService();
  const hint =
    'hint: This was looked for only in the service of your account on this machine. To use another one, pass --profile';
  const commands = [
    ['node', 'get', 'film-grain'],
    ['version', 'list', 'film-grain'],
    ['node', 'install', 'film-grain', '--into', home],
  ];
  for (const argv of commands) {
    const { exit, stderr } = await runInHome(home, argv);
    expect([exit, stderr]).toEqual([3, expect.stringContaining(hint)]);
  }
  const named = await runInHome(home, ['node', 'get', 'film-grain', '--profile', 'local']);
  expect([named.exit, named.stderr]).toEqual([3, expect.not.stringContaining('hint')]);
  mkdirSync(join(home, 'custom_nodes', 'loose'), { recursive: true });
  const outdated = await runInHome(home, ['node', 'outdated', join(home, 'custom_nodes')]);
  expect(outdated.stderr).toContain('Not in the registry of this machine: loose.');
  const node = { id: 1, type: 'Grain', properties: { cnr_id: 'film-grain', ver: '1.0.0' } };
  writeFileSync(join(home, 'flow.json'), JSON.stringify({ version: 0.4, nodes: [node], links: [] }));
  for (const argv of [
    ['workflow', 'check', join(home, 'flow.json')],
    ['node', 'audit', join(home, 'custom_nodes')],
  ]) {
    const found = await runInHome(home, argv);
    expect([found.exit, found.stderr]).toEqual([6, expect.stringContaining(hint.replace('hint: ', ''))]);
    const chosen = await runInHome(home, [...argv, '--profile', 'local']);
    expect([chosen.exit, chosen.stderr]).toEqual([6, expect.not.stringContaining('This was looked for')]);
  }
});

test('what is not found says that the address of the lock file is now that of the service of this account', async () => {
  const home = homeWithService();
  await runInHome(home, ['publisher', 'list']);
  const { url } = readRecord(home);
  const said = `The registry of team.lock, ${url}, is now the embedded service of this account.`;
  const lock = join(home, 'team.lock');
  const customNodes = join(home, 'custom_nodes');
  const manifest = '[project]\nname = "film-grain"\nversion = "1.0.0"\n';
  mkdirSync(join(customNodes, 'film-grain'), { recursive: true });
  writeFileSync(join(customNodes, 'film-grain', 'pyproject.toml'), manifest);
  const node = { id: 1, type: 'Grain', properties: { cnr_id: 'film-grain', ver: '1.0.0' } };
  writeFileSync(join(home, 'flow.json'), JSON.stringify({ version: 0.4, nodes: [node], links: [] }));
  const run = (...argv: string[]) => runInHome(home, [...argv, '--lock-file', lock]);
  for (const ids of [['light-tools'], ['light-tools', 'mask-tools']]) {
    const pinned = ids.map(
      (id) =>
        `[[node]]\nid = "${id}"\nversion = "1.0.0"\nsha256 = "${'0'.repeat(64)}"\ntree = "${'0'.repeat(64)}"\n`,
    );
    writeFileSync(lock, `format = 1\nregistry = "${url}"\nnaming = "regen"\n${pinned.join('')}`);
    const synced = await run('node', 'sync', '--locked', '--into', customNodes);
    expect([synced.exit === 0, synced.stderr]).toEqual([false, expect.stringContaining(said)]);
  }
  for (const argv of [
    ['node', 'install', 'light-tools', '--into', customNodes],
    ['node', 'outdated', customNodes],
    ['node', 'audit', customNodes],
    ['workflow', 'check', join(home, 'flow.json')],
  ]) {
    expect((await run(...argv)).stderr).toContain(said);
    expect((await run(...argv, '--base-url', url)).stderr).not.toContain('of this account');
  }
});

test('a service keeps its compiled code, which the next one takes and makes images with', async () => {
  const home = homeWithService();
  const code = join(home, '.local/state/regen/code');
  const startAndStop = async (argv: readonly string[]) => {
    expect(await runInHome(home, argv)).toMatchObject({ exit: 0 });
    await runInHome(home, ['serve', 'stop']);
  };
  // An image task starts a thread, after which the engine would refuse code that is kept, and loads parts late.
  const upscale = ['image', 'upscaler', `base64:${pixel}`, '-o', `${home}/out/`];
  await startAndStop(upscale);
  // The name of a file that is being written has another ending.
  await waitFor(() =>
    expect(existsSync(code) && readdirSync(code)).toEqual([expect.stringMatching(/-[0-9a-f]+$/)]),
  );
  const [name] = readdirSync(code) as [string];
  const { ino } = statSync(join(code, name));
  await startAndStop([...upscale, '--force', '--again']);
  expect(readdirSync(code)).toEqual([name]);
  expect(statSync(join(code, name)).ino).toBe(ino);
});

test('ten concurrent first commands of each of two users start one service per user, which the other cannot use', async () => {
  const homes = [homeWithService(), homeWithService()] as const;
  const commands = homes.flatMap((home) =>
    Array.from({ length: 10 }, () => runInHome(home, ['auth', 'status', '--json'])),
  );
  const all = await Promise.all(commands);
  expect(all.map(({ exit, stderr }) => ({ exit, error: /error:.*/.exec(stderr)?.[0] }))).toEqual(
    Array(20).fill({ exit: 0, error: undefined }),
  );
  const services = all.map(({ stdout }) => JSON.parse(stdout).service);
  const [first, second] = homes.map((home) => readRecord(home));
  expect(new Set(services.slice(0, 10))).toEqual(new Set([first.url]));
  expect(new Set(services.slice(10))).toEqual(new Set([second.url]));
  expect(first.url).not.toBe(second.url);
  const foreign = await fetch(`${first.url}/users/me`, {
    headers: { authorization: `Bearer ${readOwnerToken(homes[1])}` },
  });
  expect(foreign.status).toBe(401);
});

test('a program that takes the port of a service that was killed receives nothing', async () => {
  const home = homeWithService();
  await runInHome(home, ['publisher', 'list']);
  const { url, pid } = readRecord(home);
  const waiting = startRegen(['video', 'text2video', 'a boat', '-o', join(home, 'boat.mp4')], { home });
  await expect.poll(waiting.said).toMatch(/Rendering/);
  process.kill(pid, 'SIGKILL');
  const seen: string[] = [];
  const impostor = createServer((request, answer) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    answer.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"task_status":"created"}}');
  });
  onTestFinished(() => void impostor.close());
  await expect
    .poll(
      () =>
        new Promise<string>((done) => {
          impostor
            .once('error', (error) => done(error.message))
            .listen(Number(new URL(url).port), '127.0.0.1', () => done('listening'));
        }),
    )
    .toBe('listening');
  expect(await waiting.ended).toMatchObject({ exit: 0 });
  expect(existsSync(join(home, 'boat.mp4'))).toBe(true);
  expect((await runInHome(home, ['auth', 'status', '--json'])).exit).toBe(0);
  expect(seen).toEqual([]);
});

test('an address in service.json without a working socket is not trusted', async () => {
  const home = homeWithService();
  await runInHome(home, ['publisher', 'list']);
  await stopEmbedded(home);
  const record = {
    url: 'http://127.0.0.1:1',
    socket: '/dev/null',
    pid: process.pid,
    version: '0.1.0',
    instance: 'x',
  };
  writeFileSync(join(getDataFolder(home), 'service.json'), JSON.stringify(record), { mode: 0o600 });
  const { exit, stdout } = await runInHome(home, ['auth', 'status', '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).service).not.toBe(record.url);
});

test('a free port is used if another program has the port, unless the port was given', async () => {
  const other = createServer((_, answer) => answer.end());
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  onTestFinished(() => void other.close());
  const port = String((other.address() as AddressInfo).port);
  const home = homeWithService();
  const { exit, stdout, stderr } = await runInHome(home, ['publisher', 'list'], { REGEN_LOCAL_PORT: port });
  expect({ exit, stdout }).toEqual({ exit: 7, stdout: '' });
  expect(stderr).toContain(`cannot use port ${port}`);
  expect((await runInHome(home, ['serve', '--port', port])).exit).toBe(7);
});

test('a service of another version is drained and replaced', async () => {
  const home = homeWithService();
  const old = await serviceForTest({ data: getDataFolder(home), version: '0.0.1' });
  const { exit, stderr } = await runInHome(home, ['publisher', 'list']);
  expect(exit).toBe(0);
  expect(stderr).toContain('Started the embedded service');
  await old.ended;
  expect(readRecord(home)).not.toMatchObject({ version: '0.0.1' });
});

test('a service killed with SIGKILL is started again, with everything it acknowledged', async () => {
  const home = homeWithService();
  await runInHome(home, ['publisher', 'create', '--id', 'kept', '--name', 'Kept']);
  process.kill(readRecord(home).pid, 'SIGKILL');
  const { exit, stdout } = await runInHome(home, ['publisher', 'get', 'kept', '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 'kept' });
});

test('a paused service costs one timeout, and is reported as running but not answering', async () => {
  const home = homeWithService();
  await runInHome(home, ['publisher', 'list']);
  const { pid } = readRecord(home);
  process.kill(pid, 'SIGSTOP');
  onTestFinished(() => void process.kill(pid, 'SIGCONT'));
  for (const argv of [['publisher', 'list'], ['serve', 'stop'], ['doctor']]) {
    const { exit, stdout, stderr } = await runInHome(home, argv, { REGEN_TIMEOUT: '1s' });
    expect(exit).toBe(7);
    expect(stdout + stderr).toContain(`(process ${pid}) is running but does not answer`);
  }
  process.kill(pid, 'SIGCONT');
  expect((await runInHome(home, ['publisher', 'list', '--json'])).stdout).toBe('[]\n');
  expect(readRecord(home).pid).toBe(pid);
});

test('a service whose record was lost or spoilt is found again', async () => {
  const home = homeWithService();
  await runInHome(home, ['publisher', 'list']);
  const { url } = readRecord(home);
  rmSync(join(getDataFolder(home), 'service.json'));
  expect(JSON.parse((await runInHome(home, ['serve', 'status', '--json'])).stdout)).toMatchObject({ url });
  writeFileSync(join(getDataFolder(home), 'service.json'), '{"url": "http');
  expect(JSON.parse((await runInHome(home, ['auth', 'status', '--json'])).stdout)).toMatchObject({
    service: url,
  });
});

test('a data folder that was lost is created again, publisher and token with it', async () => {
  const home = homeWithService();
  expect((await runInHome(home, ['version', 'publish', 'examples/hello-nodes'])).exit).toBe(0);
  await stopEmbedded(home);
  rmSync(getDataFolder(home), { recursive: true });
  expect((await runInHome(home, ['version', 'publish', 'examples/hello-nodes'])).exit).toBe(0);
});

test('a listener that answers without end on the recorded port does not delay a command', async () => {
  const home = homeWithService();
  await runInHome(home, ['publisher', 'list']);
  await stopEmbedded(home);
  const endless = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (answer.write('x'.repeat(65_536)));
      answer.once('drain', more);
    };
    more();
  });
  await new Promise<void>((done) => endless.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    endless.closeAllConnections();
    endless.close();
  });
  const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
  const record = { url, pid: process.pid, version: '0.1.0', instance: 'x' };
  writeFileSync(join(getDataFolder(home), 'service.json'), JSON.stringify(record), { mode: 0o600 });
  expect(await runInHome(home, ['publisher', 'list', '--json'])).toMatchObject({ exit: 0, stdout: '[]\n' });
});

test('an embedded service has no secrets of the command that started it in its environment', async () => {
  if (!existsSync('/proc/self/environ')) return;
  const home = homeWithService();
  await runInHome(home, ['node', 'search'], {
    REGEN_TOKEN: 'planted-secret',
    AWS_SECRET_ACCESS_KEY: 'planted-secret',
  });
  const environment = readFileSync(`/proc/${readRecord(home).pid}/environ`, 'utf8');
  expect(environment).toContain('PATH=');
  expect(environment).not.toContain('planted-secret');
});

test('autostart can be turned off by flag, by variable and by setting', async () => {
  const home = homeForTest();
  for (const [argv, env] of [
    [['publisher', 'list', '--no-autostart'], {}],
    [['publisher', 'list'], { REGEN_NO_AUTOSTART: '1' }],
  ] as const) {
    const { exit, stderr } = await runInHome(home, argv, env);
    expect(exit).toBe(7);
    expect(stderr).toContain('regen serve --detach');
  }
  await runInHome(home, ['config', 'set', 'autostart', 'false']);
  expect((await runInHome(home, ['publisher', 'list'])).exit).toBe(7);
});

test('serve prints only its URL, is found by other commands, and stops on request', async () => {
  const home = homeForTest();
  const server = startRegen(['serve', '--port', '0'], { home });
  const url = await new Promise<string>((done) =>
    server.child.stdout?.once('data', (text) => done(String(text).trim())),
  );
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(JSON.parse((await runInHome(home, ['serve', 'status', '--json'])).stdout)).toMatchObject({ url });
  const second = await runInHome(home, ['serve', '--port', '0']);
  expect(second.exit).toBe(5);
  expect(second.stderr).toContain('serve stop');
  expect((await runInHome(home, ['serve', 'stop'])).exit).toBe(0);
  expect(await server.ended).toMatchObject({ exit: 0, stdout: `${url}\n` });
  expect((await runInHome(home, ['serve', 'status'])).exit).toBe(7);
});

test('a detached service keeps running until SIGTERM ends it and frees its port', async () => {
  const home = homeWithService();
  const { exit, stdout } = await runInHome(home, ['serve', '--detach', '--port', '0']);
  expect(exit).toBe(0);
  expect(stdout.trim()).toBe(readRecord(home).url);
  const { pid, url } = readRecord(home);
  process.kill(pid, 'SIGTERM');
  await expect.poll(() => existsSync(join(getDataFolder(home), 'service.json'))).toBe(false);
  const refused = await new Promise((done) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => done(false));
    socket.once('error', () => done(true));
  });
  expect(refused).toBe(true);
});

test('an embedded service ends by itself when it is idle', async () => {
  const home = homeForTest();
  const server = startRegen(['serve', '--port', '0', '--until-idle', '500ms'], { home });
  expect((await server.ended).exit).toBe(0);
});

test('serve reports problems of its folder and exits 2', async () => {
  const home = homeForTest();
  const data = join(home, 'data');
  mkdirSync(data);
  chmodSync(data, 0o777);
  const shared = await runInHome(home, ['serve', '--port', '0', '--data', data]);
  expect([shared.exit, shared.stdout]).toEqual([2, '']);
  expect(shared.stderr).toContain(`Every user of this machine may change ${data} (mode 777).`);
  chmodSync(data, 0o700);
  writeFileSync(join(data, 'regen.db'), 'this is not a database '.repeat(100));
  const damaged = await runInHome(home, ['serve', '--port', '0', '--data', data]);
  expect(damaged.exit).toBe(2);
  expect(damaged.stderr).toContain('Restore the data folder from a copy.');
  expect(damaged.stderr).not.toContain('bug');
});

/** Runs a shell script with a file system of 256 kB at $1. */
const onSmallDisk = (script: string, folder: string, ...more: string[]) => {
  const whole = `mount -t tmpfs -o size=256k tmpfs "$1" && ${script}`;
  const argv = ['--map-root-user', '--mount', 'sh', '-c', whole, 'sh', folder, ...more];
  return spawnSync('unshare', argv, { encoding: 'utf8' });
};
const canMount = onSmallDisk('true', tmpdir()).status === 0;

test.skipIf(!canMount)('a start on a full disk says so, however much fits, and exits with 7', () => {
  const home = homeForTest();
  for (const left of [0, 8, 40, 80, 150, 256]) {
    const script = `head -c ${(256 - left) * 1024} /dev/zero > "$1/fill"; exec "$2" "$3" serve --port 0 --data "$1/data"`;
    const { status, stderr } = onSmallDisk(script, home, process.execPath, entry);
    expect([left, status, stderr]).toEqual([
      left,
      7,
      expect.stringMatching(/^error: .* [Ff]ree some.*, and start again\.\n$/),
    ]);
  }
});

test('a service without enough file handles says so, and exits with 7', () => {
  const home = homeForTest();
  for (const handles of [60, 40, 30, 26]) {
    const script = `ulimit -n ${handles}; exec "$0" "$@"`;
    const argv = [process.execPath, entry, 'serve', '--port', '0', '--data', join(home, 'data')];
    const { status, stderr } = spawnSync('sh', ['-c', script, ...argv], { encoding: 'utf8' });
    expect([handles, status, stderr]).toEqual([
      handles,
      7,
      `error: This process may open ${handles} files at once; the service needs at least 64.\nhint: Raise the limit with ulimit -n, and start again.\n`,
    ]);
  }
});

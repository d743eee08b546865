import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, test } from 'vitest';
import { entry, homeForTest, regen, type Surroundings, startRegen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import {
  createSmallestBody,
  formatStatusPath,
  pixel,
  startPaths,
  startTask,
  waitForTask,
} from '../../support/generation.js';
import { listenOn } from '../../support/listen.js';
import { filesForTest } from '../../support/packs.js';
import {
  type Answered,
  ask,
  folderForTest,
  publisherForTest,
  serviceForTest,
} from '../../support/service.js';
import { startRegenInTerminal } from '../../support/terminal.js';
import { waitFor } from '../../support/wait-for.js';

const node = process.execPath;
const configuration = { prices: { image: { relight: 1, upscaler: 2 } } };

/** A service where relighting costs 1 credit, and the environment of its owner. */
async function createPlace(before: () => void | Promise<void> = () => {}, now = Date.now) {
  const service = await serviceForTest(configuration, {
    ...{ engines: { image: createCopyingEngine(before) }, now },
  });
  const { url, ownerToken } = service;
  return { service, url, ownerToken, env: { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken } };
}

/** Runs a script of Node.js with a key; `key` and `post` are there for it. */
function runWithKey(script: string, surroundings: Surroundings, ...flags: string[]) {
  const start = `
    const { readFileSync } = require('node:fs');
    const key = () => readFileSync(process.env.REGEN_KEY_FILE, 'utf8');
    const url = process.env.REGEN_BASE_URL;
    const headers = () => ({ authorization: 'Bearer ' + key(), 'content-type': 'application/json' });
    const post = async (path, body) => {
      const answer = await fetch(url + path, { method: 'POST', headers: headers(), body: JSON.stringify(body) });
      return { status: answer.status, body: await answer.json() };
    };
    const relight = () => post('${startPaths['image.relight']}', { image: '${pixel}' });
    (async () => { ${script} })();`;
  return startRegen(['exec', ...flags, '--', node, '-e', start], surroundings);
}

const listKeys = async ({ url, ownerToken: token }: { url: string; ownerToken: string }) =>
  (await ask(`${url}/users/keys`, { token })).body as Answered[];

it('lets a script spend its credits and not one more, and prints the bill that usage has, too', async () => {
  const place = await createPlace();
  const { env, url, ownerToken } = place;
  const cwd = filesForTest({ 'one.png': Buffer.from(pixel, 'base64') });
  const script = `
    for i in 1 2 3 4; do "${node}" "${entry}" image relight one.png --no-wait; echo "exit $?"; done`;
  const argv = ['exec', '--credits', '3', '--', 'sh', '-c', script];
  const ran = await startRegen(argv, { env, cwd }).ended;
  expect(ran.exit, ran.stderr).toBe(0);
  expect(ran.stdout.match(/exit \d/g)).toEqual(['exit 0', 'exit 0', 'exit 0', 'exit 4']);
  expect(ran.stderr).toContain('may spend 3 credits in all (0 left), but this task costs 1');
  expect(ran.stderr).toContain('3 tasks cost 3 of 3 credits.');
  const { body } = await ask(`${url}/users/usage?by=key`, { token: ownerToken });
  expect(body.rows).toEqual([
    expect.objectContaining({ key_name: 'regen exec sh', tasks: 3, charged: 3, refunded: 0, credits: 3 }),
  ]);
  expect(await listKeys(place)).toEqual([]);
});

it('gives a hostile command nothing but its credits, its operations and its own tasks', async () => {
  const place = await createPlace();
  const { env, url, ownerToken } = place;
  await publisherForTest({ url, ownerToken });
  const other = await startTask({ url, token: ownerToken });
  const script = `
    const answers = await Promise.all(Array.from({ length: 100 }, relight));
    const ask = async (method, path, body) => {
      const init = { method, headers: headers(), ...(body && { body: JSON.stringify(body) }) };
      return (await fetch(url + path, init)).status;
    };
    console.log(JSON.stringify({
      key: key(),
      started: answers.filter(({ status }) => status === 200).length,
      refused: answers.filter(({ body }) => body.error === 'quota_exceeded').length,
      others: [
        await ask('POST', '${startPaths['image.upscaler']}', { image: '${pixel}' }),
        await ask('GET', '${formatStatusPath('image.relight', other)}'),
        await ask('POST', '/users/tasks/${other}/cancel'),
        await ask('GET', '/users/keys'),
        await ask('POST', '/users/keys', { name: 'more' }),
        await ask('GET', '/users/usage'),
        await ask('POST', '/publishers', { id: 'evil', name: 'Evil' }),
        await ask('GET', '/publishers/acme/tokens'),
        await ask('POST', '/admin/generate-token'),
        await ask('GET', '/admin/audit'),
      ],
      tasks: (await (await fetch(url + '/users/tasks', { headers: headers() })).json()).total,
    }));`;
  const flags = ['--credits', '50', '--operations', 'image.relight,video.*', '--json'];
  const { exit, stdout, stderr } = await runWithKey(script, { env }, ...flags).ended;
  expect(exit, stderr).toBe(0);
  const seen = JSON.parse(stderr);
  expect(seen).toMatchObject({
    ...{ started: 50, refused: 50, tasks: 50 },
    others: [403, 404, 404, 403, 403, 403, 403, 403, 403, 403],
  });
  const bill = JSON.parse(stdout);
  expect(bill).toMatchObject({ limit: 50, tasks: 50, charged: 50, credits: 50, exit_code: 0 });
  const { body } = await ask(`${url}/users/usage?by=key`, { token: ownerToken });
  const { key_id, tasks, charged, refunded, credits } = bill;
  expect(body.rows).toContainEqual(expect.objectContaining({ key_id, tasks, charged, refunded, credits }));
  expect((await ask(`${url}/users/me`, { token: seen.key })).status).toBe(401);
});

it('gives the command a private file with the key, and no other credential', async () => {
  const { env, url, ownerToken } = await createPlace();
  const script = `
    const { statSync } = require('node:fs');
    const { dirname } = require('node:path');
    const path = process.env.REGEN_KEY_FILE;
    const modes = [path, dirname(path)].map((one) => (statSync(one).mode & 0o777).toString(8));
    console.log(JSON.stringify({ env: process.env, modes, path, key: key() }));
    process.exit(42);`;
  const secrets = {
    ...{ REGEN_PUBLISH_TOKEN: 'a', REGEN_ADMIN_TOKEN: 'b', REGEN_WEBHOOK_SECRET: 'c', REGEN_ID_TOKEN: 'd' },
    ...{ REGEN_SERVE_DATABASE: 'postgres://u:e@h/d', REGEN_VENDOR_API_KEY: 'f' },
    ...{ ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'g', ACTIONS_ID_TOKEN_REQUEST_URL: 'https://h' },
  };
  const surroundings = { env: { ...env, ...secrets, OTHER: 'kept' } };
  const { exit, stdout, stderr } = await runWithKey(script, surroundings, '--credits', '1').ended;
  expect(exit, stderr).toBe(42);
  const seen = JSON.parse(stdout);
  expect(seen).toMatchObject({ modes: ['600', '700'], env: { REGEN_BASE_URL: url, OTHER: 'kept' } });
  const names = Object.keys(seen.env).filter((name) => /^(REGEN|ACTIONS)_/.test(name));
  expect(names.sort()).toEqual(['REGEN_BASE_URL', 'REGEN_KEY_FILE', 'REGEN_KEY_NAME']);
  expect(stdout).not.toContain(ownerToken);
  expect(stderr).not.toContain(seen.key);
  expect(existsSync(dirname(seen.path))).toBe(false);
});

it('lets regen use no stored credential in the command, not even to publish or with another profile', async () => {
  const { url, ownerToken } = await createPlace();
  const { personalAccessToken } = await publisherForTest({ url, ownerToken });
  const home = homeForTest();
  const sign = (input: string, ...more: string[]) =>
    regen(['auth', 'login', '--with-token', '--base-url', url, ...more], { home, stdin: input });
  expect((await sign(ownerToken)).exit).toBe(0);
  expect((await sign(personalAccessToken, '--publisher', 'acme')).exit).toBe(0);
  await regen(['config', 'set', 'profiles.all.base_url', url], { home });
  const own = `"${node}" "${entry}"`;
  const script = `
    ${own} auth status --json; ${own} key list; echo "keys $?"; ${own} --profile all key list; echo "profile $?"
    ${own} publisher token check acme; echo "token $?"`;
  const argv = ['exec', '--base-url', url, '--credits', '1', '--', 'sh', '-c', script];
  const { exit, stdout, stderr } = await startRegen(argv, { home }).ended;
  expect(exit, stderr).toBe(0);
  const [status = '', ...codes] = stdout.trim().split('\n');
  expect(JSON.parse(status)).toMatchObject({
    ...{ source: 'REGEN_KEY_FILE', credential: { kind: 'api_key' }, publish_tokens: [] },
  });
  expect(codes).toEqual(['keys 4', 'profile 4', 'token 4']);
});

it('shows the command the tasks of its key, and no others of the machine', async () => {
  const { env } = await createPlace();
  const home = homeForTest();
  const cwd = filesForTest({ 'one.png': Buffer.from(pixel, 'base64') });
  const own = await regen(['image', 'relight', 'one.png', '--no-wait'], { home, env, cwd });
  expect(own.exit, own.stderr).toBe(0);
  const task = own.stdout.trim();
  const run = `"${node}" "${entry}"`;
  const script = `
    ${run} image relight one.png --prompt warm --no-wait; ${run} task list --json
    ${run} task show ${task}; echo "show $?"; ${run} task show @last --json; ${run} task wait --all`;
  const argv = ['exec', '--credits', '1', '--', 'sh', '-c', script];
  const ran = await startRegen(argv, { home, env, cwd }).ended;
  const [started, ...rest] = ran.stdout.trim().split('\n');
  expect(ran.exit, ran.stderr).toBe(0);
  expect(ran.stdout).not.toContain(task);
  expect(rest).toContain('show 3');
  const list = async () => JSON.parse((await regen(['task', 'list', '--json'], { home, env })).stdout);
  expect((await list()).map(({ task_id }: { task_id: string }) => task_id)).toEqual([started, task]);
});

test('tasks that are still running are in the bill, and what is refunded during the run can be spent again', async () => {
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const { env, url, ownerToken } = await createPlace(() => held);
  // The first two run; the third waits, and is refunded when it is cancelled.
  const script = `
    const ids = [];
    for (let at = 0; at < 3; at += 1) ids.push((await relight()).body.data.task_id);
    const account = async (id) => (await (await fetch(url + '/users/tasks/' + id, { headers: headers() })).json());
    while ((await account(ids[1])).status !== 'IN_PROGRESS');
    const refused = (await relight()).status;
    const cancelled = await post('/users/tasks/' + ids[2] + '/cancel');
    console.error(JSON.stringify([refused, cancelled.status, (await relight()).status, (await relight()).status]));`;
  const ran = runWithKey(script, { env }, '--credits', '3', '--json');
  const { exit, stdout, stderr } = await ran.ended;
  expect(exit, stderr).toBe(0);
  expect(JSON.parse(stderr)).toEqual([403, 200, 200, 403]);
  const bill = JSON.parse(stdout);
  expect(bill).toMatchObject({ tasks: 4, charged: 4, refunded: 1, credits: 3 });
  expect(bill.unfinished).toHaveLength(3);
  release();
  const [{ task_id }] = bill.unfinished;
  expect(await waitForTask({ url, token: ownerToken }, task_id)).toMatchObject({ status: 'COMPLETED' });
});

test.each([
  [['no-such-command-here'], 127, "Could not start 'no-such-command-here': command not found."],
  [['/'], 126, "Could not start '/'"],
])('the key is revoked although %j does not start', async (command, code, message) => {
  const place = await createPlace();
  const { exit, stderr } = await regen(['exec', '--credits', '1', '--', ...command], { env: place.env });
  expect({ exit, stderr }).toEqual({ exit: code, stderr: expect.stringContaining(message) });
  expect(stderr).toContain('No task was started; none of the 1 credits was spent.');
  expect(await listKeys(place)).toEqual([]);
});

test.each([
  [['--', 'true'], '--credits is required.'],
  [['--credits', '5'], 'No command given.'],
  [['--credits', '-1', '--', 'true'], '--credits must be a whole number'],
  [['--credits', '5', '--for', '0', '--', 'true'], '--for must be at least 1s.'],
  [['--credits', '5', '--for', 'ever', '--', 'true'], '--for must be a duration'],
  [
    ['--credits', '5', '--operations', 'video.*,key.create', '--', 'true'],
    "'key.create' is not an operation",
  ],
  [['--credits', '5', '--operations', '', '--', 'true'], "'' is not an operation"],
])('exec %j is refused before a key is created', async (argv, message) => {
  const { exit, stdout, stderr } = await regen(['exec', ...argv], {
    env: { REGEN_BASE_URL: 'http://x.test' },
  });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain(message);
});

it('prints the request that creates the key with --dry-run, and runs nothing', async () => {
  const argv = ['exec', '--credits', '5', '--operations', 'image.*', '--for', '2m', '--dry-run', '--json'];
  const { exit, stdout } = await regen([...argv, '--', '/bin/night.sh'], {
    env: { REGEN_BASE_URL: 'http://x.test' },
  });
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    method: 'POST',
    url: 'http://x.test/users/keys',
    body: {
      name: 'regen exec night.sh',
      credits: 5,
      expires_in: 120,
      operations: ['image.relight', 'image.styleTransfer', 'image.skinEnhancer', 'image.upscaler'],
    },
  });
});

test('a signal reaches the command, and the key is revoked', async () => {
  const place = await createPlace();
  const script = `
    process.on('SIGTERM', () => process.exit(3));
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const { child, ended } = runWithKey(script, place, '--credits', '1');
  await new Promise((done) => child.stdout?.once('data', done));
  expect(await listKeys(place)).toHaveLength(1);
  child.kill('SIGTERM');
  expect((await ended).exit).toBe(3);
  expect(await listKeys(place)).toEqual([]);
});

test('impatient Ctrl-C at the end does not keep the key from being revoked', async () => {
  const place = await createPlace();
  let send: (() => void) | undefined;
  const door = await listenOn(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === 'DELETE')
      await new Promise<void>((done) => {
        send = done;
      });
    const answer = await fetch(place.url + request.url, {
      method: request.method as string,
      headers: { authorization: request.headers.authorization as string, 'content-type': 'application/json' },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  const env = { ...place.env, REGEN_BASE_URL: door.url };
  const terminal = startRegenInTerminal(
    ['exec', '--credits', '1', '--', 'sh', '-c', 'echo waiting; exec sleep 1000'],
    { env },
  );
  await terminal.shows('waiting');
  terminal.type('\x03');
  await waitFor(() => expect(send).toBeDefined());
  terminal.type('\x03');
  terminal.type('\x03');
  send?.();
  await terminal.shows('No task was started');
  expect(await terminal.exit, terminal.screen()).toBe(130);
  expect(await listKeys(place)).toEqual([]);
  await door.close();
});

test('if regen is killed, the key goes on for an hour at most', async () => {
  let now = Date.now();
  const place = await createPlace(undefined, () => now);
  const path = join(folderForTest(), 'key');
  const script = `
    require('node:fs').writeFileSync(${JSON.stringify(path)}, key());
    console.log('ready');
    process.stdin.resume().on('end', () => process.exit());`;
  const stdin = new PassThrough();
  const { child, ended } = runWithKey(script, { env: place.env, stdin }, '--credits', '9');
  await new Promise((done) => child.stdout?.once('data', done));
  child.kill('SIGKILL');
  // The command still runs.
  await once(child, 'exit');
  const token = readFileSync(path, 'utf8');
  await startTask({ url: place.url, token });
  now += 60 * 60_000;
  const json = createSmallestBody('image.relight');
  const late = await ask(place.url + startPaths['image.relight'], { method: 'POST', token, json });
  expect(late.status).toBe(401);
  stdin.end();
  expect((await ended).exit).toBe(137);
});

/** Runs a command that asks who it is again and again; with each answer 5 minutes pass, for 3 hours. */
async function watchKey(...flags: string[]) {
  let now = Date.now();
  const [begin, hours] = [now, 3];
  const data = folderForTest();
  const start = (port: number) => serviceForTest({ ...configuration, data, port }, { now: () => now });
  let service = await start(0);
  const { url, ownerToken } = service;
  const seen: { minutes: number; status: number }[] = [];
  let look = () => {};
  let aborted: Promise<unknown> | undefined;
  const tower = await listenOn((request, response) => {
    seen.push({ minutes: (now - begin) / 60_000, status: Number(request.headers['x-status']) });
    response.end(now >= begin + hours * 3_600_000 ? 'stop' : 'go on');
    look();
  });
  let isRestarted = false;
  const clock = {
    now: () => now,
    sleep: async (_: number, signal: AbortSignal) => {
      aborted ??= once(signal, 'abort');
      const looked = new Promise<void>((done) => {
        look = done;
      });
      await Promise.race([aborted, looked]);
      if (!isRestarted && seen.length > 10) {
        isRestarted = true;
        await service.stop();
        service = await start(Number(new URL(url).port));
      }
      now += 5 * 60_000;
    },
  };
  const script = `
    const { readFileSync } = require('node:fs');
    (async () => {
      for (let said = ''; said !== 'stop';) {
        const headers = { authorization: 'Bearer ' + readFileSync(process.env.REGEN_KEY_FILE, 'utf8') };
        const { status } = await fetch(process.env.REGEN_BASE_URL + '/users/me', { headers }).catch(() => ({ status: 0 }));
        said = await (await fetch('${tower.url}', { headers: { 'x-status': status } })).text();
      }
    })();`;
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken };
  const argv = ['exec', '--credits', '1', ...flags, '--', node, '-e', script];
  const { exit, stderr } = await regen(argv, { env, clock });
  expect(exit, stderr).toBe(0);
  expect(isRestarted).toBe(true);
  await tower.close();
  // While the service restarted, it was not there.
  return seen.filter(({ status }) => status !== 0);
}

test('a command that runs for three hours can spend all the time, also after the service restarted', async () => {
  const seen = await watchKey();
  expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
  expect(seen.at(-1)?.minutes).toBe(180);
});

test('with --for, a command can spend only that long', async () => {
  const seen = await watchKey('--for', '2h');
  const late = seen.filter(({ minutes }) => minutes > 125);
  expect(seen.filter(({ minutes }) => minutes < 120).every(({ status }) => status === 200)).toBe(true);
  expect(late.length).toBeGreaterThan(5);
  expect(late.every(({ status }) => status === 401)).toBe(true);
});

it('refuses a service that has no limit in all, and revokes the key', async () => {
  const asked: string[] = [];
  const old = await listenOn((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const at = new Date().toISOString();
    const key = { id: 'k1', name: 'x', token: `regen_key_${'a'.repeat(43)}`, created_at: at, expires_at: at };
    response.writeHead(request.method === 'POST' ? 201 : 204, { 'content-type': 'application/json' });
    response.end(request.method === 'POST' ? JSON.stringify(key) : undefined);
  });
  const marker = join(folderForTest(), 'ran');
  const env = { REGEN_BASE_URL: old.url, REGEN_TOKEN: 'secret' };
  const { exit, stderr } = await regen(['exec', '--credits', '1', '--', 'touch', marker], { env });
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: expect.stringContaining('The service does not support API keys with a total limit.'),
  });
  expect(asked).toEqual(['POST /users/keys', 'DELETE /users/keys/k1']);
  expect(existsSync(marker)).toBe(false);
  await old.close();
});

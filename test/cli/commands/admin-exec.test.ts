import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { entry, regen, type Surroundings, startRegen } from '../../support/cli.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';
import { startRegenInTerminal } from '../../support/terminal.js';

const node = process.execPath;

/** A service, and the environment of one of its admins. */
async function createAdminPlace(now = Date.now) {
  const service = await serviceForTest({}, { now });
  const token = service.ownerToken;
  return { url: service.url, token, env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: token } };
}

const runWithToken = (script: string, surroundings: Surroundings) =>
  startRegen(['admin', 'exec', '--', node, '-e', script], surroundings);

test('the command gets a token file that is removed afterwards, and its exit code is passed on', async () => {
  const { url, token, env } = await createAdminPlace();
  const script = `
    const { statSync, readFileSync } = require('node:fs');
    const { dirname } = require('node:path');
    const path = process.env.REGEN_ADMIN_TOKEN_FILE;
    const mode = (one) => (statSync(one).mode & 0o777).toString(8);
    let stdin = '';
    process.stdin.on('data', (part) => { stdin += part; }).on('end', () => {
      const token = readFileSync(path, 'utf8');
      console.log(JSON.stringify({ env: process.env, path, stdin, token, modes: [mode(path), mode(dirname(path))] }));
      process.exit(42);
    });`;
  const secrets = { REGEN_PUBLISH_TOKEN: 'publish-secret', REGEN_WEBHOOK_SECRET: 'whsec_x', OTHER: 'kept' };
  const ran = await runWithToken(script, { env: { ...env, ...secrets }, stdin: 'piped' }).ended;
  expect(ran.exit, ran.stderr).toBe(42);
  const seen = JSON.parse(ran.stdout);
  expect(seen).toMatchObject({
    modes: ['600', '700'],
    stdin: 'piped',
    env: { REGEN_BASE_URL: url, REGEN_ADMIN_TOKEN: seen.token, OTHER: 'kept' },
  });
  expect(
    Object.keys(seen.env)
      .filter((name) => /TOKEN|SECRET/.test(name))
      .sort(),
  ).toEqual(['REGEN_ADMIN_TOKEN', 'REGEN_ADMIN_TOKEN_FILE']);
  expect(ran.stdout).not.toContain(token);
  expect(ran.stderr).not.toContain(seen.token);
  // It was revoked when the command ended.
  expect((await ask(`${url}/admin/audit`, { token: seen.token })).status).toBe(401);
  expect(existsSync(dirname(seen.path))).toBe(false);
});

test('regen, run as the command, is signed in with the token', async () => {
  const { env } = await createAdminPlace();
  const { ended } = startRegen(['admin', 'exec', '--', node, entry, 'auth', 'status', '--json'], { env });
  const ran = await ended;
  expect(ran.exit, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    source: 'REGEN_ADMIN_TOKEN_FILE',
    credential: { kind: 'admin_token' },
  });
});

test('a signal reaches the command, and the token file is removed', async () => {
  const { env } = await createAdminPlace();
  const script = `
    process.on('SIGTERM', () => { console.log('told'); process.exit(3); });
    console.log(process.env.REGEN_ADMIN_TOKEN_FILE);
    setInterval(() => {}, 1000);`;
  const { child, ended } = runWithToken(script, { env });
  await new Promise((done) => child.stdout?.once('data', done));
  child.kill('SIGTERM');
  const { exit, stdout } = await ended;
  const [path, received] = stdout.split('\n') as [string, string];
  expect({ exit, received }).toEqual({ exit: 3, received: 'told' });
  expect(existsSync(dirname(path))).toBe(false);
});

test('a signal that comes as the command starts reaches it', async () => {
  const { env } = await createAdminPlace();
  const script = 'trap "exit 3" TERM; kill -TERM $PPID; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done';
  const runs = Array.from({ length: 5 }, () =>
    startRegen(['admin', 'exec', '--', 'sh', '-c', script], { env }),
  );
  const ended = await Promise.all(runs.map((run) => run.ended));
  expect(ended.map(({ exit }) => exit)).toEqual([3, 3, 3, 3, 3]);
});

test('Ctrl-C reaches the command once, and the command decides how to end', async () => {
  const { env } = await createAdminPlace();
  const heard = join(folderForTest(), 'heard');
  const script = `
    const { appendFileSync } = require('node:fs');
    process.on('SIGINT', () => { appendFileSync(${JSON.stringify(heard)}, 'x'); setTimeout(() => process.exit(7), 300); });
    console.log('waiting');
    setInterval(() => {}, 1000);`;
  const terminal = startRegenInTerminal(['admin', 'exec', '--', node, '-e', script], { env });
  await terminal.shows('waiting');
  terminal.type('\x03');
  expect(await terminal.exit, terminal.screen()).toBe(7);
  expect(readFileSync(heard, 'utf8')).toBe('x');
});

test.each([
  [['no-such-command-here'], 127, "Could not start 'no-such-command-here': command not found."],
  [['/'], 126, "Could not start '/'"],
  [[], 2, 'No command given.'],
])('admin exec of %j exits %i', async (command, code, message) => {
  const { env } = await createAdminPlace();
  const { exit, stdout, stderr } = await regen(['admin', 'exec', '--', ...command], { env });
  expect({ exit, stdout }).toEqual({ exit: code, stdout: '' });
  expect(stderr).toContain(message);
});

test('the command does not run if no admin token can be created', async () => {
  const { url } = await createAdminPlace();
  const marker = join(folderForTest(), 'ran');
  const script = `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`;
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: 'wrong' };
  expect((await runWithToken(script, { env }).ended).exit).toBe(4);
  expect(existsSync(marker)).toBe(false);
});

test('a command that runs for three hours finds a valid token in its file whenever it looks', async () => {
  let now = Date.now();
  const { url, env } = await createAdminPlace(() => now);
  const hours = 3;
  const end = now + hours * 3_600_000;
  const found: { at: number; status: number; token: string; modes: string }[] = [];
  // Time goes on only after the command has looked again, however slow this machine is.
  let looked = () => {};
  const tower = createServer(async (request, response) => {
    const { token, modes } = JSON.parse(request.headers['x-seen'] as string);
    const headers = { authorization: `Bearer ${token}` };
    const { status } = await fetch(`${url}/admin/tokens`, { headers });
    found.push({ at: now, status, token, modes });
    response.end(now >= end ? 'stop' : 'go on');
    looked();
  });
  await new Promise<void>((done) => tower.listen(0, '127.0.0.1', done));
  onTestFinished(() => void tower.close());
  const address = `http://127.0.0.1:${(tower.address() as AddressInfo).port}`;
  const script = `
    const { readFileSync, statSync } = require('node:fs');
    const { dirname } = require('node:path');
    const path = process.env.REGEN_ADMIN_TOKEN_FILE;
    const mode = (one) => (statSync(one).mode & 0o777).toString(8);
    (async () => {
      for (let answer = ''; answer !== 'stop'; ) {
        const seen = { token: readFileSync(path, 'utf8'), modes: mode(path) + ' ' + mode(dirname(path)) };
        answer = await (await fetch('${address}', { headers: { 'x-seen': JSON.stringify(seen) } })).text();
      }
    })();`;
  const clock = {
    now: () => now,
    sleep: async (ms: number, signal: AbortSignal) => {
      await new Promise<void>((done) => {
        looked = done;
        signal.onabort = () => done();
      });
      now += ms;
    },
  };
  const { exit, stderr } = await regen(['admin', 'exec', '--', node, '-e', script], { env, clock });
  expect(exit, stderr).toBe(0);
  expect(found.filter(({ status }) => status !== 200)).toEqual([]);
  expect(new Set(found.map(({ modes }) => modes))).toEqual(new Set(['600 700']));
  // One at the start, and a new one each 55 minutes.
  expect(new Set(found.map(({ token }) => token)).size).toBe(4);
});

test('if no new token can be created, the command continues, the reason is printed, and regen tries again', async () => {
  let now = Date.now();
  const { url, env } = await createAdminPlace(() => now);
  let steps = 0;
  let refuse = true;
  const door = createServer(async (request, response) => {
    const isFirst = steps === 0;
    if (request.url === '/admin/generate-token' && refuse && !isFirst) {
      const body = JSON.stringify({ error: 'admin_required', message: 'Only an admin may do this.' });
      return void response.writeHead(403, { 'content-type': 'application/json' }).end(body);
    }
    const answer = await fetch(url + request.url, {
      method: request.method as string,
      headers: { authorization: request.headers.authorization as string },
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((done) => door.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    door.closeAllConnections();
    door.close();
  });
  const address = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  const script = `
    const { readFileSync } = require('node:fs');
    const first = process.env.REGEN_ADMIN_TOKEN;
    setInterval(() => { if (readFileSync(process.env.REGEN_ADMIN_TOKEN_FILE, 'utf8') !== first) process.exit(0); }, 5);`;
  const clock = {
    now: () => now,
    sleep: async () => {
      await new Promise((done) => setTimeout(done, 5));
      if (++steps === 1) now += 56 * 60_000;
      if (steps === 5) refuse = false;
    },
  };
  const { exit, stderr } = await regen(['admin', 'exec', '--', node, '-e', script], {
    env: { ...env, REGEN_BASE_URL: address },
    clock,
  });
  expect(exit, stderr).toBe(0);
  expect(stderr.match(/Could not renew the admin token.*Only an admin may do this\./g)).toHaveLength(1);
});

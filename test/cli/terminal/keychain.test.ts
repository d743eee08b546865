import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type Keychain, KeychainError } from '../../../src/cli/terminal/keychain.js';
import { createKeychain } from '../../../src/cli/terminal/keychain-process.js';
import { homeForTest, regen } from '../../support/cli.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

const run = promisify(execFile);

/** A keychain in memory, which can be locked. */
function keychainInMemory() {
  const secrets = new Map<string, string>();
  let locked = false;
  const keychain: Keychain = async ({ action, account, secret }) => {
    if (locked) throw new KeychainError('it is locked');
    if (action === 'write') secrets.set(account, secret as string);
    if (action === 'remove') secrets.delete(account);
    return action === 'read' ? secrets.get(account) : undefined;
  };
  const lock = (now: boolean) => {
    locked = now;
  };
  return { keychain, secrets, lock };
}

async function createDesktop(more: Record<string, string> = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' }) {
  const service = await serviceForTest();
  const home = homeForTest();
  const { keychain, secrets, lock } = keychainInMemory();
  const surroundings = { home, keychain, env: { REGEN_BASE_URL: service.url, ...more } };
  const auth = (words: string[], stdin = '') => regen(['auth', ...words], { ...surroundings, stdin });
  const file = () => {
    const folder = join(home, '.config', 'regen', 'credentials');
    const [name] = readdirSync(folder).filter((one) => one.endsWith('.json'));
    return readFileSync(join(folder, name as string), 'utf8');
  };
  return { service, surroundings, auth, secrets, lock, file };
}

test('on a desktop, secrets are stored in the keychain and not in the file', async () => {
  const { service, auth, secrets, file } = await createDesktop();
  const login = await auth(['login', '--with-token'], service.ownerToken);
  expect(login.stderr).toContain("in this system's keychain");
  expect(file()).not.toContain(service.ownerToken);
  expect([...secrets.values()].join()).toContain(service.ownerToken);
  expect((await auth(['token'])).stdout.trim()).toBe(service.ownerToken);
  expect((await auth(['status'])).stdout).toContain("source\tthis system's keychain");
  await auth(['logout']);
  expect(secrets.size).toBe(0);
  expect((await auth(['status'])).exit).toBe(4);
});

test('in CI or without a desktop, the file is used without a message', async () => {
  const job: Record<string, string> = { CI: '1', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' };
  for (const env of [{}, job]) {
    const { service, auth, secrets, file } = await createDesktop(env);
    const { stderr } = await auth(['login', '--with-token'], service.ownerToken);
    expect(stderr).not.toContain('eychain');
    expect(file()).toContain(service.ownerToken);
    expect(secrets.size).toBe(0);
  }
});

test('a keychain that does not work is reported once, and the file is used instead', async () => {
  const { service, auth, secrets, lock, file } = await createDesktop();
  lock(true);
  const { exit, stderr } = await auth(['login', '--with-token'], service.ownerToken);
  expect(exit).toBe(0);
  expect(stderr.match(/Could not use the keychain: it is locked\./g)).toHaveLength(1);
  expect(file()).toContain(service.ownerToken);
  expect((await auth(['token'])).stderr).toBe('');
  lock(false);
  await auth(['login', '--with-token'], service.ownerToken);
  expect(file()).not.toContain(service.ownerToken);
  expect(secrets.size).toBe(1);
});

test('the content of a keychain is not overwritten while it cannot be read', async () => {
  const { service, surroundings, auth, lock } = await createDesktop();
  await auth(['login', '--with-token'], service.ownerToken);
  lock(true);
  const locked = await auth(['status']);
  expect(locked.exit).toBe(4);
  expect(locked.stderr).toContain('it is locked');
  lock(false);
  expect((await auth(['token'])).stdout.trim()).toBe(service.ownerToken);
  const doctor = () => regen(['doctor'], surroundings);
  expect((await doctor()).stdout).toContain('keychain\tok\tavailable');
  lock(true);
  expect((await doctor()).stdout).toContain('keychain\twarn\tnot available: it is locked');
});

test('a person may choose the file for good', async () => {
  const { service, surroundings, auth, secrets, file } = await createDesktop();
  await auth(['login', '--with-token'], service.ownerToken);
  expect((await regen(['config', 'set', 'credential_store', 'file'], surroundings)).exit).toBe(0);
  expect((await auth(['token'])).stdout.trim()).toBe(service.ownerToken);
  await auth(['login', '--with-token'], service.ownerToken);
  expect(file()).toContain(service.ownerToken);
  expect(secrets.size).toBe(0);
  expect((await regen(['config', 'set', 'credential_store', 'safe'], surroundings)).exit).toBe(2);
});

const writer = 'dist/test/keychain-process.js';

test('50 concurrent changes by processes are all kept in the keychain', async () => {
  const home = homeForTest();
  const file = join(folderForTest(), 'keychain');
  const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
  const portions = Array.from({ length: 5 }, (_, index) => names.slice(index * 10, index * 10 + 10));
  const env = { PATH: process.env.PATH, HOME: home };
  const ran = await Promise.all(
    portions.map((portion) => run(process.execPath, [writer, file, ...portion], { env })),
  );
  expect(ran.map(({ stderr }) => stderr).join('')).toBe('');
  const { publish_tokens } = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.keys(publish_tokens).sort()).toEqual([...names].sort());
});

test('a kill in the middle of writing loses nothing that was kept', async () => {
  const home = homeForTest();
  const file = join(folderForTest(), 'keychain');
  const env = { PATH: process.env.PATH, HOME: home };
  const kept: string[] = [];
  for (const round of [0, 1, 2]) {
    const names = Array.from({ length: 400 }, (_, index) => `r${round}-${index}`);
    const child = spawn(process.execPath, [writer, file, ...names], { env });
    const said = await killedAfter(child, 10 + round * 7);
    kept.push(...said);
    const { publish_tokens } = JSON.parse(readFileSync(file, 'utf8'));
    expect(Object.keys(publish_tokens)).toEqual(expect.arrayContaining(kept));
  }
});

/** Kills a process once it has said so many lines. @returns the whole lines it said */
async function killedAfter(child: ChildProcess, lines: number): Promise<string[]> {
  let text = '';
  child.stdout?.on('data', (part) => {
    text += part;
    if (text.split('\n').length > lines) child.kill('SIGKILL');
  });
  await new Promise((done) => child.once('close', done));
  return text.split('\n').slice(0, -1);
}

test('a keychain that hangs is given up after 3 s, and its process is gone', async () => {
  const folder = folderForTest();
  const hanging = join(folder, 'node');
  writeFileSync(hanging, `#!/bin/sh\necho $$ > ${folder}/pid\nexec sleep 600\n`);
  chmodSync(hanging, 0o755);
  const asked = createKeychain(hanging, { PATH: process.env.PATH })({ action: 'read', account: 'x' });
  await expect(asked).rejects.toThrow('it did not respond within 3 s; it may be locked');
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  await expect.poll(() => isAlive(pid)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a keychain is asked without the secrets of the environment', async () => {
  const folder = folderForTest();
  const fake = join(folder, 'node');
  mkdirSync(join(folder, 'out'));
  writeFileSync(
    fake,
    `#!/bin/sh\nenv > ${folder}/out/env\nfor one; do echo "$one" >> ${folder}/out/argv; done\ncat > ${folder}/out/stdin\necho '{}'\n`,
  );
  chmodSync(fake, 0o755);
  const env = { PATH: process.env.PATH, REGEN_TOKEN: 'secret-1', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' };
  await createKeychain(fake, env)({ action: 'write', account: 'x', secret: 'secret-2' });
  const out = (name: string) => readFileSync(join(folder, 'out', name), 'utf8');
  expect(out('env')).toContain('DBUS_SESSION_BUS_ADDRESS');
  expect(out('env') + out('argv')).not.toMatch(/secret-\d/);
  expect(out('stdin')).toContain('secret-2');
});

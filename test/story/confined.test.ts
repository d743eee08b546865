import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { entry, homeForTest, regen, startRegen } from '../support/cli.js';
import { png } from '../support/generation-double.js';
import { listStatuses, receiverForTest } from '../support/receiver.js';
import { folderForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

// What examples/service/regen.service asks of systemd, made with unshare and setpriv: a user without rights or
// capabilities, no new privileges, a read-only system, a /tmp of its own, and one folder of state.

const USER = 65_534;
/** Less than a test that hangs may take, however many steps are slow. */
const TOUR_MS = 240_000;
// The checkout may be below the other /tmp.
const CONFINED = `mount --make-rprivate / && mount --bind "$1" "$1" && mount --bind "$2" "$1/checkout" &&
  mount --bind "$1/tmp" /tmp && mount -o remount,bind,ro / && ulimit -n 1024 && shift 2 &&
  exec setpriv --reuid ${USER} --regid ${USER} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"`;

function createState(): string {
  // Not below /tmp, which the service has its own of.
  const state = mkdtempSync('/var/tmp/regen-confined-');
  for (const name of ['.', 'tmp', 'checkout', 'data', 'credentials']) {
    mkdirSync(join(state, name), { recursive: true, mode: 0o700 });
    chownSync(join(state, name), USER, USER);
  }
  return state;
}

const toArguments = (state: string, command: readonly string[]) => [
  ...['--mount', 'sh', '-c', CONFINED, 'sh', state, resolve('.'), ...command],
];

function isPossible(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const state = createState();
  const command = [process.execPath, toEntry(state), '--version'];
  const { status } = spawnSync('unshare', toArguments(state, command), { timeout: 60_000 });
  rmSync(state, { recursive: true });
  return status === 0;
}

/** The program where the service sees it. */
const toEntry = (state: string) => join(state, 'checkout', relative('.', entry));

test.skipIf(!isPossible())(
  'a service without rights on a read-only system does a full tour, and writes to its folder alone',
  async () => {
    const state = createState();
    onTestFinished(() => rmSync(state, { recursive: true, force: true }));
    const secret = join(state, 'credentials', 'metrics');
    writeFileSync(secret, 'metrics-token\n', { mode: 0o400 });
    chownSync(secret, USER, USER);
    const data = join(state, 'data');
    const env = {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      REGEN_SERVE_METRICS__TOKEN__FILE: secret,
      REGEN_SERVE_LOG_LEVEL: 'info',
    };
    const command = [process.execPath, toEntry(state), 'serve', '--port', '0', '--data', data];
    const child = spawn('unshare', toArguments(state, command), { env });
    let [out, log] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const begun = performance.now();
    /** Ends a step that hangs before the test does, and says which and what the service said until then. */
    const within = <Result>(step: string, work: Promise<Result>): Promise<Result> => {
      const giveUp = new AbortController();
      const leftMs = TOUR_MS - (performance.now() - begun);
      const hang = pause(leftMs, undefined, { signal: giveUp.signal }).then(() => {
        throw new Error(`${step} has not ended. The log of the service:\n${log}`);
      });
      hang.catch(() => {});
      return Promise.race([work, hang]).finally(() => giveUp.abort());
    };
    onTestFinished(() => void child.kill('SIGKILL'));
    await within(
      'serve',
      waitFor(() => expect(out, log).toMatch(/^http:\S+\n$/)),
    );
    const url = out.trim();
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    for (const line of [`Uid:\t${USER}\t${USER}`, 'CapEff:\t0000000000000000', 'CapBnd:\t0000000000000000'])
      expect(status).toContain(line);
    expect(status).toContain('NoNewPrivs:\t1');
    expect(readFileSync(`/proc/${child.pid}/mounts`, 'utf8')).toMatch(/ \/ \w+ ro[ ,]/);

    const cwd = folderForTest();
    const token = readFileSync(join(data, 'owner.token'), 'utf8').trim();
    const surroundings = { cwd, home: homeForTest(), env: { REGEN_BASE_URL: url, REGEN_TOKEN: token } };
    const run = async (...argv: string[]) => {
      const { exit, stdout, stderr } = await within(argv.join(' '), regen(argv, surroundings));
      expect(exit, `${argv.join(' ')}: ${stderr}\n${log}`).toBe(0);
      return stdout;
    };
    await run('publisher', 'create', 'hello', '--name', 'Hello');
    const publishToken = (await run('publisher', 'token', 'create', 'hello', 'ci')).trim();
    Object.assign(surroundings.env, { REGEN_PUBLISH_TOKEN: publishToken });
    await run('version', 'publish', join(process.cwd(), 'examples/hello-nodes'));
    expect(await run('host-nodes', 'list', 'hello-nodes', '1.0.0')).toContain('HelloGreeting');
    await run('version', 'download', 'hello-nodes', '1.0.0', '-o', 'pack.zip');
    writeFileSync(join(cwd, 'photo.png'), png);
    const { url: hook, received } = await receiverForTest();
    await run('image', 'relight', 'photo.png', '--webhook-url', hook, '-o', 'relit.png');
    await within(
      'webhook',
      waitFor(() => expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'COMPLETED'])),
    );
    // A manager of services may have started it so, and without rights it cannot take that back.
    setPriority(child.pid as number, 11);
    await run('video', 'text2video', 'a boat', '--duration', '1', '--resolution', '540p', '-o', 'boat.mp4');
    for (const file of ['pack.zip', 'relit.png', 'boat.mp4'])
      expect(statSync(join(cwd, file)).size).toBeGreaterThan(0);
    const scrape = await within(
      'metrics',
      fetch(`${url}/metrics`, { headers: { authorization: 'Bearer metrics-token' } }),
    );
    expect(await scrape.text()).toContain('regen_jobs{kind="check-archive",state="due"} 0');
    await run('serve', 'backup', 'backup.zip', '--data', data);
    await run('serve', 'prune', '--dry-run', '--data', data);

    child.kill('SIGTERM');
    expect(await within('stop', ended), log).toBe(0);
    const lines = log.split('\n').filter((line) => line.startsWith('{'));
    const problems = lines.map((line) => JSON.parse(line)).filter(({ level }) => level !== 'info');
    expect(problems).toEqual([]);
    expect(log).not.toContain('metrics-token');
    const check = startRegen(['serve', 'check', '--data', data]);
    onTestFinished(() => void check.child.kill('SIGKILL'));
    expect((await within('serve check', check.ended)).exit).toBe(0);
  },
);

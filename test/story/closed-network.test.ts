import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entry, homeForTest, regen } from '../support/cli.js';
import { packRegistryForTest } from '../support/pack-registry.js';
import { folderForTest, serviceForTest } from '../support/service.js';

/** Runs a script of the shell where no address but those of the machine itself can be reached. */
function runWithoutNetwork(script: string, env: Record<string, string>, cwd: string) {
  const user = ['unshare', '--user', '--map-user=1000', '--map-group=1000'].join(' ');
  const start = `ip link set lo up && exec ${user} sh -euc "$0"`;
  return spawnSync('unshare', ['--map-root-user', '--net', 'sh', '-c', start, script], {
    ...{ cwd, encoding: 'utf8', timeout: 120_000 },
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, ...env },
  });
}

const { status, stderr } = runWithoutNetwork('true', {}, '.');
const missing =
  status === 0 ? undefined : `This machine allows no network namespaces: ${stderr || 'no unshare'}`;

/** Restores a backup, starts a service on it, and sets up a host from it; then shows what cannot be reached. */
const script = `
cut() { if "$@" 2>> errors.txt; then echo "reached: $*"; fi; }
test "$(id -u)" = 1000
test "$(wc -l < /proc/net/route)" = 1
regen() { "$NODE" "$ENTRY" "$@"; }
regen serve restore "$BACKUP" --data store >> log.txt
mkfifo ready
"$NODE" "$ENTRY" serve --data store --port 0 > ready 2> service.txt &
service=$!
mkdir custom_nodes
read -r REGEN_BASE_URL < ready
export REGEN_BASE_URL
trap 'kill $service; wait $service || true' EXIT
cut regen node get remote --base-url "$OUTSIDE"
regen node install remote@1.0.0 --into custom_nodes >> log.txt
regen node audit custom_nodes --json
regen version verify remote 1.0.0 --json
regen node install remote --into custom_nodes >> log.txt
cut regen node install other --into custom_nodes
regen node search rem > found.txt 2>> errors.txt
regen node audit custom_nodes --json
`;

test('a prefetched registry is restored, installed from and audited where there is no route to any other machine', async ({
  skip,
}) => {
  skip(missing !== undefined, missing);
  const packs = ['1.0.0', '1.1.0'].map((version) => ({ name: 'remote', version }));
  const far = await packRegistryForTest([{ name: 'other' }]);
  for (const pack of packs) await far.publish(pack);
  const data = folderForTest();
  const near = await serviceForTest({ data, uplink: { url: far.service.url } });
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'packs.txt'), 'remote\nremote@1.0.0\n');
  const env = { REGEN_BASE_URL: near.url, REGEN_TOKEN: near.ownerToken };
  const fetched = await regen(['serve', 'prefetch', 'packs.txt'], { env, cwd });
  expect(fetched.exit, fetched.stderr).toBe(0);
  const backup = join(folderForTest(), 'registry.zip');
  expect((await regen(['serve', 'backup', backup, '--data', data])).exit).toBe(0);
  await near.stop();

  const settings = { REGEN_NO_AUTOSTART: '1', REGEN_SERVE_UPLINK__URL: 'https://registry.example.com' };
  const names = { NODE: process.execPath, ENTRY: entry, BACKUP: backup, OUTSIDE: far.service.url };
  const closed = folderForTest();
  const ran = runWithoutNetwork(script, { ...settings, ...names, HOME: homeForTest() }, closed);
  expect([ran.status, ran.stderr], ran.stdout).toEqual([0, expect.any(String)]);
  const [first = '', verified = '', second] = ran.stdout.trim().split('\n');
  expect([first, second]).toEqual(['[]', '[]']);
  expect(JSON.parse(verified)).toMatchObject({ version: '1.0.0', verdict: 'Mirrored' });
  const errors = readFileSync(join(closed, 'errors.txt'), 'utf8');
  expect(errors).toContain(`Nothing is listening at ${far.service.url}.`);
  expect(errors).toContain('The registry behind this one does not answer');
  expect(errors).toContain('Of its nodes, only those that are kept here are listed.');
  expect(readFileSync(join(closed, 'found.txt'), 'utf8')).toMatch(/^remote\t.*\t1\.1\.0\t/);
  const manifest = readFileSync(join(closed, 'custom_nodes/remote/pyproject.toml'), 'utf8');
  expect(manifest).toContain('version = "1.1.0"');
});

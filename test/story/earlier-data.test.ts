import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { homeWithService, startRegen } from '../support/cli.js';
import { packForTest } from '../support/packs.js';

// What regen left in a HOME on 2026-11-21: a registry with three versions, tasks, a batch, settings and credentials.
const fixture = resolve('test/fixtures/data-folder-2026-11-21/home');

/** A copy of it; git keeps no private modes. */
function earlierHome(): string {
  const home = homeWithService();
  cpSync(fixture, home, { recursive: true });
  for (const name of readdirSync(home, { recursive: true, withFileTypes: true })) {
    chmodSync(join(name.parentPath, name.name), name.isDirectory() ? 0o700 : 0o600);
  }
  return home;
}

test('data, settings, credentials and ledger of an earlier commit are opened as they are', async () => {
  const home = earlierHome();
  const env = { REGEN_CREDENTIAL_STORE: 'file' };
  const run = async (...words: string[]) => {
    const { exit, stdout, stderr } = await startRegen(words, { home, cwd: home, env }).ended;
    return { exit, stdout, stderr };
  };
  const json = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout);

  const statuses = (await json('version', 'list', 'hello-nodes')).map(
    ({ version, status }: Record<string, string>) => `${version} ${status}`,
  );
  expect(statuses).toEqual([
    '1.2.0 NodeVersionStatusFlagged',
    '1.1.0 NodeVersionStatusActive',
    '1.0.0 NodeVersionStatusActive',
  ]);
  expect(await json('host-nodes', 'list')).toMatchObject({ total: 2 });
  const saved = await run('version', 'download', 'hello-nodes', '1.1.0', '-o', join(home, 'pack.zip'));
  expect(saved.exit, saved.stderr).toBe(0);
  const digest = createHash('sha256')
    .update(readFileSync(join(home, 'pack.zip')))
    .digest('hex');
  expect(await json('version', 'get', 'hello-nodes', '1.1.0')).toMatchObject({ archive_sha256: digest });

  expect((await run('config', 'get', 'confirm_credits')).stdout).toBe('50\n');
  expect((await run('config', 'get', 'profiles.team.base_url')).stdout).toBe('http://127.0.0.1:7802/\n');
  const kept = await run('auth', 'token', '--profile', 'team');
  expect(kept.stdout).toMatch(/^regen_owner_/);
  // The publish token that was made for the embedded service is still there, and still good.
  const pack = packForTest({ name: 'another', publisher: 'hello' });
  const published = await run('version', 'publish', pack);
  expect(published.exit, published.stderr).toBe(0);
  expect(published.stderr).not.toContain('Created the publisher');

  const tasks = await json('task', 'list');
  expect(tasks).toHaveLength(5);
  const video = tasks.find(({ operation }: { operation: string }) => operation === 'video.text2video');
  const download = await run('task', 'download', video.task_id, '-o', 'boat.mp4');
  expect(download.exit, download.stderr).toBe(0);
  expect(readFileSync(join(home, 'boat.mp4')).subarray(4, 8).toString()).toBe('ftyp');

  const batch = await run('batch', 'jobs.jsonl');
  expect(batch).toMatchObject({ exit: 0, stderr: expect.stringContaining('1 done') });
  expect(await json('task', 'list')).toHaveLength(5);
});

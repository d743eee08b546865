import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import sharp from 'sharp';
import { expect, onTestFinished } from 'vitest';
import { homeForTest, type Ran } from './cli.js';
import { listFiles } from './list-files.js';
import type { SharedPlaces } from './shared-places.js';
import { waitFor } from './wait-for.js';

type RunCommand = (argv: readonly string[], home: string, env: Record<string, string>) => Promise<Ran>;

/**
 * The data of a laptop, backed up, copied to PostgreSQL and S3, served there, backed up again, and restored: by commands of
 * the built program, none of which evaluates a file twice.
 */
export async function moveStore(places: SharedPlaces, runCommand: RunCommand): Promise<void> {
  const home = homeForTest();
  const data = join(home, '.local/share/regen');
  const { configs, env } = await places.configure(join(home, 'team'));
  const config = ['--config', configs[0] as string];
  const required = resolve('test/support/refuse-second-load.cjs');
  const run = (...argv: string[]) =>
    runCommand(argv, home, { ...env, NODE_OPTIONS: `--require ${required}`, REGEN_CREDENTIAL_STORE: 'file' });
  const answer = async (...argv: string[]) => {
    const { exit, stdout, stderr } = await run(...argv, '--json');
    expect([exit, stderr], argv.join(' ')).toEqual([0, expect.not.stringMatching(/error|warning/i)]);
    return JSON.parse(stdout);
  };
  onTestFinished(async () => {
    await run('serve', 'stop');
    await run('serve', 'stop', ...config);
  });

  cpSync('examples/hello-nodes', join(home, 'hello-nodes'), { recursive: true });
  await answer('version', 'publish', join(home, 'hello-nodes'));
  const picture = join(home, 'portrait.png');
  const background = { width: 64, height: 64, channels: 3, background: '#a86' } as const;
  writeFileSync(picture, await sharp({ create: background }).png().toBuffer());
  await answer('image', 'relight', picture, '-o', join(home, 'relit.png'));
  // The input is removed once the task has ended.
  await waitFor(() => expect(listFiles(join(data, 'objects'))).toHaveLength(2));

  const whole = { objects: 2, bytes: expect.any(Number), problems: [] };
  expect(await answer('serve', 'backup', join(home, 'laptop.zip'))).toMatchObject(whole);
  expect(await run('serve', 'stop')).toMatchObject({ exit: 0 });
  expect(await answer('serve', 'copy', '--to', configs[0] as string)).toMatchObject(whole);
  expect(await answer('serve', 'check', ...config)).toMatchObject(whole);
  expect(await answer('serve', 'migrate', '--check', ...config)).toMatchObject({ pending: [] });

  const started = await run('serve', '--detach', ...config);
  expect(started, started.stderr).toMatchObject({ exit: 0 });
  const url = started.stdout.trim();
  expect(await answer('serve', 'status', ...config)).toMatchObject({ url, storage: expect.any(String) });
  expect(await answer('node', 'get', 'hello-nodes', '--base-url', url)).toMatchObject({ id: 'hello-nodes' });
  expect(await answer('serve', 'check', ...config)).toMatchObject(whole);
  const backup = join(home, 'team.zip');
  expect(await answer('serve', 'backup', backup, ...config)).toMatchObject(whole);
  const token = join(home, 'team', 'owner.token');
  await answer('auth', 'status', '--base-url', url, '--token-file', token);
  expect(readFileSync(backup).includes(readFileSync(token, 'utf8').trim())).toBe(false);
  expect(await answer('serve', 'prune', '--dry-run', ...config)).toBeInstanceOf(Array);
  expect(await run('serve', 'stop', ...config)).toMatchObject({ exit: 0 });

  const restored = ['--data', join(home, 'restored')];
  expect(await answer('serve', 'restore', backup, ...restored)).toMatchObject(whole);
  expect(await answer('serve', 'check', ...restored)).toMatchObject(whole);
}

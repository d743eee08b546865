import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { toSignIn } from '../../../src/cli/sign-in/tokens.js';
import { takeLock } from '../../../src/disk/lock.js';
import { getOwnIdentity } from '../../../src/disk/process-identity.js';
import { Destination } from '../../../src/flows/tasks/destination.js';
import { Ledger } from '../../../src/flows/tasks/ledger.js';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'regen-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const DRAFT = { service: 'local', operation: 'image.relight', request: {}, name: 'cat' };
const DAY_MS = 24 * 60 * 60_000;

it('a job of a batch removes entries older than 90 days, as any other task', async () => {
  const folder = createFolder();
  const open = (now: number) =>
    new Ledger(folder, () => now, getOwnIdentity(), folder).open(DRAFT, { known: undefined });
  const { entry: old } = await open(Date.now() - 91 * DAY_MS);
  const { entry } = await open(Date.now());
  const ids = [...new Ledger(folder, Date.now, getOwnIdentity(), folder).entries()].map(({ id }) => id);
  expect(ids).toEqual([entry.id]);
  expect(ids).not.toContain(old.id);
});

it('changes of one entry by two processes are all kept', async () => {
  const folder = createFolder();
  const ledger = new Ledger(folder, Date.now, getOwnIdentity(), folder);
  const { entry } = await ledger.open(DRAFT, 'new');
  const count = (field: string) =>
    promisify(execFile)(process.execPath, ['dist/test/ledger-process.js', folder, entry.id, field, '100']);
  const [credits, seed] = await Promise.all([count('credits'), count('seed')]);
  expect([credits.stdout, seed.stdout]).toEqual(['0', '0']);
  expect(ledger.read(entry.id)).toMatchObject({ credits: 100, seed: 100 });
});

it.each([
  ['another process does not release the lock', (path: string) => takeLock(path, 0)],
  ['the lock cannot be opened', (path: string) => void mkdirSync(path)],
])('a change is written even if %s', async (_, block) => {
  const folder = createFolder();
  const ledger = new Ledger(folder, Date.now, getOwnIdentity(), folder, 50);
  const { entry } = await ledger.open(DRAFT, 'new');
  const lock = block(join(folder, 'tasks.lock'));
  onTestFinished(() => lock?.release());
  await ledger.change(entry.id, { task_id: 'task-1' });
  expect(ledger.read(entry.id)).toMatchObject({ task_id: 'task-1' });
});

it('only output paths that exist are looked up in the ledger', () => {
  const folder = createFolder();
  writeFileSync(join(folder, 'b.png'), '');
  const asked: string[] = [];
  const destination = new Destination(folder, '{name}.png', { force: false, receipt: false });
  destination.check(['a', 'b', 'c'], (path) => asked.push(path) > 0);
  expect(asked).toEqual([join(folder, 'b.png')]);
});

it('a sign-in may last longer than a date can say', async () => {
  const configuration = {
    ...{ issuer: 'https://id.example', clientId: 'regen', resource: 'https://registry.example' },
    ...{ audience: 'https://registry.example', scope: 'openid' },
  };
  const tokens = {
    access_token: 'opaque',
    token_type: 'bearer' as const,
    expires_in: Number.MAX_SAFE_INTEGER,
  };
  const { expires_at = '' } = await toSignIn(configuration, tokens as never, Date.now());
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
});

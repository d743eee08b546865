import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findLocal } from '../../src/cli/connect/local.js';
import { createClient } from '../../src/client/client.js';

it('an interruption ends the wait for a service that does not answer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'regen-local-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, 'service.sock');
  const interruption = new AbortController();
  const server = createServer(() => interruption.abort(new Error('interrupted')));
  await new Promise<void>((listening) => server.listen(socket, listening));
  const record = { url: 'http://127.0.0.1:7717', socket, pid: process.pid, version: '1', instance: 'a' };
  writeFileSync(join(folder, 'service.json'), JSON.stringify(record), { mode: 0o600 });
  writeFileSync(join(folder, 'owner.token'), 'owner', { mode: 0o600 });
  const client = createClient({ baseUrl: record.url, socketPath: socket });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  const { signal } = interruption;
  await expect(findLocal(folder, async () => client, { signal })).rejects.toThrow('interrupted');
});

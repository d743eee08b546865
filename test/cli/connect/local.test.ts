import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { drainLocal, findLocal, type LocalService } from '../../../src/cli/connect/local.js';
import { ensureLocal } from '../../../src/cli/connect/start-local.js';
import { createSystem } from '../../../src/cli/terminal/system.js';
import { createClient } from '../../../src/client/client.js';

/** A data folder with the record of a service, which answers as `answer` does. */
async function recordedService(answer: RequestListener) {
  const folder = mkdtempSync(join(tmpdir(), 'regen-local-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, 'service.sock');
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(socket, listening));
  const url = 'http://127.0.0.1:7717';
  const record = (version: string, instance: string) => {
    const content = { url, socket, pid: process.pid, version, instance };
    writeFileSync(join(folder, 'service.json'), JSON.stringify(content), { mode: 0o600 });
  };
  record('1', 'a');
  writeFileSync(join(folder, 'owner.token'), 'owner', { mode: 0o600 });
  const client = createClient({ baseUrl: url, socketPath: socket });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  return { folder, record, connect: async () => client };
}

it('an interruption ends the wait for a service that does not answer', async () => {
  const interruption = new AbortController();
  const { folder, connect } = await recordedService(() => interruption.abort(new Error('interrupted')));
  await expect(findLocal(folder, connect, { signal: interruption.signal })).rejects.toThrow('interrupted');
});

it('an interruption ends the wait for a service that stops', async () => {
  const interruption = new AbortController();
  const { folder, connect } = await recordedService((request, response) => {
    response.end(JSON.stringify({ instance: 'a' }));
    if (request.method === 'POST') setTimeout(() => interruption.abort(new Error('interrupted')), 100);
  });
  const service = (await findLocal(folder, connect)) as LocalService;
  await expect(drainLocal(folder, service, interruption.signal)).rejects.toThrow(/interrupted|aborted/);
});

it('a service that another command has just replaced is not stopped', async () => {
  const asked: (string | undefined)[] = [];
  let instance = 'a';
  const { folder, record, connect } = await recordedService((request, response) => {
    asked.push(request.method);
    response.end(JSON.stringify({ instance }));
    instance = 'b';
    record('2', 'b');
  });
  const start = { folder, logFile: join(folder, 'service.log'), version: '2', flags: [] };
  const system = createSystem(join(folder, 'no-program.js'));
  const { service, started } = await ensureLocal(system, start, connect, new AbortController().signal);
  expect([service.instance, started, asked]).toEqual(['b', false, ['GET', 'GET']]);
});

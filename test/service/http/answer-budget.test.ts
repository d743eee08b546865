import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AnswerBudget } from '../../../src/service/http/answer-budget.js';
import { testDatabase } from '../../support/postgres.js';
import { observeReads } from '../../support/query-plans.js';
import { type Registry, registryForFile } from '../../support/registry.js';
import { ask } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const MB = 1024 ** 2;
const registry = registryForFile();

/** A public version with a changelog of 100 kB, which is as much as a publisher may write. */
async function publishLong({ publish, change }: Registry, nodeId: string, version = '1.0.0'): Promise<void> {
  await publish(nodeId, version, { node_version: { changelog: 'x'.repeat(100_000) } });
  const status = 'NodeVersionStatusActive';
  await change((tx) => tx.updateTable('versions').set({ status }).where('node_id', '=', nodeId).execute());
}

describe('a bulk read', () => {
  it('holds about 8 MB, in the order of the request, and asks for fewer of the rest', async () => {
    const { url } = registry();
    await publishLong(registry(), 'long');
    const pair = { node_id: 'long', version: '1.0.0' };
    const missing = { node_id: 'missing', version: '1.0.0' };
    const json = { node_versions: [missing, ...Array(998).fill(pair), missing] };
    const { status, body } = await ask(`${url}/bulk/nodes/versions`, { method: 'POST', json });
    expect(status).toBe(200);
    expect(JSON.stringify(body).length).toBeLessThan(9 * MB);
    const statuses = body.node_versions.map((item: { status: string }) => item.status);
    const answered = statuses.indexOf('error');
    expect(statuses).toEqual([
      'not_found',
      ...Array(answered - 1).fill('success'),
      ...Array(1000 - answered).fill('error'),
    ]);
    expect(answered).toBeGreaterThan(80);
    expect(body.node_versions.at(-1)).toEqual({
      identifier: missing,
      status: 'error',
      error_message: expect.stringContaining('ask for fewer'),
    });
  });

  it.skipIf(testDatabase)('reads no version that it does not answer', async () => {
    const { url, service } = registry();
    for (let at = 0; at < 3; at += 1) await publishLong(registry(), `long-${at}`);
    const pairs = Array.from({ length: 1000 }, (_, at) => ({ node_id: `long-${at % 3}`, version: '1.0.0' }));
    const others = Array.from({ length: 200 }, (_, at) => ({ node_id: `other-${at}`, version: '1.0.0' }));
    const node_versions = [...pairs.slice(0, 800), ...others];
    const read = () => ask(`${url}/bulk/nodes/versions`, { method: 'POST', json: { node_versions } });
    const { queries, rows } = await observeReads(service.context.database, read, /in \(values/);
    expect({ queries, rows }).toEqual({ queries: 1, rows: 3 });
  });
});

describe('answers that are not read', () => {
  it('are refused to one client before they fill memory, and not to others', async () => {
    const { url, tokens } = registry();
    await publishLong(registry(), 'unread');
    const json = { node_versions: Array(1000).fill({ node_id: 'unread', version: '1.0.0' }) };
    const body = JSON.stringify(json);
    const { host, hostname, port } = new URL(url);
    const head = [`Host: ${host}`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
    let refused = '';
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(Number(port), hostname);
      onTestFinished(() => void socket.destroy());
      socket.once('data', (chunk) => {
        socket.pause();
        if (String(chunk).startsWith('HTTP/1.1 503')) refused ||= String(chunk);
      });
      socket.write(['POST /bulk/nodes/versions HTTP/1.1', ...head, '', body].join('\r\n'));
      return socket;
    });
    await waitFor(() => expect(refused).toMatch(/^HTTP\/1\.1 503 .*retry-after: \d+.*not read yet/is));
    const other = await ask(`${url}/bulk/nodes/versions`, { method: 'POST', token: tokens.eve, json });
    expect(other.status).toBe(200);
    expect((await ask(`${url}/nodes/unread`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await waitFor(async () =>
      expect((await ask(`${url}/bulk/nodes/versions`, { method: 'POST', json })).status).toBe(200),
    );
  });

  it('take turns by user while they are built', async () => {
    const budget = new AnswerBudget(1);
    const response = { destroyed: false } as never;
    const built: string[] = [];
    const build = (user: string) => budget.takeTurn(user, response, async () => void built.push(user));
    await Promise.all(['eve', 'eve', 'eve', 'eve', 'bob', 'ann', 'bob'].map(build));
    expect(built).toEqual(['eve', 'bob', 'ann', 'eve', 'bob', 'eve', 'eve']);
  });

  it('give way to other requests between two of them', async () => {
    const budget = new AnswerBudget(1);
    const response = { destroyed: false } as never;
    const done: string[] = [];
    const build = (name: string) => budget.takeTurn('eve', response, async () => void done.push(name));
    const lists = [build('first list'), build('second list')];
    // A request on a new connection: it is accepted, read and answered in different turns of the event loop.
    const other = async () => {
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      done.push('request');
    };
    await Promise.all([...lists, other()]);
    expect(done).toEqual(['first list', 'request', 'second list']);
  });

  it('are not built for a client that is gone', async () => {
    const budget = new AnswerBudget(1);
    const gone = { destroyed: true } as never;
    await expect(budget.takeTurn('eve', gone, async () => 'built')).rejects.toThrow('closed the connection');
    await expect(budget.takeTurn('eve', { destroyed: false } as never, async () => 'built')).resolves.toBe(
      'built',
    );
  });
});

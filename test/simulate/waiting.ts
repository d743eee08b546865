import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import type { Database } from '../../src/service/database/database.js';
import { openPostgres } from '../../src/service/database/postgres.js';
import { openSqlite } from '../../src/service/database/sqlite.js';
import { listenOn } from '../support/listen.js';
import { createPostgresServer } from '../support/postgres-server.js';

const POLL_MS = 4_000;
const ROUND_MS = 20_000;

interface WaitingOptions {
  readonly tasks: number;
  readonly minutes: number;
  readonly onPostgres: boolean;
  /** Receives a line for each round: looks and writes per second, memory. */
  readonly report: (line: string) => void;
}

/** Measures a service whose tasks wait at a vendor. */
export async function measureWaiting({ tasks, minutes, onPostgres, report }: WaitingOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'regen-waiting-'));
  const server = onPostgres ? await createPostgresServer() : undefined;
  let looks = 0;
  const vendor = await listenOn((asked, answer) => {
    looks += 1;
    const task_id = asked.url?.split('/').at(-1);
    answer.writeHead(200, { 'content-type': 'application/json' });
    answer.end(JSON.stringify({ data: { task_id, status: 'IN_PROGRESS', generated: [] } }));
  });
  const file = join(folder, 'regen.db');
  const database = await (server
    ? openPostgres({ url: server.url, onError: () => {} })
    : openSqlite({ file, durable: true }));
  await addTasks(database, tasks);
  await database.destroy();
  const key = { file: join(folder, 'vendor.key') };
  writeFileSync(key.file, 'sk-vendor');
  const image = { key, engine: 'upstream', baseUrl: vendor.url, pollMs: POLL_MS, atOnce: 20_000 } as const;
  const configuration: ConfigurationInput = {
    data: folder,
    ...(server && { database: server.url }),
    generation: { image },
    metrics: { port: 0 },
  };
  const args = ['dist/test/service-process.js', JSON.stringify(configuration)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  try {
    const [{ metricsUrl }] = await once(child, 'message');
    let before = { looks, ...(await readMetrics(metricsUrl)) };
    for (let round = 0; round < Math.ceil((minutes * 60_000) / ROUND_MS); round++) {
      await pause(ROUND_MS);
      const now = { looks, ...(await readMetrics(metricsUrl)) };
      const perSecond = (count: number) => (count / (ROUND_MS / 1000)).toFixed(0);
      report(
        `${tasks} tasks${onPostgres ? ' on PostgreSQL' : ''}: ${perSecond(now.looks - before.looks)} looks, ` +
          `${perSecond(now.writes - before.writes)} write statements per second, ` +
          `${(((now.cpu - before.cpu) / (ROUND_MS / 1000)) * 100).toFixed(0)}% of a core, ${(now.bytes / 1e6).toFixed(0)} MB, ` +
          `${(now.heap / 1e6).toFixed(0)} MB of it used by JavaScript`,
      );
      before = now;
    }
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    await Promise.all([vendor.close(), server?.remove()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tasks that a vendor started an hour ago, with their next looks as they are then. */
async function addTasks(database: Database, count: number): Promise<void> {
  const created_at = new Date(Date.now() - 3_600_000).toISOString();
  await database
    .transaction()
    .execute((tx) => tx.insertInto('users').values({ id: 'waiter', created_at }).execute());
  const ids = Array.from({ length: count }, () => randomUUID());
  for (let at = 0; at < count; at += 500) {
    const some = ids.slice(at, at + 500);
    const task = { operation: 'image.relight', creator: 'waiter', status: 'IN_PROGRESS' } as const;
    const memory = (id: string) => JSON.stringify({ taskId: id, startedAt: Date.parse(created_at) });
    const rest = { request: '{}', images: '[]', seed: 1, created_at };
    const job = { kind: 'watch-image-task', owner: 'waiter', priority: 0, attempts: 0, created_at };
    const soon = () => new Date(Date.now() + Math.random() * Math.max(60_000, count * 20)).toISOString();
    const rows = some.map((id) => ({ ...task, ...rest, id, memory: memory(id) }));
    const jobs = some.map((id) => ({ ...job, id, key: id, run_at: soon() }));
    await database.transaction().execute(async (tx) => {
      if (rows.length > 0) await tx.insertInto('tasks').values(rows).execute();
      if (jobs.length > 0) await tx.insertInto('jobs').values(jobs).execute();
    });
  }
}

async function readMetrics(
  url: string,
): Promise<{ writes: number; bytes: number; heap: number; cpu: number }> {
  const text = await (await fetch(url)).text();
  const read = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? 0,
    );
  const statements = ['insert', 'update', 'delete'].map((word) =>
    read(`regen_database_query_seconds_count{statement="${word}"}`),
  );
  return {
    writes: statements.reduce((sum, count) => sum + count),
    bytes: read('process_resident_memory_bytes'),
    heap: read('nodejs_heap_size_used_bytes'),
    cpu: read('process_cpu_seconds_total'),
  };
}

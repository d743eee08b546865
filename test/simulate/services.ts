import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import type { Database } from '../../src/service/database/database.js';
import { openPostgres } from '../../src/service/database/postgres.js';
import { openSqlite } from '../../src/service/database/sqlite.js';
import { backUpStore, checkServices, restoreFolder } from '../../src/service/maintenance/backup.js';
import { createZip } from '../support/create-zip.js';
import { pixel } from '../support/generation.js';
import { listenOn } from '../support/listen.js';
import { createPostgresServer } from '../support/postgres-server.js';
import type { ReceivedWebhook } from '../support/receiver.js';
import { Faults } from './faults.js';
import { findViolations } from './services-violations.js';

export interface ServicesOptions {
  readonly services: number;
  /** How many tasks are started; a tenth as many versions are published. */
  readonly tasks: number;
  readonly seed: number;
  /** How long the tasks take to be started, at least; absent: as fast as the services allow. */
  readonly minutes?: number;
  readonly report?: (line: string) => void;
  /** Changes what is left before it is compared. */
  readonly spoil?: (database: Database) => Promise<unknown>;
}

/** A service in a process of its own, which is killed and started again. */
interface Killed {
  /** Undefined while it is down. */
  address: { readonly url: string; readonly ownerToken: string } | undefined;
  child: ChildProcess | undefined;
}

const script = 'dist/test/service-process.js';
const WORKERS = 8;
/** How often a request is sent until it succeeds. */
const MAX_SENDS = 400;

/**
 * Lets several services on one PostgreSQL server start tasks at a vendor and publish versions, while they are killed
 * and stopped and the server is killed twice, then compares what is left with what they acknowledged.
 * @returns what happened, in one line
 * @throws Error with all violations
 */
export async function runServices(options: ServicesOptions): Promise<string> {
  const { services: count, tasks, seed, minutes = 0, report = () => {}, spoil } = options;
  const faults = new Faults(seed);
  const folder = mkdtempSync(join(tmpdir(), 'regen-services-'));
  const server = await createPostgresServer();
  const vendor = await startVendor(faults);
  const received: ReceivedWebhook[] = [];
  const receiver = await listenOn(async (asked, answer) => {
    const text = (await buffer(asked).catch(() => '')).toString();
    // Of a service that was killed while it sent it.
    if (text === '') return;
    received.push({ headers: asked.headers, text, body: JSON.parse(text) });
    answer.writeHead(faults.draw('receiver') < 0.1 ? 503 : 204).end();
  });
  const key = { file: join(folder, 'vendor.key') };
  writeFileSync(key.file, 'sk-vendor');
  mkdirSync(join(folder, 'objects'));
  const shared = { key, engine: 'upstream', honoursKeys: true, pollMs: 200, atOnce: 20 } as const;
  const configurations = Array.from({ length: count }, (_, at): ConfigurationInput => {
    const data = join(folder, `${at}`);
    mkdirSync(data, { mode: 0o700 });
    const image = { ...shared, baseUrl: vendor.url };
    return {
      data,
      database: server.url,
      storage: join(folder, 'objects'),
      graceMs: 2_000,
      generation: { image },
    };
  });
  const killed: Killed[] = configurations.map(() => ({ address: undefined, child: undefined }));
  const happened = { kills: 0, stops: 0, losses: 0, sends: 0, refused: 0, backups: 0 };
  const violations: string[] = [];
  let isOver = false;

  const up = async (at: number) => {
    const one = killed[at] as Killed;
    for (;;) {
      const args = [script, JSON.stringify(configurations[at])];
      one.child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
      const [ready] = await Promise.race([once(one.child, 'message'), once(one.child, 'exit')]);
      if (typeof ready === 'object' && ready !== null) {
        one.address = ready;
        one.child.once('exit', (code) => {
          if (code !== null && code > 0) violations.push(`service ${at} ended by itself with ${code}`);
        });
        return;
      }
      // The database was away.
      await pause(200);
    }
  };
  const down = async (at: number, signal: 'SIGKILL' | 'SIGTERM') => {
    const one = killed[at] as Killed;
    one.address = undefined;
    if (!one.child || one.child.exitCode !== null || one.child.signalCode !== null) return;
    const exited = once(one.child, 'exit');
    one.child.kill(signal);
    await exited;
  };
  /** The part of the time that has passed; in a run without a duration, of the tasks. */
  const getPart = () => (minutes > 0 ? (performance.now() - begun) / (minutes * 60_000) : done / tasks);
  const disturb = async () => {
    while (!isOver) {
      await pause((100 + faults.draw('pause') * 900) * (minutes > 0 ? 5 : 1));
      if (isOver) return;
      const what = faults.draw('what');
      if (happened.losses < 2 && getPart() > (happened.losses + 1) / 4) {
        happened.losses += 1;
        await server.kill();
        await pause(faults.draw('loss') * 2_000);
        await server.start();
        continue;
      }
      const at = Math.floor(faults.draw('which') * count);
      const isKill = what < 0.6;
      happened[isKill ? 'kills' : 'stops'] += 1;
      await down(at, isKill ? 'SIGKILL' : 'SIGTERM');
      await up(at);
    }
  };

  /** Sends a request to any of the services until one answers with success. */
  const send: Send = async (path, { method = 'POST', ...init }) => {
    for (let sends = 1; ; sends += 1) {
      const open = killed.flatMap(({ address }) => (address ? [address] : []));
      const to = open[Math.floor(faults.draw('to') * open.length)];
      happened.sends += 1;
      const answer: Answer | undefined =
        to && (await sendOnce(to, path, { method, ...init }).catch(() => undefined));
      if (answer && answer.status < 300) return answer;
      // What was done before, by a request whose answer was lost.
      if (answer && answer.status === 400 && /duplicate|already/.test(JSON.stringify(answer.body)))
        return answer;
      if (answer?.status === 500) violations.push(`${method} ${path}: 500 ${JSON.stringify(answer.body)}`);
      if (answer && ![401, 409, 500, 503].includes(answer.status))
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (answer) happened.refused += 1;
      if (sends === MAX_SENDS) throw new Error(`${method} ${path} does not succeed.`);
      await pause(50 + faults.draw('again') * 300);
    }
  };

  const location = { data: join(folder, '0'), configuration: configurations[0] as object, env: {} };
  /** Backs the services up while they are killed, until it succeeds. */
  const backUp = async () => {
    while (!isOver && getPart() < 0.5) await pause(50);
    const before = [...ids];
    for (let attempts = 1; ; attempts += 1) {
      const target = join(folder, `backup-${attempts}`);
      const report = await backUpStore(location, target).catch((error) => `${error}`);
      happened.backups += 1;
      if (typeof report === 'string') {
        if (attempts === 20) throw new Error(`No backup succeeds: ${report}`);
        await pause(500);
        continue;
      }
      const restored = join(folder, 'restored');
      await restoreFolder(target, restored);
      const { problems } = await checkServices({ data: restored, configuration: {}, env: {} });
      for (const { object, message } of [...report.problems, ...problems])
        violations.push(`backup: ${object} ${message}`);
      const copy = await openSqlite({ file: join(restored, 'regen.db'), durable: false });
      const rows = await copy.selectFrom('tasks').select('id').execute();
      await copy.destroy();
      const kept = new Set(rows.map(({ id }) => id));
      for (const id of before) if (!kept.has(id)) violations.push(`backup: task ${id} is missing`);
      return `a backup of ${rows.length} tasks and ${report.objects} files restored whole`;
    }
  };

  let done = 0;
  let begun = performance.now();
  const ids: string[] = [];
  const versions: string[] = [];
  const nodes: string[] = [];
  const work = async () => {
    while (done < tasks) {
      done += 1;
      const number = done;
      while (getPart() < number / tasks) await pause(100);
      const json = { image: pixel, webhook_url: `${receiver.url}/hook`, prompt: `light ${number}` };
      const { body } = await send('/proxy/imagevendor/v1/ai/image-relight', { key: randomUUID(), json });
      ids.push(body.data.task_id);
      if (number % 10 === 0) versions.push(await publishVersion(send, number));
      if (number % 10 === 5) nodes.push(await changeFields(send, number));
      report(`${number} of ${tasks}: ${JSON.stringify(happened)}`);
    }
  };

  let disturbing: Promise<void> | undefined;
  try {
    // At once, so that they make the tables and keys together.
    await Promise.all(killed.map((_, at) => up(at)));
    await send('/publishers', { json: { id: 'acme', name: 'Acme' } });
    const token = (await send('/publishers/acme/tokens', { json: { name: 'ci' } })).body.token;
    tokens.set('acme', token);
    begun = performance.now();
    disturbing = disturb();
    disturbing.catch(() => {});
    const [backup] = await Promise.all([backUp(), ...Array.from({ length: WORKERS }, work)]);
    isOver = true;
    await disturbing;
    const database = await openPostgres({ url: server.url, onError: () => {} });
    try {
      await spoil?.(database);
      violations.push(...(await findViolations(database, { ids, versions, nodes, received, vendor })));
    } finally {
      await database.destroy();
    }
    if (violations.length > 0) throw new Error(violations.join('\n'));
    const { kills, stops, losses, sends, refused } = happened;
    return (
      `${count} services, ${kills} killed, ${stops} stopped, the database lost ${losses} times; ${ids.length} tasks, ` +
      `${versions.length} versions, ${received.length} webhooks; ${sends} requests, ${refused} of them to be repeated; ${backup}`
    );
  } finally {
    isOver = true;
    await disturbing?.catch(() => {});
    await Promise.all(killed.map((_, at) => down(at, 'SIGKILL')));
    await Promise.all([vendor.close(), receiver.close(), server.remove()]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const tokens = new Map<string, string>();

interface Sending {
  readonly method?: string;
  readonly key?: string;
  readonly json?: unknown;
  readonly bytes?: Buffer;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is for the simulation to check
  readonly body: any;
}

type Send = (path: string, sending: Sending) => Promise<Answer>;

async function sendOnce(
  { url, ownerToken }: { url: string; ownerToken: string },
  path: string,
  { method = 'POST', key, json, bytes }: Sending,
): Promise<Answer> {
  const signal = AbortSignal.timeout(30_000);
  // A signed URL names the service that made it; any of them accepts it.
  const { pathname, search } = new URL(path, url);
  const answer = await fetch(url + pathname + search, {
    method,
    signal,
    headers: {
      ...(bytes ? { 'content-type': 'application/zip' } : { authorization: `Bearer ${ownerToken}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(bytes && { body: new Uint8Array(bytes) }),
  });
  return { status: answer.status, body: JSON.parse((await answer.text()) || '{}') };
}

/** @returns the number of the version */
async function publishVersion(send: Send, number: number): Promise<string> {
  const version = `1.${number}.0`;
  const { body } = await send('/publishers/acme/nodes/pack/versions', {
    key: randomUUID(),
    json: {
      node: { id: 'pack', name: 'Pack' },
      node_version: { version },
      personal_access_token: tokens.get('acme'),
    },
  });
  const bytes = await createZip({ '__init__.py': `VERSION = ${number}\nNODE_CLASS_MAPPINGS = {}\n` });
  await send(body.signedUrl, { method: 'PUT', bytes });
  return version;
}

/** Changes two fields of a new node at the same time. @returns its id */
async function changeFields(send: Send, number: number): Promise<string> {
  const id = `node-${number}`;
  await send('/publishers/acme/nodes', { json: { id, name: id } });
  const put = (json: object) => send(`/publishers/acme/nodes/${id}`, { method: 'PUT', json });
  await Promise.all([put({ description: 'told' }), put({ author: 'ann' })]);
  return id;
}

/** A vendor that starts each task once, however often it is asked, and ends it after a few looks. */
async function startVendor(
  faults: Faults,
): Promise<{ url: string; started: Set<string>; close: () => Promise<void> }> {
  const started = new Set<string>();
  const looks = new Map<string, number>();
  const server = await listenOn(async (asked, answer) => {
    const isWhole = await buffer(asked).then(
      () => true,
      () => false,
    );
    if (!isWhole) return;
    const { pathname } = new URL(asked.url ?? '/', 'http://vendor');
    if (pathname.startsWith('/results/'))
      return void answer.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(pixel, 'base64'));
    const key = asked.headers['idempotency-key'] as string | undefined;
    const id = key ?? (pathname.split('/').at(-1) as string);
    if (key) started.add(key);
    const seen = (looks.get(id) ?? 0) + (key ? 0 : 1);
    looks.set(id, seen);
    if (faults.draw('vendor') < 0.05) return void answer.writeHead(503, { 'retry-after': '1' }).end();
    const isDone = seen > 3;
    const data = {
      task_id: id,
      status: isDone ? 'COMPLETED' : 'IN_PROGRESS',
      generated: isDone ? [`${server.url}/results/${id}.png`] : [],
    };
    answer
      .writeHead(200, { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) })
      .end(JSON.stringify({ data }));
  });
  return { ...server, started };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import { pixel } from '../support/generation.js';
import { findFreePort, listenOn } from '../support/listen.js';
import { publicUrl, sendThrough, startProxy } from '../support/nginx-proxy.js';
import { createPostgresServer } from '../support/postgres-server.js';

interface ProxiedOptions {
  readonly clients: number;
  /** How many requests are sent in each phase, at least. */
  readonly requests: number;
  /** Waits until another service has taken the jobs of the killed one, which takes as long as their leases. */
  readonly waitsForJobs: boolean;
}

interface Sent {
  readonly what: string;
  readonly begun: number;
  /** The status, or the error. */
  readonly outcome: number | string;
}

/** Tasks whose start the vendor does not answer before the kill. */
const HELD_TASKS = 40;
/** How long the jobs of a killed service may wait. */
const MAX_WAIT_MS = 90_000;

/**
 * Sends requests through a proxy to two services on one PostgreSQL database, while one of them is started again and then
 * killed.
 * @returns what happened, in one line
 * @throws Error with all violations
 */
export async function runProxied({ clients, requests, waitsForJobs }: ProxiedOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'regen-proxied-'));
  const server = await createPostgresServer();
  const vendor = await startSlowVendor();
  const key = { file: join(folder, 'vendor.key') };
  writeFileSync(key.file, 'sk-vendor');
  mkdirSync(join(folder, 'objects'));
  const ports = [await findFreePort(), await findFreePort()] as const;
  const image = { key, engine: 'upstream', honoursKeys: true, pollMs: 200, baseUrl: vendor.url } as const;
  const shared: ConfigurationInput = {
    database: server.url,
    storage: join(folder, 'objects'),
    generation: { image },
    quotas: { nodes: 1_000_000 },
    ...{ publicUrl, trustedProxies: ['127.0.0.1'], rateLimit: false, drainMs: 1_000, logLevel: 'error' },
  };
  const children: ChildProcess[] = [];
  const startOne = async (at: 0 | 1): Promise<ChildProcess> => {
    const configuration = { ...shared, data: join(folder, `${at}`), port: ports[at] };
    const args = ['dist/test/service-process.js', JSON.stringify(configuration)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    children.push(child);
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('A service did not start.'))),
    ]);
    return child;
  };
  const end = async (child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL') => {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  let isOver = false;
  let working: Promise<unknown> | undefined;
  let proxy: Awaited<ReturnType<typeof startProxy>> | undefined;
  try {
    let first = await startOne(0);
    const second = await startOne(1);
    second.send({ sub: 'ann', email: 'ann@example.com' });
    const [{ token }] = await once(second, 'message');
    proxy = await startProxy(ports, folder);
    const { url, name } = proxy;
    const sent: Sent[] = [];
    const send = async (
      path: string,
      { method = 'GET', ...more }: Parameters<typeof sendThrough>[2] = {},
    ) => {
      const begun = performance.now();
      const answer = await sendThrough(url, path, { method, token, ...more }).catch((error) => error);
      const outcome: number | string =
        answer.status >= 400 ? `${answer.status} ${answer.body}` : (answer.status ?? `${answer}`);
      sent.push({ what: `${method} ${path}`, begun, outcome });
      return answer;
    };
    await send('/publishers', { method: 'POST', json: { id: 'acme', name: 'Acme' } });
    await send('/publishers/acme/nodes', { method: 'POST', json: { id: 'pack', name: 'Pack' } });

    let count = 0;
    const work = async (_: unknown, at: number) => {
      const isAlone = at % 2 === 0;
      while (!isOver) {
        count += 1;
        const description = `description ${count}`;
        const path = '/publishers/acme/nodes';
        if (count % 4 === 0) await send(`${path}/pack`, { method: 'PUT', json: { description }, isAlone });
        else if (count % 4 === 1)
          await send(path, { method: 'POST', json: { id: `n${count}`, name: 'N' }, isAlone });
        else await send(count % 4 === 2 ? '/nodes' : '/users/me', { isAlone });
      }
    };
    working = Promise.all(Array.from({ length: clients }, work));
    working.catch(() => {});
    const sendMore = async () => {
      for (const before = sent.length; sent.length < before + requests; ) await pause(20);
    };

    await sendMore();
    const atRestart = sent.length;
    await end(first, 'SIGTERM');
    first = await startOne(0);
    await sendMore();
    const restarting = sent.slice(atRestart);

    const json = { image: pixel };
    const path = '/proxy/imagevendor/v1/ai/image-relight';
    const starts = Array.from({ length: HELD_TASKS }, () => send(path, { method: 'POST', json }));
    const ids = (await Promise.all(starts)).map(({ body }) => JSON.parse(body).data.task_id as string);
    while (vendor.held.size < HELD_TASKS) await pause(20);
    const atKill = sent.length;
    await end(first, 'SIGKILL');
    const killedAt = performance.now();
    // The other service has these, and those of the killed one are asked for again.
    vendor.release();
    await sendMore();
    isOver = true;
    await working;
    const killing = sent.slice(atKill);

    const violations: string[] = [];
    const isFailed = ({ outcome }: Sent) => typeof outcome === 'string' || outcome >= 400;
    for (const one of sent.filter(isFailed)) {
      if (one.begun > killedAt || !killing.includes(one))
        violations.push(`${one.what}: ${one.outcome}, ${Math.round(one.begun - killedAt)} ms from the kill`);
    }
    const failed = killing.filter(isFailed).length;
    let taken = '';
    if (waitsForJobs) {
      const isOpen = async (id: string) => {
        const { body } = await sendThrough(url, `${path}/${id}`, { token });
        return JSON.parse(`${body}`).data.status !== 'COMPLETED';
      };
      let open = ids;
      while (open.length > 0 && performance.now() - killedAt < MAX_WAIT_MS) {
        await pause(500);
        const states = await Promise.all(open.map(isOpen));
        open = open.filter((_, at) => states[at]);
      }
      if (open.length > 0) violations.push(`${open.length} tasks have not ended after 90 s`);
      const again = [...vendor.held.values()].filter((times) => times.length > 1);
      if (again.length === 0) violations.push('The killed service had no job.');
      const last = Math.max(...again.map((times) => times[1] as number));
      taken = `; ${again.length} of ${HELD_TASKS} jobs were its own and went on within ${Math.round((last - killedAt) / 1000)} s`;
    }
    if (violations.length > 0) throw new Error(violations.join('\n'));
    return (
      `two services behind ${name}, ${clients} clients: ${restarting.length} requests during a restart, none failed; ` +
      `${killing.length} during a kill, ${failed} of those in flight failed${taken}`
    );
  } finally {
    isOver = true;
    await working?.catch(() => {});
    for (const child of children)
      if (child.exitCode === null && child.signalCode === null) await end(child, 'SIGKILL');
    await Promise.all([proxy?.close(), vendor.close(), server.remove()]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A vendor that answers no start of a task until it is told to. */
async function startSlowVendor() {
  /** When the start of each task was asked for. */
  const held = new Map<string, number[]>();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = await listenOn(async (asked, answer) => {
    await buffer(asked).catch(() => {});
    const { pathname } = new URL(asked.url ?? '/', 'http://vendor');
    if (pathname.startsWith('/results/'))
      return void answer.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(pixel, 'base64'));
    const key = asked.headers['idempotency-key'] as string | undefined;
    if (key) {
      held.set(key, [...(held.get(key) ?? []), performance.now()]);
      await released;
    }
    const task_id = key ?? (pathname.split('/').at(-1) as string);
    const generated = key ? [] : [`${server.url}/results/${task_id}.png`];
    answer.writeHead(200, { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) });
    answer.end(JSON.stringify({ data: { task_id, status: key ? 'CREATED' : 'COMPLETED', generated } }));
  });
  return { ...server, held, release };
}

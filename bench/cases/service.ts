import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { openSqlite } from '../../src/service/database/sqlite.js';
import { claimJobs } from '../../src/service/queue/claim.js';
import { type Case, measureWall, readCpuMs, readMemory, type Sample } from '../measure.js';
import {
  installPeers,
  measureRate,
  PEERS_MISSING,
  type Program,
  REGEN,
  startBuiltService,
  startProgram,
  startVerdaccio,
  stopAll,
} from '../peers.js';
import { seedRegistry, WORDS } from '../seed-registry.js';

const LARGE = 100_000;
const SMALL = 1_000;

const RAW_SERVER = `const body = JSON.stringify({ text: 'x'.repeat(850) });
  require('node:http').createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  }).listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port); });`;

const seeded = new Map<number, Promise<string>>();

/** A data folder with this many nodes, made once for all cases and removed at the end. */
export function prepareRegistry(nodes: number): Promise<string> {
  const before = seeded.get(nodes);
  if (before) return before;
  const folder = mkdtempSync(join(tmpdir(), 'regen-bench-registry-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const made = seedRegistry(folder, nodes).then(() => folder);
  seeded.set(nodes, made);
  return made;
}

/** Requests that a run makes, one after the other, in an order that touches all of them. */
function listPaths(count: number, path: (number: number) => string): string[] {
  return Array.from({ length: Math.min(count, 5_000) }, (_, at) => path(((at * 7919) % count) + 1));
}

const toRequests = (paths: readonly string[]) => paths.map((path) => ({ method: 'GET', path }));

/** A node of 100,000: any of them, so that most have to be read, or always the same. */
function compareReads(name: string, bar: number, paths: string[], peer: 'raw' | 'verdaccio'): Case {
  const peerNames = {
    raw: 'node:http with a constant body',
    verdaccio: 'metadata of a package in verdaccio',
  };
  return {
    name,
    peer: peerNames[peer],
    bars: { perSecond: bar },
    rounds: 5,
    slow: true,
    async prepare(scratch) {
      const peers = installPeers();
      if (!peers) return PEERS_MISSING;
      const service = await startBuiltService(await prepareRegistry(LARGE));
      const other =
        peer === 'raw' ? await startProgram(['-e', RAW_SERVER]) : await startVerdaccio(peers, scratch);
      if (peer === 'verdaccio') await addPackage(other);
      const otherPaths = peer === 'raw' ? ['/'] : ['/pack'];
      return {
        runSubject: () => measureRate(peers, service.url, toRequests(paths)),
        runPeer: () => measureRate(peers, other.url, toRequests(otherPaths)),
        stop: () => stopAll(service, other),
      };
    },
  };
}

/** Publishes the package whose metadata is read. */
async function addPackage({ url }: Program): Promise<void> {
  const version = {
    name: 'pack',
    version: '1.0.0',
    description: 'A package',
    dist: { tarball: `${url}/pack/-/pack-1.0.0.tgz` },
  };
  const attachment = { content_type: 'application/octet-stream', data: 'AAAA', length: 3 };
  const body = {
    ...{ _id: 'pack', name: 'pack', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } },
    _attachments: { 'pack-1.0.0.tgz': attachment },
  };
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/pack`, { method: 'PUT', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`verdaccio refused the package: ${answer.status}`);
}

/** Service CPU of reads on one connection, each of another path. */
export async function measureCpu({ pid, url }: Program, paths: readonly string[]): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const before = readCpuMs(pid);
  for (const path of paths) await read(agent, url + path);
  agent.destroy();
  return { cpuMs: readCpuMs(pid) - before };
}

function read(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url}: ${answer.statusCode}`));
      answer.resume().on('end', resolve);
    });
    sent.on('error', reject);
  });
}

/** The n-th of 1,600 pages of a list, each with another URL, because answers are kept by it. */
function pageOf(path: string, number: number, size = 'limit'): string {
  const words = [`${size}=${10 + (Math.floor(number / 20) % 40)}`, `page=${(number % 20) + 1}`];
  return `${path}?${(Math.floor(number / 800) % 2 ? words : words.reverse()).join('&')}`;
}

/** Reads of a store with at least 1,000 nodes, as many rows in one of any size. */
export const READS: readonly { readonly name: string; path(number: number): string }[] = [
  {
    name: 'one node',
    path: (number) => `/nodes/node-${(number % 1000) + 1}?include_translations=${number >= 1000}`,
  },
  { name: 'pages of all nodes', path: (number) => pageOf('/nodes', number) },
  {
    name: 'searches for two words',
    path: (number) =>
      `/nodes?search=${WORDS[number % 10]}+${WORDS[(number + 1 + (Math.floor(number / 10) % 8)) % 10]}&limit=${10 + Math.floor(number / 80)}`,
  },
  { name: 'pages of all definitions', path: (number) => pageOf('/host-nodes', number, 'pageSize') },
  {
    name: 'definitions of a version',
    path: (number) =>
      `/nodes/node-${(number % 1000) + 1}/versions/1.4.0/host-nodes?limit=${10 + Math.floor(number / 1000)}`,
  },
];

const REQUESTS = 250;

/** The same reads in a store with a hundred times the nodes. */
function compareSizes({ name, path }: (typeof READS)[number]): Case {
  return {
    name: `${name}, 100,000 nodes`,
    peer: 'the same with 1,000 nodes',
    bars: { cpuMs: 1.5 },
    rounds: 5,
    slow: true,
    async prepare() {
      const large = await startBuiltService(await prepareRegistry(LARGE));
      const small = await startBuiltService(await prepareRegistry(SMALL));
      let [largeRound, smallRound] = [0, 0];
      const paths = (round: number) =>
        Array.from({ length: REQUESTS }, (_, at) => path(round * REQUESTS + at));
      return {
        runSubject: () => measureCpu(large, paths(largeRound++)),
        runPeer: () => measureCpu(small, paths(smallRound++)),
        stop: () => stopAll(large, small),
      };
    },
  };
}

/** Pages, each with another URL, because answers are kept by it. */
const PAGES: typeof READS = [
  { name: 'front pages', path: (number) => pageOf('/', number) },
  {
    name: 'page of a node',
    path: (number) => `/web/nodes/node-${(number % 1000) + 1}?include_translations=${number >= 1000}`,
  },
  { name: 'feed of a node', path: (number) => `/web/nodes/node-${(number % 1000) + 1}/changes.atom` },
];

/** The page of a node beside the answer that it draws. */
const pageCase: Case = {
  name: 'page of a node beside its GET',
  peer: 'GET of the node',
  bars: { cpuMs: 3 },
  rounds: 5,
  slow: true,
  async prepare() {
    const service = await startBuiltService(await prepareRegistry(SMALL));
    let [page, answer] = [0, 0];
    const listOwnPaths = (folder: string, round: number) =>
      Array.from({ length: REQUESTS }, (_, at) => {
        const number = round * REQUESTS + at;
        return `${folder}/nodes/node-${(number % SMALL) + 1}?include_translations=${number >= SMALL}`;
      });
    return {
      runSubject: () => measureCpu(service, listOwnPaths('/web', page++)),
      runPeer: () => measureCpu(service, listOwnPaths('', answer++)),
      stop: () => service.stop(),
    };
  },
};

const bulkCase: Case = {
  name: 'bulk read of 1,000 versions',
  peer: '1,000 reads of a version on one connection',
  bars: { wallMs: 1 / 5 },
  rounds: 7,
  slow: true,
  async prepare() {
    const service = await startBuiltService(await prepareRegistry(LARGE));
    let round = 0;
    const ids = () => Array.from({ length: 1_000 }, (_, at) => `node-${((round * 1_000 + at) % LARGE) + 1}`);
    return {
      runSubject: () => measureWall(() => readBulk(service.url, ids())),
      runPeer: async () => {
        round++;
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const sample = await measureWall(async () => {
          for (const id of ids()) await read(agent, `${service.url}/nodes/${id}/versions/1.2.0`);
        });
        agent.destroy();
        return sample;
      },
      stop: () => service.stop(),
    };
  },
};

async function readBulk(url: string, ids: readonly string[]): Promise<void> {
  const body = JSON.stringify({ node_versions: ids.map((node_id) => ({ node_id, version: '1.2.0' })) });
  await new Promise<void>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(`${url}/bulk/nodes/versions`, { method: 'POST', headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`bulk: ${answer.statusCode}`));
      answer.resume().on('end', resolve);
    });
    sent.on('error', reject).end(body);
  });
}

const idleCase: Case = {
  name: 'memory of an idle service',
  peer: 'fastify alone',
  bars: { memory: 1.4 },
  rounds: 3,
  async prepare(scratch) {
    const peers = installPeers();
    if (!peers) return PEERS_MISSING;
    const program = `const app = require(${JSON.stringify(peers.resolve('fastify'))})();
      app.get('/', async () => ({ ok: true })); app.listen({ port: 0 }).then((url) => console.log(url));`;
    const measure = async (started: Program): Promise<Sample> => {
      await setTimeout(3_000);
      const memory = readMemory(started.pid);
      await started.stop();
      return { memory };
    };
    return {
      runSubject: async () =>
        measure(await startProgram([REGEN[1], 'serve', '--data', join(scratch, 'data'), '--port', '0'])),
      runPeer: async () => measure(await startProgram(['-e', program])),
    };
  },
};

const claimCase: Case = {
  name: 'looking for a job with 50,000 not due',
  peer: 'with none',
  bars: { cpuMs: 2 },
  rounds: 7,
  async prepare(scratch) {
    const open = async (jobs: number) => {
      const database = await openSqlite({ file: join(scratch, `${jobs}.db`), durable: false });
      await database.transaction().execute((tx) =>
        sql`insert into jobs (id, kind, key, owner, priority, run_at, attempts, created_at)
          with recursive number (n) as (select 1 union all select n + 1 from number where n < ${jobs})
          select 'job-' || n, 'abandon-version', n, '', 0, '2999-01-01T00:00:00.000Z', 0, '2026-01-01T00:00:00.000Z'
          from number where ${jobs} > 0`.execute(tx),
      );
      return database;
    };
    const [many, none] = [await open(50_000), await open(0)];
    const measure = async (database: typeof many): Promise<Sample> => {
      const holder = { database, now: Date.now, instance: 'bench' };
      const names = ['abandon-version', 'check-archive'];
      const kinds = Object.fromEntries(names.map((kind) => [kind, { places: 1, atOnce: 1 }]));
      const before = process.cpuUsage();
      for (let count = 0; count < 100; count++) await claimJobs(holder, { kinds, running: [] });
      const { user, system } = process.cpuUsage(before);
      return { cpuMs: (user + system) / 1000 };
    };
    return {
      runSubject: () => measure(many),
      runPeer: () => measure(none),
      stop: async () => {
        await many.destroy();
        await none.destroy();
      },
    };
  },
};

const anyNode = listPaths(LARGE, (number) => `/nodes/node-${number}`);

export const serviceCases: readonly Case[] = [
  compareReads('GET of one node', 0.35, ['/nodes/node-777'], 'raw'),
  compareReads('GET of any of 5,000 nodes', 0.35, anyNode, 'raw'),
  compareReads('GET of any of 5,000 nodes', 7, anyNode, 'verdaccio'),
  ...READS.map(compareSizes),
  ...PAGES.map(compareSizes),
  pageCase,
  bulkCase,
  idleCase,
  claimCase,
];

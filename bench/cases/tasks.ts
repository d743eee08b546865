import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import sharp from 'sharp';
import { wait } from '../../src/client/wait.js';
import { createClient } from '../../src/library/client.js';
import { openSqlite } from '../../src/service/database/sqlite.js';
import { type Case, measureCommand, measureWall, readCpuMs, type Sample } from '../measure.js';
import {
  type BuiltService,
  installPeers,
  isolate,
  measureRate,
  PEERS_MISSING,
  REGEN,
  startBuiltService,
  stopAll,
} from '../peers.js';

const START = '/proxy/imagevendor/v1/ai/skin-enhancer/creative';
const JOBS = 100;

async function makePicture(): Promise<Buffer> {
  return await sharp({ create: { width: 64, height: 64, channels: 3, background: '#567' } })
    .jpeg()
    .toBuffer();
}

/** Runs `count` image tasks to their end, four at a time, looking as often as commands do, and fetches their results. */
async function runTasks({ url, token }: BuiltService, image: string, count: number): Promise<void> {
  const client = createClient({ baseUrl: url, token });
  const runOne = async () => {
    const { task_id } = (await client.image.skinEnhancer({ body: { image } })).data;
    const { data } = await wait(() => client.image.skinEnhancerStatus({ task_id }), {
      isDone: ({ data }) => data.status === 'COMPLETED',
      timeoutMs: 60_000,
    });
    await (await fetch(data.generated[0] as string)).arrayBuffer();
  };
  let left = count;
  const work = async () => {
    while (left-- > 0) await runOne();
  };
  await Promise.all([work(), work(), work(), work()]);
  client.close();
}

/** The rows and files of the same tasks, written with prepared statements and the same guarantees, and nothing else. */
async function openBareStore(folder: string) {
  const file = join(folder, 'bare.db');
  await (await openSqlite({ file, durable: true })).destroy();
  const database = new Database(file);
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on');
  database.exec(`insert into users (id, created_at) values ('owner', '')`);
  const now = () => new Date().toISOString();
  const addJob = database.prepare(
    `insert into jobs (id, kind, key, owner, priority, run_at, attempts, created_at) values (?, ?, ?, 'owner', 0, ?, 0, ?)
      on conflict (kind, key) do update set run_at = excluded.run_at, attempts = 0`,
  );
  const claimJob = database.prepare(
    'update jobs set leased_until = ?, leased_by = ?, attempts = attempts + 1 where kind = ? and key = ?',
  );
  const removeJob = database.prepare('delete from jobs where kind = ? and key = ?');
  const addTask = database.prepare(
    `insert into tasks (id, operation, creator, status, request, images, seed, created_at)
      values (?, 'image.skinEnhancer', 'owner', 'CREATED', ?, '["image"]', 1, ?)`,
  );
  const setStatus = database.prepare('update tasks set status = ?, results = ? where id = ?');
  const addEvent = database.prepare(
    `insert into events (at, actor, subject_kind, subject_id, action, status) values (?, 'owner', 'task', ?, 'task.status', ?)`,
  );
  const commit = (work: () => void) => {
    database.exec('begin immediate');
    work();
    database.exec('commit');
  };
  const writeFile = async (path: string, content: Buffer) => {
    const temp = join(folder, randomUUID());
    const handle = await open(temp, 'wx');
    await handle.writeFile(content);
    await handle.sync();
    await handle.close();
    await mkdir(join(path, '..'), { recursive: true });
    await rename(temp, path);
    for (const parent of ['..', '../..', '../../..']) {
      const directory = await open(join(path, parent));
      await directory.sync();
      await directory.close();
    }
    return createHash('sha256').update(content).digest('hex');
  };
  const runOne = async (picture: Buffer) => {
    const id = randomUUID();
    const files = join(folder, 'tasks', id);
    commit(() => addJob.run(randomUUID(), 'forget-inputs', id, '2999', now()));
    await writeFile(join(files, 'inputs/image'), picture);
    commit(() => {
      addTask.run(id, '{"image":"image"}', now());
      addEvent.run(now(), id, 'CREATED');
      addJob.run(randomUUID(), 'run-image-task', id, '1970', now());
    });
    commit(() => claimJob.run(now(), 'bench', 'run-image-task', id));
    commit(() => {
      setStatus.run('IN_PROGRESS', null, id);
      addEvent.run(now(), id, 'IN_PROGRESS');
    });
    const sha256 = await writeFile(join(files, 'results/0.png'), picture);
    commit(() => {
      setStatus.run('COMPLETED', JSON.stringify([{ name: '0.png', sha256, size: picture.length }]), id);
      addEvent.run(now(), id, 'COMPLETED');
      addJob.run(randomUUID(), 'forget-inputs', id, '1970', now());
    });
    commit(() => removeJob.run('run-image-task', id));
    commit(() => claimJob.run(now(), 'bench', 'forget-inputs', id));
    await rm(join(files, 'inputs'), { recursive: true });
    commit(() => removeJob.run('forget-inputs', id));
  };
  return { runOne, close: () => database.close() };
}

const fixedCost: Case = {
  name: `${JOBS} image jobs whose engine does nothing, request to result, CPU of the service`,
  peer: 'the same rows and files written bare',
  bars: { cpuMs: 3 },
  rounds: 5,
  async prepare(scratch) {
    const picture = await makePicture();
    const service = await startBuiltService(join(scratch, 'data'), 'copying');
    mkdirSync(join(scratch, 'bare'));
    const bare = await openBareStore(join(scratch, 'bare'));
    return {
      async runSubject() {
        const before = readCpuMs(service.pid);
        await runTasks(service, picture.toString('base64'), JOBS);
        return { cpuMs: readCpuMs(service.pid) - before };
      },
      async runPeer() {
        const before = process.cpuUsage();
        for (let count = 0; count < JOBS; count++) await bare.runOne(picture);
        const { user, system } = process.cpuUsage(before);
        return { cpuMs: (user + system) / 1000 };
      },
      async stop() {
        bare.close();
        await service.stop();
      },
    };
  },
};

const MEMORY_DISK = '/dev/shm';

const accepting: Case = {
  name: 'image tasks accepted, data on disk',
  peer: 'the same with the data in memory (tmpfs)',
  bars: { perSecond: 0.5 },
  rounds: 4,
  async prepare(scratch) {
    const peers = installPeers();
    if (!peers) return PEERS_MISSING;
    if (!existsSync(MEMORY_DISK)) return { missing: `${MEMORY_DISK} does not exist` };
    const image = (await makePicture()).toString('base64');
    const memory = mkdtempSync(join(MEMORY_DISK, 'regen-bench-'));
    const onDisk = await startBuiltService(join(scratch, 'data'), 'stalled');
    const inMemory = await startBuiltService(join(memory, 'data'), 'stalled');
    const measure = ({ url, token }: BuiltService): Promise<Sample> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      return measureRate(peers, url, [
        { method: 'POST', path: START, headers, body: JSON.stringify({ image }) },
      ]);
    };
    return {
      runSubject: () => measure(onDisk),
      runPeer: () => measure(inMemory),
      async stop() {
        await stopAll(onDisk, inMemory);
        rmSync(memory, { recursive: true });
      },
    };
  },
};

const BATCH = 500;

/** The engine does nothing, so that only what surrounds it is compared. */
const batch: Case = {
  name: `batch of ${BATCH} image jobs`,
  peer: 'direct requests, as many at once, until all results are fetched',
  bars: { wallMs: 1.2 },
  rounds: 2,
  slow: true,
  async prepare(scratch) {
    const picture = await makePicture();
    const service = await startBuiltService(join(scratch, 'data'), 'copying');
    const env = { ...isolate(scratch), REGEN_BASE_URL: service.url, REGEN_TOKEN: service.token };
    writeFileSync(join(scratch, 'picture.jpg'), picture);
    let round = 0;
    return {
      runSubject() {
        const jobs = join(scratch, `jobs-${++round}.jsonl`);
        const job = (sharpen: number) =>
          JSON.stringify({
            id: `${sharpen}`,
            command: 'image skin-enhancer',
            image: 'picture.jpg',
            sharpen: sharpen % 100,
          });
        writeFileSync(jobs, Array.from({ length: BATCH }, (_, at) => job(at)).join('\n'));
        const command = [...REGEN, 'batch', jobs, '-o', `out-${round}/`, '--concurrency', '4', '-q'];
        return measureCommand(command, { env, cwd: scratch });
      },
      runPeer: () => measureWall(() => runTasks(service, picture.toString('base64'), BATCH)),
      stop: () => service.stop(),
    };
  },
};

export const taskCases: readonly Case[] = [fixedCost, accepting, batch];

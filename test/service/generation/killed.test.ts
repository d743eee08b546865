import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { copyingEngine } from '../../support/copying-engine.js';
import { smallestBody, startPaths, statusPath, taskAt, taskIn } from '../../support/generation.js';
import { type Answered, ask, folderForTest, serviceForTest } from '../../support/service.js';

// Bundled, because so many starts would take long from the sources; below node_modules it finds the packages.
const script = join('node_modules', '.cache', `task-process-${process.pid}.mjs`);
const operation = 'image.relight';
const prices = { image: { relight: 5 } };
const order = ['CREATED', 'IN_PROGRESS', 'COMPLETED'];

beforeAll(async () => {
  await build({
    entryPoints: ['test/support/task-process.ts'],
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
});
afterAll(() => rmSync(script, { force: true }));

interface Death {
  /** The task's id; absent where the start was not answered. */
  readonly id?: string;
  /** What the service told of its task before it died. */
  readonly seen: readonly string[];
  readonly writes: readonly string[];
  readonly killed: boolean;
}

/** The same request as often as it takes: the client keeps its key. */
function post(url: string, token: string): ReturnType<typeof ask> {
  const headers = { 'idempotency-key': 'one-task' };
  return ask(url + startPaths[operation], { method: 'POST', token, json: smallestBody(operation), headers });
}

/** Starts a task at a service that dies after its n-th write, and watches the task until then. */
async function dieAfter(data: string, n: number): Promise<Death> {
  const configuration = JSON.stringify({ data, prices, idleMs: 3_000 });
  const child = spawn(process.execPath, [script, configuration, String(n)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const writes: string[] = [];
  const listening = new Promise<Answered>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const told = JSON.parse(line);
      if (told.wrote) writes.push(told.wrote);
      else resolve(told);
    });
  });
  const { url, ownerToken } = await listening;
  const seen: string[] = [];
  let id: string | undefined;
  try {
    id = taskIn((await post(url, ownerToken)).body).task_id as string;
    while (seen.at(-1) !== 'COMPLETED') {
      const { body } = await ask(url + statusPath(operation, id), { token: ownerToken });
      seen.push(taskIn(body).status);
    }
  } catch (error) {
    // The service is gone; anything else is the test's matter.
    if (!(error instanceof TypeError)) throw error;
  }
  const [, signal] = await ended;
  return { id, seen, writes, killed: signal === 'SIGKILL' };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}

/** Everything there is to say of the one task, after the service was started again on the same folder. */
async function afterwards(data: string, { id, seen, writes }: Death): Promise<void> {
  const told = `killed after: ${writes.at(-1)}`;
  // Two hours later, so that what was left for then is done at once.
  const now = () => Date.now() + 2 * 3_600_000;
  const service = await serviceForTest({ data, prices }, { engines: { image: copyingEngine() }, now });
  const { url, ownerToken: token, context } = service;
  const again = taskIn((await post(url, token)).body).task_id;
  if (id !== undefined) expect(again, told).toBe(id);
  const done = await taskAt({ url, token, operation }, again);
  expect(done.generated, told).toHaveLength(1);
  expect((await fetch(done.generated[0])).status, told).toBe(200);

  const { database } = context;
  const credits = await database.selectFrom('credits').select(['task_id', 'kind', 'amount']).execute();
  expect(credits, told).toEqual([{ task_id: again, kind: 'charge', amount: 5 }]);
  expect(await database.selectFrom('tasks').select('id').execute(), told).toEqual([{ id: again }]);
  const history = await database
    .selectFrom('events')
    .select('status')
    .where('subject_kind', '=', 'task')
    .orderBy('id')
    .execute();
  expect(
    history.map(({ status }) => status),
    told,
  ).toEqual(order);
  const steps = seen.map((status) => order.indexOf(status));
  expect(steps, told).toEqual([...steps].sort());
  await expect
    .poll(() => filesIn(join(data, 'objects')), { message: told, timeout: 5_000 })
    .toEqual(['0.png']);
  await service.stop();
}

it('ends a task with one result and one charge, whichever of its writes was the last before a kill', async () => {
  const points: string[] = [];
  let killed = true;
  // Two at a time; the one that nothing kills has had all writes there are.
  for (let n = 1; killed; n += 2) {
    const deaths = await Promise.all(
      [n, n + 1].map(async (at) => {
        const data = folderForTest();
        const death = await dieAfter(data, at);
        await afterwards(data, death);
        return death;
      }),
    );
    killed = deaths.every((death) => death.killed);
    for (const death of deaths) if (death.killed) points.push(death.writes.at(-1) as string);
  }
  // By this the enumeration is known to have reached what it is meant to.
  expect(points).toEqual(
    expect.arrayContaining([
      'stage inputs/image',
      'commit inputs/image',
      expect.stringContaining('insert tasks, insert credits, insert events, insert jobs'),
      expect.stringContaining('update tasks, insert events'),
      'the engine begins',
      'stage results/0.png',
      'commit results/0.png',
      'remove inputs/image',
    ]),
  );
}, 120_000);

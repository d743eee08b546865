import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { KeptChild } from '../../src/disk/kept-child.js';
import {
  ChildInterrupted,
  type ChildOptions,
  LimitExceeded,
  LimitedChild,
} from '../../src/disk/limited-child.js';
import { readStart } from '../../src/disk/process-identity.js';
import { listChildProcesses } from '../support/child-processes.js';
import { waitFor } from '../support/wait-for.js';

const PROGRAM = 'hostile-program';
const OPTIONS: ChildOptions = {
  program: `test/${PROGRAM}.js`,
  heapMb: 64,
  residentBytes: 300 * 1024 ** 2,
  outputBytes: 1024 ** 2,
  taskCpuMs: 2_000,
  stepCpuMs: 500,
  stalledMs: 150_000,
};
const isLinux = process.platform === 'linux';

function startChild(options: Partial<ChildOptions> = {}): LimitedChild {
  const child = new LimitedChild({ ...OPTIONS, ...options });
  onTestFinished(() => child.end());
  return child;
}

const createWork = (does: string) => ({
  task: { does },
  receive: (message: object) => {
    if ('failed' in message) throw new Error('It failed.');
    return 'result' in message ? { result: message.result } : undefined;
  },
});

async function findFailure(does: string, options: Partial<ChildOptions> = {}): Promise<unknown> {
  const child = startChild(options);
  const failure = await child.run(createWork(does)).catch((error: unknown) => error);
  await child.end();
  expect(listChildProcesses(PROGRAM)).toEqual([]);
  return failure;
}

it.each([
  ['loop', 'time'],
  ['chatter', 'time'],
  ['loop in a thread', 'time'],
  ['allocate', 'memory'],
  ['allocate on the heap', 'crash', { heapMb: 24, stepCpuMs: 60_000, taskCpuMs: 60_000 }],
  ['print one line', 'output'],
  ['print lines', 'output'],
  ['abort', 'crash'],
  ['exit', 'crash'],
] as const)(
  'a task that exceeds its limits ends with a verdict: %s',
  async (does, what, options: object = {}) => {
    const failure = await findFailure(does, options);
    expect(failure).toBeInstanceOf(LimitExceeded);
    expect((failure as LimitExceeded).what).toBe(what);
  },
);

it.each([
  ['loop', 'time'],
  ['allocate', 'memory'],
] as const)('a process holds its own limits where its parent cannot: %s', async (does, what) => {
  // As on systems without /proc.
  const unseen = { isWatched: true, stepCpuMs: 500, taskCpuMs: 2_000 };
  const child = startChild(unseen);
  const work = { ...createWork(does), isTooLong: () => false };
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  try {
    const failure = await child.run(work).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'LimitExceeded', what });
  } finally {
    Object.defineProperty(process, 'platform', { value: isLinux ? 'linux' : 'other' });
  }
});

it.each(['SIGKILL', 'SIGSTOP'] as const)(
  'a process that receives %s from outside gives no verdict',
  async (signal) => {
    const child = startChild({ stalledMs: 1_000 });
    const failing = child.run(createWork('wait')).catch((error: unknown) => error);
    const pid = await waitFor(() => {
      const [found] = listChildProcesses(PROGRAM);
      expect(found).toBeDefined();
      return found as number;
    });
    process.kill(pid, signal);
    expect(await failing).toBeInstanceOf(ChildInterrupted);
  },
);

it('a process that ignores SIGTERM is ended', async () => {
  const child = startChild();
  const receive = () => {
    process.kill(listChildProcesses(PROGRAM)[0] as number, 'SIGTERM');
    return undefined;
  };
  await expect(child.run({ ...createWork('loop'), receive })).rejects.toMatchObject({ what: 'time' });
  await child.end();
  expect(listChildProcesses(PROGRAM)).toEqual([]);
});

it('a process has an empty environment', async () => {
  process.env.REGEN_TEST_SECRET = 'secret';
  onTestFinished(() => void delete process.env.REGEN_TEST_SECRET);
  expect(await startChild().run(createWork('environment'))).toEqual([]);
});

it('a kept process continues after a task, and is replaced after a failed one', async () => {
  const kept = new KeptChild(OPTIONS);
  onTestFinished(() => kept.close(new Error('over')));
  const run = (does: string) => kept.run(() => createWork(does));
  const first = await run('answer');
  expect(await run('answer')).toBe(first);
  await expect(run('abort')).rejects.toMatchObject({ what: 'crash' });
  const second = await run('answer');
  expect(second).not.toBe(first);
  await expect(run('fail')).rejects.toThrow('It failed.');
  expect(await run('answer')).not.toBe(second);
});

it('CPU time of earlier tasks does not count', async () => {
  const kept = new KeptChild({ ...OPTIONS, taskCpuMs: 400, stepCpuMs: 400 });
  onTestFinished(() => kept.close(new Error('over')));
  for (let task = 0; task < 30; task += 1) await kept.run(() => createWork('answer'));
});

it.runIf(isLinux)('a busy process ends when its parent is killed', async () => {
  const program = `
    import { LimitedChild } from './src/disk/limited-child.ts';
    const options = ${JSON.stringify({ ...OPTIONS, taskCpuMs: 150_000, stepCpuMs: 150_000, isWatched: true })};
    new LimitedChild(options).run({ task: { does: 'loop' }, receive: () => console.log('begun') });`;
  const options = ['--import', 'tsx', '--input-type=module', '-e', program];
  const parent = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(parent.stdout, 'data');
  const [pid] = listChildProcesses(PROGRAM, parent.pid);
  expect(pid).toBeDefined();
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await waitFor(() => expect(readStart(pid as number)).toBeUndefined());
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { ChildInterrupted } from '../../src/disk/limited-child.js';
import type { PreviewJob, PreviewMessage, PreviewResult } from '../../src/preview/job.js';
import { createVideoPreviewEngine, VIDEO_PROCESS } from '../../src/service/engines/preview.js';
import { EngineFailure, type VideoOperation } from '../../src/service/operation/engine.js';
import { listChildProcesses } from '../support/child-processes.js';

const isLinux = process.platform === 'linux';
const never = new AbortController().signal;

function createJob(given: Partial<PreviewJob<'video'>>) {
  const folder = mkdtempSync(join(tmpdir(), 'regen-video-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    id: 'test',
    operation: 'video.text2video' as VideoOperation,
    images: {},
    seed: 3,
    folder,
    ...given,
  };
}

const createHills = (duration: number) => {
  const request = { prompt: 'hills', duration, resolution: '540p', model: 'vvq2-pro', audio: false };
  return createJob({ operation: 'video.text2video', request }) as PreviewJob<'video'>;
};

/** The most memory of the process that makes a video, in bytes. It waits for more tasks after its result. */
async function measurePeak(job: PreviewJob<'video'>): Promise<number> {
  const flags = ['--max-old-space-size=512', '--expose-gc'];
  const child = spawn(process.execPath, [...flags, 'dist/video-worker.js'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${JSON.stringify(job)}\n`);
  for await (const line of createInterface(child.stdout)) {
    const message = JSON.parse(line) as PreviewMessage;
    if ('part' in message) continue;
    expect(message).toHaveProperty('result');
    break;
  }
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024;
  const exit = once(child, 'exit');
  child.stdin.end();
  await exit;
  return peak;
}

const FRAME_BYTES = 960 * 540 * 1.5;

test.runIf(isLinux)('a longer video does not take more memory', async () => {
  const [short, long] = [await measurePeak(createHills(1)), await measurePeak(createHills(5))];
  // All frames of the four seconds in between would be twice this.
  expect(long - short).toBeLessThan((4 * 24 * FRAME_BYTES) / 2);
});

/** Makes a video, and a task that extends what `change` makes of it. */
async function createExtension(change: (video: Buffer) => Buffer = (video) => video) {
  const made = (await createVideoPreviewEngine().run(createHills(1), never, () => {})) as PreviewResult;
  const video = made.files.find(({ role }) => role === 'video')?.path as string;
  writeFileSync(video, change(readFileSync(video)));
  const request = { model: 'vvq2-turbo', duration: 1, resolution: '540p' };
  return createJob({ operation: 'video.extend', request, images: { video } }) as never;
}

const tryToExtend = async (job: never, limits: object = {}) =>
  createVideoPreviewEngine(1, { ...VIDEO_PROCESS, ...limits })
    .run(job, never, () => {})
    .catch((error: unknown) => error);

test('a source video that exceeds the limits of its process fails its task', async () => {
  const job = await createExtension();
  expect(await tryToExtend(job)).toMatchObject({ files: expect.anything() });
  const tooLong = new EngineFailure('The video takes too long to read.');
  expect(await tryToExtend(job, { taskCpuMs: 100 })).toEqual(tooLong);
  const tooLarge = new EngineFailure('The video takes too much memory to read.');
  expect(await tryToExtend(job, { residentBytes: 60e6 })).toEqual(tooLarge);
});

/** Overwrites the 32 bits after the name of a box. */
function changeBox(video: Buffer, name: string, offset: number, value: number): Buffer {
  const at = video.indexOf(name, 0, 'latin1');
  expect(at).toBeGreaterThan(0);
  video.writeUInt32BE(value, at + 4 + offset);
  return video;
}

test.each([
  // Version and flags, number of entries; of the first entry: first chunk, samples per chunk.
  ['samples in a chunk', 'stsc', 12],
  // Version and flags, number of entries; of the first entry: number of samples.
  ['samples of a duration', 'stts', 8],
])(
  'a source video that keeps its reader busy with 4 billion %s fails its task after seconds of CPU time',
  async (_, box, offset) => {
    const job = await createExtension((video) => changeBox(video, box, offset, 0xfffffff0));
    // What would be waited for in earnest.
    const failure = await tryToExtend(job, { stepCpuMs: 2_000 });
    expect(failure).toBeInstanceOf(EngineFailure);
  },
);

test.runIf(isLinux)('the process that is killed from outside fails no task', async () => {
  const job = await createExtension();
  const kill = () => listChildProcesses('video-worker').forEach((pid) => void process.kill(pid, 'SIGKILL'));
  const failure = await createVideoPreviewEngine()
    .run(job, never, kill)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ChildInterrupted);
});

test.runIf(isLinux)('the process that makes a video has nothing of the environment', async () => {
  process.env.REGEN_TEST_SECRET = 'secret';
  onTestFinished(() => void delete process.env.REGEN_TEST_SECRET);
  const seen = new Set<string>();
  const look = () => {
    for (const pid of listChildProcesses('video-worker'))
      seen.add(readFileSync(`/proc/${pid}/environ`, 'utf8'));
  };
  await createVideoPreviewEngine().run(createHills(1), never, look);
  expect([...seen]).toEqual(['']);
});

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PreviewJob, PreviewMessage, PreviewResult } from '../../src/preview/job.js';

interface Made {
  readonly message: PreviewMessage;
  /** The most memory that the process used, in bytes. */
  readonly peak: number;
}

/** Makes a video in a process. It waits for more messages after its result. */
async function make(job: Partial<PreviewJob<'video'>>, limits: readonly string[] = []): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'regen-video-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const execArgv = ['--max-old-space-size=512', '--expose-gc'];
  const child = fork('dist/video-worker.js', limits, { execArgv });
  const ended = new Promise<PreviewMessage>((resolve) => {
    child.on('message', (message: PreviewMessage) => 'part' in message || resolve(message));
  });
  child.send({ id: 'test', images: {}, seed: 3, folder, ...job });
  const message = await ended;
  const peak = process.platform === 'linux' ? readPeak(child.pid as number) : 0;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  return { message, peak };
}

function readPeak(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function makeHills(duration: number): Promise<Made> {
  const request = { prompt: 'hills', duration, resolution: '540p', model: 'vvq2-pro', audio: false };
  return make({ operation: 'video.text2video', request });
}

const HAS_RESULT = expect.objectContaining({ result: expect.anything() });
const FRAME_BYTES = 960 * 540 * 1.5;

test.runIf(process.platform === 'linux')('a longer video does not take more memory', async () => {
  const [short, long] = [await makeHills(1), await makeHills(5)];
  expect([short.message, long.message]).toEqual([HAS_RESULT, HAS_RESULT]);
  // All frames of the four seconds in between would be twice this.
  expect(long.peak - short.peak).toBeLessThan((4 * 24 * FRAME_BYTES) / 2);
});

test('a source video that takes too much CPU time to read fails', async () => {
  const { message } = await makeHills(3);
  const { files } = (message as { result: PreviewResult }).result;
  const video = files.find(({ role }) => role === 'video')?.path as string;
  const request = { model: 'vvq2-turbo', duration: 1, resolution: '540p' };
  const job = { operation: 'video.extend', request, images: { video } } as const;
  expect((await make(job)).message).toEqual(HAS_RESULT);
  expect((await make(job, ['100'])).message).toEqual({ failure: 'The video takes too long to read.' });
});

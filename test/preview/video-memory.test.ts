import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PreviewJob, PreviewMessage } from '../../src/preview/job.js';

/** The most memory that the process of a video used, in bytes. It waits for more messages after its result. */
async function measurePeak(seconds: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'regen-video-'));
  const child = fork('dist/video-worker.js', { execArgv: ['--max-old-space-size=512', '--expose-gc'] });
  const ended = new Promise<PreviewMessage>((resolve) => {
    child.on('message', (message: PreviewMessage) => 'part' in message || resolve(message));
  });
  const request = { prompt: 'hills', duration: seconds, resolution: '540p', model: 'vvq2-pro', audio: false };
  const operation = 'video.text2video';
  const job: PreviewJob<'video'> = { id: 'test', operation, request, images: {}, seed: 3, folder };
  child.send(job);
  expect(await ended).toHaveProperty('result');
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  rmSync(folder, { recursive: true });
  return peak;
}

const FRAME_BYTES = 960 * 540 * 1.5;

test.runIf(process.platform === 'linux')('a longer video does not take more memory', async () => {
  const [short, long] = [await measurePeak(1), await measurePeak(5)];
  // All frames of the four seconds in between would be twice this.
  expect(long - short).toBeLessThan((4 * 24 * FRAME_BYTES) / 2);
});

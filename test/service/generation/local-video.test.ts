import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilePathSource, Input, MP4 } from 'mediabunny';
import { afterAll, expect, test } from 'vitest';
import type { EngineJob, VideoOperation } from '../../../src/service/generation/engine.js';
import { localVideo } from '../../../src/service/generation/engines/local-video/local-video.js';
import { render } from '../../../src/service/generation/engines/local-video/render.js';

const folder = mkdtempSync(join(tmpdir(), 'regen-local-video-'));
const path = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

type Fields = Readonly<Record<string, unknown>>;

let jobs = 0;
/** A job as the service makes it: checked, with paths for inputs. As small and short as a video can be. */
function job(operation: VideoOperation, request: Fields, seed = 7): EngineJob<VideoOperation> {
  const own = path(`job-${jobs++}`);
  mkdirSync(own);
  const least = { model: 'vvq3-pro', duration: 1, resolution: '540p', aspect_ratio: '1:1', audio: false };
  const id = `job-${jobs}`;
  return { id, operation, request: { ...least, ...request }, images: {}, seed, folder: own };
}

/** What a player learns of the file. */
async function facts(file: string) {
  const input = new Input({ source: new FilePathSource(file), formats: [MP4] });
  const video = await input.getPrimaryVideoTrack();
  const stats = await video?.computePacketStats();
  const found = {
    codec: await video?.getCodec(),
    width: await video?.getDisplayWidth(),
    height: await video?.getDisplayHeight(),
    frames: stats?.packetCount,
    seconds: await video?.computeDuration(),
    audio: await (await input.getPrimaryAudioTrack())?.computeDuration(),
    comment: (await input.getMetadataTags()).comment,
  };
  input.dispose();
  return found;
}

test('makes a video of exactly the size and the length asked for, and says which engine made it', async () => {
  const parts: number[] = [];
  const request = { prompt: 'a paper boat', aspect_ratio: '9:16', duration: 2, resolution: '360p' };
  const { files } = await localVideo().run(
    job('video.text2video', request),
    new AbortController().signal,
    (part) => parts.push(part),
  );
  expect(files.map(({ role, contentType }) => [role, contentType])).toEqual([
    ['video', 'video/mp4'],
    ['cover', 'image/jpeg'],
  ]);
  expect(await facts(files[0]?.path as string)).toEqual({
    codec: 'avc',
    width: 360,
    height: 640,
    frames: 48,
    seconds: 2,
    audio: undefined,
    comment: 'engine: local-preview',
  });
  expect(parts.at(-1)).toBe(1);
  expect(parts).toEqual([...parts].sort((one, other) => one - other));
});

test('gives equal bytes for equal requests, and others for another seed', async () => {
  const bytes = async (seed: number) => {
    const { files } = await render(job('video.text2video', { prompt: 'hills' }, seed), () => {});
    return files.map((file) => readFileSync(file.path).toString('base64'));
  };
  const first = await bytes(7);
  // Later than the second of the first.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(await bytes(7)).toEqual(first);
  expect(await bytes(8)).not.toEqual(first);
});

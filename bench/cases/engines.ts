import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import * as webcodecs from '@napi-rs/webcodecs';
import sharp from 'sharp';
import { createClient } from '../../src/library/client.js';
import type { PreviewJob, PreviewMessage } from '../../src/preview/job.js';
import { createFilm } from '../../src/preview/video/render.js';
import { readShot } from '../../src/preview/video/shot.js';
import { type Case, measureCommand, measureWall, readCpuMs, readMemory, type Sample } from '../measure.js';
import { startBuiltService } from '../peers.js';

const SIDE = 2048;

/** A photograph as compressors see it: gradients and noise. */
async function makePhotograph(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 24 } as const;
  const small = { width: SIDE / 4, height: SIDE / 4 };
  const grain = await sharp({ create: { ...small, channels: 3, background: '#000', noise } })
    .png()
    .toBuffer();
  const sky = `<svg width="${SIDE}" height="${SIDE}"><radialGradient id="g"><stop offset="0" stop-color="#fc8"/>
    <stop offset="1" stop-color="#146"/></radialGradient><rect width="100%" height="100%" fill="url(#g)"/></svg>`;
  const enlarged = await sharp(grain).resize(SIDE, SIDE).png().toBuffer();
  const layers = [{ input: enlarged, blend: 'soft-light' as const }];
  return sharp(Buffer.from(sky)).removeAlpha().composite(layers).jpeg({ quality: 88 }).toBuffer();
}

/** The nearest that sharp alone comes to relighting: a map of the light, enlarged and blended, curves and saturation. */
async function relightBare(photograph: Buffer, path: string): Promise<void> {
  const raw = { width: SIDE, height: SIDE, channels: 3 as const };
  const map = await sharp(photograph).resize(512, 512).blur(14).raw().toBuffer();
  const light = await sharp(map, { raw: { width: 512, height: 512, channels: 3 } })
    .resize(SIDE, SIDE, { fit: 'fill' })
    .raw()
    .toBuffer();
  const blended = await sharp(photograph)
    .composite([{ input: light, raw, blend: 'soft-light' }])
    .raw()
    .toBuffer({ resolveWithObject: true });
  await sharp(blended.data, { raw: { ...raw, channels: blended.info.channels } })
    .linear(1.03, -2)
    .modulate({ saturation: 1.1 })
    .png({ compressionLevel: 6 })
    .toFile(path);
}

const relighting: Case = {
  name: `relight of ${SIDE} x ${SIDE}, request to stored result`,
  peer: 'the same operations in bare sharp',
  bars: { wallMs: 1.3 },
  rounds: 7,
  async prepare(scratch) {
    const photograph = await makePhotograph();
    const service = await startBuiltService(join(scratch, 'data'));
    const client = createClient({ baseUrl: service.url, token: service.token });
    const body = { image: photograph.toString('base64'), prompt: 'warm evening' };
    const relight = async () => {
      let { data: task } = await client.image.relight({ body });
      const { task_id } = task;
      while (task.status !== 'COMPLETED') {
        if (task.status === 'FAILED') throw new Error('the task failed');
        await setTimeout(25);
        ({ data: task } = await client.image.relightStatus({ task_id }));
      }
    };
    return {
      runSubject: () => measureWall(relight),
      runPeer: () => measureWall(() => relightBare(photograph, join(scratch, 'bare.png'))),
      stop: () => service.stop(),
    };
  },
};

const RESOLUTION = '720p';

function createVideoJob(folder: string, seconds: number): PreviewJob<'video'> {
  const request = {
    ...{ prompt: 'a paper boat on a lake at sunset', duration: seconds, resolution: RESOLUTION },
    ...{ model: 'vvq2-pro', aspect_ratio: '16:9', audio: false },
  };
  return { id: 'bench', operation: 'video.text2video', request, images: {}, seed: 3, folder };
}

/** CPU and memory of the process that makes a video. It waits for more tasks after its result. */
async function makeVideo(scratch: string, seconds: number): Promise<Sample> {
  const flags = ['--max-old-space-size=512', '--expose-gc'];
  const child = spawn(process.execPath, [...flags, 'dist/video-worker.js'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${JSON.stringify(createVideoJob(mkdtempSync(join(scratch, 'video-')), seconds))}\n`);
  for await (const line of createInterface(child.stdout)) {
    const message = JSON.parse(line) as PreviewMessage;
    if ('part' in message) continue;
    if (!('result' in message)) throw new Error(line);
    break;
  }
  const pid = child.pid as number;
  const sample = { cpuMs: readCpuMs(pid), memory: readMemory(pid, 'VmHWM') };
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  return sample;
}

const SECONDS = 4;

interface Drawn {
  readonly width: number;
  readonly height: number;
  readonly frames: readonly Uint8Array[];
}

/** The frames of the video, drawn before. */
async function drawFrames(scratch: string): Promise<Drawn> {
  const film = await createFilm(readShot(createVideoJob(scratch, SECONDS)), {});
  const frames: Uint8Array[] = [];
  for await (const { data } of film.frames()) frames.push(data.slice());
  return { ...film.size, frames };
}

/** Encodes with the settings of the product. */
async function encodeFrames({ width, height, frames }: Drawn): Promise<Sample> {
  const before = process.cpuUsage();
  let failure: Error | undefined;
  const encoder = new webcodecs.VideoEncoder({
    output: () => {},
    error: (error) => {
      failure = error;
    },
  });
  encoder.configure({
    ...{
      codec: 'avc1.64001f',
      width,
      height,
      framerate: 24,
      bitrateMode: 'quantizer',
      latencyMode: 'quality',
    },
    ...{ hardwareAcceleration: 'prefer-software', avc: { format: 'avc' } },
  });
  for (const [index, data] of frames.entries()) {
    const timestamp = Math.round((index * 1e6) / 24);
    const frame = new webcodecs.VideoFrame(data, {
      ...{ format: 'I420', codedWidth: width, codedHeight: height, timestamp },
    });
    encoder.encode(frame, { keyFrame: index % 48 === 0, avc: { quantizer: 24 } });
    frame.close();
    while (encoder.encodeQueueSize > 3) await setTimeout(2);
  }
  await encoder.flush();
  encoder.close();
  if (failure) throw failure;
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000 };
}

const filming: Case = {
  name: `${SECONDS} s of ${RESOLUTION} video`,
  peer: 'its own encoder on the same frames',
  bars: { cpuMs: 3.5 },
  rounds: 5,
  async prepare(scratch) {
    const drawn = await drawFrames(scratch);
    return {
      runSubject: () => makeVideo(scratch, SECONDS),
      runPeer: () => encodeFrames(drawn),
    };
  },
};

const filmingBesideFfmpeg: Case = {
  name: `${SECONDS} s of ${RESOLUTION} video`,
  peer: 'ffmpeg with libx264, veryfast, on the same frames',
  bars: { cpuMs: 3.5 },
  rounds: 3,
  slow: true,
  async prepare(scratch) {
    try {
      measureCommand(['ffmpeg', '-version']);
    } catch {
      return { missing: 'ffmpeg is not installed' };
    }
    const { width, height, frames } = await drawFrames(scratch);
    const raw = join(scratch, 'frames.yuv');
    writeFileSync(raw, Buffer.concat(frames));
    const input = [
      '-f',
      'rawvideo',
      '-pix_fmt',
      'yuv420p',
      '-s',
      `${width}x${height}`,
      '-r',
      '24',
      '-i',
      raw,
    ];
    const output = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-y', join(scratch, 'out.mp4')];
    return {
      runSubject: () => makeVideo(scratch, SECONDS),
      runPeer: () => measureCommand(['ffmpeg', ...input, ...output]),
    };
  },
};

const filmingLonger: Case = {
  name: `8 s of ${RESOLUTION} video`,
  peer: '2 s of it',
  bars: { memory: 1.2 },
  rounds: 2,
  slow: true,
  prepare: async (scratch) => ({
    runSubject: () => makeVideo(scratch, 8),
    runPeer: () => makeVideo(scratch, 2),
  }),
};

export const engineCases: readonly Case[] = [relighting, filming, filmingBesideFfmpeg, filmingLonger];

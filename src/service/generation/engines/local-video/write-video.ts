import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import type { Size } from '../local-image/planes.js';
import { type Codecs, loadCodecs } from './codecs.js';
import { encodeSound } from './encode-sound.js';
import { type Film, frameRate } from './film.js';
import type { Frame } from './frame.js';
import type { Sound } from './sound.js';
import { removeTimes } from './timeless.js';

/** The encoder holds this many frames at most, besides the ones it looks ahead at. */
const waitingFrames = 3;
/** Looked at again after so long: its event for it can come before it is listened to, and then never. */
const waitMs = 2;
/** Frames. */
const collectEvery = 8;
/** 0 best, 51 worst. */
const quantizer = 24;

export interface Making {
  readonly film: Film;
  readonly sound: Sound | undefined;
  /** Kept in the file, for people. */
  readonly comment: string;
}

/**
 * Writes an MP4 file, H.264 and AAC, while its frames are drawn.
 * @param onFrame called with each frame and its number, before it is compressed
 */
export async function writeVideo(
  path: string,
  { film, sound, comment }: Making,
  onFrame: (frame: Frame, index: number) => Promise<void> | void,
): Promise<void> {
  const codecs = await loadCodecs();
  const { Output, Mp4OutputFormat, FilePathTarget } = codecs.mediabunny;
  const { EncodedVideoPacketSource, EncodedAudioPacketSource } = codecs.mediabunny;
  let index: { readonly boxes: Uint8Array; readonly position: number } | undefined;
  const onMoov = (data: Uint8Array, position: number) => {
    index = { boxes: data.slice(), position };
  };
  const output = new Output({
    // Room for the index is left at the front, so that a player can begin before it has the whole file.
    format: new Mp4OutputFormat({ fastStart: 'reserve', onMoov }),
    target: new FilePathTarget(path),
  });
  const video = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(video, { frameRate, maximumPacketCount: film.count });
  const heard = sound && (await encodeSound(codecs, sound));
  const audio = heard && new EncodedAudioPacketSource('aac');
  if (audio) output.addAudioTrack(audio, { maximumPacketCount: heard.length });
  output.setMetadataTags({ comment });
  await output.start();

  let said = 0;
  const say = async (until: number) => {
    for (; heard && said < heard.length; said++) {
      const { packet, meta } = heard[said] as (typeof heard)[number];
      if (packet.timestamp > until) return;
      // Its type says that less may be known than always is.
      await audio?.add(packet, meta as Parameters<typeof audio.add>[1]);
    }
  };
  for await (const { packet, meta } of encoded(codecs, film, onFrame)) {
    await say(packet.timestamp);
    await video.add(packet, meta);
  }
  await say(Number.POSITIVE_INFINITY);
  await output.finalize();
  if (!index) throw new Error('The video has no index.');
  removeTimes(index.boxes);
  const file = await open(path, 'r+');
  try {
    await file.write(index.boxes, 0, index.boxes.length, index.position);
  } finally {
    await file.close();
  }
}

interface EncodedFrame {
  readonly packet: Mediabunny.EncodedPacket;
  readonly meta: Webcodecs.EncodedVideoChunkMetadata | undefined;
}

/** Compresses frames as they come; holds few of them. */
async function* encoded(
  { webcodecs, mediabunny }: Codecs,
  film: Film,
  onFrame: (frame: Frame, index: number) => Promise<void> | void,
): AsyncIterable<EncodedFrame> {
  const ready: EncodedFrame[] = [];
  let failure: Error | undefined;
  const encoder = new webcodecs.VideoEncoder({
    output: (chunk, meta) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      const at = (chunk.timestamp ?? 0) / 1e6;
      ready.push({ packet: new mediabunny.EncodedPacket(data, chunk.type, at, 1 / frameRate), meta });
    },
    error: (error) => {
      failure ??= error;
    },
  });
  try {
    encoder.configure(settings(film.size));
    let index = 0;
    for await (const frame of film.frames()) {
      await onFrame(frame, index);
      const timestamp = Math.round((index * 1e6) / frameRate);
      const picture = new webcodecs.VideoFrame(frame.data, {
        format: 'I420',
        codedWidth: frame.width,
        codedHeight: frame.height,
        timestamp,
        colorSpace: { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false },
      });
      encoder.encode(picture, { keyFrame: index % (2 * frameRate) === 0, avc: { quantizer } });
      picture.close();
      index += 1;
      // Closed frames give their memory back only when they are collected, and to V8 they look small.
      if (index % collectEvery === 0) globalThis.gc?.();
      while (encoder.encodeQueueSize > waitingFrames && !failure) await setTimeout(waitMs);
      if (failure) throw failure;
      yield* ready.splice(0);
    }
    if (index !== film.count) throw new Error(`The film has ${index} frames instead of ${film.count}.`);
    await encoder.flush();
    if (failure) throw failure;
    yield* ready.splice(0);
  } finally {
    encoder.close();
  }
}

/** The least level that allows so many blocks of 16 by 16 pixels at this rate: H.264, table A-1. */
const levels = [
  { blocks: 3_600, level: '1f' },
  { blocks: 8_192, level: '28' },
  { blocks: 22_080, level: '32' },
] as const;

function settings({ width, height }: Size): Webcodecs.VideoEncoderConfig {
  const blocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  const level = levels.find((most) => blocks <= most.blocks)?.level ?? '33';
  return {
    codec: `avc1.6400${level}`,
    width,
    height,
    framerate: frameRate,
    bitrateMode: 'quantizer',
    // Looking ahead saves a quarter of the file; of the largest pictures it would hold too many.
    latencyMode: blocks <= levels[1].blocks ? 'quality' : 'realtime',
    // What a machine's own hardware makes is another's secret: equal requests would not give equal bytes.
    hardwareAcceleration: 'prefer-software',
    avc: { format: 'avc' },
  };
}

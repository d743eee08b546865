import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import type { Size } from '../image/picture.js';
import { type Codecs, loadCodecs, waitWhile } from './codecs.js';
import { type EncodedSound, type Film, FRAME_RATE, type Frame } from './frame.js';

/** Frames that wait in the encoder, besides those it looks ahead at. */
const MAX_WAITING_FRAMES = 3;
const COLLECT_EVERY_FRAMES = 8;
/** From 0, the best quality, to 51. */
const QUANTIZER = 24;

interface VideoContent {
  readonly film: Film;
  readonly sound: EncodedSound | undefined;
  /** Written into the metadata of the file. */
  readonly comment: string;
}

/**
 * Writes an MP4 file, H.264 and AAC, while its frames are drawn.
 * @param onFrame called with each frame and its number, before it is encoded
 */
export async function writeVideo(
  path: string,
  { film, sound, comment }: VideoContent,
  onFrame: (frame: Frame, index: number) => Promise<void> | void,
): Promise<void> {
  const codecs = loadCodecs();
  const { Output, Mp4OutputFormat, FilePathTarget } = codecs.mediabunny;
  const { EncodedVideoPacketSource, EncodedAudioPacketSource } = codecs.mediabunny;
  let index: { readonly boxes: Uint8Array; readonly position: number } | undefined;
  const onMoov = (data: Uint8Array, position: number) => {
    index = { boxes: data.slice(), position };
  };
  const output = new Output({
    // Reserves space for the index at the front, so that players can start before they have the whole file.
    format: new Mp4OutputFormat({ fastStart: 'reserve', onMoov }),
    target: new FilePathTarget(path),
  });
  const video = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(video, { frameRate: FRAME_RATE, maximumPacketCount: film.count });
  const packets = sound?.packets ?? [];
  const audio = sound && new EncodedAudioPacketSource(sound.codec);
  if (audio) output.addAudioTrack(audio, { maximumPacketCount: packets.length });
  output.setMetadataTags({ comment });
  await output.start();

  let written = 0;
  const writeSound = async (until: number) => {
    for (; written < packets.length; written++) {
      const { packet, meta } = packets[written] as (typeof packets)[number];
      if (packet.timestamp > until) return;
      await audio?.add(packet, meta);
    }
  };
  for await (const { packet, meta } of encodeFrames(codecs, film, onFrame)) {
    await writeSound(packet.timestamp);
    await video.add(packet, meta);
  }
  await writeSound(Number.POSITIVE_INFINITY);
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

/** Encodes frames as they are drawn, holding few of them in memory. */
async function* encodeFrames(
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
      ready.push({ packet: new mediabunny.EncodedPacket(data, chunk.type, at, 1 / FRAME_RATE), meta });
    },
    error: (error) => {
      failure ??= error;
    },
  });
  try {
    encoder.configure(chooseSettings(film.size));
    let index = 0;
    for await (const frame of film.frames()) {
      await onFrame(frame, index);
      const timestamp = Math.round((index * 1e6) / FRAME_RATE);
      const picture = new webcodecs.VideoFrame(frame.data, {
        format: 'I420',
        codedWidth: frame.width,
        codedHeight: frame.height,
        timestamp,
        colorSpace: { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false },
      });
      encoder.encode(picture, { keyFrame: index % (2 * FRAME_RATE) === 0, avc: { quantizer: QUANTIZER } });
      picture.close();
      index += 1;
      if (index % COLLECT_EVERY_FRAMES === 0) await releaseClosedFrames();
      await waitWhile(() => encoder.encodeQueueSize > MAX_WAITING_FRAMES && !failure);
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

/**
 * Closed frames release memory only when they are collected, and V8 takes them for small. Their finalizers run in the
 * event loop, which a film that is drawn without waiting does not reach by itself.
 */
async function releaseClosedFrames(): Promise<void> {
  // They are young, so a minor collection finds them, in a fraction of the time of a full one.
  globalThis.gc?.({ type: 'minor' });
  await setImmediate();
}

/** The lowest level for a number of 16 by 16 blocks at this rate (H.264, table A-1). */
const LEVELS = [
  { blocks: 3_600, level: '1f' },
  { blocks: 8_192, level: '28' },
  { blocks: 22_080, level: '32' },
] as const;

function chooseSettings({ width, height }: Size): Webcodecs.VideoEncoderConfig {
  const blocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  const level = LEVELS.find((most) => blocks <= most.blocks)?.level ?? '33';
  return {
    codec: `avc1.6400${level}`,
    width,
    height,
    framerate: FRAME_RATE,
    bitrateMode: 'quantizer',
    // Looking ahead saves a quarter of the file, but takes too much memory for the largest pictures.
    latencyMode: blocks <= LEVELS[1].blocks ? 'quality' : 'realtime',
    // Hardware encoders differ: equal requests would not give equal bytes.
    hardwareAcceleration: 'prefer-software',
    avc: { format: 'avc' },
  };
}

const TIMED_CONTAINERS = ['moov', 'trak', 'mdia'];
const DATED_BOXES = ['mvhd', 'tkhd', 'mdhd'];
const BOX_HEADER_BYTES = 8;

/** Removes the time of day from the index of an MP4 file, so that equal requests give equal bytes. */
function removeTimes(boxes: Uint8Array): void {
  const view = new DataView(boxes.buffer, boxes.byteOffset, boxes.byteLength);
  for (let at = 0; at + BOX_HEADER_BYTES <= boxes.length; ) {
    const size = view.getUint32(at);
    const type = String.fromCharCode(...boxes.subarray(at + 4, at + BOX_HEADER_BYTES));
    const inside = boxes.subarray(at + BOX_HEADER_BYTES, at + size);
    if (TIMED_CONTAINERS.includes(type)) removeTimes(inside);
    // Version and flags; then when it was made and when it was changed, longer ones in version 1.
    else if (DATED_BOXES.includes(type)) inside.fill(0, 4, inside[0] === 1 ? 20 : 12);
    at += Math.max(size, BOX_HEADER_BYTES);
  }
}

import { stat } from 'node:fs/promises';
import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import { isMachineTrouble, throwMachineTrouble } from '../../disk/machine-trouble.js';
import { openPixels, type Size } from '../image/picture.js';
import { PreviewFailure } from '../job.js';
import { type Codecs, loadCodecs, waitWhile } from './codecs.js';
import { type EncodedSound, type Film, FRAME_RATE, type Frame, newFrame, toFrame } from './frame.js';
import { computeSize, SHORT_SIDES, type Shot } from './shot.js';

const MAX_BYTES = 500_000_000;
const MAX_SECONDS = 60;
const MAX_FRAMES = MAX_SECONDS * 240;
const MAX_PIXELS = 3840 * 2160;
/** The long side divided by the short side. */
const MAX_RATIO = 4;
/** Packets that wait in the decoder, besides those it has to read ahead. */
const MAX_WAITING_PACKETS = 3;

/**
 * Opens a video to extend, as frames with the size of the resolution and our frame rate.
 * @throws PreviewFailure if it is not a video, too large, or broken
 */
export async function openSource(path: string, resolution: Shot['resolution']): Promise<Film> {
  if ((await stat(path)).size > MAX_BYTES) {
    throw new PreviewFailure(`The video is too large; at most ${MAX_BYTES / 1e6} MB can be extended.`);
  }
  const codecs = loadCodecs();
  const { track, audio, config, from, seconds } = await openTrack(codecs, path).catch((error) => {
    throw toVerdict(error);
  });
  checkBounds(track.displayWidth, track.displayHeight, seconds);
  const size = computeSize(SHORT_SIDES[resolution], track.displayWidth / track.displayHeight);
  const count = Math.max(1, Math.round(seconds * FRAME_RATE));
  const turned = { rotation: track.rotation, size };
  // If the sound is broken, the video is silent.
  const sound = await copySound(codecs, audio, from, count / FRAME_RATE).catch(throwMachineTrouble);
  return {
    size,
    count,
    sound,
    frames: () => failAsVideo(resampleFrames(decodeFrames(codecs, track, config), count, turned)),
  };
}

async function openTrack({ mediabunny, webcodecs }: Codecs, path: string) {
  const { Input, FilePathSource, MP4, QTFF, WEBM, MATROSKA } = mediabunny;
  // Other formats, such as playlists, could access other files.
  const input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF, WEBM, MATROSKA] });
  const track = await input.getPrimaryVideoTrack();
  const config = await track?.getDecoderConfig();
  if (!track || !config) throw new Error('The file has no video track.');
  const settings = config as Webcodecs.VideoDecoderConfig;
  const { supported } = await webcodecs.VideoDecoder.isConfigSupported(settings);
  if (!supported) throw new Error('The codec is not supported.');
  const from = await track.getFirstTimestamp();
  const audio = await input.getPrimaryAudioTrack();
  return { track, audio, config: settings, from, seconds: (await track.computeDuration()) - from };
}

function checkBounds(width: number, height: number, seconds: number): void {
  const fail = (message: string) => {
    throw new PreviewFailure(message);
  };
  if (!(seconds <= MAX_SECONDS))
    fail(`The video is ${Math.ceil(seconds)} s long; at most ${MAX_SECONDS} s can be extended.`);
  if (width * height > MAX_PIXELS)
    fail(`The video has ${width}x${height} pixels; at most 3840x2160 can be extended.`);
  if (Math.max(width, height) > MAX_RATIO * Math.min(width, height))
    fail('The long side of the video is more than four times its short side.');
}

/** Reports what fails as a failure of the video. */
async function* failAsVideo(frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
  try {
    yield* frames;
  } catch (error) {
    throw toVerdict(error);
  }
}

function toVerdict(cause: unknown): unknown {
  if (isMachineTrouble(cause) || cause instanceof PreviewFailure) return cause;
  return new PreviewFailure('The video cannot be decoded.', { cause });
}

/** Decodes the frames of the track in display order; each is closed when the next is requested. */
async function* decodeFrames(
  { webcodecs, mediabunny }: Codecs,
  track: Mediabunny.InputVideoTrack,
  config: Webcodecs.VideoDecoderConfig,
): AsyncIterable<Webcodecs.VideoFrame> {
  const ready: Webcodecs.VideoFrame[] = [];
  let failure: Error | undefined;
  const decoder = new webcodecs.VideoDecoder({
    output: (frame) => ready.push(frame),
    error: (error) => {
      failure ??= error;
    },
  });
  function* shown() {
    for (let frame = ready.shift(); frame; frame = ready.shift()) {
      // Only the size that the file declares was checked.
      if (frame.codedWidth * frame.codedHeight > 2 * MAX_PIXELS)
        throw new Error('The frames are larger than declared.');
      yield frame;
      frame.close();
    }
  }
  let packets = 0;
  try {
    decoder.configure(config);
    for await (const packet of new mediabunny.EncodedPacketSink(track).packets()) {
      packets += 1;
      if (packets > MAX_FRAMES) throw new PreviewFailure('The video has more than 240 frames a second.');
      const { type, data } = packet;
      decoder.decode(
        new webcodecs.EncodedVideoChunk({ type, data, timestamp: Math.round(packet.timestamp * 1e6) }),
      );
      await waitWhile(() => decoder.decodeQueueSize > MAX_WAITING_PACKETS && !failure);
      if (failure) throw failure;
      yield* shown();
    }
    await decoder.flush();
    if (failure) throw failure;
    yield* shown();
  } finally {
    for (const frame of ready) frame.close();
    if (decoder.state !== 'closed') decoder.close();
  }
}

type TargetFormat = Readonly<{ rotation: number; size: Size }>;

/** Repeats or skips frames to match our frame rate; the last one stays until the end. */
async function* resampleFrames(
  frames: AsyncIterable<Webcodecs.VideoFrame>,
  count: number,
  turned: TargetFormat,
): AsyncIterable<Frame> {
  let due = 0;
  let shown: Frame | undefined;
  let begin: number | undefined;
  for await (const frame of frames) {
    begin ??= frame.timestamp;
    const until = ((frame.timestamp - begin) / 1e6) * FRAME_RATE - 0.5;
    for (; shown && due < Math.min(count, until); due++) yield shown;
    if (!shown || due >= until) shown = await convertFrame(frame, turned);
  }
  if (!shown) throw new Error('The video has no frames.');
  for (; due < count; due++) yield shown;
}

async function convertFrame(frame: Webcodecs.VideoFrame, turned: TargetFormat): Promise<Frame> {
  const { width, height } = frame.visibleRect ?? { width: frame.codedWidth, height: frame.codedHeight };
  if (!isCompatible(frame)) {
    const format = 'RGBA';
    const data = new Uint8Array(frame.allocationSize({ format }));
    await frame.copyTo(data, { format });
    const colours = await fitPlane({ data, width, height, channels: 4 }, turned);
    return toFrame({ data: colours, ...turned.size, channels: 4 });
  }
  const data = new Uint8Array(frame.allocationSize());
  const layout = await frame.copyTo(data);
  const made = newFrame(turned.size);
  const planes = [made.y, made.u, made.v];
  for (const [at, plane] of planes.entries()) {
    const part = at === 0 ? 1 : 2;
    const [across, down] = [Math.ceil(width / part), Math.ceil(height / part)];
    const from = layout[at]?.offset ?? 0;
    const whole = { width: across, height: down, channels: 1 } as const;
    const size = { width: turned.size.width / part, height: turned.size.height / part };
    const bytes = data.subarray(from, from + across * down);
    plane.set(await fitPlane({ data: bytes, ...whole }, { ...turned, size }));
  }
  return made;
}

/** Whether planes can be copied. The codecs' own conversion to RGB takes every colour for BT.601. */
function isCompatible({ format, colorSpace, codedHeight }: Webcodecs.VideoFrame): boolean {
  const { matrix, fullRange } = colorSpace;
  // Frames without this information are treated as players do.
  return format === 'I420' && fullRange !== true && (matrix === 'bt709' || (!matrix && codedHeight >= 720));
}

type RawPlane = Size & Readonly<{ data: Uint8Array; channels: 1 | 4 }>;

async function fitPlane({ data, ...raw }: RawPlane, { rotation, size }: TargetFormat): Promise<Uint8Array> {
  if (rotation === 0 && raw.width === size.width && raw.height === size.height) return data;
  const plane = await openPixels({ data, ...raw });
  return plane
    .rotate(rotation)
    .resize(size.width, size.height, { fit: 'fill' })
    .toColourspace(raw.channels === 1 ? 'b-w' : 'srgb')
    .raw()
    .toBuffer();
}

/** Those that players read from an MP4 file. */
const COPIED_CODECS = ['aac', 'mp3', 'opus'] as const;

/** Copies the sound of a source video as it is encoded; undefined if it has none that can be copied. */
async function copySound(
  { mediabunny }: Codecs,
  track: Mediabunny.InputAudioTrack | null,
  begin: number,
  seconds: number,
): Promise<EncodedSound | undefined> {
  const decoderConfig = await track?.getDecoderConfig();
  const codec = COPIED_CODECS.find((one) => one === track?.codec);
  if (!track || !decoderConfig || !codec) return undefined;
  const packets: EncodedSound['packets'][number][] = [];
  for await (const packet of new mediabunny.EncodedPacketSink(track).packets()) {
    const timestamp = packet.timestamp - begin;
    if (timestamp >= seconds) break;
    if (timestamp >= 0) packets.push({ packet: packet.clone({ timestamp }), meta: { decoderConfig } });
  }
  return packets.length > 0 ? { codec, packets } : undefined;
}

import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import { EngineFailure } from '../../engine.js';
import { loadSharp } from '../../sharp.js';
import type { Size } from '../local-image/planes.js';
import { type Codecs, loadCodecs } from './codecs.js';
import { type Film, frameRate } from './film.js';
import { type Frame, frameOf, newFrame } from './frame.js';
import { type Shot, shortSides, sizeWithSides } from './shot.js';
import { readSound } from './source-sound.js';

const mostBytes = 500_000_000;
const mostSeconds = 60;
const mostFrames = mostSeconds * 240;
const mostPixels = 3840 * 2160;
/** The long side by the short one. */
const mostRatio = 4;
/** Packets the decoder holds, besides the ones it has to read ahead. */
const waitingPackets = 3;
/** Looked at again after so long: its event for it can come before it is listened to, and then never. */
const waitMs = 2;

/**
 * A video to extend, as frames of the size that the resolution says and at the rate of everything made here.
 * @throws EngineFailure where it is none, is too large, or is broken
 */
export async function openSource(path: string, resolution: Shot['resolution']): Promise<Film> {
  if ((await stat(path)).size > mostBytes) {
    throw new EngineFailure(`The video is too large; at most ${mostBytes / 1e6} MB can be extended.`);
  }
  const codecs = await loadCodecs();
  const { track, audio, config, from, seconds } = await understood(() => openTrack(codecs, path));
  checkBounds(track.displayWidth, track.displayHeight, seconds);
  const size = sizeWithSides(shortSides[resolution], track.displayWidth / track.displayHeight);
  const count = Math.max(1, Math.round(seconds * frameRate));
  const turned = { rotation: track.rotation, size };
  // A video whose sound is broken is silent.
  const sound = await readSound(codecs, audio, from, count / frameRate).catch(() => undefined);
  return { size, count, sound, frames: () => evenly(decoded(codecs, track, config), count, turned) };
}

async function openTrack({ mediabunny, webcodecs }: Codecs, path: string) {
  const { Input, FilePathSource, MP4, QTFF, WEBM, MATROSKA } = mediabunny;
  // Others, such as playlists, could reach for other files.
  const input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF, WEBM, MATROSKA] });
  const track = await input.getPrimaryVideoTrack();
  const config = await track?.getDecoderConfig();
  if (!track || !config) throw new Error('There is no video in it.');
  const settings = config as Webcodecs.VideoDecoderConfig;
  const { supported } = await webcodecs.VideoDecoder.isConfigSupported(settings);
  if (!supported) throw new Error('Its codec is not known.');
  const from = await track.getFirstTimestamp();
  const audio = await input.getPrimaryAudioTrack();
  return { track, audio, config: settings, from, seconds: (await track.computeDuration()) - from };
}

function checkBounds(width: number, height: number, seconds: number): void {
  if (!(seconds <= mostSeconds)) {
    throw new EngineFailure(
      `The video is ${Math.ceil(seconds)} s long; at most ${mostSeconds} s can be extended.`,
    );
  }
  if (width * height > mostPixels) {
    throw new EngineFailure(`The video has ${width}x${height} pixels; at most 3840x2160 can be extended.`);
  }
  if (Math.max(width, height) > mostRatio * Math.min(width, height)) {
    throw new EngineFailure('The video is more than four times as long as it is wide.');
  }
}

/** What goes wrong in here is the video's fault. */
async function understood<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(cause: unknown): EngineFailure {
  return new EngineFailure('The video cannot be decoded.', { cause });
}

/** Every frame of the track in the order it is shown; each is closed when the next is asked for. */
async function* decoded(
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
      // The file's own word was checked; what is in it may be larger.
      if (frame.codedWidth * frame.codedHeight > 2 * mostPixels) throw unreadable('Its frames are larger.');
      yield frame;
      frame.close();
    }
  }
  let packets = 0;
  try {
    decoder.configure(config);
    for await (const packet of new mediabunny.EncodedPacketSink(track).packets()) {
      packets += 1;
      if (packets > mostFrames) throw new EngineFailure('The video has more than 240 frames a second.');
      const { type, data } = packet;
      decoder.decode(
        new webcodecs.EncodedVideoChunk({ type, data, timestamp: Math.round(packet.timestamp * 1e6) }),
      );
      while (decoder.decodeQueueSize > waitingPackets && !failure) await setTimeout(waitMs);
      if (failure) throw unreadable(failure);
      yield* shown();
    }
    await decoder.flush();
    if (failure) throw unreadable(failure);
    yield* shown();
  } catch (error) {
    throw error instanceof EngineFailure ? error : unreadable(error);
  } finally {
    for (const frame of ready) frame.close();
    if (decoder.state !== 'closed') decoder.close();
  }
}

interface Turned {
  readonly rotation: number;
  readonly size: Size;
}

/** Shows at each moment the frame that is due then; the last one stays until the end. */
async function* evenly(
  frames: AsyncIterable<Webcodecs.VideoFrame>,
  count: number,
  turned: Turned,
): AsyncIterable<Frame> {
  let due = 0;
  let shown: Frame | undefined;
  let begin: number | undefined;
  for await (const frame of frames) {
    begin ??= frame.timestamp;
    const until = ((frame.timestamp - begin) / 1e6) * frameRate - 0.5;
    for (; shown && due < Math.min(count, until); due++) yield shown;
    if (!shown || due >= until) shown = await understood(() => converted(frame, turned));
  }
  if (!shown) throw unreadable('It has no frames.');
  for (; due < count; due++) yield shown;
}

async function converted(frame: Webcodecs.VideoFrame, turned: Turned): Promise<Frame> {
  const { width, height } = frame.visibleRect ?? { width: frame.codedWidth, height: frame.codedHeight };
  if (!isLikeOurs(frame)) {
    const format = 'RGBA';
    const data = new Uint8Array(frame.allocationSize({ format }));
    await frame.copyTo(data, { format });
    const colours = await fitted({ data, width, height, channels: 4 }, turned);
    return frameOf({ data: colours, ...turned.size, channels: 4 });
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
    plane.set(await fitted({ data: bytes, ...whole }, { ...turned, size }));
  }
  return made;
}

/** The codecs' own conversion to red, green and blue takes every colour for BT.601. */
function isLikeOurs({ format, colorSpace, codedHeight }: Webcodecs.VideoFrame): boolean {
  const { matrix, fullRange } = colorSpace;
  // What does not say is taken for what players take it for.
  return format === 'I420' && fullRange !== true && (matrix === 'bt709' || (!matrix && codedHeight >= 720));
}

interface Raw extends Size {
  readonly data: Uint8Array;
  readonly channels: 1 | 4;
}

/** Turned and of exactly the size. */
async function fitted({ data, ...raw }: Raw, { rotation, size }: Turned): Promise<Uint8Array> {
  if (rotation === 0 && raw.width === size.width && raw.height === size.height) return data;
  const sharp = await loadSharp();
  return sharp(data, { raw })
    .rotate(rotation)
    .resize(size.width, size.height, { fit: 'fill' })
    .toColourspace(raw.channels === 1 ? 'b-w' : 'srgb')
    .raw()
    .toBuffer();
}

import { setTimeout } from 'node:timers/promises';
import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import type { Codecs } from './codecs.js';
import { type Sound, silence, soundRate } from './sound.js';

const waitingPackets = 20;
/** As in write-video.ts. */
const waitMs = 2;

/**
 * The sound of a video that is to be extended; undefined where there is none that can be read.
 * @param begin when its picture begins, in seconds
 * @param seconds how long that is
 */
export async function readSound(
  { webcodecs, mediabunny }: Codecs,
  track: Mediabunny.InputAudioTrack | null,
  begin: number,
  seconds: number,
): Promise<Sound | undefined> {
  const config = (await track?.getDecoderConfig()) as Webcodecs.AudioDecoderConfig | null | undefined;
  if (!track || !config || !(await webcodecs.AudioDecoder.isConfigSupported(config)).supported)
    return undefined;
  const sound = silence(seconds);
  let failure: Error | undefined;
  const decoder = new webcodecs.AudioDecoder({
    output: (block) => {
      add(sound, block, begin);
      block.close();
    },
    error: (error) => {
      failure ??= error;
    },
  });
  try {
    decoder.configure(config);
    for await (const { type, data, timestamp } of new mediabunny.EncodedPacketSink(track).packets()) {
      if (failure || timestamp > begin + seconds) break;
      const at = Math.round(timestamp * 1e6);
      decoder.decode(new webcodecs.EncodedAudioChunk({ type, data, timestamp: at }));
      while (decoder.decodeQueueSize > waitingPackets && !failure) await setTimeout(waitMs);
    }
    await decoder.flush();
  } finally {
    if (decoder.state !== 'closed') decoder.close();
  }
  return failure ? undefined : sound;
}

/** Puts a block to its place, at the rate of everything made here. */
function add({ left, right }: Sound, block: Webcodecs.AudioData, begin: number): void {
  const { sampleRate, numberOfFrames, numberOfChannels, timestamp } = block;
  const channels = [0, Math.min(1, numberOfChannels - 1)].map((planeIndex) => {
    const samples = new Float32Array(numberOfFrames);
    block.copyTo(samples, { planeIndex, format: 'f32-planar' });
    return samples;
  });
  const step = sampleRate / soundRate;
  const first = Math.round((timestamp / 1e6 - begin) * soundRate);
  const count = Math.ceil(numberOfFrames / step);
  [left, right].forEach((target, side) => {
    const samples = channels[side] as Float32Array;
    for (let at = Math.max(0, -first); at < count && first + at < target.length; at++) {
      const whole = Math.floor(at * step);
      const value = samples[whole] ?? 0;
      target[first + at] = value + ((samples[whole + 1] ?? value) - value) * (at * step - whole);
    }
  });
}

/** Seconds at the end that go on sounding. */
const tail = 1.5;

/** The same sound and so many seconds more, in which its end runs back and forth and dies away. */
export function faded({ left, right }: Sound, seconds: number): Sound {
  const added = Math.round(seconds * soundRate);
  const length = Math.max(1, Math.min(left.length, tail * soundRate));
  const longer = (channel: Float32Array) => {
    const whole = new Float32Array(channel.length + added);
    whole.set(channel);
    for (let at = 0; at < added; at++) {
      const place = at % (2 * length);
      const back = place < length ? place : 2 * length - 1 - place;
      const loud = (1 - at / added) ** 2;
      whole[channel.length + at] = loud * (channel[channel.length - 1 - back] ?? 0);
    }
    return whole;
  };
  return { left: longer(left), right: longer(right) };
}

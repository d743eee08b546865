import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import { type Codecs, waitWhile } from './codecs.js';
import { createSilence, SAMPLE_RATE, type Sound } from './sound.js';

const MAX_WAITING_PACKETS = 20;

/**
 * Reads the sound of a source video.
 * @param begin when its picture begins, in seconds
 * @param seconds the duration of its picture
 * @returns undefined if there is no readable sound
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
  const sound = createSilence(seconds);
  let failure: Error | undefined;
  const decoder = new webcodecs.AudioDecoder({
    output: (block) => {
      addBlock(sound, block, begin);
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
      await waitWhile(() => decoder.decodeQueueSize > MAX_WAITING_PACKETS && !failure);
    }
    await decoder.flush();
  } finally {
    if (decoder.state !== 'closed') decoder.close();
  }
  return failure ? undefined : sound;
}

/** Copies a block to its place, converted to our sample rate. */
function addBlock({ left, right }: Sound, block: Webcodecs.AudioData, begin: number): void {
  const { sampleRate, numberOfFrames, numberOfChannels, timestamp } = block;
  const channels = [0, Math.min(1, numberOfChannels - 1)].map((planeIndex) => {
    const samples = new Float32Array(numberOfFrames);
    block.copyTo(samples, { planeIndex, format: 'f32-planar' });
    return samples;
  });
  const step = sampleRate / SAMPLE_RATE;
  const first = Math.round((timestamp / 1e6 - begin) * SAMPLE_RATE);
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

/** The part at the end that is repeated. */
const TAIL_SECONDS = 1.5;

/** Extends sound by a number of seconds, in which its end runs back and forth and fades out. */
export function fadeSound({ left, right }: Sound, seconds: number): Sound {
  const added = Math.round(seconds * SAMPLE_RATE);
  const length = Math.max(1, Math.min(left.length, TAIL_SECONDS * SAMPLE_RATE));
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

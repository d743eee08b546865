import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import type { Codecs } from './codecs.js';
import { type Sound, soundRate } from './sound.js';

const bitrate = 128_000;
/** Samples handed over at once. */
const blockSamples = 1024 * 16;
const packetSamples = 1024;

export interface EncodedSound {
  readonly packet: Mediabunny.EncodedPacket;
  readonly meta: Webcodecs.EncodedAudioChunkMetadata | undefined;
}

/** All of it as AAC, which is small. */
export async function encodeSound(
  { webcodecs, mediabunny }: Codecs,
  { left, right }: Sound,
): Promise<EncodedSound[]> {
  const packets: Uint8Array[] = [];
  let config: Webcodecs.EncodedAudioChunkMetadata | undefined;
  let failure: Error | undefined;
  const encoder = new webcodecs.AudioEncoder({
    output: (chunk, meta) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      packets.push(data);
      config ??= meta;
    },
    error: (error) => {
      failure ??= error;
    },
  });
  encoder.configure({ codec: 'mp4a.40.2', sampleRate: soundRate, numberOfChannels: 2, bitrate });
  for (let from = 0; from < left.length && !failure; from += blockSamples) {
    const to = Math.min(left.length, from + blockSamples);
    const data = new Float32Array((to - from) * 2);
    data.set(left.subarray(from, to));
    data.set(right.subarray(from, to), to - from);
    const block = new webcodecs.AudioData({
      format: 'f32-planar',
      sampleRate: soundRate,
      numberOfFrames: to - from,
      numberOfChannels: 2,
      timestamp: Math.round((from * 1e6) / soundRate),
      data,
    });
    encoder.encode(block);
    block.close();
  }
  await encoder.flush();
  encoder.close();
  if (failure) throw failure;
  // What the encoder puts before the sound, to get going, would let it come late; its own times do not tell.
  const count = Math.ceil(left.length / packetSamples);
  return packets.slice(-count).map((data, at) => {
    const samples = Math.min(packetSamples, left.length - at * packetSamples);
    const begin = (at * packetSamples) / soundRate;
    const packet = new mediabunny.EncodedPacket(data, 'key', begin, samples / soundRate);
    return { packet, meta: at === 0 ? config : undefined };
  });
}

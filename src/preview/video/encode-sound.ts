import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import type { Codecs } from './codecs.js';
import { SAMPLE_RATE, type Sound } from './sound.js';

const BIT_RATE = 128_000;
/** Samples that are passed to the encoder at once. */
const BLOCK_SAMPLES = 1024 * 16;
const PACKET_SAMPLES = 1024;

export interface EncodedSound {
  readonly packet: Mediabunny.EncodedPacket;
  readonly meta: Webcodecs.EncodedAudioChunkMetadata | undefined;
}

/** Encodes sound as AAC, all in memory, because it is small. */
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
  encoder.configure({ codec: 'mp4a.40.2', sampleRate: SAMPLE_RATE, numberOfChannels: 2, bitrate: BIT_RATE });
  for (let from = 0; from < left.length && !failure; from += BLOCK_SAMPLES) {
    const to = Math.min(left.length, from + BLOCK_SAMPLES);
    const data = new Float32Array((to - from) * 2);
    data.set(left.subarray(from, to));
    data.set(right.subarray(from, to), to - from);
    const block = new webcodecs.AudioData({
      format: 'f32-planar',
      sampleRate: SAMPLE_RATE,
      numberOfFrames: to - from,
      numberOfChannels: 2,
      timestamp: Math.round((from * 1e6) / SAMPLE_RATE),
      data,
    });
    encoder.encode(block);
    block.close();
  }
  await encoder.flush();
  encoder.close();
  if (failure) throw failure;
  // The packets that the encoder adds before the sound would delay it; its timestamps do not show that.
  const count = Math.ceil(left.length / PACKET_SAMPLES);
  return packets.slice(-count).map((data, at) => {
    const samples = Math.min(PACKET_SAMPLES, left.length - at * PACKET_SAMPLES);
    const begin = (at * PACKET_SAMPLES) / SAMPLE_RATE;
    const packet = new mediabunny.EncodedPacket(data, 'key', begin, samples / SAMPLE_RATE);
    return { packet, meta: at === 0 ? config : undefined };
  });
}

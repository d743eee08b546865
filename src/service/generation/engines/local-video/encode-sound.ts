import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import type { Codecs } from './codecs.js';
import { type Sound, soundRate } from './sound.js';

const bitrate = 128_000;
/** Samples handed over at once. */
const blockSamples = 1024 * 16;

export interface EncodedSound {
  readonly packet: Mediabunny.EncodedPacket;
  readonly meta: Webcodecs.EncodedAudioChunkMetadata | undefined;
}

/** All of it as AAC, which is small. */
export async function encodeSound(
  { webcodecs, mediabunny }: Codecs,
  { left, right }: Sound,
): Promise<EncodedSound[]> {
  const packets: EncodedSound[] = [];
  let failure: Error | undefined;
  const encoder = new webcodecs.AudioEncoder({
    output: (chunk, meta) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      const at = (chunk.timestamp ?? 0) / 1e6;
      const seconds = (chunk.duration ?? 0) / 1e6;
      packets.push({ packet: new mediabunny.EncodedPacket(data, chunk.type, at, seconds), meta });
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
  return packets;
}

import type * as Mediabunny from 'mediabunny';
import type { EncodedSound } from './frame.js';

const SAMPLE_RATE = 48_000;
const PACKET_SAMPLES = 1024;
/** AAC-LC without any sound in its two channels, and how a file declares it. */
const PACKET = Buffer.from('210049900219002380', 'hex');
const DECLARATION = Buffer.from('1190', 'hex');

/** Creates a silent sound, because a preview imitates none. */
export function createSilence({ EncodedPacket }: typeof Mediabunny, seconds: number): EncodedSound {
  const length = seconds * SAMPLE_RATE;
  const decoderConfig = {
    ...{ codec: 'mp4a.40.2', sampleRate: SAMPLE_RATE, numberOfChannels: 2 },
    description: DECLARATION,
  };
  const packets = Array.from({ length: Math.ceil(length / PACKET_SAMPLES) }, (_, at) => {
    const begin = at * PACKET_SAMPLES;
    const samples = Math.min(PACKET_SAMPLES, length - begin);
    return {
      packet: new EncodedPacket(PACKET, 'key', begin / SAMPLE_RATE, samples / SAMPLE_RATE),
      meta: { decoderConfig },
    };
  });
  return { codec: 'aac', packets };
}

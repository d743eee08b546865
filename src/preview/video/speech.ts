import { createRandom, hashText } from '../image/random.js';
import { SAMPLE_RATE, type Sound } from './sound.js';

/** The formants of the vowels a, e, i, o and u, in Hertz, for a medium voice. */
const VOWELS = [
  [800, 1250, 2600],
  [480, 1900, 2550],
  [300, 2250, 3000],
  [500, 900, 2500],
  [340, 800, 2400],
] as const;

/** Adds speech-like syllables in phrases, with a different voice for each name. */
export function addSpeech(sound: Sound, voice: string, prompt: string, seed: number): void {
  const own = createRandom(hashText(`voice ${voice}`));
  const pitch = 92 * 2 ** (1.4 * own());
  const throat = 0.86 + 0.34 * own();
  const next = createRandom(seed ^ hashText(prompt));
  const seconds = sound.left.length / SAMPLE_RATE;
  let begin = 0.15;
  while (begin < seconds) {
    const syllables = 4 + Math.floor(next() * 6);
    for (let syllable = 0; syllable < syllables; syllable++) {
      const length = 0.12 + 0.14 * next();
      const vowel = VOWELS[Math.floor(next() * VOWELS.length)] as (typeof VOWELS)[number];
      // The pitch falls towards the end of a phrase.
      const height = pitch * (1.14 - (0.24 * syllable) / syllables + 0.1 * (next() - 0.5));
      saySyllable(sound, {
        begin,
        length,
        pitch: height,
        peaks: vowel.map((peak) => peak * throat),
        hiss: next(),
      });
      begin += length + 0.015 + 0.03 * next();
    }
    begin += 0.3 + 0.35 * next();
  }
}

interface Syllable {
  /** Seconds. */
  readonly begin: number;
  readonly length: number;
  /** Hertz. */
  readonly pitch: number;
  readonly peaks: readonly number[];
  /** How it begins: 0 softly, 1 with a hiss. */
  readonly hiss: number;
}

function saySyllable({ left, right }: Sound, { begin, length, pitch, peaks, hiss }: Syllable): void {
  const from = Math.round(begin * SAMPLE_RATE);
  const samples = Math.round(length * SAMPLE_RATE);
  const next = createRandom(from);
  const bands = peaks.map((peak, at) => createResonator(peak, 70 + 30 * at, [1, 0.6, 0.25][at] as number));
  let turn = 0;
  for (let at = 0; at < samples && from + at < left.length; at++) {
    const part = at / samples;
    turn += (pitch * (1 - 0.08 * part)) / SAMPLE_RATE;
    const cords = 1 - 2 * (turn % 1);
    const breath = (next() * 2 - 1) * (hiss > 0.6 && part < 0.22 ? 0.9 : 0.04);
    const source = (part < 0.18 && hiss > 0.6 ? 0.2 : 1) * cords + breath;
    const loud = Math.min(1, part * 9, (1 - part) * 5);
    const value = 0.42 * loud * bands.reduce((sum, band) => sum + band(source), 0);
    left[from + at] = (left[from + at] as number) + value;
    right[from + at] = (right[from + at] as number) + value;
  }
}

/** Creates a band-pass filter around a pitch; both in Hertz. */
function createResonator(pitch: number, width: number, gain: number): (value: number) => number {
  const decay = Math.exp((-Math.PI * width) / SAMPLE_RATE);
  const turn = 2 * decay * Math.cos((2 * Math.PI * pitch) / SAMPLE_RATE);
  const level = gain * (1 - decay) * 2;
  let [before, earlier] = [0, 0];
  return (value) => {
    const now = level * value + turn * before - decay * decay * earlier;
    earlier = before;
    before = now;
    return now;
  };
}

import { random, textSeed } from '../local-image/random.js';
import { type Sound, soundRate } from './sound.js';

/** The three pitches that make a vowel, in Hertz, of a middle voice: a, e, i, o, u. */
const vowels = [
  [800, 1250, 2600],
  [480, 1900, 2550],
  [300, 2250, 3000],
  [500, 900, 2500],
  [340, 800, 2400],
] as const;

/** Something like speech in no language: syllables in phrases, said by a voice of its own for each name. */
export function addSpeech(sound: Sound, voice: string, prompt: string, seed: number): void {
  const own = random(textSeed(`voice ${voice}`));
  const pitch = 92 * 2 ** (1.4 * own());
  const throat = 0.86 + 0.34 * own();
  const next = random(seed ^ textSeed(prompt));
  const seconds = sound.left.length / soundRate;
  let begin = 0.15;
  while (begin < seconds) {
    const syllables = 4 + Math.floor(next() * 6);
    for (let syllable = 0; syllable < syllables; syllable++) {
      const length = 0.12 + 0.14 * next();
      const vowel = vowels[Math.floor(next() * vowels.length)] as (typeof vowels)[number];
      // Sinks towards the end of a phrase.
      const height = pitch * (1.14 - (0.24 * syllable) / syllables + 0.1 * (next() - 0.5));
      say(sound, { begin, length, pitch: height, peaks: vowel.map((peak) => peak * throat), hiss: next() });
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

function say({ left, right }: Sound, { begin, length, pitch, peaks, hiss }: Syllable): void {
  const from = Math.round(begin * soundRate);
  const samples = Math.round(length * soundRate);
  const next = random(from);
  const bands = peaks.map((peak, at) => resonator(peak, 70 + 30 * at, [1, 0.6, 0.25][at] as number));
  let turn = 0;
  for (let at = 0; at < samples && from + at < left.length; at++) {
    const part = at / samples;
    turn += (pitch * (1 - 0.08 * part)) / soundRate;
    const cords = 1 - 2 * (turn % 1);
    const breath = (next() * 2 - 1) * (hiss > 0.6 && part < 0.22 ? 0.9 : 0.04);
    const source = (part < 0.18 && hiss > 0.6 ? 0.2 : 1) * cords + breath;
    const loud = Math.min(1, part * 9, (1 - part) * 5);
    const value = 0.42 * loud * bands.reduce((sum, band) => sum + band(source), 0);
    left[from + at] = (left[from + at] as number) + value;
    right[from + at] = (right[from + at] as number) + value;
  }
}

/** Lets through what is around a pitch. @param width Hertz */
function resonator(pitch: number, width: number, gain: number): (value: number) => number {
  const decay = Math.exp((-Math.PI * width) / soundRate);
  const turn = 2 * decay * Math.cos((2 * Math.PI * pitch) / soundRate);
  const level = gain * (1 - decay) * 2;
  let [before, earlier] = [0, 0];
  return (value) => {
    const now = level * value + turn * before - decay * decay * earlier;
    earlier = before;
    before = now;
    return now;
  };
}

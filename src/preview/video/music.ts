import { createRandom } from '../image/random.js';
import { SAMPLE_RATE, type Sound } from './sound.js';

/** Semitones from the first note of a scale. */
const SCALES = [
  [0, 2, 4, 5, 7, 9, 11],
  [0, 2, 3, 5, 7, 8, 10],
] as const;
const PROGRESSIONS = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [5, 3, 0, 4],
  [0, 2, 3, 4],
] as const;

/** Adds a quiet tune: a chord per bar, and single notes above it. */
export function addMusic(sound: Sound, seed: number): void {
  const next = createRandom(seed ^ 0x50f7);
  const one = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item;
  const scale = one(SCALES);
  const chords = one(PROGRESSIONS);
  const root = 48 + Math.floor(next() * 8);
  const beat = 60 / (76 + 40 * next());
  const pitch = (step: number, octave: number) => {
    const note = root + (scale[step % 7] as number) + 12 * (octave + Math.floor(step / 7));
    return 440 * 2 ** ((note - 69) / 12);
  };
  const seconds = sound.left.length / SAMPLE_RATE;
  const bar = 2 * beat;
  for (let bars = 0; bars * bar < seconds; bars++) {
    const chord = chords[bars % chords.length] as number;
    for (const step of [0, 2, 4]) {
      playNote(sound, {
        begin: bars * bar,
        length: bar * 1.25,
        pitch: pitch(chord + step, 0),
        loud: 0.055,
        soft: true,
      });
    }
    playNote(sound, { begin: bars * bar, length: bar, pitch: pitch(chord, -1), loud: 0.1, soft: true });
    for (let half = 0; half < 4; half++) {
      if (next() < 0.15) continue;
      const step = chord + one([0, 2, 4, 7]);
      const begin = bars * bar + (half * beat) / 2;
      playNote(sound, { begin, length: 1.1, pitch: pitch(step, 1), loud: 0.1, soft: false, aside: next() });
    }
  }
}

interface Note {
  /** Seconds. */
  readonly begin: number;
  readonly length: number;
  /** Hertz. */
  readonly pitch: number;
  readonly loud: number;
  /** Whether it swells instead of being plucked. */
  readonly soft: boolean;
  /** 0 left, 1 right. */
  readonly aside?: number;
}

function playNote({ left, right }: Sound, { begin, length, pitch, loud, soft, aside = 0.5 }: Note): void {
  const from = Math.round(begin * SAMPLE_RATE);
  const samples = Math.round(length * SAMPLE_RATE);
  const turn = (2 * Math.PI * pitch) / SAMPLE_RATE;
  for (let at = 0; at < samples && from + at < left.length; at++) {
    const part = at / samples;
    const swell = soft
      ? Math.sin(Math.PI * Math.sqrt(part))
      : Math.min(1, at / 200) * Math.exp(-5 * part) * (1 - part);
    const tone = Math.sin(turn * at) + 0.35 * Math.sin(2.003 * turn * at) + 0.12 * Math.sin(3 * turn * at);
    const value = loud * swell * tone;
    left[from + at] = (left[from + at] as number) + value * (1.3 - 0.6 * aside);
    right[from + at] = (right[from + at] as number) + value * (0.7 + 0.6 * aside);
  }
}

import { random } from '../local-image/random.js';
import { type Sound, soundRate } from './sound.js';

/** Steps of the scale, from its first note. */
const scales = [
  [0, 2, 4, 5, 7, 9, 11],
  [0, 2, 3, 5, 7, 8, 10],
] as const;
const progressions = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [5, 3, 0, 4],
  [0, 2, 3, 4],
] as const;

/** A quiet tune: chords that change with the bar, and single notes that run over them. */
export function addMusic(sound: Sound, seed: number): void {
  const next = random(seed ^ 0x50f7);
  const one = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item;
  const scale = one(scales);
  const chords = one(progressions);
  const root = 48 + Math.floor(next() * 8);
  const beat = 60 / (76 + 40 * next());
  const pitch = (step: number, octave: number) => {
    const note = root + (scale[step % 7] as number) + 12 * (octave + Math.floor(step / 7));
    return 440 * 2 ** ((note - 69) / 12);
  };
  const seconds = sound.left.length / soundRate;
  const bar = 2 * beat;
  for (let bars = 0; bars * bar < seconds; bars++) {
    const chord = chords[bars % chords.length] as number;
    for (const step of [0, 2, 4]) {
      play(sound, {
        begin: bars * bar,
        length: bar * 1.25,
        pitch: pitch(chord + step, 0),
        loud: 0.055,
        soft: true,
      });
    }
    play(sound, { begin: bars * bar, length: bar, pitch: pitch(chord, -1), loud: 0.1, soft: true });
    for (let half = 0; half < 4; half++) {
      if (next() < 0.15) continue;
      const step = chord + one([0, 2, 4, 7]);
      const begin = bars * bar + (half * beat) / 2;
      play(sound, { begin, length: 1.1, pitch: pitch(step, 1), loud: 0.1, soft: false, aside: next() });
    }
  }
}

interface Tone {
  /** Seconds. */
  readonly begin: number;
  readonly length: number;
  /** Hertz. */
  readonly pitch: number;
  readonly loud: number;
  /** Swells, instead of being plucked. */
  readonly soft: boolean;
  /** 0 left, 1 right. */
  readonly aside?: number;
}

function play({ left, right }: Sound, { begin, length, pitch, loud, soft, aside = 0.5 }: Tone): void {
  const from = Math.round(begin * soundRate);
  const samples = Math.round(length * soundRate);
  const turn = (2 * Math.PI * pitch) / soundRate;
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

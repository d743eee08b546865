import { createRandom, hashText } from '../image/random.js';
import { createSilence, SAMPLE_RATE, type Sound } from './frame.js';
import { readSetting, type Setting } from './setting.js';
import type { Shot } from './shot.js';

/** Creates the sound of a shot, exactly as long as the shot; undefined if it has none. */
export function createSound({ sounds, seconds, prompt, seed }: Shot): Sound | undefined {
  const { effects, speech, music, voice } = sounds;
  if (!effects && !speech && !music) return undefined;
  const sound = createSilence(seconds);
  if (effects) addEffects(sound, readSetting(prompt, seed), seed);
  if (speech) addSpeech(sound, voice, prompt, seed);
  if (music) addMusic(sound, seed);
  finishSound(sound);
  return sound;
}

const FADE_IN_SECONDS = 0.05;
const FADE_OUT_SECONDS = 0.4;

/** Limits the volume, and fades in and out without clicks. */
function finishSound({ left, right }: Sound): void {
  for (const channel of [left, right]) {
    channel.forEach((value, at) => {
      const begun = at / (FADE_IN_SECONDS * SAMPLE_RATE);
      const left = (channel.length - at) / (FADE_OUT_SECONDS * SAMPLE_RATE);
      channel[at] = Math.tanh(value) * Math.min(1, begun, left);
    });
  }
}

/** Noise within a band of frequencies that swells and falls. */
interface NoiseBed {
  /** Hertz. */
  readonly below: number;
  readonly above: number;
  readonly loudness: number;
  /** Swells per second, and their depth, 0 to 1. */
  readonly swell: number;
  readonly depth: number;
}

const WIND: NoiseBed = { below: 500, above: 90, loudness: 0.5, swell: 0.23, depth: 0.6 };
const WAVES: NoiseBed = { below: 900, above: 120, loudness: 0.7, swell: 0.31, depth: 0.85 };
const RAIN: NoiseBed = { below: 9000, above: 1800, loudness: 0.16, swell: 0.1, depth: 0.2 };
const TRAFFIC: NoiseBed = { below: 180, above: 40, loudness: 0.9, swell: 0.17, depth: 0.5 };

/** Adds the sound of a place: its air or water, the weather, and small animals. */
function addEffects(sound: Sound, { place, weather, hour }: Setting, seed: number): void {
  const beds = [place.water ? WAVES : place.ridge === 'towers' ? TRAFFIC : WIND];
  if (weather === 'rain') beds.push(RAIN);
  for (const bed of beds) addNoiseBed(sound, bed, seed);
  const isWild = place.ridge === 'hills' || place.ridge === 'trees' || place.ridge === 'peaks';
  if (isWild && weather !== 'rain' && weather !== 'snow') addCalls(sound, hour.stars > 0.5, seed);
}

function addNoiseBed({ left, right }: Sound, bed: NoiseBed, seed: number): void {
  const open = (pitch: number) => 1 - Math.exp((-2 * Math.PI * pitch) / SAMPLE_RATE);
  const [most, least] = [open(bed.below), open(bed.above)];
  [left, right].forEach((channel, side) => {
    const next = createRandom(seed ^ (0xbed + side));
    const phase = next() * 6.28;
    let [low, lower, lowest] = [0, 0, 0];
    for (let at = 0; at < channel.length; at++) {
      low += (next() * 2 - 1 - low) * most;
      lower += (low - lower) * most;
      lowest += (lower - lowest) * least;
      const swell = 0.5 + 0.5 * Math.sin((2 * Math.PI * bed.swell * at) / SAMPLE_RATE + phase + side * 0.5);
      const loud = bed.loudness * (1 - bed.depth + bed.depth * swell * swell);
      channel[at] = (channel[at] as number) + (lower - lowest) * loud * 2.2;
    }
  });
}

/** Birds by day, crickets by night. */
function addCalls(sound: Sound, isNight: boolean, seed: number): void {
  const next = createRandom(seed ^ 0xca11);
  const seconds = sound.left.length / SAMPLE_RATE;
  for (let begin = 0.2 + next() * 0.4; begin < seconds; begin += isNight ? 0.5 : 0.4 + next() * 1.2) {
    const pitch = isNight ? 4300 : 2200 + next() * 1800;
    const aside = next();
    const chirps = isNight ? 3 : 2 + Math.floor(next() * 4);
    const bend = isNight ? 0 : (next() - 0.4) * 1400;
    for (let chirp = 0; chirp < chirps; chirp++) {
      const from = begin + chirp * (isNight ? 0.06 : 0.11);
      let turn = 0;
      addTone(sound, { begin: from, length: isNight ? 0.035 : 0.075, aside }, (_, part) => {
        turn += (2 * Math.PI * (pitch + bend * part)) / SAMPLE_RATE;
        return 0.05 * Math.sin(Math.PI * part) ** 2 * Math.sin(turn);
      });
    }
  }
}

/** When a tone is heard, in seconds, and where: 0 left, 1 right. */
interface ToneSpan {
  readonly begin: number;
  readonly length: number;
  readonly aside?: number;
}

/** Adds a tone. @param sample its value at a sample, and at the part of it that has passed */
function addTone(
  { left, right }: Sound,
  { begin, length, aside = 0.5 }: ToneSpan,
  sample: (at: number, part: number) => number,
): void {
  const from = Math.round(begin * SAMPLE_RATE);
  const samples = Math.round(length * SAMPLE_RATE);
  for (let at = 0; at < samples && from + at < left.length; at++) {
    const value = sample(at, at / samples);
    left[from + at] = (left[from + at] as number) + value * (1.3 - 0.6 * aside);
    right[from + at] = (right[from + at] as number) + value * (0.7 + 0.6 * aside);
  }
}

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
function addMusic(sound: Sound, seed: number): void {
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

interface Note extends ToneSpan {
  /** Hertz. */
  readonly pitch: number;
  readonly loud: number;
  /** Whether it swells instead of being plucked. */
  readonly soft: boolean;
}

function playNote(sound: Sound, { pitch, loud, soft, ...span }: Note): void {
  const turn = (2 * Math.PI * pitch) / SAMPLE_RATE;
  addTone(sound, span, (at, part) => {
    const plucked = Math.min(1, at / 200) * Math.exp(-5 * part) * (1 - part);
    const tone = Math.sin(turn * at) + 0.35 * Math.sin(2.003 * turn * at) + 0.12 * Math.sin(3 * turn * at);
    return loud * (soft ? Math.sin(Math.PI * Math.sqrt(part)) : plucked) * tone;
  });
}

/** The formants of the vowels a, e, i, o and u, in Hertz, for a medium voice. */
const VOWELS = [
  [800, 1250, 2600],
  [480, 1900, 2550],
  [300, 2250, 3000],
  [500, 900, 2500],
  [340, 800, 2400],
] as const;

/** Adds speech-like syllables in phrases, with a different voice for each name. */
function addSpeech(sound: Sound, voice: string, prompt: string, seed: number): void {
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

interface Syllable extends ToneSpan {
  /** Hertz. */
  readonly pitch: number;
  readonly peaks: readonly number[];
  /** How it begins: 0 softly, 1 with a hiss. */
  readonly hiss: number;
}

function saySyllable(sound: Sound, { pitch, peaks, hiss, ...span }: Syllable): void {
  const next = createRandom(Math.round(span.begin * SAMPLE_RATE));
  const bands = peaks.map((peak, at) => createResonator(peak, 70 + 30 * at, [1, 0.6, 0.25][at] as number));
  let turn = 0;
  addTone(sound, span, (_, part) => {
    turn += (pitch * (1 - 0.08 * part)) / SAMPLE_RATE;
    const cords = 1 - 2 * (turn % 1);
    const breath = (next() * 2 - 1) * (hiss > 0.6 && part < 0.22 ? 0.9 : 0.04);
    const source = (part < 0.18 && hiss > 0.6 ? 0.2 : 1) * cords + breath;
    const loud = Math.min(1, part * 9, (1 - part) * 5);
    return 0.42 * loud * bands.reduce((sum, band) => sum + band(source), 0);
  });
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

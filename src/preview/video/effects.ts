import { createRandom } from '../image/random.js';
import type { Setting } from './setting.js';
import { SAMPLE_RATE, type Sound } from './sound.js';

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
export function addEffects(sound: Sound, { place, weather, hour }: Setting, seed: number): void {
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
function addCalls({ left, right }: Sound, isNight: boolean, seed: number): void {
  const next = createRandom(seed ^ 0xca11);
  const seconds = left.length / SAMPLE_RATE;
  for (let begin = 0.2 + next() * 0.4; begin < seconds; begin += isNight ? 0.5 : 0.4 + next() * 1.2) {
    const pitch = isNight ? 4300 : 2200 + next() * 1800;
    const aside = next();
    const chirps = isNight ? 3 : 2 + Math.floor(next() * 4);
    const bend = isNight ? 0 : (next() - 0.4) * 1400;
    for (let chirp = 0; chirp < chirps; chirp++) {
      const from = Math.round((begin + chirp * (isNight ? 0.06 : 0.11)) * SAMPLE_RATE);
      const length = Math.round((isNight ? 0.035 : 0.075) * SAMPLE_RATE);
      let turn = 0;
      for (let at = 0; at < length && from + at < left.length; at++) {
        const part = at / length;
        turn += (2 * Math.PI * (pitch + bend * part)) / SAMPLE_RATE;
        const value = 0.09 * Math.sin(Math.PI * part) ** 2 * Math.sin(turn);
        left[from + at] = (left[from + at] as number) + value * (1 - aside);
        right[from + at] = (right[from + at] as number) + value * aside;
      }
    }
  }
}

import { addEffects } from './effects.js';
import { addMusic } from './music.js';
import { readSetting } from './setting.js';
import type { Shot } from './shot.js';
import { type Sound, silence, soundRate } from './sound.js';
import { addSpeech } from './speech.js';

/** What is heard of a shot, exactly as long as it; undefined where nothing is. */
export function soundOf({ hearing, seconds, prompt, seed }: Shot): Sound | undefined {
  const { effects, speech, music, voice } = hearing;
  if (!effects && !speech && !music) return undefined;
  const sound = silence(seconds);
  if (effects) addEffects(sound, readSetting(prompt, seed), seed);
  if (speech) addSpeech(sound, voice, prompt, seed);
  if (music) addMusic(sound, seed);
  finish(sound);
  return sound;
}

/** Seconds. */
const fadeIn = 0.05;
const fadeOut = 0.4;

/** Loud places stay below the limit, and nothing begins or ends with a click. */
function finish({ left, right }: Sound): void {
  for (const channel of [left, right]) {
    channel.forEach((value, at) => {
      const begun = at / (fadeIn * soundRate);
      const left = (channel.length - at) / (fadeOut * soundRate);
      channel[at] = Math.tanh(value) * Math.min(1, begun, left);
    });
  }
}

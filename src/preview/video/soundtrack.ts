import { addEffects } from './effects.js';
import { addMusic } from './music.js';
import { readSetting } from './setting.js';
import type { Shot } from './shot.js';
import { createSilence, SAMPLE_RATE, type Sound } from './sound.js';
import { addSpeech } from './speech.js';

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

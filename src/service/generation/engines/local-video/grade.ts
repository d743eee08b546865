import type { Knobs } from '../local-image/knobs.js';
import { clamp, smooth } from '../local-image/scene.js';
import { black, type Frame, grey, white } from './frame.js';

const range = white - black;

/** Changes brightness and colour in place. @param share 0 changes nothing, 1 all */
export function grade(frame: Frame, tone: Knobs, share = 1): void {
  if (share <= 0) return;
  const bright = Uint8Array.from({ length: 256 }, (_, value) => {
    const shown = clamp((value - black) / range);
    return Math.round(black + range * (shown + (curve(shown, tone) - shown) * share));
  });
  // However many words ask for it, a picture never turns into one colour.
  const warmth = Math.tanh(tone.warmth) * 14;
  const tint = Math.tanh(tone.tint) * 13;
  const colour = (move: number) =>
    Uint8Array.from({ length: 256 }, (_, value) => {
      const moved = (value - grey) * tone.saturation + move;
      return Math.round(clamp(value + (grey + moved - value) * share, black, 240));
    });
  look(frame.y, bright);
  look(frame.u, colour(tint * 0.5 - warmth));
  look(frame.v, colour(tint + warmth * 0.8));
}

function curve(value: number, { exposure, contrast, gamma, blacks, whites, steps }: Knobs): number {
  const exposed = 1 - (1 - value) ** (2 ** exposure);
  const levelled = exposed ** (1 / gamma);
  const raised = clamp(
    levelled + blacks * 0.22 * (1 - levelled) ** 2 + whites * 0.25 * levelled ** 2 * (1.1 - levelled * 0.6),
  );
  const shown = raised + (stepped(raised) - raised) * Math.min(1, steps);
  return shown < 0.5 ? 0.5 * (2 * shown) ** contrast : 1 - 0.5 * (2 - 2 * shown) ** contrast;
}

/** Brightness in seven steps with soft edges. */
function stepped(bright: number): number {
  const scaled = bright * 7;
  const whole = Math.floor(scaled);
  return (whole + smooth(0.35, 0.65, scaled - whole)) / 7;
}

function look(plane: Uint8Array, table: Uint8Array): void {
  for (let at = 0; at < plane.length; at++) plane[at] = table[plane[at] as number] as number;
}

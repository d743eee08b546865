import type { Adjustments } from '../image/adjustments.js';
import { adjustContrast, adjustLevels, clamp, posterize } from '../image/curves.js';
import { BLACK, type Frame, GREY, WHITE } from './frame.js';

const RANGE = WHITE - BLACK;

/**
 * Changes brightness and colour in place.
 * @param share from 0, which changes nothing, to 1
 */
export function grade(frame: Frame, tone: Adjustments, share = 1): void {
  if (share <= 0) return;
  const bright = Uint8Array.from({ length: 256 }, (_, value) => {
    const shown = clamp((value - BLACK) / RANGE);
    return Math.round(BLACK + RANGE * (shown + (applyToneCurve(shown, tone) - shown) * share));
  });
  // Limited, so that many words for a colour do not turn the picture into it.
  const warmth = Math.tanh(tone.warmth) * 14;
  const tint = Math.tanh(tone.tint) * 13;
  const colour = (move: number) =>
    Uint8Array.from({ length: 256 }, (_, value) => {
      const moved = (value - GREY) * tone.saturation + move;
      return Math.round(clamp(value + (GREY + moved - value) * share, BLACK, 240));
    });
  applyTable(frame.y, bright);
  applyTable(frame.u, colour(tint * 0.5 - warmth));
  applyTable(frame.v, colour(tint + warmth * 0.8));
}

function applyToneCurve(
  value: number,
  { exposure, contrast, gamma, blacks, whites, steps }: Adjustments,
): number {
  const exposed = 1 - (1 - value) ** (2 ** exposure);
  const levelled = adjustLevels(exposed ** (1 / gamma), blacks, whites);
  const shown = levelled + (posterize(levelled, 7) - levelled) * Math.min(1, steps);
  return adjustContrast(shown, contrast);
}

function applyTable(plane: Uint8Array, table: Uint8Array): void {
  for (let at = 0; at < plane.length; at++) plane[at] = table[plane[at] as number] as number;
}

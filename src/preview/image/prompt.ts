import { type Adjustment, scaleAdjustment } from './adjustments.js';
import { createRandom, hashText } from './random.js';

/** The meaning of words in a prompt; words that begin with one of these count, too. */
const WORDS: Record<string, Adjustment> = {
  warm: { warmth: 0.8, colour: 1.2 },
  golden: { warmth: 1, saturation: 1.1, glow: 0.15 },
  sun: { warmth: 0.6, exposure: 0.2, glow: 0.15 },
  evening: { warmth: 0.6, exposure: -0.25, split: 0.4 },
  morning: { warmth: 0.25, exposure: 0.15, glow: 0.15 },
  candle: { warmth: 1.1, exposure: -0.5, vignette: 0.5 },
  fire: { warmth: 1.2, contrast: 1.1 },
  cool: { warmth: -0.7 },
  cold: { warmth: -0.9, saturation: 0.9 },
  blue: { warmth: -1.1 },
  moon: { warmth: -0.9, exposure: -0.7, saturation: 0.75 },
  night: { warmth: -0.6, exposure: -1, vignette: 0.5 },
  winter: { warmth: -0.6, saturation: 0.85, exposure: 0.1 },
  neon: { tint: 0.9, saturation: 1.35, split: -0.8 },
  pink: { tint: 0.9, warmth: 0.2 },
  purple: { tint: 0.9, warmth: -0.5 },
  green: { tint: -0.9 },
  forest: { tint: -0.6, exposure: -0.15 },
  teal: { split: 0.9 },
  cinema: { split: 0.7, contrast: 1.12, vignette: 0.3 },
  dramatic: { contrast: 1.25, vignette: 0.5, exposure: -0.2 },
  dark: { exposure: -0.8 },
  shadow: { exposure: -0.3, contrast: 1.1 },
  bright: { exposure: 0.6 },
  day: { exposure: 0.3, whites: 0.2 },
  studio: { contrast: 1.08, whites: 0.25, exposure: 0.15 },
  soft: { contrast: 0.9, glow: 0.25 },
  dream: { contrast: 0.9, glow: 0.5 },
  fog: { contrast: 0.75, blacks: 0.5, saturation: 0.85 },
  hard: { contrast: 1.25, spread: 0.7 },
  vivid: { saturation: 1.35 },
  pastel: { saturation: 0.75, blacks: 0.3 },
  vintage: { saturation: 0.8, warmth: 0.4, blacks: 0.35, grain: 0.25 },
  black: { saturation: 0.1 },
};

/** The direction that light comes from: to the right, and down. */
const DIRECTIONS: Record<string, readonly [number, number]> = {
  left: [-1, 0],
  right: [1, 0],
  above: [0, -1],
  top: [0, -1],
  below: [0, 1],
  under: [0, 1],
  bottom: [0, 1],
};

export interface Prompt {
  readonly adjustments: readonly Adjustment[];
  /** Where the light comes from, if the prompt says so. */
  readonly from?: readonly [number, number];
}

/** Reads a prompt: known words are adjustments, scaled by their emphasis; the text adds a faint tone. */
export function readPrompt(text: string | undefined): Prompt {
  if (!text?.trim()) return { adjustments: [] };
  const adjustments: Adjustment[] = [createTone(text)];
  const from: [number, number] = [0, 0];
  for (const { word, weight } of listWeightedWords(text)) {
    const known = Object.keys(WORDS).find((name) => word.startsWith(name));
    // Counted threefold, so that a small change of weight is visible.
    if (known) adjustments.push(scaleAdjustment(WORDS[known] as Adjustment, 1 + (weight - 1) * 3));
    const [x, y] = DIRECTIONS[word] ?? [0, 0];
    from[0] += x;
    from[1] += y;
  }
  return from[0] || from[1] ? { adjustments, from } : { adjustments };
}

/** Lists the first 200 words with the emphasis of the parentheses around them. */
function listWeightedWords(text: string): { word: string; weight: number }[] {
  const found: { word: string; weight: number }[] = [];
  const open: number[] = [];
  for (const [part, weight] of text
    .toLowerCase()
    .slice(0, 4000)
    .matchAll(/[()]|:(\d+(?:\.\d*)?)(?=\))|\p{L}+/gu)) {
    if (part === '(') open.push(found.length);
    else if (part === ')') open.pop();
    else if (weight === undefined) found.push({ word: part, weight: 1 });
    else
      for (let at = open.at(-1) ?? found.length; at < found.length; at++)
        (found[at] as { weight: number }).weight *= Number(weight);
  }
  return found.slice(0, 200);
}

function createTone(text: string): Adjustment {
  const next = createRandom(hashText(text));
  const around = (most: number) => (next() * 2 - 1) * most;
  return {
    warmth: 0.12 + around(0.1),
    tint: around(0.12),
    exposure: around(0.08),
    saturation: 1.06 + around(0.05),
  };
}

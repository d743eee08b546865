/** Several adjustments are multiplied; 1 changes nothing. */
const NEUTRAL_GAINS = {
  contrast: 1,
  gamma: 1,
  saturation: 1,
  /** Texture and small details. */
  detail: 1,
  /** The light that is transferred to the picture, and its colour. */
  light: 1,
  colour: 1,
  /** How soft that light is. */
  spread: 1,
  /** The palette and tone of the reference, and its texture. */
  style: 1,
  texture: 1,
};

/** Several adjustments are added; 0 changes nothing. The unit is 1 unless noted. */
const NEUTRAL_OFFSETS = {
  /** Stops. */
  exposure: 0,
  /** Negative is blue, positive orange. */
  warmth: 0,
  /** Negative is green, positive magenta. */
  tint: 0,
  /** Teal shadows and orange lights; negative values reverse them. */
  split: 0,
  /** Degrees. */
  hue: 0,
  /** Turns of the hue from black to white. */
  rainbow: 0,
  blacks: 0,
  whites: 0,
  glow: 0,
  sharpen: 0,
  grain: 0,
  /** Flat steps of brightness, as in a painting. */
  steps: 0,
  lines: 0,
  vignette: 0,
  /** How much of the picture's own light is removed. */
  flatten: 0,
  /** How much shapes are shaded by the light. */
  relief: 0,
  /** More light on the subject, around it, in the middle tones, on skin. */
  inside: 0,
  outside: 0,
  midtones: 0,
  skin: 0,
  /** How much skin is evened out. */
  smooth: 0,
};

/** Every adjustment of a picture; each option of a request sets some of them. */
export type Adjustments = {
  readonly [Name in keyof typeof NEUTRAL_GAINS | keyof typeof NEUTRAL_OFFSETS]: number;
};
export type Adjustment = Partial<Adjustments>;

const GAIN_NAMES = Object.keys(NEUTRAL_GAINS) as (keyof typeof NEUTRAL_GAINS)[];
const OFFSET_NAMES = Object.keys(NEUTRAL_OFFSETS) as (keyof typeof NEUTRAL_OFFSETS)[];

/** Combines adjustments, in any order. */
export function combineAdjustments(...rows: readonly (Adjustment | undefined)[]): Adjustments {
  const all: { -readonly [Name in keyof Adjustments]: number } = { ...NEUTRAL_GAINS, ...NEUTRAL_OFFSETS };
  for (const row of rows) {
    for (const name of GAIN_NAMES) all[name] *= row?.[name] ?? 1;
    for (const name of OFFSET_NAMES) all[name] += row?.[name] ?? 0;
  }
  return all;
}

/** Scales an adjustment: 0 changes nothing, 1 is the adjustment itself. */
export function scaleAdjustment(row: Adjustment, strength: number): Adjustment {
  const part = (name: keyof Adjustments) => {
    const value = row[name] as number;
    return name in NEUTRAL_GAINS ? 1 + (value - 1) * strength : value * strength;
  };
  return Object.fromEntries(
    (Object.keys(row) as (keyof Adjustments)[]).map((name) => [name, part(name)]),
  ) as Adjustment;
}

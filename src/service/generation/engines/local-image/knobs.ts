/** Multiplied where several rows meet; 1 changes nothing. */
const gains = {
  contrast: 1,
  gamma: 1,
  saturation: 1,
  /** Of what is finer than the base: texture and small details. */
  detail: 1,
  /** Of the light that is moved onto the picture, and of its colour. */
  light: 1,
  colour: 1,
  /** How soft that light is. */
  spread: 1,
  /** Of the reference's palette and tone, and of its texture. */
  style: 1,
  texture: 1,
};

/** Added where several rows meet; 0 changes nothing. Parts of 1, but for those that say otherwise. */
const offsets = {
  /** Stops. */
  exposure: 0,
  /** Blue below 0, orange above. */
  warmth: 0,
  /** Green below 0, magenta above. */
  tint: 0,
  /** Teal shadows under orange lights; below 0 the other way round. */
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
  /** Flat steps of brightness, as painted. */
  steps: 0,
  lines: 0,
  vignette: 0,
  /** How much of the picture's own light is taken away. */
  flatten: 0,
  /** How much shapes turn towards the light. */
  relief: 0,
  /** More light on the subject, on what is around it, in the middle tones, on skin. */
  inside: 0,
  outside: 0,
  midtones: 0,
  skin: 0,
  /** Skin made even. */
  smooth: 0,
};

/** Everything the pipeline can be told; each option of a request is a row of these. */
export type Knobs = { readonly [Name in keyof typeof gains | keyof typeof offsets]: number };
export type Row = Partial<Knobs>;

const gainNames = Object.keys(gains) as (keyof typeof gains)[];
const offsetNames = Object.keys(offsets) as (keyof typeof offsets)[];

/** All rows together, in any order. */
export function knobs(...rows: readonly (Row | undefined)[]): Knobs {
  const all: { -readonly [Name in keyof Knobs]: number } = { ...gains, ...offsets };
  for (const row of rows) {
    for (const name of gainNames) all[name] *= row?.[name] ?? 1;
    for (const name of offsetNames) all[name] += row?.[name] ?? 0;
  }
  return all;
}

/** A row as strong as given: 0 is nothing, 1 the row. */
export function scaled(row: Row, strength: number): Row {
  const part = (name: keyof Knobs) => {
    const value = row[name] as number;
    return name in gains ? 1 + (value - 1) * strength : value * strength;
  };
  return Object.fromEntries((Object.keys(row) as (keyof Knobs)[]).map((name) => [name, part(name)])) as Row;
}

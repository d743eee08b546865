/** Samples per second of all generated sound. */
export const SAMPLE_RATE = 48_000;

/** Two channels of the same length, with samples from -1 to 1. */
export interface Sound {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

export function createSilence(seconds: number): Sound {
  const samples = Math.round(seconds * SAMPLE_RATE);
  return { left: new Float32Array(samples), right: new Float32Array(samples) };
}

/** Samples a second of all sound that is made here. */
export const soundRate = 48_000;

/** Two channels of the same length; -1 to 1. */
export interface Sound {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

export function silence(seconds: number): Sound {
  const samples = Math.round(seconds * soundRate);
  return { left: new Float32Array(samples), right: new Float32Array(samples) };
}

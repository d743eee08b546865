/** Samples per second. */
export const SAMPLE_RATE = 48_000;
/** Hertz. */
const PITCH = 440;
const LOUDNESS = 0.2;
const FADE_SECONDS = 0.05;

/** Creates a tone: samples from -1 to 1. */
export function createTone(seconds: number): Float32Array {
  const length = seconds * SAMPLE_RATE;
  return Float32Array.from({ length }, (_, at) => {
    const edge = Math.min(1, Math.min(at, length - at) / (FADE_SECONDS * SAMPLE_RATE));
    return LOUDNESS * edge * Math.sin((2 * Math.PI * PITCH * at) / SAMPLE_RATE);
  });
}

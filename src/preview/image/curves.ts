export function clamp(value: number, least = 0, most = 1): number {
  return value < least ? least : value > most ? most : value;
}

/** Interpolates between two numbers: the first at 0, the other at 1. */
export function mix(one: number, other: number, share: number): number {
  return one + (other - one) * share;
}

/** 0 at the first edge, 1 at the second, smooth in between. */
export function smoothStep(from: number, to: number, value: number): number {
  const part = clamp((value - from) / (to - from));
  return part * part * (3 - 2 * part);
}

/** Equals Math.hypot of two numbers, which Node.js does not inline. */
export function computeLength(x: number, y: number): number {
  const most = Math.max(Math.abs(x), Math.abs(y));
  const part = Math.min(Math.abs(x), Math.abs(y)) / most;
  return most === 0 ? 0 : Math.sqrt(1 + part * part) * most;
}

/** Raises or lowers the blacks and the whites of a brightness from 0 to 1. */
export function adjustLevels(value: number, blacks: number, whites: number): number {
  return clamp(value + blacks * 0.22 * (1 - value) ** 2 + whites * 0.25 * value ** 2 * (1.1 - value * 0.6));
}

/** Steepens or flattens a brightness from 0 to 1 around its middle; 1 changes nothing. */
export function adjustContrast(value: number, contrast: number): number {
  return value < 0.5 ? 0.5 * (2 * value) ** contrast : 1 - 0.5 * (2 - 2 * value) ** contrast;
}

/** Reduces brightness to flat steps with soft edges. */
export function posterize(brightness: number, steps: number): number {
  const scaled = brightness * steps;
  const whole = Math.floor(scaled);
  return (whole + smoothStep(0.35, 0.65, scaled - whole)) / steps;
}

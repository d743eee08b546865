import { fractalNoise } from './value-noise.js';

type Vector = [number, number, number];

/** Draws a light map of a lamp at one side: a bright round spot on a dark ground. RGB, 8 bit. */
export function drawLamp(
  width: number,
  height: number,
  [x, y]: readonly [number, number],
  colour: Vector,
): Uint8Array {
  const pixels = new Uint8Array(width * height * 3);
  for (let at = 0; at < pixels.length; at++) {
    const place = Math.floor(at / 3);
    const across = (place % width) / width - x;
    const down = Math.floor(place / width) / height - y;
    const bright = Math.exp(-(across * across + down * down) * 3.2);
    pixels[at] = Math.round(255 * Math.min(1, 0.05 + bright * colour[(at % 3) as 0]));
  }
  return pixels;
}

/** Draws a painting as a style reference: bands of colour in thick strokes. RGB, 8 bit. */
export function drawPainting(width: number, height: number): Uint8Array {
  const pixels = new Uint8Array(width * height * 3);
  const bands: Vector[] = [
    [0.07, 0.12, 0.3],
    [0.1, 0.38, 0.5],
    [0.86, 0.62, 0.24],
    [0.9, 0.36, 0.2],
    [0.35, 0.1, 0.22],
  ];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      const bend = fractalNoise(x / 70, y / 110) * 1.6;
      const place = Math.min(3.99, Math.max(0, (y / height) * 4 + bend - 0.8));
      const from = bands[Math.floor(place)] as Vector;
      const to = bands[Math.floor(place) + 1] as Vector;
      const part = place % 1;
      const angle = fractalNoise(x / 160, y / 160) * 7;
      const stroke = fractalNoise(
        (x * Math.cos(angle) + y * Math.sin(angle)) / 34,
        (y * Math.cos(angle) - x * Math.sin(angle)) / 5,
      );
      for (let channel = 0; channel < 3; channel++) {
        const value =
          (from[channel as 0] + (to[channel as 0] - from[channel as 0]) * part) * (0.62 + 0.8 * stroke);
        pixels[at + channel] = Math.round(255 * Math.min(1, value));
      }
    }
  }
  return pixels;
}

import sharp from 'sharp';

/**
 * Draws a light map of a lamp: a bright round spot on a dark ground, as PNG.
 *
 * @param x of its center, 0 to 1 from the left
 * @param y of its center, 0 to 1 from the top
 */
export function drawLamp(
  { width, height }: { readonly width: number; readonly height: number },
  [x, y]: readonly [number, number],
  color: string,
): Promise<Buffer> {
  const stops = Array.from({ length: 11 }, (_, at) => {
    const opacity = Math.exp(-3.2 * (at / 10) ** 2).toFixed(3);
    return `<stop offset="${at / 10}" stop-color="${color}" stop-opacity="${opacity}"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <radialGradient id="lamp" cx="${x}" cy="${y}" r="1">${stops.join('')}</radialGradient>
    <rect width="100%" height="100%" fill="#0d0d0d"/>
    <rect width="100%" height="100%" fill="url(#lamp)"/>
  </svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

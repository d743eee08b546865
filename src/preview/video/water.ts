import type { Frame, Yuv } from './frame.js';

export interface Water {
  /** The first row of the water; even. */
  readonly shore: number;
  readonly colour: Yuv;
  /** Where light glitters on the water. */
  readonly glitter?: { readonly x: number; readonly strength: number };
  /** 1 is calm. */
  readonly waves: number;
}

/**
 * Draws water that mirrors what is above the shore, with waves.
 * @param time seconds
 */
export function drawWater(frame: Frame, { shore, colour, glitter, waves }: Water, time: number): void {
  const { width, height } = frame;
  const depth = height - shore;
  for (let row = shore; row < height; row++) {
    const { source, shift, mirror } = computeRipple(row, { shore, depth, width, waves }, time);
    const light = glitter && locateGlitter((row - shore) / depth, glitter.x, width);
    drawMirrorRow(frame.y, row * width, source * width, width, shift, colour[0], mirror);
    if (light) drawGlitterRow(frame.y, row, width, light, glitter.strength, time);
    if (row % 2 === 1) continue;
    const half = width / 2;
    for (const [plane, value] of [
      [frame.u, colour[1]],
      [frame.v, colour[2]],
    ] as const) {
      drawMirrorRow(plane, (row / 2) * half, (source >> 1) * half, half, shift >> 1, value, mirror);
    }
  }
}

interface WaterSurface {
  readonly shore: number;
  readonly depth: number;
  readonly width: number;
  readonly waves: number;
}

function computeRipple(row: number, { shore, depth, width, waves }: WaterSurface, time: number) {
  const near = (row - shore + 0.5) / depth;
  // Nearer waves look longer and higher.
  const phase = 9 / (near + 0.08);
  const wave = Math.sin(phase + time * 2.1) + 0.6 * Math.sin(phase * 1.83 - time * 1.4);
  const shift = Math.round(wave * width * waves * (0.0012 + 0.006 * near));
  const rise = wave * depth * waves * 0.028 * near;
  const source = Math.max(
    0,
    Math.min(shore - 1, Math.round(shore - 1 - (row - shore) * 1.05 - Math.abs(rise))),
  );
  const mirror = 0.72 - 0.4 * near + 0.1 * wave * near;
  return { source, shift, mirror };
}

function drawMirrorRow(
  plane: Uint8Array,
  to: number,
  from: number,
  width: number,
  shift: number,
  own: number,
  mirror: number,
): void {
  const share = Math.round(mirror * 256);
  const base = own * (256 - share) + 128;
  for (let x = 0; x < width; x++) {
    const place = x + shift;
    const inside = place < 0 ? 0 : place >= width ? width - 1 : place;
    plane[to + x] = ((plane[from + inside] as number) * share + base) >> 8;
  }
}

/** Locates the path of light below the sun within a row. */
function locateGlitter(near: number, x: number, width: number) {
  return { x, reach: width * (0.035 + 0.1 * near), length: width * (0.004 + 0.03 * near), near };
}

function drawGlitterRow(
  plane: Uint8Array,
  row: number,
  width: number,
  { x, reach, length, near }: ReturnType<typeof locateGlitter>,
  strength: number,
  time: number,
): void {
  const from = Math.max(0, Math.floor(x - reach * 2));
  const to = Math.min(width, Math.ceil(x + reach * 2));
  const phase = 40 / (near + 0.1);
  for (let column = from; column < to; column++) {
    const far = (column - x) / reach;
    const wave = Math.sin(column / length + 3 * Math.sin(phase) + time * 1.3) * Math.sin(phase - time * 2.6);
    if (wave < 0.35) continue;
    const share = strength * (wave - 0.35) * 1.5 * Math.exp(-far * far);
    const at = row * width + column;
    plane[at] = (plane[at] as number) + (235 - (plane[at] as number)) * Math.min(0.9, share);
  }
}

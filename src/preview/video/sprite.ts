import { clamp } from '../image/curves.js';
import type { Frame } from './frame.js';
import { computeCoverage, type Layer, paintLayer } from './layer.js';
import type { Rgb, Shape } from './shapes.js';

const DAYLIGHT: Rgb = [1, 1, 1];

export interface SpriteLook {
  /** The factor that the time of day applies to colours. */
  readonly light: Rgb;
  /** Drawn with an outline and flat colours. */
  readonly isAnime: boolean;
}

/** Draws a shape with a size in pixels. */
export function paintSprite(
  { parts }: Pick<Shape, 'parts'>,
  pixels: number,
  { light, isAnime }: SpriteLook,
): Layer {
  const side = 2 * Math.ceil(pixels / 2);
  const line = isAnime ? Math.max(1, side * 0.012) : 0;
  const areas = parts.map(({ points, colour, glows }) => {
    const place = points.map(([x, y]) => [x * side, y * side] as const);
    return {
      colour,
      shade: glows ? DAYLIGHT : light,
      inside: computeCoverage(place, side, side),
      outer: line ? drawStroke(place, side, line) : undefined,
    };
  });
  return paintLayer({ width: side, height: side }, (x, y, into) => {
    const at = y * side + x;
    // Light comes from the upper left.
    const lit = isAnime ? (x + y < side ? 1 : 0.9) : 1.08 - (0.26 * (x + y)) / (2 * side);
    for (const { colour, shade, inside, outer } of areas) {
      blendPixel(into, colour, shade, lit, inside[at] as number);
      if (outer) blendPixel(into, [36, 30, 46], light, 1, outer[at] as number);
    }
  });
}

function blendPixel(into: Float32Array, colour: Rgb, light: Rgb, lit: number, share: number): void {
  if (share <= 0) return;
  const before = into[3] as number;
  const after = before + share * (1 - before);
  const part = share / after;
  for (const channel of [0, 1, 2] as const) {
    const value = clamp(colour[channel] * light[channel] * lit, 0, 255);
    into[channel] = before === 0 ? value : (into[channel] as number) * (1 - part) + value * part;
  }
  into[3] = after;
}

/** Computes how much of each pixel is on the line through the points. */
function drawStroke(
  points: readonly (readonly [number, number])[],
  side: number,
  width: number,
): Float32Array {
  const drawn = new Float32Array(side * side);
  points.forEach(([x, y], index) => {
    const [toX, toY] = points[(index + 1) % points.length] as readonly [number, number];
    const length = Math.hypot(toX - x, toY - y);
    for (let step = 0; step <= length; step += 0.5) {
      const share = length === 0 ? 0 : step / length;
      drawDot(drawn, side, x + (toX - x) * share, y + (toY - y) * share, width);
    }
  });
  return drawn;
}

function drawDot(drawn: Float32Array, side: number, x: number, y: number, radius: number): void {
  const reach = Math.ceil(radius + 1);
  for (let row = Math.max(0, Math.floor(y) - reach); row <= Math.min(side - 1, y + reach); row++) {
    for (let column = Math.max(0, Math.floor(x) - reach); column <= Math.min(side - 1, x + reach); column++) {
      const share = clamp(radius + 0.5 - Math.hypot(column + 0.5 - x, row + 0.5 - y));
      const at = row * side + column;
      if (share > (drawn[at] as number)) drawn[at] = share;
    }
  }
}

export interface Pose {
  /** The anchor of the sprite in pixels of the frame. */
  readonly x: number;
  readonly y: number;
  /** Radians. */
  readonly angle: number;
  /** -1 is upside down, as a reflection. */
  readonly flip?: 1 | -1;
  /** 0 to 1 */
  readonly opacity?: number;
  readonly anchor: 'bottom' | 'middle';
}

/** Lays a sprite over a frame, at any place and angle. */
export function stampSprite(frame: Frame, sprite: Layer, pose: Pose): void {
  stampSpritePlane(frame.y, frame.width, [sprite.y, sprite.keep, sprite.width], pose);
  const half = { ...pose, x: pose.x / 2, y: pose.y / 2 };
  stampSpritePlane(frame.u, frame.width / 2, [sprite.u, sprite.keepHalf, sprite.width / 2], half);
  stampSpritePlane(frame.v, frame.width / 2, [sprite.v, sprite.keepHalf, sprite.width / 2], half);
}

function stampSpritePlane(
  target: Uint8Array,
  width: number,
  [source, keep, side]: readonly [Uint8Array, Uint8Array, number],
  { x, y, angle, flip = 1, opacity = 1, anchor }: Pose,
): void {
  const height = target.length / width;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const baseline = anchor === 'bottom' ? side : side / 2;
  const tilt = Math.abs(sin);
  const reach = side * (0.5 + tilt);
  const [up, low] = anchor === 'middle' ? [reach, reach] : [side * (1 + tilt / 2), (side * tilt) / 2 + 1];
  const first = Math.max(0, Math.floor(y - (flip === 1 ? up : low)));
  const last = Math.min(height, y + (flip === 1 ? low : up));
  const solid = Math.round(opacity * 256);
  for (let row = first; row < last; row++) {
    for (let column = Math.max(0, Math.floor(x - reach)); column < Math.min(width, x + reach); column++) {
      const across = column + 0.5 - x;
      const down = (row + 0.5 - y) * flip;
      const left = across * cos + down * sin + side / 2 - 0.5;
      const top = down * cos - across * sin + baseline - 0.5;
      if (left < 0 || top < 0 || left >= side - 1 || top >= side - 1) continue;
      const [wholeTop, wholeLeft] = [Math.floor(top), Math.floor(left)];
      const from = wholeTop * side + wholeLeft;
      // Most of the square around a shape is empty.
      if (
        keep[from] === 255 &&
        keep[from + 1] === 255 &&
        keep[from + side] === 255 &&
        keep[from + side + 1] === 255
      )
        continue;
      // Not the remainders, which are the same numbers, but take most of the time.
      const [fx, fy] = [left - wholeLeft, top - wholeTop];
      const stays = sampleBilinear(keep, from, side, fx, fy);
      if (stays >= 254.9) continue;
      const at = row * width + column;
      const behind = target[at] as number;
      const shown = sampleBilinear(source, from, side, fx, fy) + (behind * stays) / 255;
      target[at] = behind + ((shown - behind) * solid) / 256 + 0.5;
    }
  }
}

function sampleBilinear(plane: Uint8Array, at: number, width: number, fx: number, fy: number): number {
  const upper = (plane[at] as number) + ((plane[at + 1] as number) - (plane[at] as number)) * fx;
  const low = at + width;
  const lower = (plane[low] as number) + ((plane[low + 1] as number) - (plane[low] as number)) * fx;
  return upper + (lower - upper) * fy;
}

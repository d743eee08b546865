import { mix } from '../image/curves.js';
import type { Picture } from '../image/picture.js';
import type { Size } from '../image/planes.js';
import type { Rgb } from './shapes.js';

/** A picture that is painted in place, with three channels. */
export type Canvas = Omit<Picture, 'data'> & { readonly data: Uint8ClampedArray };

/** What is painted over a row: red, green and blue of each pixel, 0 to 255, and its opacity, 0 to 1. */
interface Brush {
  readonly colour: Float64Array;
  readonly opacity: Float64Array;
}

/** Sets colour and opacity of the pixels of a row from `left` to before `right`. */
export type PaintRow = (brush: Brush, y: number, left: number, right: number) => void;

interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

/** Paints by rows: a call or an array for each pixel would take longer than computing its colour. */
export function paintOver(canvas: Canvas, paint: PaintRow, box: Box = { left: 0, top: 0, ...canvas }): void {
  const { data, width, height } = canvas;
  const brush = { colour: new Float64Array(width * 3), opacity: new Float64Array(width) };
  const left = Math.max(0, box.left);
  const right = Math.min(width, box.left + box.width);
  const bottom = Math.min(height, box.top + box.height);
  for (let y = Math.max(0, box.top); y < bottom; y++) {
    paint(brush, y, left, right);
    blendRow(data, y * width, brush, left, right);
  }
}

function blendRow(
  data: Uint8ClampedArray,
  row: number,
  { colour, opacity }: Brush,
  left: number,
  right: number,
): void {
  for (let x = left; x < right; x++) {
    const share = opacity[x] as number;
    if (share <= 0) continue;
    for (let at = (row + x) * 3, from = x * 3; from < x * 3 + 3; at++, from++)
      data[at] = mix(data[at] as number, Math.fround(colour[from] as number), share);
  }
}

/** Sets a colour. @param at three times the column */
export function setColour(colour: Float64Array, at: number, own: Rgb): void {
  colour[at] = own[0];
  colour[at + 1] = own[1];
  colour[at + 2] = own[2];
}

export function mixColour(colour: Float64Array, at: number, other: Rgb, share: number): void {
  colour[at] = mix(colour[at] as number, other[0], share);
  colour[at + 1] = mix(colour[at + 1] as number, other[1], share);
  colour[at + 2] = mix(colour[at + 2] as number, other[2], share);
}

export function readColour(data: Canvas['data'], at: number): Rgb {
  return [data[at] as number, data[at + 1] as number, data[at + 2] as number];
}

export function mixColours(one: Rgb, other: Rgb, share: number): Rgb {
  return [mix(one[0], other[0], share), mix(one[1], other[1], share), mix(one[2], other[2], share)];
}

export function multiplyColours(one: Rgb, other: Rgb): Rgb {
  return [one[0] * other[0], one[1] * other[1], one[2] * other[2]];
}

import { readPicture, readSize } from '../image/picture.js';
import { type Film, type Frame, newFrame } from './frame.js';
import { computeCoverage, curve, ellipse, type Layer, paintLayer } from './layer.js';
import type { Corner } from './shot.js';

/** As parts of the short side of the frame. */
const MARGIN = 0.035;
const MAX_WIDTH = 0.34;
const MAX_HEIGHT = 0.14;
const OPACITY = 0.8;

/**
 * Adds a watermark to a corner of a film.
 * @param path the picture of the watermark; undefined: the default one
 * @throws PreviewFailure if the picture cannot be decoded
 */
export async function addWatermark(film: Film, corner: Corner, path: string | undefined): Promise<Film> {
  const { size } = film;
  const short = Math.min(size.width, size.height);
  const mark = path === undefined ? drawMark(short * MAX_HEIGHT) : await readMark(path, short);
  const gap = toEven(short * MARGIN);
  const left = corner === 1 || corner === 4 ? gap : size.width - mark.width - gap;
  const top = corner <= 2 ? gap : size.height - mark.height - gap;
  async function* frames() {
    // A copy, because a film may reuse its frame.
    const marked = newFrame(size);
    for await (const frame of film.frames()) {
      marked.data.set(frame.data);
      stampMark(marked, mark, left, top);
      yield marked;
    }
  }
  return { ...film, frames };
}

function stampMark(frame: Frame, mark: Layer, left: number, top: number): void {
  layPlane(frame.y, frame.width, [mark.y, mark.keep, mark.width], left, top);
  const half = [frame.width / 2, mark.width / 2] as const;
  layPlane(frame.u, half[0], [mark.u, mark.keepHalf, half[1]], left / 2, top / 2);
  layPlane(frame.v, half[0], [mark.v, mark.keepHalf, half[1]], left / 2, top / 2);
}

const toEven = (value: number) => 2 * Math.round(value / 2);

async function readMark(path: string, short: number): Promise<Layer> {
  const whole = await readSize(path);
  const scale = Math.min((short * MAX_WIDTH) / whole.width, (short * MAX_HEIGHT) / whole.height);
  const size = {
    width: Math.max(2, toEven(whole.width * scale)),
    height: Math.max(2, toEven(whole.height * scale)),
  };
  const { data, channels } = await readPicture(path, { size });
  return paintLayer(size, (x, y, into) => {
    const at = (y * size.width + x) * channels;
    for (const channel of [0, 1, 2]) into[channel] = data[at + channel] as number;
    into[3] = OPACITY * (channels === 4 ? (data[at + 3] as number) / 255 : 1);
  });
}

/** Draws a play symbol in a ring. No letters, because there may be no font. */
function drawMark(pixels: number): Layer {
  const side = toEven(pixels);
  const at = (value: number) => value * side;
  const area = (points: readonly (readonly [number, number])[]) =>
    computeCoverage(
      points.map(([x, y]) => [at(x), at(y)] as const),
      side,
      side,
    );
  const disc = area(ellipse([0.5, 0.5], 0.47));
  const [outer, inner] = [area(ellipse([0.5, 0.5], 0.43)), area(ellipse([0.5, 0.5], 0.36))];
  const triangle = area(
    curve(
      [
        [0.41, 0.3],
        [0.41, 0.7],
        [0.72, 0.5],
      ],
      1,
    ),
  );
  return paintLayer({ width: side, height: side }, (x, y, into) => {
    const place = y * side + x;
    const light = (outer[place] as number) - (inner[place] as number) + (triangle[place] as number);
    const dark = 0.45 * (disc[place] as number) * (1 - light);
    const whole = light + dark;
    into.fill(whole > 0 ? (255 * light) / whole : 0, 0, 3);
    into[3] = OPACITY * whole;
  });
}

function layPlane(
  target: Uint8Array,
  width: number,
  [source, keep, side]: readonly [Uint8Array, Uint8Array, number],
  left: number,
  top: number,
): void {
  for (let at = 0; at < source.length; at++) {
    const to = (top + Math.floor(at / side)) * width + left + (at % side);
    target[to] = (source[at] as number) + ((target[to] as number) * (keep[at] as number)) / 255 + 0.5;
  }
}

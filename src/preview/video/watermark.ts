import { type Picture, readPicture, readSize } from '../image/picture.js';
import { type Film, type Frame, newFrame, toYuv } from './frame.js';
import { computeCoverage, ellipse, type Point } from './outline.js';
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

/** Blends a picture into a frame. */
function stampMark(frame: Frame, mark: Picture, left: number, top: number): void {
  const { data, channels, width, height } = mark;
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0; x < width; x++, from += channels) {
      const opacity = OPACITY * (channels === 4 ? (data[from + 3] as number) / 255 : 1);
      const [bright, blue, red] = toYuv(
        ...([data[from], data[from + 1], data[from + 2]] as [number, number, number]),
      );
      mixInto(frame.y, (top + y) * frame.width + left + x, bright, opacity);
      if (x % 2 === 1 || y % 2 === 1) continue;
      const half = ((top + y) / 2) * (frame.width / 2) + (left + x) / 2;
      mixInto(frame.u, half, blue, opacity);
      mixInto(frame.v, half, red, opacity);
    }
  }
}

function mixInto(plane: Uint8Array, at: number, value: number, share: number): void {
  plane[at] = (plane[at] as number) + (value - (plane[at] as number)) * share + 0.5;
}

const toEven = (value: number) => 2 * Math.round(value / 2);

async function readMark(path: string, short: number): Promise<Picture> {
  const { width, height } = await readSize(path);
  const scale = Math.min((short * MAX_WIDTH) / width, (short * MAX_HEIGHT) / height);
  const size = { width: Math.max(2, toEven(width * scale)), height: Math.max(2, toEven(height * scale)) };
  return readPicture(path, { size });
}

/** Draws a play symbol in a ring. No letters, because there may be no font. */
function drawMark(pixels: number): Picture {
  const side = toEven(pixels);
  const cover = (points: readonly Point[]) =>
    computeCoverage(
      points.map(([x, y]) => [x * side, y * side] as const),
      side,
    );
  const [disc, outer, inner] = [0.47, 0.43, 0.36].map((radius) => cover(ellipse([0.5, 0.5], radius)));
  const triangle = cover([
    [0.41, 0.3],
    [0.41, 0.7],
    [0.72, 0.5],
  ]);
  const data = new Uint8Array(side * side * 4);
  triangle.forEach((share, at) => {
    const light = (outer?.[at] ?? 0) - (inner?.[at] ?? 0) + share;
    const whole = light + 0.45 * (disc?.[at] ?? 0) * (1 - light);
    data.fill(whole > 0 ? (255 * light) / whole : 0, at * 4, at * 4 + 3);
    data[at * 4 + 3] = 255 * whole;
  });
  return { data, width: side, height: side, channels: 4 };
}

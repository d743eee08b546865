import { readPicture, readSize, type Size } from '../image/picture.js';
import { copyFrame, type Film, type Frame, fillBox, newFrame, toEven, toFrame, toYuv } from './frame.js';
import type { Corner } from './shot.js';
import { computeGrid, INK, writeLines } from './text.js';

/** As parts of the short side of the frame. */
const MARGIN = 0.035;
const MAX_WIDTH = 0.34;
const MAX_HEIGHT = 0.14;
const NAME = 'regen';

/**
 * Adds a watermark to a corner of a film.
 * @param path the picture of the watermark; undefined: a name
 * @throws PreviewFailure if the picture cannot be decoded
 */
export async function addWatermark(film: Film, corner: Corner, path: string | undefined): Promise<Film> {
  const { size } = film;
  const short = Math.min(size.width, size.height);
  const mark = path === undefined ? drawName(size) : await readMark(path, short);
  const gap = toEven(short * MARGIN);
  const left = corner === 1 || corner === 4 ? gap : size.width - mark.width - gap;
  const top = corner <= 2 ? gap : size.height - mark.height - gap;
  async function* frames() {
    // A copy, because a film may reuse its frame.
    const marked = newFrame(size);
    for await (const frame of film.frames()) {
      marked.data.set(frame.data);
      copyFrame(mark, marked, left, top);
      yield marked;
    }
  }
  return { ...film, frames };
}

async function readMark(path: string, short: number): Promise<Frame> {
  const { width, height } = await readSize(path);
  const scale = Math.min((short * MAX_WIDTH) / width, (short * MAX_HEIGHT) / height);
  const size = { width: Math.max(2, toEven(width * scale)), height: Math.max(2, toEven(height * scale)) };
  return toFrame(await readPicture(path, { size }));
}

/** Writes the name in letters of the size that others have in a frame. */
function drawName(size: Size): Frame {
  const grid = computeGrid(size);
  const { columnWidth, rowHeight } = grid;
  const name = newFrame({ width: toEven((NAME.length + 2) * columnWidth), height: toEven(1.2 * rowHeight) });
  fillBox(name, { left: 0, top: 0, ...name }, toYuv(40, 40, 40));
  writeLines(name, grid, [NAME], 0, INK.bright);
  return name;
}

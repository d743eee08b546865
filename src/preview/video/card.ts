import { createRandom } from '../image/random.js';
import { describeOperation, describeOptions, formatClock } from './caption.js';
import { copyFrame, type Film, FRAME_RATE, type Frame, fillBox, newFrame, toEven, toYuv } from './frame.js';
import { computeShotSize, type Shot } from './shot.js';
import { computeGrid, INK, wrapText, writeLines } from './text.js';

/** The part of the height that the moving bars take. */
const BARS = 0.14;
/** Widths of the frame in a second. */
const PACE = 0.25;
/** `rrggbb`. */
const COLOURS = ['e6e6e6', 'e1c828', '28bec8', '32b446', 'be3caa', 'c83232', '3c50d2', '787878'];

/** A card that says what was asked for, with a clock and colour bars that move. */
export function createCard(shot: Shot): Film {
  const size = computeShotSize(shot);
  const count = shot.seconds * FRAME_RATE;
  const bars = drawBars(shot, size.width, toEven(size.height * BARS));
  const top = size.height - bars.height;
  const grid = computeGrid(size);
  const clock = top - 1.5 * grid.rowHeight;
  const card = drawCard(shot, clock);
  const frame = newFrame(size);
  function* frames() {
    for (let index = 0; index < count; index++) {
      frame.data.set(card.data);
      writeLines(frame, grid, [formatClock(index, count)], clock, INK.bright);
      const moved = toEven((shot.movement * PACE * index * size.width) / FRAME_RATE) % size.width;
      copyFrame(bars, frame, -moved, top);
      copyFrame(bars, frame, size.width - moved, top);
      yield frame;
    }
  }
  return { size, count, frames };
}

/** Everything that stays the same, above the clock. */
function drawCard(shot: Shot, bottom: number): Frame {
  const frame = newFrame(computeShotSize(shot));
  const grid = computeGrid(frame);
  const { columns, rowHeight } = grid;
  const random = createRandom(shot.seed);
  fillBox(frame, { left: 0, top: 0, ...frame }, toYuv(random() * 50, random() * 50, random() * 50 + 20));
  const rows = Math.floor(bottom / rowHeight) - 5;
  const options = wrapText(describeOptions(shot, frame), columns, rows - 1);
  const prompt = wrapText(shot.prompt, columns, rows - options.length);
  writeLines(frame, grid, [describeOperation(shot)], rowHeight, INK.dim);
  writeLines(frame, grid, prompt, 3 * rowHeight, INK.bright);
  writeLines(frame, grid, options, (4 + prompt.length) * rowHeight, INK.plain);
  return frame;
}

/** Bars in an order of the seed. */
function drawBars({ seed }: Shot, width: number, height: number): Frame {
  const random = createRandom(seed ^ 0xba5);
  const bars = newFrame({ width, height });
  const order = COLOURS.map((colour) => ({ colour, place: random() })).sort(
    (one, other) => one.place - other.place,
  );
  for (const [index, { colour }] of order.entries()) {
    const left = toEven((width * index) / COLOURS.length);
    const [red = 0, green = 0, blue = 0] = Buffer.from(colour, 'hex');
    fillBox(bars, { left, top: 0, width: width - left, height }, toYuv(red, green, blue));
  }
  return bars;
}

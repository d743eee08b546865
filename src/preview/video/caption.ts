import type { Size } from '../image/picture.js';
import { FRAME_RATE, type Frame, fillBox, toEven, toYuv } from './frame.js';
import type { Shot } from './shot.js';
import { computeGrid, INK, wrapText, writeLines } from './text.js';

export const describeOperation = ({ operation }: Shot) =>
  `local preview of ${operation.replace('video.', '')}`;

/** Everything that was asked for, apart from the prompt. */
export function describeOptions(shot: Shot, { width, height }: Size): string {
  return [
    `model ${shot.model}`,
    `${shot.seconds} s`,
    `${shot.resolution} ${width}x${height}`,
    // A video that is extended keeps its own.
    !shot.continues && shot.aspectRatio,
    `seed ${shot.seed | 0}`,
    `style ${shot.style}`,
    shot.amplitude && `movement ${shot.amplitude}`,
    `sound ${shot.sounds.join(' + ') || 'none'}`,
    shot.isRecommended && 'recommended prompt',
    shot.watermark && `watermark ${shot.watermark}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Number and time of a frame. */
export function formatClock(index: number, count: number): string {
  const time = new Date(Math.round((index * 1000) / FRAME_RATE)).toISOString().slice(14, 23);
  return `frame ${String(index + 1).padStart(String(count).length, '0')}/${count}  ${time}`;
}

const PAPER = toYuv(18, 22, 32);
/** Rows that the options may take over a picture. */
const MOST_OPTIONS = 6;

/** Creates what writes a caption over the lower part of the frames of a picture that moves. */
export function createCaption(shot: Shot, size: Size, count: number): (frame: Frame, index: number) => void {
  const grid = computeGrid(size);
  const { columns, rowHeight } = grid;
  const options = `${describeOperation(shot)}, ${describeOptions(shot, size)}`;
  const prompt = wrapText(shot.prompt, columns, 1);
  const lines = [...prompt, ...wrapText(options, columns, MOST_OPTIONS)];
  const top = toEven(size.height - (lines.length + 1.5) * rowHeight);
  return (frame, index) => {
    fillBox(frame, { left: 0, top, width: size.width, height: size.height - top }, PAPER);
    const first = top + rowHeight / 4;
    writeLines(frame, grid, lines, first, INK.bright);
    writeLines(frame, grid, [formatClock(index, count)], first + lines.length * rowHeight, INK.plain);
  };
}

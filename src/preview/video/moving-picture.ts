import { readPicture, type Size } from '../image/picture.js';
import { createRandom } from '../image/random.js';
import { createCaption } from './caption.js';
import { copyFrame, type Frame, fillBox, newFrame, toEven, toFrame, toYuv } from './frame.js';
import type { Shot } from './shot.js';

/**
 * Reads a picture, upright and cropped to the size.
 * @throws PreviewFailure if it cannot be decoded
 */
export async function readStill(path: string, size: Size): Promise<Frame> {
  return toFrame(await readPicture(path, { size, fit: 'cover' }));
}

/** How far a picture moves with the default movement, as a part of its size. */
const REACH = 0.12;
const BEHIND = toYuv(0, 0, 0);

/**
 * Moves a picture, or blends it into another. At the ends the pictures are unchanged, without a caption.
 * @param isAfter whether the first frame is the one after the picture instead of the picture itself
 */
export function* animatePicture(
  shot: Shot,
  from: Frame,
  to: Frame | undefined,
  count: number,
  isAfter = false,
): Iterable<Frame> {
  const [frame, other] = [newFrame(from), newFrame(from)];
  const writeCaption = createCaption(shot, from, count);
  const angle = createRandom(shot.seed)() * 2 * Math.PI;
  const move = (picture: Frame, into: Frame, part: number) => {
    const reach = REACH * shot.movement * part;
    fillBox(into, { left: 0, top: 0, ...from }, BEHIND);
    const [across, down] = [Math.cos(angle) * from.width, Math.sin(angle) * from.height];
    copyFrame(picture, into, toEven(reach * across), toEven(reach * down));
  };
  for (let index = 0; index < count; index++) {
    const part = isAfter ? (index + 1) / count : index / Math.max(1, count - 1);
    move(from, frame, part);
    if (to) {
      move(to, other, part - 1);
      blendFrames(frame, other, part);
    }
    const isEnd = index === 0 || (to !== undefined && index === count - 1);
    if (!isEnd) writeCaption(frame, index);
    yield frame;
  }
}

/** Part 0 is the first frame, 1 the other. */
function blendFrames({ data }: Frame, other: Frame, part: number): void {
  const share = Math.round(part * 256);
  for (let at = 0; at < data.length; at++)
    data[at] = ((data[at] as number) * (256 - share) + (other.data[at] as number) * share) >> 8;
}

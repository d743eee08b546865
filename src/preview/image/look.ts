import type { OverlayOptions, Sharp } from 'sharp';
import type { Picture, Size } from './picture.js';

/** The strength of changes that the image library makes by itself. They add up; absent or 0: none. */
export interface Look {
  /** Powers of two that values are multiplied by, for contrast around the middle. */
  readonly brightness?: number;
  readonly contrast?: number;
  readonly saturation?: number;
  /** Added to all values, of 255. */
  readonly lift?: number;
  /** The deviation in thousandths of the longer side. */
  readonly blur?: number;
  readonly sharpen?: number;
  readonly median?: number;
  /** Equalization of contrast by places. */
  readonly local?: number;
}

/** Adds up a share of looks. */
export function addLooks(share: number, ...looks: readonly Look[]): Look {
  const sum: Record<string, number> = {};
  for (const [name, value] of looks.flatMap((look) => Object.entries(look)))
    sum[name] = (sum[name] ?? 0) + value * share;
  return sum;
}

/** What a value of each of the three colours becomes: it times the factor, and the offset. */
export interface Tone {
  readonly factors: readonly number[];
  readonly offsets: readonly number[];
}

/** What is done to a picture: first its look, then what lies over it. */
export interface Edit {
  readonly picture: Picture;
  readonly look: Look;
  readonly tone?: Tone;
  readonly layers: readonly OverlayOptions[];
}

/** Works out what a request, which was validated when its task was created, does to its picture. */
export type ImageOperation<Request> = (job: {
  readonly request: Request;
  readonly find: (field: string) => string | undefined;
  readonly image: string;
  readonly seed: number;
}) => Promise<Edit>;

const MIDDLE = 128;

export function applyLook(
  image: Sharp,
  look: Look,
  { width, height }: Size,
  { factors, offsets }: Tone = { factors: [1, 1, 1], offsets: [0, 0, 0] },
): Sharp {
  const { lift = 0, blur = 0, sharpen = 0, median = 0, local = 0 } = look;
  // The library does nothing with less than 1.
  const deviation = (value: number) => Math.max(1, (value * Math.max(width, height)) / 1000);
  let edited = image;
  const square = 1 + 2 * Math.ceil(median);
  // The library refuses one that is larger than the image.
  if (median > 0 && square <= Math.min(width, height)) edited = edited.median(square);
  if (blur > 0) edited = edited.blur(deviation(blur));
  if (sharpen > 0)
    edited = edited.sharpen({ sigma: Math.min(10, deviation(1)), m1: sharpen, m2: 2 * sharpen });
  const [brightness, saturation] = [2 ** (look.brightness ?? 0), 2 ** (look.saturation ?? 0)];
  if (brightness !== 1 || saturation !== 1) edited = edited.modulate({ brightness, saturation });
  const window = (side: number) => Math.max(1, Math.round(side / 4));
  if (local > 0)
    edited = edited.clahe({ width: window(width), height: window(height), maxSlope: Math.ceil(local) });
  const contrast = 2 ** (look.contrast ?? 0);
  return edited.linear(
    factors.map((factor) => factor * contrast),
    offsets.map((offset) => offset * contrast + lift + MIDDLE * (1 - contrast)),
  );
}

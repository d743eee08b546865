import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { findBuiltProgram } from '../../disk/built-program.js';
import type { OnProgress } from '../job.js';
import type { Adjustments } from './adjustments.js';
import { adjustContrast, adjustLevels, clamp, posterize, smoothStep } from './curves.js';
import { movePalette, type Palette, readTexture, type Texture, TONE_FROM, TONE_STEPS } from './palette.js';
import { type Picture, shrinkPicture } from './picture.js';
import { blur, createPlane, isEven, type Plane, Sheet, type Size } from './planes.js';
import { createGrainTile, GRAIN_SIZE } from './random.js';
import { computeLuminance, DARKNESS, LINEAR_LIGHT, type Scene } from './scene.js';

/** How to repaint a picture: plain data. Planes have the size of the scene. */
export interface Painting {
  readonly adjustments: Adjustments;
  readonly scene: Scene;
  /** Light to add, in stops, and its colour, in stops of red, green and blue. */
  readonly light?: Plane;
  readonly colour?: readonly [Plane, Plane, Plane];
  /** Gain of the detail at each pixel. */
  readonly detail?: Plane;
  /** Maps brightness in stops; `TONE_STEPS` values from `TONE_FROM` to white. */
  readonly tone?: Float32Array;
  readonly palette?: Palette;
  /** How much of the palette is applied to each pixel. */
  readonly reach?: Plane;
  readonly texture?: Texture;
  /** 1: the repainted picture, 0: the original. */
  readonly share?: number;
  readonly seed: number;
}

/** A picture that several threads paint. Passed to each of them, with the pixels in shared memory. */
export interface SharedPainting {
  readonly picture: Picture;
  readonly painting: Omit<Painting, 'scene' | 'light' | 'colour' | 'detail' | 'reach'>;
  readonly planes: readonly Plane[];
  readonly planeSize: Size;
  /** One shared number: the first row that no thread has taken. */
  readonly nextRow: Int32Array;
}

/** Rows that a thread takes at a time. */
const BLOCK_ROWS = 64;
/** Fewer pixels are painted before another thread has started. */
const MIN_PIXELS_PER_THREAD = 2 ** 19;
const MAX_THREADS = 4;

/** Repaints the picture in place. Planes are computed at a small size and interpolated for each pixel. */
export async function paintPicture(
  picture: Picture,
  painting: Painting,
  onProgress: OnProgress,
): Promise<void> {
  const bloom = painting.adjustments.glow > 0 ? await createBloom(picture, painting) : [];
  const shared = sharePainting(picture, painting, bloom);
  const threads = Array.from({ length: countThreads(picture) - 1 }, () => paintInThread(shared));
  try {
    paintRows(shared, onProgress);
  } finally {
    Atomics.store(shared.nextRow, 0, picture.height);
    await Promise.all(threads);
  }
}

function countThreads({ width, height }: Size): number {
  const worthwhile = Math.ceil((width * height) / MIN_PIXELS_PER_THREAD);
  return Math.min(worthwhile, availableParallelism(), MAX_THREADS);
}

async function paintInThread(shared: SharedPainting): Promise<void> {
  const worker = new Worker(findBuiltProgram('image-worker.js'), {
    workerData: shared,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  // Rejects with the error of the thread.
  const [code] = await once(worker, 'exit');
  if (code !== 0) throw new Error(`A painting thread ended with ${code}.`);
}

/** The glow of bright areas as planes of red, green and blue. */
export async function createBloom(picture: Picture, painting: Painting): Promise<Plane[]> {
  const { size } = painting.scene;
  const small = await shrinkPicture(picture, size);
  const adjustments = { ...painting.adjustments, grain: 0 };
  paintRows(sharePainting(small, { ...painting, adjustments }, []), () => {});
  const radius = Math.max(size.width, size.height) * 0.02;
  return [0, 1, 2].map((channel) => {
    const bright = createPlane(size, (at) => {
      const value = (small.data[at * 3 + channel] as number) / 255;
      return value * smoothStep(0.35, 0.95, value);
    });
    return blur(bright, size, radius);
  });
}

export function sharePainting(picture: Picture, whole: Painting, bloom: readonly Plane[]): SharedPainting {
  const { scene, light, colour, detail, reach, ...painting } = whole;
  const [zero, one] = [Float32Array.of(0), Float32Array.of(1)];
  const planes = [
    ...[scene.slope, scene.level, light ?? zero, ...(colour ?? [zero, zero, zero])],
    ...[detail ?? one, reach ?? one, painting.adjustments.lines > 0 ? scene.edges : zero],
    ...(bloom.length > 0 ? bloom : [zero, zero, zero]),
  ];
  const nextRow = new Int32Array(new SharedArrayBuffer(4));
  return { picture, painting, planes, planeSize: scene.size, nextRow };
}

/** Paints rows that no other thread has taken, until none is left. */
export function paintRows(shared: SharedPainting, onProgress: OnProgress): void {
  const { height } = shared.picture;
  const paintRow = preparePainting(shared);
  for (;;) {
    const first = Atomics.add(shared.nextRow, 0, BLOCK_ROWS);
    if (first >= height) break;
    onProgress(first / height);
    for (let y = first; y < Math.min(height, first + BLOCK_ROWS); y++) paintRow(y);
  }
  onProgress(1);
}

function preparePainting({ picture, painting, planes, planeSize }: SharedPainting): (y: number) => void {
  const { data, width, height, channels } = picture;
  const bytes = new Uint8ClampedArray(data.buffer, data.byteOffset, data.length);
  const { adjustments, palette, texture, share = 1 } = painting;
  const sheet = new Sheet(planes, planeSize, picture);
  const { here } = sheet;
  const isColoured = planes.slice(3, 6).some((plane) => plane[0] !== 0 || !isEven(plane));
  const show = createDisplayCurve(adjustments);
  const grain = createGrainTile(painting.seed ^ 0x9e3779b9);
  const turn = createHueTurn(adjustments);
  const { detail, exposure, lines, glow, steps, vignette } = adjustments;
  // Limited, so that many words for a colour do not turn the picture into it.
  const warmth = Math.tanh(adjustments.warmth) * 0.062;
  const tint = Math.tanh(adjustments.tint) * 0.06;
  const split = adjustments.split * 0.07;
  const grainAmount = adjustments.grain * 0.07;
  const chroma = new Float32Array(2);

  const hasMorePlanes = isColoured || palette !== undefined || lines > 0 || glow > 0;
  const rowStops = new Float64Array(width);
  const gains = new Float64Array(width);

  // Each row is painted in three short steps, which a processor can overlap.
  const measureStops = (first: number) => {
    for (let x = 0, at = first; x < width; x++, at += channels) {
      const r = LINEAR_LIGHT[data[at] as number] as number;
      const g = LINEAR_LIGHT[data[at + 1] as number] as number;
      const b = LINEAR_LIGHT[data[at + 2] as number] as number;
      rowStops[x] = Math.log2(computeLuminance(r, g, b) + DARKNESS);
    }
  };
  const measureGains = (y: number) => {
    for (let x = 0; x < width; x++) {
      sheet.read(x);
      const stops = rowStops[x] as number;
      const base = (here[0] as number) * stops + (here[1] as number);
      let aim = painting.tone ? readTone(painting.tone, base) : base;
      aim += (here[2] as number) + exposure + (stops - base) * detail * (here[6] as number);
      if (texture) aim += readTexture(texture, x, y);
      if (vignette !== 0) {
        aim -= vignette * 1.6 * ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2;
      }
      // Two to the power of stops: much faster than a power. Here and below no function is called with a number for each
      // pixel, because Node.js inlines only so many calls, and allocates the numbers that it passes to others.
      gains[x] = Math.exp((aim - stops) * Math.LN2);
    }
  };
  return (y) => {
    const first = y * width * channels;
    sheet.row(y);
    measureStops(first);
    measureGains(y);
    for (let x = 0, at = first; x < width; x++, at += channels) {
      const r0 = data[at] as number;
      const g0 = data[at + 1] as number;
      const b0 = data[at + 2] as number;
      const gain = gains[x] as number;
      let r = (LINEAR_LIGHT[r0] as number) * gain;
      let g = (LINEAR_LIGHT[g0] as number) * gain;
      let b = (LINEAR_LIGHT[b0] as number) * gain;
      if (hasMorePlanes) sheet.read(x);
      if (isColoured) {
        r *= Math.exp((here[3] as number) * Math.LN2);
        g *= Math.exp((here[4] as number) * Math.LN2);
        b *= Math.exp((here[5] as number) * Math.LN2);
      }
      r = show[Math.min(CURVE_LAST, (Math.sqrt(r / CURVE_END) * CURVE_LAST + 0.5) | 0)] as number;
      g = show[Math.min(CURVE_LAST, (Math.sqrt(g / CURVE_END) * CURVE_LAST + 0.5) | 0)] as number;
      b = show[Math.min(CURVE_LAST, (Math.sqrt(b / CURVE_END) * CURVE_LAST + 0.5) | 0)] as number;

      let bright = 0.299 * r + 0.587 * g + 0.114 * b;
      let blue = Math.fround(0.564 * (b - bright));
      let red = Math.fround(0.713 * (r - bright));
      if (palette) {
        chroma[0] = blue;
        chroma[1] = red;
        movePalette(palette, bright, chroma, here[7] as number);
        blue = chroma[0] as number;
        red = chroma[1] as number;
      }
      const angle = turn.rainbow * bright;
      const cos = turn.rainbow === 0 ? turn.cos : turn.gain * Math.cos(turn.hue + angle);
      const sin = turn.rainbow === 0 ? turn.sin : turn.gain * Math.sin(turn.hue + angle);
      const toned = split * (2 * bright - 0.9);
      const cb = cos * blue - sin * red - warmth - toned + tint * 0.5;
      const cr = sin * blue + cos * red + warmth * 0.8 + toned + tint;
      if (steps > 0) bright += (posterize(bright, 6) - bright) * Math.min(1, steps);
      if (lines > 0) bright *= 1 - Math.min(0.85, lines * (here[8] as number));
      if (grainAmount > 0) bright += grainAmount * readGrain(grain, x, y) * (1 - 0.7 * bright);
      // Colour fades near the limits of the range; otherwise lights become garish.
      const room = Math.min(1, bright * 3.2, (1.06 - bright) * 4);
      const fade = room < 0 ? 0 : room;
      r = bright + 1.403 * cr * fade;
      g = bright - (0.344 * cb + 0.714 * cr) * fade;
      b = bright + 1.773 * cb * fade;
      if (glow > 0) {
        r = 1 - (1 - r) * (1 - glow * (here[9] as number));
        g = 1 - (1 - g) * (1 - glow * (here[10] as number));
        b = 1 - (1 - b) * (1 - glow * (here[11] as number));
      }
      bytes[at] = Math.floor(r0 + (r * 255 - r0) * share + 0.5);
      bytes[at + 1] = Math.floor(g0 + (g * 255 - g0) * share + 0.5);
      bytes[at + 2] = Math.floor(b0 + (b * 255 - b0) * share + 0.5);
    }
  };
}

function readGrain(tile: Float32Array, x: number, y: number): number {
  // Each tile has its own offset, so that no pattern is visible.
  const shift = Math.imul((x >> 8) * 73 + (y >> 8) * 151, 0x2545f491) >>> 8;
  const mask = GRAIN_SIZE - 1;
  return tile[((y + (shift >> 8)) & mask) * GRAIN_SIZE + ((x + shift) & mask)] as number;
}

function readTone(tone: Float32Array, stops: number): number {
  const place = clamp(((stops - TONE_FROM) / -TONE_FROM) * (TONE_STEPS - 1), 0, TONE_STEPS - 1.001);
  const before = Math.floor(place);
  const value = tone[before] as number;
  return value + ((tone[before + 1] as number) - value) * (place - before);
}

const CURVE_LAST = 4095;
/** The maximum of the curve, in linear light. */
const CURVE_END = 6;

/** Converts linear light to displayed brightness: highlights roll off, then gamma, levels and contrast. */
function createDisplayCurve({ contrast, gamma, blacks, whites }: Adjustments): Float32Array {
  return Float32Array.from({ length: CURVE_LAST + 1 }, (_, index) => {
    const light = (index / CURVE_LAST) ** 2 * CURVE_END;
    const knee = 0.7;
    const soft = light <= knee ? light : knee + (1 - knee) * (1 - Math.exp((knee - light) / (1 - knee)));
    const shown = soft <= 0.0031308 ? soft * 12.92 : 1.055 * soft ** (1 / 2.4) - 0.055;
    const levelled = adjustLevels(clamp(shown) ** (1 / gamma), blacks, whites);
    return clamp(adjustContrast(levelled, contrast));
  });
}

function createHueTurn({ hue, saturation, rainbow }: Adjustments) {
  const angle = (hue * Math.PI) / 180;
  return {
    gain: saturation,
    hue: angle,
    cos: saturation * Math.cos(angle),
    sin: saturation * Math.sin(angle),
    rainbow: rainbow * 2 * Math.PI,
  };
}

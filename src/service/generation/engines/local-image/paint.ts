import type { Knobs } from './knobs.js';
import type { Palette, Texture } from './palette.js';
import { type Picture, shrink } from './picture.js';
import { blur, type Plane, plane, Sheet } from './planes.js';
import { grainSize, grainTile } from './random.js';
import { clamp, dark, linear, luminance, type Scene, smooth } from './scene.js';

/** How a picture is made over. Planes are of the scene's size. */
export interface Painting {
  readonly knobs: Knobs;
  readonly scene: Scene;
  /** Light to add, in stops; and the colour of it, in stops of red, green and blue. */
  readonly light?: Plane;
  readonly colour?: readonly [Plane, Plane, Plane];
  /** Gain of the detail at each place. */
  readonly detail?: Plane;
  /** The brightness, in stops, that one becomes; 128 steps from `toneFrom` to white. */
  readonly tone?: Float32Array;
  readonly palette?: Palette;
  /** How much of the palette reaches each place. */
  readonly reach?: Plane;
  readonly texture?: Texture;
  /** 1: all new, 0: the original. */
  readonly share?: number;
  readonly seed: number;
}

/** Called between rows, with the part that is done; throws where the work shall end. */
export type Watch = (part: number) => void;

export const toneFrom = Math.log2(dark);
export const toneSteps = 128;

/** Makes the picture over in place: whole planes are computed small, and only read for each pixel. */
export async function paint(picture: Picture, painting: Painting, watch: Watch): Promise<void> {
  const { scene, knobs } = painting;
  const bloom = knobs.glow > 0 ? await bloomOf(picture, painting) : undefined;
  paintPixels(picture, painting, bloom ?? [], watch);
  function noWatch() {}
  async function bloomOf(source: Picture, plan: Painting): Promise<Plane[]> {
    const small = await shrink(source, scene.size);
    paintPixels(small, { ...plan, knobs: { ...knobs, grain: 0 } }, [], noWatch);
    const radius = Math.max(scene.size.width, scene.size.height) * 0.02;
    return [0, 1, 2].map((channel) => {
      const bright = plane(scene.size, (at) => {
        const value = (small.data[at * 3 + channel] as number) / 255;
        return value * smooth(0.35, 0.95, value);
      });
      return blur(bright, scene.size, radius);
    });
  }
}

function paintPixels(picture: Picture, painting: Painting, bloom: readonly Plane[], watch: Watch): void {
  const { data, width, height, channels } = picture;
  const { knobs, scene, palette, texture, share = 1 } = painting;
  const empty = new Float32Array(scene.stops.length);
  const [red = empty, green = empty, blue = empty] = painting.colour ?? [];
  const sheet = new Sheet(
    [
      ...[scene.slope, scene.level, painting.light ?? empty, red, green, blue],
      ...[painting.detail ?? empty.map(() => 1), painting.reach ?? empty.map(() => 1), scene.edges],
      ...bloom,
    ],
    scene.size,
    picture,
  );
  const here = new Float32Array(12);
  const show = shownCurve(knobs);
  const grain = grainTile(painting.seed ^ 0x9e3779b9);
  const turn = turns(knobs);
  const { detail, exposure, lines, glow, steps, vignette } = knobs;
  // However many words ask for it, a picture never turns into one colour.
  const warmth = Math.tanh(knobs.warmth) * 0.062;
  const tint = Math.tanh(knobs.tint) * 0.06;
  const split = knobs.split * 0.07;
  const grainAmount = knobs.grain * 0.07;
  const chroma = new Float32Array(2);

  for (let y = 0, at = 0; y < height; y++) {
    if ((y & 63) === 0) watch(y / height);
    sheet.row(y);
    for (let x = 0; x < width; x++, at += channels) {
      sheet.read(x, here);
      const r0 = data[at] as number;
      const g0 = data[at + 1] as number;
      const b0 = data[at + 2] as number;
      let r = linear[r0] as number;
      let g = linear[g0] as number;
      let b = linear[b0] as number;
      const stops = Math.log2(luminance(r, g, b) + dark);
      const base = (here[0] as number) * stops + (here[1] as number);
      let aim = painting.tone ? toneAt(painting.tone, base) : base;
      aim += (here[2] as number) + exposure + (stops - base) * detail * (here[6] as number);
      if (texture) aim += texture.at(x, y);
      if (vignette !== 0) {
        aim -= vignette * 1.6 * ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2;
      }
      // Far quicker than a power, and four times for each pixel.
      const gain = Math.exp((aim - stops) * Math.LN2);
      r = show[curveIndex(r * gain * Math.exp((here[3] as number) * Math.LN2))] as number;
      g = show[curveIndex(g * gain * Math.exp((here[4] as number) * Math.LN2))] as number;
      b = show[curveIndex(b * gain * Math.exp((here[5] as number) * Math.LN2))] as number;

      let bright = 0.299 * r + 0.587 * g + 0.114 * b;
      chroma[0] = 0.564 * (b - bright);
      chroma[1] = 0.713 * (r - bright);
      if (palette) palette.move(bright, chroma, here[7] as number);
      const angle = turn.rainbow * bright;
      const cos = turn.rainbow === 0 ? turn.cos : turn.gain * Math.cos(turn.hue + angle);
      const sin = turn.rainbow === 0 ? turn.sin : turn.gain * Math.sin(turn.hue + angle);
      const toned = split * (2 * bright - 0.9);
      const cb = cos * (chroma[0] as number) - sin * (chroma[1] as number) - warmth - toned + tint * 0.5;
      const cr = sin * (chroma[0] as number) + cos * (chroma[1] as number) + warmth * 0.8 + toned + tint;
      if (steps > 0) bright += (stepped(bright) - bright) * Math.min(1, steps);
      if (lines > 0) bright *= 1 - Math.min(0.85, lines * (here[8] as number));
      if (grainAmount > 0) bright += grainAmount * grainAt(grain, x, y) * (1 - 0.7 * bright);
      // Colour has to fade where it would leave the range, or lights turn garish.
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
      data[at] = byte(r0 + (r * 255 - r0) * share);
      data[at + 1] = byte(g0 + (g * 255 - g0) * share);
      data[at + 2] = byte(b0 + (b * 255 - b0) * share);
    }
  }
  watch(1);
}

function byte(value: number): number {
  return value <= 0 ? 0 : value >= 255 ? 255 : (value + 0.5) | 0;
}

function grainAt(tile: Float32Array, x: number, y: number): number {
  // Each tile begins elsewhere, so that the eye finds no pattern.
  const shift = Math.imul((x >> 8) * 73 + (y >> 8) * 151, 0x2545f491) >>> 8;
  const mask = grainSize - 1;
  return tile[((y + (shift >> 8)) & mask) * grainSize + ((x + shift) & mask)] as number;
}

function toneAt(tone: Float32Array, stops: number): number {
  const place = clamp(((stops - toneFrom) / -toneFrom) * (toneSteps - 1), 0, toneSteps - 1.001);
  const before = Math.floor(place);
  const value = tone[before] as number;
  return value + ((tone[before + 1] as number) - value) * (place - before);
}

const curveSize = 4096;
/** The brightest that the curve still tells apart; linear. */
const curveEnd = 6;

function curveIndex(value: number): number {
  const index = (Math.sqrt(value / curveEnd) * (curveSize - 1) + 0.5) | 0;
  return index < curveSize ? index : curveSize - 1;
}

/** From linear light to what is shown, 0 to 1: bright light rolls off softly, then gamma, levels and contrast. */
function shownCurve({ contrast, gamma, blacks, whites }: Knobs): Float32Array {
  return Float32Array.from({ length: curveSize }, (_, index) => {
    const light = (index / (curveSize - 1)) ** 2 * curveEnd;
    const knee = 0.7;
    const soft = light <= knee ? light : knee + (1 - knee) * (1 - Math.exp((knee - light) / (1 - knee)));
    const shown = soft <= 0.0031308 ? soft * 12.92 : 1.055 * soft ** (1 / 2.4) - 0.055;
    const levelled = clamp(shown) ** (1 / gamma);
    const raised =
      levelled + blacks * 0.22 * (1 - levelled) ** 2 + whites * 0.25 * levelled ** 2 * (1.1 - levelled * 0.6);
    const value = clamp(raised);
    const curved = value < 0.5 ? 0.5 * (2 * value) ** contrast : 1 - 0.5 * (2 - 2 * value) ** contrast;
    return clamp(curved);
  });
}

function turns({ hue, saturation, rainbow }: Knobs) {
  const angle = (hue * Math.PI) / 180;
  return {
    gain: saturation,
    hue: angle,
    cos: saturation * Math.cos(angle),
    sin: saturation * Math.sin(angle),
    rainbow: rainbow * 2 * Math.PI,
  };
}

/** Brightness in six steps with soft edges. */
function stepped(bright: number): number {
  const scaled = bright * 6;
  const whole = Math.floor(scaled);
  return (whole + smooth(0.35, 0.65, scaled - whole)) / 6;
}

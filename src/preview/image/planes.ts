/** One number per pixel of a reduced picture, row by row. */
export type Plane = Float32Array;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function newPlane({ width, height }: Size): Plane {
  return new Float32Array(width * height);
}

export function createPlane(
  { width, height }: Size,
  value: (at: number, x: number, y: number) => number,
): Plane {
  const made = new Float32Array(width * height);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) made[at] = value(at, x, y);
  }
  return made;
}

export function computeMean(values: Plane): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at] as number;
  return sum / values.length;
}

/**
 * Blurs a plane. Close to a Gaussian blur, in a time that does not depend on the radius.
 * @param radius in pixels
 */
export function blur(source: Plane, size: Size, radius: number, rounds = 3): Plane {
  const whole = Math.max(0, Math.round(radius));
  if (whole === 0) return source;
  let from: Plane = source;
  for (let round = 0; round < rounds; round++)
    from = blurRows(blurRows(from, size, whole), turnSize(size), whole);
  return from;
}

const turnSize = ({ width, height }: Size): Size => ({ width: height, height: width });

/** Averages along each row, and transposes the result. */
function blurRows(source: Plane, { width, height }: Size, radius: number): Plane {
  const target = new Float32Array(source.length);
  const last = width - 1;
  for (let y = 0; y < height; y++) {
    const row = y * width;
    let sum = 0;
    for (let x = -radius; x <= radius; x++) sum += source[row + Math.min(last, Math.max(0, x))] as number;
    for (let x = 0; x < width; x++) {
      target[x * height + y] = sum / (2 * radius + 1);
      const next = Math.min(last, x + radius + 1);
      const first = Math.max(0, x - radius);
      sum += (source[row + next] as number) - (source[row + first] as number);
    }
  }
  return target;
}

/** What a guided filter needs of its guide. */
interface Guide {
  readonly values: Plane;
  readonly mean: Plane;
  readonly variance: Float64Array;
  readonly average: (values: Plane) => Plane;
}

/** @param radius in pixels, at which the filter smooths */
export function prepareGuide(values: Plane, size: Size, radius: number): Guide {
  const average = (plane: Plane) => blur(plane, size, radius, 1);
  const mean = average(values);
  const squares = average(multiplyPlanes(values, values));
  const variance = new Float64Array(values.length);
  for (let at = 0; at < values.length; at++) {
    const centre = mean[at] as number;
    variance[at] = (squares[at] as number) - centre * centre;
  }
  return { values, mean, variance, average };
}

/** `slope * guide + level`, at any resolution of the guide. */
interface GuidedFilter {
  readonly slope: Plane;
  readonly level: Plane;
}

/**
 * A guided filter (He, Sun and Tang): smooths, but keeps the edges of the guide.
 * @param softness the variance, in units of the guide, that counts as texture
 */
export function filterGuided(
  { values, mean, variance, average }: Guide,
  source: Plane,
  softness: number,
): GuidedFilter {
  const sourceMean = source === values ? mean : average(source);
  const products = average(multiplyPlanes(values, source));
  const slope = new Float32Array(source.length);
  const level = new Float32Array(source.length);
  for (let at = 0; at < source.length; at++) {
    const centre = mean[at] as number;
    const covariance = (products[at] as number) - centre * (sourceMean[at] as number);
    slope[at] = covariance / ((variance[at] as number) + softness);
    level[at] = (sourceMean[at] as number) - (slope[at] as number) * centre;
  }
  return { slope: average(slope), level: average(level) };
}

/** Applies a filter to its guide, limited to a range. */
export function applyFilter(
  { slope, level }: GuidedFilter,
  guide: Plane,
  least = -Infinity,
  most = Infinity,
): Plane {
  const filtered = new Float32Array(guide.length);
  for (let at = 0; at < guide.length; at++) {
    const value = (slope[at] as number) * (guide[at] as number) + (level[at] as number);
    filtered[at] = value < least ? least : value > most ? most : value;
  }
  return filtered;
}

function multiplyPlanes(one: Plane, other: Plane): Plane {
  const products = new Float32Array(one.length);
  for (let at = 0; at < one.length; at++) products[at] = (one[at] as number) * (other[at] as number);
  return products;
}

/** Interpolates several planes of one size for a larger picture. */
export class Sheet {
  /** The values of all planes at the column that was read last. */
  readonly here: Float32Array;
  /** Planes that have the same value everywhere are not interpolated. */
  readonly #planes: readonly Plane[];
  readonly #slots: readonly number[];
  readonly #small: Size;
  readonly #large: Size;
  readonly #rows: Float32Array;
  readonly #left: Int32Array;
  readonly #part: Float32Array;

  constructor(planes: readonly Plane[], small: Size, large: Size) {
    this.here = Float32Array.from(planes, ([first = 0]) => first);
    this.#slots = [...planes.keys()].filter((index) => !isEven(planes[index] as Plane));
    this.#planes = this.#slots.map((index) => planes[index] as Plane);
    this.#small = small;
    this.#large = large;
    this.#rows = new Float32Array(this.#planes.length * (small.width + 1));
    this.#left = new Int32Array(large.width);
    this.#part = new Float32Array(large.width);
    for (let x = 0; x < large.width; x++) {
      const place = limitPlace(((x + 0.5) * small.width) / large.width - 0.5, small.width - 1);
      this.#left[x] = Math.floor(place);
      this.#part[x] = place - Math.floor(place);
    }
  }

  /** Selects a row of the large picture. */
  row(y: number): void {
    const { width, height } = this.#small;
    const place = limitPlace(((y + 0.5) * height) / this.#large.height - 0.5, height - 1);
    const upper = Math.floor(place);
    const part = place - upper;
    const up = upper * width;
    const down = Math.min(height - 1, upper + 1) * width;
    const count = this.#planes.length;
    for (let channel = 0; channel < count; channel++) {
      const values = this.#planes[channel] as Plane;
      for (let x = 0; x <= width; x++) {
        const column = Math.min(x, width - 1);
        const above = values[up + column] as number;
        this.#rows[x * count + channel] = above + ((values[down + column] as number) - above) * part;
      }
    }
  }

  /** Reads all planes at a column of the selected row. */
  read(x: number): void {
    const { here } = this;
    const count = this.#slots.length;
    const at = (this.#left[x] as number) * count;
    const part = this.#part[x] as number;
    for (let channel = 0; channel < count; channel++) {
      const value = this.#rows[at + channel] as number;
      here[this.#slots[channel] as number] =
        value + ((this.#rows[at + count + channel] as number) - value) * part;
    }
  }
}

/** Whether a plane has the same value everywhere. */
export function isEven(plane: Plane): boolean {
  for (let at = 0; at < plane.length; at++) if (plane[at] !== plane[0]) return false;
  return true;
}

function limitPlace(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}

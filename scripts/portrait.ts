import { createRandom } from '../src/preview/image/random.js';
import { fractalNoise, hashPoint } from './value-noise.js';

/** Renders a portrait like a photograph: a person before the lights of an evening street. RGB, 8 bit. */
export function drawPortrait(width: number, height: number): Uint8Array {
  const pixels = new Uint8Array(width * height * 3);
  const lights = createLights();
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      const sum: Vector = [0, 0, 0];
      for (const [dx, dy] of SAMPLES) {
        const across = ((x + dx) / width - 0.5) * 2 * (width / height);
        const down = 1 - ((y + dy) / height) * 2;
        const seen = traceRay(across, down, lights);
        for (let channel = 0; channel < 3; channel++)
          sum[channel as 0] += seen[channel as 0] / SAMPLES.length;
      }
      const noise = (hashPoint(x * 1.7, y * 2.3) - 0.5) * 0.03;
      for (let channel = 0; channel < 3; channel++) {
        const shown = Math.max(0, 1 - Math.exp(-1.35 * (sum[channel as 0] as number))) ** (1 / 2.2) + noise;
        pixels[at + channel] = Math.round(255 * Math.min(1, Math.max(0, shown)));
      }
    }
  }
  return pixels;
}

type Vector = [number, number, number];
type Light = { x: number; y: number; size: number; colour: Vector };

const SAMPLES = [
  [0.25, 0.25],
  [0.75, 0.4],
  [0.4, 0.75],
] as const;

function createLights(): Light[] {
  const next = createRandom(11);
  const tones: Vector[] = [
    [1, 0.62, 0.25],
    [1, 0.85, 0.6],
    [0.35, 0.6, 1],
    [1, 0.35, 0.25],
    [0.4, 0.9, 0.75],
  ];
  return Array.from({ length: 34 }, () => ({
    x: next() * 2.2 - 1.1,
    y: next() * 1.5 - 0.35,
    size: 0.05 + 0.09 * next(),
    colour: tones[Math.floor(next() * tones.length)]?.map(
      (value) => value * (0.1 + 0.4 * next() ** 2),
    ) as Vector,
  }));
}

function traceRay(across: number, down: number, lights: readonly Light[]): Vector {
  const ray = normalize([across * 0.36, down * 0.36, -1]);
  const from: Vector = [0, 0.02, 4.6];
  let far = 2.6;
  for (let step = 0; step < 70; step++) {
    const { away, what } = findNearest(moveAlong(from, ray, far));
    if (away < 0.0016) return shadeSurface(moveAlong(from, ray, far), ray, what);
    far += away * 0.9;
    if (far > 7) break;
  }
  return shadeBackground(across, down, lights);
}

function shadeBackground(across: number, down: number, lights: readonly Light[]): Vector {
  const haze = 0.5 + 0.5 * down;
  const colour: Vector = [0.05 + 0.1 * (1 - haze), 0.06 + 0.05 * (1 - haze), 0.1 + 0.06 * haze];
  const wall = 0.8 + 0.5 * fractalNoise(across * 2.5 + 9, down * 2.5);
  for (let channel = 0; channel < 3; channel++) colour[channel as 0] *= wall;
  for (const { x, y, size, colour: tone } of lights) {
    const away = Math.hypot(across - x, down - y) / size;
    const disc = Math.min(1, Math.max(0, (1 - away) * 7)) * (0.75 + 0.35 * Math.min(1, away) ** 3);
    for (let channel = 0; channel < 3; channel++) colour[channel as 0] += disc * tone[channel as 0];
  }
  return colour;
}

type Matter = 'skin' | 'lips' | 'eye' | 'hair' | 'shirt';

/** The distance to the nearest surface; the unit is a head. */
function findNearest(p: Vector): { away: number; what: Matter } {
  const [x, y, z] = p;
  const shirt = mergeSmoothly(
    distanceToEllipsoid(p, [0, -1.42, -0.08], [1.02, 0.58, 0.42]),
    distanceToEllipsoid(p, [0, -1.0, -0.05], [0.42, 0.16, 0.3]),
    0.15,
  );
  // Far from the head, its bounding ball is exact enough.
  const head = distanceToBall(x, y - 0.1, z + 0.05, 1.12);
  if (head > 0.1) return { away: Math.min(head, shirt), what: 'shirt' };
  const side = Math.abs(x);
  let skin = distanceToEllipsoid(p, [0, 0.24, 0], [0.47, 0.55, 0.52]);
  skin = mergeSmoothly(skin, distanceToEllipsoid(p, [0, -0.07, 0.12], [0.38, 0.4, 0.38]), 0.16);
  skin = mergeSmoothly(skin, distanceToBall(side - 0.2, y + 0.02, z - 0.36, 0.13), 0.14);
  skin = mergeSmoothly(skin, distanceToNose(p, 0.2, 0.03, 0.47, 0.58, 0.05), 0.07);
  skin = mergeSmoothly(skin, distanceToBall(x, y - 0.02, z - 0.575, 0.07), 0.05);
  skin = mergeSmoothly(skin, distanceToBall(side - 0.055, y - 0.005, z - 0.54, 0.042), 0.03);
  skin = mergeSmoothly(skin, distanceToBall(side - 0.2, y - 0.37, z - 0.4, 0.07), 0.12);
  skin = -mergeSmoothly(-skin, distanceToBall(side - 0.175, y - 0.235, z - 0.6, 0.115), 0.07);
  skin = mergeSmoothly(
    skin,
    distanceToEllipsoid([side, y, z], [0.48, 0.17, -0.02], [0.05, 0.13, 0.09]),
    0.03,
  );
  skin = mergeSmoothly(skin, distanceToBall(x, y + 0.43, z - 0.36, 0.09), 0.12);
  skin = mergeSmoothly(skin, distanceToTube(p, -0.35, -0.95, 0.2), 0.08);
  const lips = Math.min(
    distanceToEllipsoid(p, [0, -0.15, 0.47], [0.135, 0.028, 0.05]),
    distanceToEllipsoid(p, [0, -0.2, 0.465], [0.115, 0.036, 0.055]),
  );
  const eye = distanceToBall(side - 0.175, y - 0.225, z - 0.385, 0.1);
  const strand = 0.012 * Math.sin(x * 60 + Math.sin(y * 9) * 4) + 0.02 * Math.sin(x * 23 + y * 6);
  let hair = distanceToEllipsoid(p, [0, 0.38, -0.14], [0.56, 0.55, 0.56]);
  hair = mergeSmoothly(hair, distanceToEllipsoid([side, y, z], [0.47, -0.02, -0.2], [0.16, 0.62, 0.3]), 0.14);
  hair =
    -mergeSmoothly(-hair, distanceToEllipsoid(p, [0.04, 0.08, 0.55], [0.4, 0.56, 0.5]), 0.05) + strand * 0.7;
  const brow = distanceToEllipsoid(
    [side, y - Math.abs(side - 0.19) * -0.12, z],
    [0.18, 0.385, 0.46],
    [0.11, 0.02, 0.05],
  );
  let found: { away: number; what: Matter } = { away: skin, what: 'skin' };
  const others: [number, Matter][] = [
    [lips, 'lips'],
    [eye, 'eye'],
    [Math.min(hair, brow), 'hair'],
    [shirt, 'shirt'],
  ];
  for (const [away, what] of others) if (away < found.away) found = { away, what };
  return found;
}

function shadeSurface(p: Vector, ray: Vector, what: Matter): Vector {
  const step = 0.003;
  const slope = (axis: number) => {
    const there: Vector = [...p];
    there[axis as 0] += step;
    const other: Vector = [...p];
    other[axis as 0] -= step;
    return findNearest(there).away - findNearest(other).away;
  };
  const normal = normalize([slope(0), slope(1), slope(2)]);
  const key = normalize([0.55, 0.6, 0.85]);
  const rim = normalize([-0.8, 0.35, -0.45]);
  const shade = traceShadow(p, normal, key);
  const { colour, gloss, soft } = describeMatter(p, what);
  const facing = dotProduct(normal, key);
  const wrapped = Math.max(0, (facing + soft) / (1 + soft)) * shade;
  const edge = (1 + dotProduct(normal, ray)) ** 3;
  const half = normalize([key[0] - ray[0], key[1] - ray[1], key[2] - ray[2]]);
  const shine = Math.max(0, dotProduct(normal, half)) ** (what === 'eye' ? 180 : 24) * gloss * shade;
  const back = Math.max(0, dotProduct(normal, rim)) * 0.9;
  const sky = 0.5 + 0.5 * normal[1];
  const bleed =
    what === 'skin' || what === 'lips' ? Math.exp(-((facing - 0.02) ** 2) * 14) * 0.12 * shade : 0;
  const tone = (channel: number) => {
    const warm = [1.0, 0.86, 0.7][channel] as number;
    const cold = [0.35, 0.5, 0.8][channel] as number;
    const fill = [0.14, 0.14, 0.18][channel] as number;
    const lit = warm * wrapped * 1.25 + fill * (0.5 + sky) + cold * (back + edge * 0.35);
    return colour[channel as 0] * lit + shine * warm + bleed * ([0.9, 0.18, 0.1][channel] as number);
  };
  return [tone(0), tone(1), tone(2)];
}

function describeMatter(p: Vector, what: Matter): { colour: Vector; gloss: number; soft: number } {
  const [x, y, z] = p;
  if (what === 'skin') {
    const blotch = 0.9 + 0.2 * fractalNoise(x * 7, y * 7 + z * 3);
    const pores = 0.94 + 0.12 * hashPoint(Math.round(x * 260), Math.round(y * 260));
    const blush = Math.exp(-(((Math.abs(x) - 0.24) / 0.13) ** 2) - ((y + 0.0) / 0.13) ** 2) * 0.12;
    const spots = fractalNoise(x * 26 + 5, y * 26) > 0.74 ? 0.86 : 1;
    const all = blotch * pores * spots;
    return {
      colour: [0.66 * all + blush * 0.4, 0.41 * all - blush * 0.2, 0.3 * all - blush * 0.15],
      gloss: 0.16,
      soft: 0.25,
    };
  }
  if (what === 'lips') return { colour: [0.5, 0.19, 0.18], gloss: 0.22, soft: 0.25 };
  if (what === 'hair') {
    const strand = 0.6 + 0.7 * hashPoint(Math.round(Math.atan2(x, z + 0.6) * 130), Math.round(y * 2));
    return { colour: [0.085 * strand, 0.045 * strand, 0.028 * strand], gloss: 0.2, soft: 0.1 };
  }
  if (what === 'eye') {
    const away = Math.hypot(Math.abs(x) - 0.172, y - 0.222);
    if (y > 0.262) return { colour: [0.5, 0.3, 0.22], gloss: 0.1, soft: 0.2 };
    if (away < 0.022) return { colour: [0.01, 0.01, 0.01], gloss: 0.9, soft: 0 };
    if (away < 0.052) return { colour: [0.12, 0.2, 0.16], gloss: 0.9, soft: 0 };
    return { colour: [0.62, 0.58, 0.54], gloss: 0.5, soft: 0.3 };
  }
  const knit = 0.75 + 0.3 * Math.sin(y * 90 + Math.abs(Math.sin(x * 60))) ** 2;
  return { colour: [0.1 * knit, 0.2 * knit, 0.26 * knit], gloss: 0.03, soft: 0.15 };
}

function traceShadow(p: Vector, normal: Vector, light: Vector): number {
  const from = moveAlong(p, normal, 0.02);
  let open = 1;
  for (let far = 0.03; far < 1.2; ) {
    const { away } = findNearest(moveAlong(from, light, far));
    if (away < 0.001) return 0.12;
    open = Math.min(open, (9 * away) / far);
    far += Math.max(0.03, away);
  }
  return 0.12 + 0.88 * Math.min(1, open);
}

const moveAlong = ([x, y, z]: Vector, [dx, dy, dz]: Vector, far: number): Vector => [
  x + dx * far,
  y + dy * far,
  z + dz * far,
];
const dotProduct = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const distanceToBall = (x: number, y: number, z: number, radius: number) => Math.hypot(x, y, z) - radius;

function normalize([x, y, z]: Vector): Vector {
  const long = Math.hypot(x, y, z);
  return [x / long, y / long, z / long];
}

function distanceToEllipsoid([x, y, z]: Vector, [cx, cy, cz]: Vector, [rx, ry, rz]: Vector): number {
  const inner = Math.hypot((x - cx) / rx, (y - cy) / ry, (z - cz) / rz);
  const outer = Math.hypot((x - cx) / rx ** 2, (y - cy) / ry ** 2, (z - cz) / rz ** 2);
  return outer === 0 ? -Math.min(rx, ry, rz) : (inner * (inner - 1)) / outer;
}

/** The bridge of the nose: a bar from the upper back to the lower front. */
function distanceToNose(
  [x, y, z]: Vector,
  top: number,
  bottom: number,
  back: number,
  front: number,
  radius: number,
): number {
  const part = Math.min(1, Math.max(0, (top + 0.06 - y) / (top + 0.06 - bottom)));
  return (
    Math.hypot(x, y - (top + 0.06) + part * (top + 0.06 - bottom), z - back - part * (front - back)) -
    radius * (0.7 + 0.3 * part)
  );
}

function distanceToTube([x, y, z]: Vector, top: number, bottom: number, radius: number): number {
  const nearestY = Math.min(top, Math.max(bottom, y));
  return Math.hypot(x, y - nearestY, z + 0.06) - radius;
}

function mergeSmoothly(a: number, b: number, soft: number): number {
  const part = Math.max(0, soft - Math.abs(a - b)) / soft;
  return Math.min(a, b) - part * part * soft * 0.25;
}

import { curve, ellipse, type Point } from './outline.js';

export type Rgb = readonly [red: number, green: number, blue: number];

/** A closed area of one colour, in a unit square with the origin at the top left. */
export interface ShapePart {
  readonly points: readonly Point[];
  readonly colour: Rgb;
  /** Lit from within, also at night. */
  readonly glows?: true;
}

export interface Shape {
  readonly parts: readonly ShapePart[];
  /** Whether it stands on the ground or water, or is in the sky. */
  readonly at: 'ground' | 'sky';
  /** As a part of the short side of the frame. */
  readonly height: number;
}

function createShape(at: Shape['at'], height: number, parts: readonly ShapePart[]): Shape {
  return { at, height, parts };
}

const box = (left: number, top: number, right: number, bottom: number): Point[] => [
  [left, top],
  [right, top],
  [right, bottom],
  [left, bottom],
];
/** Points as pairs: `0.5 0.1, 0.2 0.9`. */
const line = (text: string): Point[] =>
  text.split(', ').map((pair) => pair.split(' ').map(Number) as unknown as Point);
const smooth = (text: string, steps: number) => curve(line(text), steps);
const part = (colour: Rgb, points: readonly Point[]): ShapePart => ({ colour, points });
const glow = (colour: Rgb, points: readonly Point[]): ShapePart => ({ colour, points, glows: true });

const cream: Rgb = [250, 246, 236];
const shade: Rgb = [206, 206, 214];
const red: Rgb = [206, 66, 58];
const brick: Rgb = [150, 44, 48];
const wood: Rgb = [120, 78, 52];
const yellow: Rgb = [255, 214, 110];
const ink: Rgb = [44, 46, 62];

const paperBoat = createShape('ground', 0.3, [
  part(shade, line('0.5 0.08, 0.28 0.66, 0.5 0.72')),
  part(cream, line('0.5 0.08, 0.72 0.66, 0.5 0.72')),
  part(cream, line('0.02 0.52, 0.3 0.66, 0.5 0.6, 0.5 0.98, 0.2 0.98')),
  part([232, 230, 230], line('0.98 0.52, 0.7 0.66, 0.5 0.6, 0.5 0.98, 0.8 0.98')),
]);

const sailBoat = createShape('ground', 0.42, [
  part(wood, box(0.49, 0.02, 0.515, 0.8)),
  part(cream, smooth('0.53 0.05, 0.68 0.35, 0.86 0.68, 0.53 0.72', 4)),
  part(shade, line('0.47 0.12, 0.22 0.7, 0.47 0.72')),
  part(red, line('0.53 0.02, 0.64 0.045, 0.53 0.075')),
  part(brick, line('0.1 0.78, 0.92 0.78, 0.78 0.98, 0.24 0.98')),
  part(cream, line('0.1 0.78, 0.92 0.78, 0.9 0.815, 0.125 0.815')),
]);

const whale = createShape('ground', 0.26, [
  part(
    [62, 92, 128],
    smooth(
      '0.02 0.78, 0.16 0.46, 0.46 0.34, 0.76 0.54, 0.9 0.34, 0.99 0.3, 0.94 0.56, 0.78 0.86, 0.4 0.98, 0.1 0.98',
      6,
    ),
  ),
  part([196, 210, 220], smooth('0.05 0.84, 0.3 0.82, 0.56 0.86, 0.4 0.98, 0.12 0.98', 6)),
  part(ink, ellipse([0.2, 0.7], 0.018)),
]);

const house = createShape('ground', 0.3, [
  part(brick, box(0.66, 0.14, 0.75, 0.4)),
  part([236, 222, 198], box(0.16, 0.46, 0.84, 1)),
  part(red, line('0.06 0.5, 0.34 0.16, 0.66 0.16, 0.94 0.5')),
  part(wood, box(0.44, 0.68, 0.57, 1)),
  glow(yellow, box(0.24, 0.6, 0.36, 0.76)),
  glow(yellow, box(0.65, 0.6, 0.77, 0.76)),
]);

const tree = createShape('ground', 0.48, [
  part(wood, line('0.45 0.55, 0.55 0.55, 0.58 0.9, 0.66 1, 0.34 1, 0.42 0.9')),
  part([58, 112, 62], ellipse([0.3, 0.46], 0.25, 0.2)),
  part([58, 112, 62], ellipse([0.7, 0.46], 0.25, 0.2)),
  part([76, 136, 70], ellipse([0.5, 0.34], 0.32, 0.27)),
  part([104, 164, 82], ellipse([0.44, 0.25], 0.2, 0.15)),
]);

const balloon = createShape('sky', 0.36, [
  part(ink, line('0.4 0.7, 0.41 0.7, 0.45 0.88, 0.44 0.88')),
  part(ink, line('0.6 0.7, 0.59 0.7, 0.55 0.88, 0.56 0.88')),
  part(red, smooth('0.5 0.02, 0.82 0.14, 0.86 0.42, 0.62 0.72, 0.38 0.72, 0.14 0.42, 0.18 0.14', 6)),
  part(cream, smooth('0.5 0.02, 0.68 0.14, 0.71 0.42, 0.57 0.72, 0.43 0.72, 0.29 0.42, 0.32 0.14', 6)),
  part(
    [232, 118, 72],
    smooth('0.5 0.02, 0.56 0.14, 0.57 0.42, 0.53 0.72, 0.47 0.72, 0.43 0.42, 0.44 0.14', 6),
  ),
  part(wood, line('0.42 0.87, 0.58 0.87, 0.56 0.99, 0.44 0.99')),
]);

const bird = createShape('sky', 0.14, [
  part(shade, smooth('0.5 0.5, 0.3 0.3, 0.02 0.24, 0.26 0.5, 0.48 0.66', 6)),
  part(cream, smooth('0.5 0.5, 0.7 0.26, 0.98 0.14, 0.78 0.46, 0.54 0.66', 6)),
  part(cream, smooth('0.3 0.72, 0.42 0.52, 0.62 0.5, 0.74 0.56, 0.6 0.68', 6)),
  part([236, 168, 70], line('0.73 0.54, 0.82 0.58, 0.73 0.6')),
]);

const lantern = createShape('sky', 0.26, [
  glow([255, 170, 82], smooth('0.34 0.1, 0.66 0.1, 0.76 0.5, 0.64 0.86, 0.36 0.86, 0.24 0.5', 6)),
  glow([255, 226, 150], ellipse([0.5, 0.6], 0.17, 0.24)),
  part(wood, box(0.35, 0.84, 0.65, 0.9)),
  part(wood, box(0.36, 0.07, 0.64, 0.12)),
]);

const lighthouse = createShape('ground', 0.52, [
  part([96, 92, 96], smooth('0.12 1, 0.22 0.9, 0.5 0.87, 0.8 0.9, 0.9 1', 6)),
  part(cream, line('0.41 0.26, 0.59 0.26, 0.66 0.92, 0.34 0.92')),
  part(red, line('0.393 0.42, 0.607 0.42, 0.625 0.58, 0.375 0.58')),
  part(red, line('0.358 0.75, 0.642 0.75, 0.66 0.92, 0.34 0.92')),
  part(ink, box(0.37, 0.23, 0.63, 0.27)),
  glow(yellow, box(0.43, 0.13, 0.57, 0.23)),
  part(brick, line('0.5 0.03, 0.61 0.13, 0.39 0.13')),
]);

const castle = createShape('ground', 0.46, [
  part([150, 150, 164], box(0.2, 0.5, 0.8, 1)),
  ...[0.1, 0.7].flatMap((x) => [
    part([172, 172, 184], box(x, 0.34, x + 0.2, 1)),
    part(
      [92, 84, 150],
      [
        [x - 0.03, 0.34],
        [x + 0.1, 0.08],
        [x + 0.23, 0.34],
      ],
    ),
    glow(yellow, box(x + 0.07, 0.46, x + 0.13, 0.56)),
  ]),
  part([186, 186, 198], box(0.4, 0.26, 0.6, 1)),
  part([92, 84, 150], line('0.36 0.26, 0.5 0.02, 0.64 0.26')),
  part(wood, [...ellipse([0.5, 0.82], 0.08, 0.1, 0.5, 1), [0.58, 1], [0.42, 1]]),
  glow(yellow, box(0.47, 0.38, 0.53, 0.5)),
]);

const car = createShape('ground', 0.22, [
  part(
    red,
    smooth('0.04 0.86, 0.05 0.64, 0.24 0.56, 0.36 0.34, 0.66 0.34, 0.8 0.56, 0.96 0.64, 0.97 0.86', 4),
  ),
  part([178, 214, 232], line('0.29 0.56, 0.38 0.4, 0.5 0.4, 0.5 0.56')),
  part([178, 214, 232], line('0.53 0.56, 0.53 0.4, 0.64 0.4, 0.74 0.56')),
  part(ink, ellipse([0.25, 0.87], 0.1, 0.115)),
  part(ink, ellipse([0.76, 0.87], 0.1, 0.115)),
  part(shade, ellipse([0.25, 0.87], 0.045, 0.052)),
  part(shade, ellipse([0.76, 0.87], 0.045, 0.052)),
  glow(yellow, ellipse([0.93, 0.67], 0.03)),
]);

const rocket = createShape('sky', 0.44, [
  glow([255, 178, 70], smooth('0.42 0.78, 0.58 0.78, 0.54 0.9, 0.5 1, 0.46 0.9', 4)),
  part(red, smooth('0.38 0.5, 0.24 0.68, 0.22 0.84, 0.4 0.74', 4)),
  part(red, smooth('0.62 0.5, 0.76 0.68, 0.78 0.84, 0.6 0.74', 4)),
  part(cream, smooth('0.5 0.02, 0.6 0.16, 0.66 0.42, 0.6 0.78, 0.4 0.78, 0.34 0.42, 0.4 0.16', 6)),
  part(red, line('0.5 0.02, 0.575 0.13, 0.595 0.18, 0.405 0.18, 0.425 0.13')),
  part([70, 140, 190], ellipse([0.5, 0.36], 0.075)),
]);

const planet = createShape('sky', 0.6, [
  part([222, 190, 150], ellipse([0.5, 0.5], 0.5, 0.13, 0.5, 1)),
  part([206, 128, 92], ellipse([0.5, 0.5], 0.31)),
  part([226, 156, 108], ellipse([0.46, 0.44], 0.23, 0.2)),
  part(
    [240, 206, 166],
    [...ellipse([0.5, 0.5], 0.5, 0.13, 0, 0.5), ...ellipse([0.5, 0.5], 0.38, 0.08, 0, 0.5).reverse()],
  ),
]);

const flower = createShape('ground', 0.42, [
  part([70, 132, 70], line('0.485 0.4, 0.515 0.4, 0.53 1, 0.47 1')),
  part([84, 150, 76], smooth('0.5 0.84, 0.66 0.64, 0.8 0.62, 0.72 0.78', 5)),
  part([84, 150, 76], smooth('0.5 0.92, 0.34 0.74, 0.2 0.72, 0.28 0.88', 5)),
  ...Array.from({ length: 7 }, (_, petal) => {
    const angle = (petal / 7) * 2 * Math.PI;
    return part(
      [238, 112, 142],
      ellipse([0.5 + 0.15 * Math.cos(angle), 0.3 + 0.15 * Math.sin(angle)], 0.105),
    );
  }),
  part(yellow, ellipse([0.5, 0.3], 0.09)),
]);

const cat = createShape('ground', 0.34, [
  part(
    [206, 126, 66],
    smooth('0.66 0.94, 0.86 0.84, 0.88 0.6, 0.82 0.46, 0.92 0.44, 0.97 0.66, 0.9 0.94', 6),
  ),
  part([226, 146, 80], smooth('0.36 0.5, 0.58 0.46, 0.74 0.7, 0.76 0.99, 0.28 0.99, 0.3 0.7', 6)),
  part([226, 146, 80], line('0.2 0.34, 0.2 0.06, 0.38 0.2')),
  part([226, 146, 80], line('0.62 0.34, 0.62 0.06, 0.44 0.2')),
  part([236, 160, 92], ellipse([0.41, 0.34], 0.225, 0.19)),
  part(cream, ellipse([0.41, 0.42], 0.1, 0.075)),
  part(cream, smooth('0.4 0.6, 0.52 0.62, 0.54 0.84, 0.44 0.9, 0.36 0.8', 5)),
  part(ink, ellipse([0.32, 0.32], 0.026, 0.034)),
  part(ink, ellipse([0.5, 0.32], 0.026, 0.034)),
  part(brick, line('0.385 0.39, 0.435 0.39, 0.41 0.42')),
]);

export const shapes = {
  ...{ paperBoat, sailBoat, whale, house, tree, balloon, bird, lantern },
  ...{ lighthouse, castle, car, rocket, planet, flower, cat },
};

export type ShapeName = keyof typeof shapes;

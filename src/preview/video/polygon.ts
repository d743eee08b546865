export type Point = readonly [x: number, y: number];

const SUB_ROWS = 4;

/** Computes how much of each pixel is within a closed line, 0 to 1. Points are in pixels. */
export function computeCoverage(points: readonly Point[], width: number, height: number): Float32Array {
  const covered = new Float32Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let sub = 0; sub < SUB_ROWS; sub++) {
      const crossings = findCrossings(points, row + (sub + 0.5) / SUB_ROWS);
      for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
        fillSpan(covered, row * width, width, crossings[pair] as number, crossings[pair + 1] as number);
      }
    }
  }
  return covered;
}

function findCrossings(points: readonly Point[], y: number): number[] {
  const found: number[] = [];
  points.forEach(([x, top], at) => {
    const [nextX, bottom] = points[(at + 1) % points.length] as Point;
    if (top <= y !== bottom <= y) found.push(x + ((y - top) / (bottom - top)) * (nextX - x));
  });
  return found.sort((one, other) => one - other);
}

function fillSpan(covered: Float32Array, row: number, width: number, from: number, to: number): void {
  const start = Math.max(0, from);
  const end = Math.min(width, to);
  for (let x = Math.floor(start); x < end; x++) {
    const part = Math.min(end, x + 1) - Math.max(start, x);
    covered[row + x] = (covered[row + x] as number) + part / SUB_ROWS;
  }
}

/** Creates a smooth closed line through the points (Catmull-Rom). */
export function curve(points: readonly Point[], steps = 8): Point[] {
  const at = (index: number) => points[(index + points.length) % points.length] as Point;
  return points.flatMap((_, index) => {
    const corners = [at(index - 1), at(index), at(index + 1), at(index + 2)] as const;
    return Array.from({ length: steps }, (_, step): Point => {
      const t = step / steps;
      const along = (which: 0 | 1) => {
        const [a, b, c, d] = corners.map((point) => point[which]) as [number, number, number, number];
        return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
      };
      return [along(0), along(1)];
    });
  });
}

export function ellipse([x, y]: Point, across: number, down = across, from = 0, to = 1): Point[] {
  return Array.from({ length: 33 }, (_, step): Point => {
    const angle = 2 * Math.PI * (from + ((to - from) * step) / 32);
    return [x + across * Math.cos(angle), y + down * Math.sin(angle)];
  });
}

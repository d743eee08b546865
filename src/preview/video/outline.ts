export type Point = readonly [x: number, y: number];

const SUB_ROWS = 4;

/** Computes how much of each pixel of a square is within a closed line, 0 to 1. Points are in pixels. */
export function computeCoverage(points: readonly Point[], side: number): Float32Array {
  const covered = new Float32Array(side * side);
  for (let row = 0; row < side; row++) {
    for (let sub = 0; sub < SUB_ROWS; sub++) {
      const crossings = findCrossings(points, row + (sub + 0.5) / SUB_ROWS);
      for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
        const [from, to] = [
          Math.max(0, crossings[pair] as number),
          Math.min(side, crossings[pair + 1] as number),
        ];
        for (let x = Math.floor(from); x < to; x++) {
          const part = Math.min(to, x + 1) - Math.max(from, x);
          covered[row * side + x] = (covered[row * side + x] as number) + part / SUB_ROWS;
        }
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

import { measureCpu, prepareRegistry, READS } from './cases/service.js';
import { startBuiltService } from './peers.js';

const SIZES = [1_000, 10_000, 100_000];
const REQUESTS = 400;

/** Measures the CPU of the service for each read in stores of three sizes, and draws it as SVG. */
export async function drawGrowth(): Promise<string> {
  const lines = READS.map(({ name }) => ({ name, points: [] as number[] }));
  for (const nodes of SIZES) {
    const service = await startBuiltService(await prepareRegistry(nodes));
    for (const [index, { path }] of READS.entries()) {
      const list = (from: number) => Array.from({ length: REQUESTS }, (_, at) => path(from + at));
      await measureCpu(service, list(0));
      const { cpuMs = 0 } = await measureCpu(service, list(REQUESTS));
      lines[index]?.points.push(cpuMs / REQUESTS);
    }
    await service.stop();
  }
  return drawLines(lines);
}

const COLORS = ['#0969da', '#1a7f37', '#bf3989', '#9a6700', '#8250df'];
const [WIDTH, HEIGHT, LEFT, TOP] = [720, 300, 56, 24];
/** The width and height of the axes. */
const [ACROSS, DOWN] = [400, 220];

function drawLines(lines: readonly { readonly name: string; readonly points: readonly number[] }[]): string {
  const most = Math.ceil(Math.max(...lines.flatMap(({ points }) => points)));
  const x = (index: number) => LEFT + 20 + (index * (ACROSS - 40)) / (SIZES.length - 1);
  const y = (ms: number) => TOP + DOWN - (ms / most) * DOWN;
  const steps = Array.from({ length: 5 }, (_, step) => (most * step) / 4);
  const text = (left: number, top: number, content: string, extra = '') =>
    `<text x="${left.toFixed(0)}" y="${top.toFixed(0)}"${extra}>${content}</text>`;
  const parts = [
    ...steps.flatMap((ms) => [
      `<path d="M${LEFT} ${y(ms).toFixed(1)}h${ACROSS}" stroke="#8884"/>`,
      text(LEFT - 8, y(ms) + 4, ms.toFixed(2), ' text-anchor="end"'),
    ]),
    ...SIZES.map((size, index) =>
      text(x(index), TOP + DOWN + 20, `${size.toLocaleString('en')} nodes`, ' text-anchor="middle"'),
    ),
    ...lines.flatMap(({ name, points }, index) => {
      const color = COLORS[index % COLORS.length];
      const path = points
        .map((ms, at) => `${at ? 'L' : 'M'}${x(at).toFixed(1)} ${y(ms).toFixed(1)}`)
        .join('');
      const row = TOP + 12 + index * 22;
      return [
        `<path d="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
        `<path d="M${LEFT + ACROSS + 16} ${row - 4}h16" stroke="${color}" stroke-width="2"/>`,
        text(LEFT + ACROSS + 38, row, name),
      ];
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="12" fill="#808890">
<title>Milliseconds of CPU for a read, by the number of nodes</title>
${text(LEFT, 12, 'ms of CPU per request')}
${parts.join('\n')}
</svg>
`;
}

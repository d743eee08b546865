import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandCases } from './cases/commands.js';
import { engineCases } from './cases/engines.js';
import { installCases } from './cases/install.js';
import { publishCases } from './cases/publish.js';
import { serviceCases } from './cases/service.js';
import { taskCases } from './cases/tasks.js';
import { drawGrowth } from './growth.js';
import { type Case, type Figure, measureCase, type Result } from './measure.js';
import { stopLeft } from './peers.js';

/**
 * Measures each row of the table beside its peer, one case at a time, and writes bench/results.md and the picture in
 * docs/performance. Exits with 1 when a bar is missed.
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' } } });
const isWhole = !values.only && !values.quick;
const all: readonly Case[] = [
  ...commandCases,
  ...publishCases,
  ...installCases,
  ...serviceCases,
  ...taskCases,
  ...engineCases,
];
const cases = all.filter((one) =>
  values.only ? one.name.includes(values.only) : !(values.quick && one.slow),
);

const FIGURES: Readonly<Record<Figure, (value: number) => string>> = {
  wallMs: (value) => `${formatNumber(value)} ms`,
  cpuMs: (value) => `${formatNumber(value)} ms`,
  bytes: (value) => `${formatNumber(value / 1e6)} MB`,
  memory: (value) => `${formatNumber(value / 2 ** 20)} MiB`,
  perSecond: (value) => `${formatNumber(value)} /s`,
};
const LABELS: Readonly<Record<Figure, string>> = {
  wallMs: 'time',
  cpuMs: 'CPU',
  bytes: 'size',
  memory: 'memory',
  perSecond: 'rate',
};

const load = loadavg()[0] as number;
const begin = performance.now();
const rows: string[] = [];
let missed = 0;
for (const [index, one] of cases.entries()) {
  const at = performance.now();
  console.error(`[${index + 1}/${cases.length}] ${one.name}`);
  const added = await runCase(one);
  rows.push(...added);
  console.log(added.join('\n'));
  console.error(
    `    ${formatSeconds(performance.now() - at)}, ${formatSeconds(performance.now() - begin)} in all`,
  );
}
if (isWhole || values.only === 'growth') {
  console.error('Growth');
  const svg = await drawGrowth();
  mkdirSync('docs/performance', { recursive: true });
  writeFileSync('docs/performance/growth.svg', svg);
}

/** One case, which cannot prevent the others: what it cannot do is a missed bar. */
async function runCase(one: Case): Promise<string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'regen-bench-'));
  try {
    const prepared = await one.prepare(scratch);
    if ('missing' in prepared) return [formatMissing(one, prepared.missing)];
    try {
      const results = await measureCase(one, prepared, values.quick ?? false);
      missed += results.filter((result) => !meetsBar(result)).length;
      return results.map((result) => formatRow(one, result));
    } finally {
      await prepared.stop?.();
    }
  } catch (error) {
    missed++;
    console.error(error);
    return [formatMissing(one, `failed: ${(error as Error).message.split('\n')[0]}`)];
  } finally {
    await stopLeft(scratch).catch((error) => console.error(error));
    rmSync(scratch, { recursive: true, force: true });
  }
}

function findRatio({ ratios }: Result): number {
  return ratios[Math.floor(ratios.length / 2)] as number;
}

function meetsBar(result: Result): boolean {
  return result.figure === 'perSecond' ? findRatio(result) >= result.bar : findRatio(result) <= result.bar;
}

function formatMissing({ name, peer }: Case, why: string): string {
  return `| ${name} | ${peer} | | | not measured: ${why} | | |`;
}

function formatRow({ name, peer }: Case, result: Result): string {
  const { figure, ratios, subject, peer: other, bar } = result;
  const spread = `${formatNumber(ratios[0] as number)} to ${formatNumber(ratios.at(-1) as number)}, ${ratios.length} pairs`;
  const verdict = meetsBar(result) ? '' : ' **missed**';
  const limit = `${figure === 'perSecond' ? 'at least ' : ''}${formatNumber(bar)}x`;
  const medians = `${FIGURES[figure](subject)} / ${FIGURES[figure](other)}`;
  return `| ${name} | ${peer} | ${LABELS[figure]} | ${limit} | ${formatNumber(findRatio(result))}x${verdict} | ${spread} | ${medians} |`;
}

function formatNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`;
}

const machine = `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, ${process.platform}`;
const table = [
  '# Results',
  '',
  `${machine}; load at the start ${load.toFixed(2)}; ${new Date().toISOString().slice(0, 10)}.`,
  'Both sides run in turns on the same machine; the ratio is the median of the pairs. What limits each row is in',
  '[docs/performance.md](../docs/performance.md).',
  '',
  '| case | peer | figure | bar | ratio | spread | medians |',
  '|---|---|---|---|---|---|---|',
  ...rows,
  '',
].join('\n');
if (isWhole) writeFileSync('bench/results.md', table);
process.exitCode = missed > 0 ? 1 : 0;

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandCases } from './cases/commands.js';
import { engineCases } from './cases/engines.js';
import { serviceCases } from './cases/service.js';
import { type Case, measureCase, type Result } from './measure.js';

/**
 * Measures each row of the table beside its peer, one case at a time, and writes bench/results.md.
 * Exits with 1 when a bar is missed.
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' } } });
const cases: readonly Case[] = [...commandCases, ...serviceCases, ...engineCases];

const rows: string[] = [];
let missed = 0;
for (const measured of cases) {
  if (values.only ? !measured.name.includes(values.only) : values.quick && measured.slow) continue;
  const scratch = mkdtempSync(join(tmpdir(), 'regen-bench-'));
  const prepared = await measured.prepare(scratch);
  if ('missing' in prepared) {
    rows.push(formatRow(measured, prepared.missing));
  } else {
    try {
      const result = await measureCase(measured, prepared, values.quick ?? false);
      rows.push(formatRow(measured, result));
      if (!meetsBar(measured, result)) missed++;
    } finally {
      await prepared.stop?.();
    }
  }
  rmSync(scratch, { recursive: true, force: true });
  console.log(rows.at(-1));
}

function findRatio({ ratios }: Result): number {
  return ratios[Math.floor(ratios.length / 2)] as number;
}

function meetsBar({ compares, bar }: Case, result: Result): boolean {
  return compares === 'perSecond' ? findRatio(result) >= bar : findRatio(result) <= bar;
}

function formatRow(measured: Case, result: Result | string): string {
  const { name, peer, bar, compares } = measured;
  if (typeof result === 'string') return `| ${name} | ${peer} | ${bar}x | not measured: ${result} | | |`;
  const { ratios, subject, peer: other } = result;
  const spread = `${formatNumber(ratios[0] as number)} to ${formatNumber(ratios.at(-1) as number)}, ${ratios.length} pairs`;
  const verdict = meetsBar(measured, result) ? '' : ' **missed**';
  return `| ${name} | ${peer} | ${bar}x | ${formatNumber(findRatio(result))}x${verdict} | ${spread} | ${formatNumber(subject)} / ${formatNumber(other)} ${compares} |`;
}

function formatNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

const machine = `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, ${process.platform}`;
const table = [
  '# Results',
  '',
  `${machine}. Both sides run in turns on the same machine; the ratio is the median of the pairs.`,
  '',
  '| case | peer | bar | ratio | spread | medians |',
  '|---|---|---|---|---|---|',
  ...rows,
  '',
].join('\n');
if (!values.only && !values.quick) {
  mkdirSync('bench', { recursive: true });
  writeFileSync('bench/results.md', table);
}
process.exitCode = missed > 0 ? 1 : 0;

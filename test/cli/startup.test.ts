import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { type Ran, type Surroundings, start } from '../support/cli.js';

/** What a command loaded: files of dist and of packages, their size, and modules of Node.js. */
interface Loaded {
  readonly files: readonly string[];
  readonly bytes: number;
  readonly parts: readonly string[];
}

/** Runs the built program and lists what it loaded. */
async function runAndList(argv: readonly string[], surroundings: Surroundings = {}): Promise<Ran & Loaded> {
  const env = { ...surroundings.env, NODE_OPTIONS: '--require ./test/support/report-loaded.cjs' };
  const ran = await start(argv, { ...surroundings, env }).ended;
  const [stderr = '', report = '{}'] = ran.stderr.split('\nloaded ');
  const { files, bytes, parts } = JSON.parse(report) as Loaded;
  // The hashes of the names change with every edit.
  const names = files.map((path) => relative('.', path).replace(/-[\w-]{8}\.cjs$/, '.cjs'));
  return { ...ran, stderr, files: names, bytes, parts };
}

const HELP = ['bin/regen.js', 'dist/cli.cjs', 'dist/chunks/start.cjs'];

test.each([
  [['--version']],
  [['--help']],
  [['image', 'relight', '--help']],
  [['help', 'version', 'publish']],
])('%j loads three small files and no network', async (argv) => {
  const { exit, stdout, files, bytes, parts } = await runAndList(argv);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^(Usage: regen|\d+\.\d+\.\d+\n$)/);
  expect(files).toEqual(HELP);
  expect(bytes).toBeLessThan(20_000);
  expect(parts.filter((name) => /^(http|crypto|v8|child_process|timers\/promises)$/.test(name))).toEqual([]);
});

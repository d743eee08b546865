import fc from 'fast-check';
import { followWithin, readPackCode } from '../python/read-pack.js';
import { AMPLIFIERS, PYTHON_CONSTANTS, writePythonProgram } from '../support/python-programs.js';
import { mutateBytes, type Target } from './target.js';

const STEPS = 150_000;
/** A step takes a microsecond or less; what costs nothing and does a lot takes seconds. */
const MAX_CPU_MS = 4_000;
/** The process that reads packs has more: see src/python/reader-process.ts. */
const MAX_BYTES = 256 * 1024 ** 2;
/** Four characters a step, besides what is said of the nodes that are left out. */
const MAX_LENGTH = 4 * STEPS + 1_000_000;

/** Some of the lines of a program: a failing one loses those that do not matter. */
export const programs = fc.nat(2 ** 31 - 1).chain((seed) => {
  const lines = writePythonProgram(seed).split('\n');
  const kept = lines.map((line) => fc.option(fc.constant(line), { freq: 200, nil: undefined }));
  return fc.tuple(...kept).map((some) => some.filter((line) => line !== undefined).join('\n'));
});

/** A few statements over and over, which make much out of little if any of them costs less than it does. */
export const loops = fc
  .record({
    a: fc.constantFrom(...PYTHON_CONSTANTS),
    b: fc.constantFrom(...PYTHON_CONSTANTS),
    rounds: fc.constantFrom(3, 30, 400, 20_000),
    before: fc.array(fc.constantFrom(...AMPLIFIERS), { maxLength: 2 }),
    statements: fc.array(fc.constantFrom(...AMPLIFIERS), { minLength: 1, maxLength: 4 }),
  })
  .map(({ a, b, rounds, before, statements }) =>
    [
      'import glob, importlib, inspect, os, pathlib, re, sys',
      'class C: x = 1',
      'def f(*a, **d): return [a, d]',
      `i, a, b = 9, ${a}, ${b}`,
      ...before,
      `for i in range(${rounds}):`,
      ...statements.map((statement) => ` ${statement}`),
      'class Node:',
      ' CATEGORY = a',
      ' RETURN_TYPES = b',
      " def INPUT_TYPES(s): return {'required': {'a': a, 'b': [a, b]}}",
      "NODE_CLASS_MAPPINGS = {'N': Node, **a}",
    ].join('\n'),
  );

/** Python of strangers: it is followed within its steps, and nothing in it makes the reader throw. */
export async function createPython(): Promise<Target<string | Buffer>> {
  let [nodes, followed, slowestMs, mostBytes] = [0, 0, 0, 0];
  const run = async (program: string | Buffer) => {
    if (typeof program !== 'string') {
      nodes += (await readPackCode({ '__init__.py': program })).nodes.length;
      return;
    }
    const files = {
      '__init__.py': program,
      'other.py': 'from . import *\nC = 1\n',
      'nodes/one.py': 'class D: pass\n',
    };
    const before = process.resourceUsage().maxRSS;
    const { cpuMs, ...definitions } = await followWithin(STEPS, files);
    const { length } = JSON.stringify(definitions);
    const bytes = (process.resourceUsage().maxRSS - before) * 1024;
    followed += 1;
    slowestMs = Math.max(slowestMs, Math.round(cpuMs));
    mostBytes = Math.max(mostBytes, bytes);
    if (cpuMs > MAX_CPU_MS || length > MAX_LENGTH || bytes > MAX_BYTES)
      throw new Error(`took ${cpuMs} ms and ${bytes} bytes of memory, made ${length} characters`);
  };
  const mutated = mutateBytes(programs.map((text) => Buffer.from(text)));
  return {
    cases: fc.oneof(
      { weight: 8, arbitrary: loops },
      { weight: 1, arbitrary: programs },
      { weight: 1, arbitrary: mutated },
    ),
    run,
    summary: () =>
      `${followed} followed within their steps, in at most ${slowestMs} ms and ${Math.round(mostBytes / 1e6)} MB more; ` +
      `${nodes} nodes found in mutated ones`,
  };
}

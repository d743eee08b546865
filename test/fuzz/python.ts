import fc from 'fast-check';
import { codeOf, followWithin } from '../python/code-of.js';
import { writePythonProgram } from '../support/python-programs.js';
import { mutateBytes, type Target } from './target.js';

const STEPS = 150_000;
/** A step takes a microsecond or less; what costs nothing and does a lot takes seconds. */
const MAX_CPU_MS = 4_000;
/** Four characters a step, besides what is said of the nodes that are left out. */
const MAX_LENGTH = 4 * STEPS + 1_000_000;

/** Some of the lines of a program: a failing one loses those that do not matter. */
const programs = fc.nat(2 ** 31 - 1).chain((seed) => {
  const lines = writePythonProgram(seed).split('\n');
  const kept = lines.map((line) => fc.option(fc.constant(line), { freq: 200, nil: undefined }));
  return fc.tuple(...kept).map((some) => some.filter((line) => line !== undefined).join('\n'));
});

/** Python of strangers: it is followed within its steps, and nothing in it makes the reader throw. */
export async function createPython(): Promise<Target<string | Buffer>> {
  let [nodes, steps] = [0, 0];
  const run = async (program: string | Buffer) => {
    if (typeof program !== 'string') {
      nodes += (await codeOf({ '__init__.py': program })).nodes.length;
      return;
    }
    const files = {
      '__init__.py': program,
      'other.py': 'from . import *\nC = 1\n',
      'nodes/one.py': 'class D: pass\n',
    };
    const { cpuMs, ...definitions } = await followWithin(STEPS, files);
    const { length } = JSON.stringify(definitions);
    steps += 1;
    if (cpuMs > MAX_CPU_MS || length > MAX_LENGTH)
      throw new Error(`took ${cpuMs} ms, made ${length} characters`);
  };
  const mutated = mutateBytes(programs.map((text) => Buffer.from(text)));
  return {
    cases: fc.oneof({ weight: 3, arbitrary: programs }, { weight: 1, arbitrary: mutated }),
    run,
    summary: () => `${steps} followed within their steps, ${nodes} nodes found in mutated ones`,
  };
}

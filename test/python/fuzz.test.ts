import { expect, it } from 'vitest';
import { writePythonProgram } from '../support/python-programs.js';
import { followWithin } from './read-pack.js';

const SEEDS = 300;
const STEPS = 40_000;
/** A step takes a microsecond or less; what costs nothing and does a lot takes seconds. */
const MAX_CPU_MS = 4_000;
/** How far the memory of this process, in which other tests ran before, may grow; a program takes a few MB. */
const MAX_GROWN_BYTES = 400 * 2 ** 20;

const others = { 'other.py': 'from . import *\nC = 1\n', 'nodes/one.py': 'class D: pass\n' };

it(`follows ${SEEDS} programs out of a grammar within their steps`, async () => {
  const expensive: object[] = [];
  const before = process.resourceUsage().maxRSS;
  for (let seed = 0; seed < SEEDS; seed++) {
    const program = writePythonProgram(seed);
    expect(program.length).toBeLessThan(2_500);
    const { cpuMs, ...definitions } = await followWithin(STEPS, { '__init__.py': program, ...others });
    const { length } = JSON.stringify(definitions);
    // Four characters a step, besides what is said of the nodes that are left out.
    if (cpuMs > MAX_CPU_MS || length > 4 * STEPS + 1_000_000) expensive.push({ seed, cpuMs, length });
  }
  expect(expensive).toEqual([]);
  expect((process.resourceUsage().maxRSS - before) * 1024).toBeLessThan(MAX_GROWN_BYTES);
});

it('writes the same program for the same seed, and others for others', () => {
  expect(writePythonProgram(7)).toBe(writePythonProgram(7));
  expect(new Set(Array.from({ length: 50 }, (_, seed) => writePythonProgram(seed))).size).toBe(50);
});

/** Runs a statement until the steps of three calls are used up. */
const forEver = (statement: string) => `def f():\n while True:\n  ${statement}\nf()\nf()\nf()\n`;
const list = 'l = [0] * 20000\n';
const text = 't = "a" * 100000\n';
const many = 'm = []\nfor i in range(20000): m.extend(foo())\n';
const formatDeepValue = (name: string) =>
  `${name} = "${name}"\nfor i in range(8): ${name} = {j: ${name} for j in range(9)}\n`;

it.each([
  ['fills in a long text many times', `${text}x = ("%s" * 30000) % ((t,) * 20000)`],
  ['formats a long text many times', `${text}x = ("{0}" * 30000).format(t)`],
  ['formats braces that nothing closes', forEver('("{a" * 30000).format(1)')],
  ['strips many characters', `${text}y = "b" * 99999 + "a"\n${forEver('t.strip(y)')}`],
  ['looks for a long text in another', `${text}y = "b" + "a" * 50000\n${forEver('y in t')}`],
  ['compares one long text with many', `${text}y = "a" * 99999 + "b"\nl = [t] * 20000\n${forEver('y in l')}`],
  ['adds a number to itself', forEver('x = 3\n  while True: x = x + x')],
  ['zips one list with itself many times', `${list}x = zip(*[l] * 20000)`],
  ['spreads many lists', `${list}x = [${'*l,'.repeat(400)}]\nfoo(*x)`],
  ['updates a dict with itself', 'd = {}\nd[foo()] = 1\nfor i in range(60): d.update(d)'],
  ['passes many keys', `d = {}\nfor i in range(20000):\n  d[i] = i\n  d[-i] = i\nfoo(*list(d))`],
  ['sums lists', `${list}${forEver('sum([l] * 20000, [])')}`],
  ['takes lists apart', `${list}${forEver('a, *b, c = l')}`],
  ['makes dicts of long pairs', `${list}${forEver('dict([l] * 20000)')}`],
  ['multiplies unknown items', `${many}x = [0 for a in range(20000) for b in m]`],
  ['asks for the truth of unknown items', `${many}${forEver('all([m] * 20000)')}`],
  ['merges deep dicts', `${formatDeepValue('a')}${formatDeepValue('b')}x = a\nif foo(): x = b`],
  [
    'takes attributes of attributes',
    `x = foo\n${forEver('while True:\n   x = foo\n   while True: x = x.a')}`,
  ],
  ['lengthens a path', `from pathlib import Path\np = Path(__file__)\nwhile True: p = p / "aaa"`],
  ['joins long texts', `import os\n${text}x = os.path.join(*[t] * 20000)`],
  ['imports a long name', `import importlib\nt = "a." * 50000\n${forEver('importlib.import_module(t)')}`],
  ['has many base classes', `class B: pass\n${forEver('B = type("T", [B] * 20000, {})\n  B.nope')}`],
  ['has many loops in one comprehension', `x = [0 ${'for a in [1] '.repeat(8000)}]`],
  ['has many branches', `if foo: pass\n${'elif foo: pass\n'.repeat(5000)}`],
  [
    'has a pattern with many choices',
    `import re\n${forEver(`re.sub("${'a?'.repeat(26) + 'a'.repeat(26)}", "", "${'a'.repeat(25)}")`)}`,
  ],
  ['loops over lists and does nothing', `${list}for a in l:\n for b in l:\n  for c in l: pass`],
  [
    'nests inputs',
    'import io\nx = io.Int.Input("a")\nfor i in range(5000): x = io.MultiType.Input(x, [])\nclass B:\n  def define_schema(): return io.Schema("a", inputs=[x])\nNODE_CLASS_MAPPINGS = {"B": B}',
  ],
  [
    'registers many nodes of much text',
    'class B:\n  INPUT_TYPES = {"a" * i: "b" * 1000 for i in range(200)}\nNODE_CLASS_MAPPINGS = {i: B for i in range(9000)}',
  ],
  [
    'registers many unknown nodes at its end',
    `${'\n'.repeat(500_000)}NODE_CLASS_MAPPINGS = {i: foo for i in range(9000)}`,
  ],
])('pays for a pack that %s', async (_, source) => {
  const { cpuMs, ...definitions } = await followWithin(400_000, { '__init__.py': source });
  expect(cpuMs).toBeLessThan(MAX_CPU_MS);
  expect(JSON.stringify(definitions).length).toBeLessThan(4_000_000);
});

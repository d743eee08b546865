import { builtins } from '../../src/python/definitions/builtins.js';
import { loaders, patterns } from '../../src/python/definitions/imitation.js';
import { dictMethods, listMethods, textMethods } from '../../src/python/definitions/methods.js';
import { pathFunctions } from '../../src/python/definitions/paths.js';

const MAX_LENGTH = 2000;

/** Everything by name that the evaluator imitates, so that what is added there is tried here. */
const METHODS = [...Object.keys(textMethods), ...Object.keys(listMethods), ...Object.keys(dictMethods)];
const FUNCTIONS = Object.keys(builtins);
const IMPORTED = [...Object.keys(pathFunctions), ...Object.keys(patterns), ...Object.keys(loaders)];
const OPERATORS = ['+', '-', '*', '/', '//', '%', '**', '<<', '>>', '|', '&', '^', '@'];
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>=', 'in', 'not in', 'is', 'is not'];
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'C', 'D', 'm'];
const CONSTANTS = [
  ...['0', '1', '2', '7', '-1', '50', '3000', '20000', '10**8', '10**400', '2**62', '1.5', '1e300'],
  ...[
    "''",
    "'x'",
    "'ab' * 40",
    "'%s%s'",
    "'%1000000d'",
    "'{}{}'",
    "'{a}{0}'",
    "'{' * 999",
    "'a?' * 20",
    "'**/*.py'",
  ],
  ...['[]', '()', '{}', 'set()', '[[]]', 'None', 'True', 'unknown', '__file__', '__name__', 'range(999)'],
];

/** The same numbers between 0 and 1 for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Writes one program out of the grammar that the evaluator follows. */
class Program {
  readonly #random: () => number;
  #lines: string[] = [];
  #length = 0;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  write(): string {
    this.#line('', 'import importlib, inspect, os, re, sys, glob');
    this.#line('', 'import pathlib');
    for (const name of NAMES) this.#line('', `${name} = ${this.#pick(CONSTANTS)}`);
    while (this.#length < MAX_LENGTH - 400) this.#statement('', 3);
    this.#line('', 'class Node:');
    this.#line(' ', `CATEGORY = ${this.#pick(NAMES)}`);
    this.#line(' ', `RETURN_TYPES = ${this.#pick(NAMES)}`);
    this.#line(' ', `def INPUT_TYPES(s): return {'required': {'a': ${this.#pick(NAMES)}, 'b': [a, b, c]}}`);
    const mapping = this.#pick([`{x: Node for x in ${this.#pick(NAMES)}}`, "{'N': Node}", 'dict(d, N=Node)']);
    this.#line('', `NODE_CLASS_MAPPINGS = ${mapping}`);
    return this.#lines.join('');
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item;
  }

  #line(indent: string, text: string): void {
    this.#lines.push(`${indent}${text}\n`);
    this.#length += text.length + indent.length + 1;
  }

  #block(indent: string, depth: number): void {
    const inner = `${indent} `;
    const from = this.#lines.length;
    for (let left = 1 + Math.floor(this.#random() * 3); left > 0; left--) this.#statement(inner, depth - 1);
    if (this.#lines.length === from) this.#line(inner, 'pass');
  }

  #statement(indent: string, depth: number): void {
    const name = this.#pick(NAMES);
    const value = () => this.#value(2);
    const compound = [
      () => this.#head(indent, depth, `for ${this.#target()} in ${value()}:`),
      () => this.#head(indent, depth, `for ${name} in range(${this.#pick(['9', '5000', '20000'])}):`),
      () => this.#head(indent, depth, `while ${this.#pick(['True', value()])}:`),
      () => this.#head(indent, depth, `if ${value()}:`),
      () => this.#head(indent, depth, `with ${value()} as ${name}:`),
      () => this.#head(indent, depth, `def ${this.#pick(['f', 'g'])}(${this.#parameters()}):`),
      () =>
        this.#head(
          indent,
          depth,
          `class ${this.#pick(['C', 'D'])}(${this.#pick(['C, D', 'C', 'str', '*a', 'unknown'])}):`,
        ),
      () => {
        this.#head(indent, depth, 'try:');
        this.#head(indent, depth, 'except Exception:');
      },
    ];
    const simple = [
      () => `${name} = ${value()}`,
      () => `${this.#target()} = ${value()}`,
      () => `${name} ${this.#pick(['+', '|', '*', '-'])}= ${this.#pick([name, value()])}`,
      () => `${name} = ${name} + ${name}`,
      () => `${name} = [${name}, ${name}]`,
      () => `${name} = {'k': ${name}, **${this.#pick(NAMES)}}`,
      () => `${name}[${value()}] = ${value()}`,
      () => `${name}.${this.#pick(['x', 'y', 'name'])} = ${value()}`,
      () => `${name}.${this.#pick(METHODS)}(${this.#arguments()})`,
      () => `${name} = ${name}.${this.#pick(METHODS)}(${this.#arguments()})`,
      () => `del ${name}[${value()}]`,
      () => `${this.#pick(['global', 'nonlocal'])} ${name}`,
      // At the outermost level these would end the program.
      () => (indent === '' ? `${name} = ${value()}` : `return ${value()}`),
      () => (indent === '' ? 'from . import *' : this.#pick(['break', 'continue', 'raise'])),
      () => this.#pick(['from . import *', 'from .other import *', 'import other']),
      () =>
        `@${this.#pick(NAMES)}\n${indent}def ${this.#pick(['f', 'g'])}(${this.#parameters()}): return ${value()}`,
    ];
    if (depth > 0 && this.#random() < 0.35) this.#pick(compound)();
    else this.#line(indent, this.#pick(simple)());
  }

  #head(indent: string, depth: number, text: string): void {
    this.#line(indent, text);
    this.#block(indent, depth);
  }

  #target(): string {
    const [first, second, third] = [this.#pick(NAMES), this.#pick(NAMES), this.#pick(NAMES)];
    return this.#pick([
      first,
      `${first}, ${second}`,
      `${first}, *${second}`,
      `*${first}, (${second}, ${third})`,
    ]);
  }

  #parameters(): string {
    return this.#pick(['', 'a', 'a, b=a', '*a', '**d', 'a, *b, **d', 'self', 'cls, a=[]']);
  }

  #arguments(): string {
    const value = () => this.#value(1);
    return this.#pick([
      () => '',
      () => value(),
      () => value(),
      () => `${value()}, ${value()}`,
      () => `*${this.#pick(NAMES)}`,
      () => `**${this.#pick(NAMES)}`,
      () => `${value()}, ${value()}, ${value()}`,
      () => `${value()}, key=${this.#pick(NAMES)}`,
    ])();
  }

  #value(depth: number): string {
    if (depth <= 0) return this.#random() < 0.6 ? this.#pick(NAMES) : this.#pick(CONSTANTS);
    const inner = () => this.#value(depth - 1);
    const name = () => this.#pick(NAMES);
    return this.#pick([
      () => name(),
      () => this.#pick(CONSTANTS),
      () => `(${inner()} ${this.#pick(OPERATORS)} ${inner()})`,
      () => `(${inner()} ${this.#pick(COMPARISONS)} ${inner()})`,
      () => `(${inner()} ${this.#pick(['and', 'or'])} ${inner()})`,
      () => `${this.#pick(['-', '~', 'not '])}${inner()}`,
      () => `(${inner()} if ${inner()} else ${inner()})`,
      () => `[${inner()}, *${name()}, *${name()}]`,
      () => `{${inner()}: ${inner()}, **${name()}}`,
      () => `{${inner()}, ${inner()}}`,
      () => `[${inner()} for ${this.#target()} in ${inner()} for ${name()} in ${name()}]`,
      () => `{${inner()}: ${inner()} for ${this.#target()} in ${inner()}}`,
      () => `[${inner()}] * ${this.#pick(['3000', '20000', '10**8', name()])}`,
      () => `'${this.#pick(['ab', '%s', '{}', 'é'])}' * ${this.#pick(['999', '50000', '10**9', name()])}`,
      () => `f'{${name()}}{${name()}}{${name()}}'`,
      () => `${name()}[${inner()}]`,
      () => `${name()}[${inner()}:${inner()}]`,
      () => `${name()}.${this.#pick(['x', 'y', '__dict__', '__class__', '__name__', 'parent', 'value'])}`,
      () => `${name()}(${this.#arguments()})`,
      () => `${name()}.${this.#pick(METHODS)}(${this.#arguments()})`,
      () => `${this.#pick(FUNCTIONS)}(${this.#arguments()})`,
      () => `${this.#pick(FUNCTIONS)}(${name()}, ${inner()})`,
      () => `${this.#pick(IMPORTED)}(${this.#arguments()})`,
      () => `type('T', (C, D), {'x': ${inner()}})`,
      () => `(lambda ${this.#parameters()}: ${inner()})`,
      () => `super().${this.#pick(METHODS)}(${this.#arguments()})`,
      () => `${this.#pick(['globals', 'locals', 'vars'])}()`,
      () => `zip(*[${name()}] * ${this.#pick(['9', '20000'])})`,
      () => `pathlib.Path(__file__).parent.${this.#pick(['glob', 'rglob', 'joinpath'])}(${inner()})`,
    ])();
  }
}

/** Statements that make `a` larger or costlier from what `a` and `b` are, one for everything that the evaluator knows. */
export const AMPLIFIERS: readonly string[] = [
  ...OPERATORS.flatMap((operator) => [`a = a ${operator} b`, `b = b ${operator} a`, `a ${operator}= a`]),
  ...COMPARISONS.map((comparison) => `c = a ${comparison} b`),
  ...METHODS.flatMap((method) => [
    `a = a.${method}()`,
    `a = a.${method}(b)`,
    `a = b.${method}(a, b)`,
    `a.${method}(b)`,
    `a = b.${method}(a, b, i)`,
  ]),
  ...FUNCTIONS.flatMap((name) => [
    `a = ${name}(a)`,
    `a = ${name}(a, b)`,
    `a = ${name}(b, a, i)`,
    `a = ${name}(*b)`,
    `a = list(${name}(a, b))`,
    `a = ${name}(a, key=f)`,
  ]),
  ...IMPORTED.flatMap((name) => [`a = ${name}(a)`, `a = ${name}(a, b)`, `a = ${name}(b, a, i)`]),
  ...[
    'a = [a, b]',
    'a = (a, a)',
    'a = {i: a}',
    'a = {**a, i: b}',
    'a = [*a, *b]',
    'a = a + [b]',
    'a = {*a, i}',
  ],
  ...[
    "a = f'{a}{b}'",
    "a = f'{a}{a!r:>999}'",
    "a = '%s%s' % (a, b)",
    "a = '{0}{0}'.format(a)",
    "a = '%9999d' % i",
  ],
  ...[
    'a = [b for c in a for d in b]',
    'a = {c: b for c in a}',
    'a = {c for c in b}',
    'a = [[c] * i for c in b]',
  ],
  ...['a = a[i:]', 'a = a[::-1]', 'b = a[i]', 'a[i] = b', 'a[i:i] = b', 'del a[0]', 'a, *b = b', '*a, c = a'],
  ...[
    'a = f(a)',
    'a = f(a, *b)',
    'a = f(**a)',
    'a = C(a)',
    'a = type(b)',
    "a = type(f'{i}', (C,), {'x': a})",
  ],
  ...[
    'C.x = a',
    'a = C.x',
    'a.x = a',
    'a = lambda x=a: f(x)',
    'a = globals()',
    'a = vars()',
    'a = C.__dict__',
  ],
  ...[
    'a = zip(a, b)',
    'a = list(zip(*[a] * i))',
    'a = enumerate(a)',
    'from . import *',
    'from .other import *',
  ],
  ...['a = b * i', 'a = [a] * i', 'a = 2 ** i', 'a = 1 << i', 'a = -a', 'a = not a', 'a = a if a else b'],
];

export const PYTHON_CONSTANTS: readonly string[] = CONSTANTS;

/**
 * Writes a small Python program (at most some 2 KB) that allocates, computes and nests with everything that the evaluator knows.
 * @param seed the same seed gives the same program
 */
export function writePythonProgram(seed: number): string {
  return new Program(seed).write();
}

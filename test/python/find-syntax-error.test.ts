import { describe, expect, it } from 'vitest';
import { findSyntaxError } from '../../src/python/find-syntax-error.js';
import { readPackCode } from './read-pack.js';

describe('finds the line of an error', () => {
  it.each([
    ['a bracket that is never closed', 'x = 1\ny = ("a",\nz = ("b",)\nf = "c"\n', 2],
    ['a bracket that closes none', 'x = 1\n}\n', 2],
    ['a bracket that closes another one', 'x = [1, 2)\n', 1],
    ['a text without an end', "x = 1\ny = 'a\nz = 1\n", 2],
    ['a long text without an end', 'x = 1\ny = """a\nz = 1\n', 2],
    ['a text in a text without an end', 'x = 1\ny = f"{a["b]}"\n', 2],
    ['a line without its colon', 'x = 1\ndef f(self)\n    return 1\n', 2],
    ['a line that is indented for no reason', 'x = 1\n  y = 2\n', 2],
    ['a line between two indents', 'if x:\n    y = 1\n  z = 2\n', 3],
    ['a block without lines', 'x = 1\ndef f():\ny = 2\n', 3],
    ['a block at the end without lines', 'x = 1\nif x:\n    # nothing\n', 2],
    ['a missing comma', '{\n  "a": 1\n  "b": 2,\n}\n', 3],
    ['a mistyped keyword', 'def f():\n    retrun x\n', 2],
    ['a statement of Python 2', 'x = 1\nprint "a"\n', 2],
    ['marks of a merge conflict', 'x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> b\n', 2],
    ['a sign that Python does not have', 'x = 1\ny = a ? b : c\n', 2],
    ['a backslash within a line', 'x = 1\ny = a \\ b\n', 2],
  ])('such as %s', (_, text, line) => {
    expect(findSyntaxError(text)).toBe(line);
  });
});

describe('accepts what some Python from 3.8 on accepts', () => {
  it.each([
    [
      'texts in texts',
      'x = f"{f"{a["b"]}"}" f\'{a!r:>{width}}\' rf"\\{{x}" "\\N{DASH}" f"{x:\'>9}" f"{{}}"\n',
    ],
    [
      'values of several lines in texts',
      'x = f"""{\n  a # "\n:\n}"""\ny = f"{\n  b\n}"\nz = t"{x}" rt\'{y}\'\n',
    ],
    ['prefixes of texts', 'x = b"a" rb"b" Rb\'c\' u"d" F"e" Br"f"\n'],
    [
      'match',
      'match x, y:\n  case [1, *r] if a: pass\n  case {"a": b, **kw}: pass\nmatch = case = 1\nmatch(x)\n',
    ],
    [
      'types and their parameters',
      'type X[T = int] = list[T]\nclass A[T, *Ts, **P]: pass\ntype = 1\nif x: type Y = int\n',
    ],
    ['exceptions without brackets', 'try: pass\nexcept A, B, C:\n  pass\ntry: pass\nexcept* (A, B): pass\n'],
    ['numbers beside words', 'x = 1if a else 0xFFor b\ny = [1_0.5e-3j, .5, 5., 0b1_0]\nz = 1.0.real\n'],
    [
      'blank and commented lines between indents',
      'def f():\n    x = 1\n# a\n  \n\t# b\n    y = 2\n\x0cz = 3\n',
    ],
    ['tabs', 'if x:\n\tif y:\n\t\tz = 1\n        w = 2\n'],
    ['lines that continue', 'if a and \\\n b:\n    x = (1,\n2)\ny = [\n  3\n]\nz = 1 + \\\n2\n'],
    ['several statements on a line', 'x = 1; y = 2;\nif x: y; z\nclass A: pass\n'],
    [
      'lambda, slices, annotations and walruses',
      'f = lambda x=1: x\na[1:2, ::3]\nx: int = 1\nif (n := 1): pass\n',
    ],
    ['decorators and await', '@a.b[0](x)\nasync def f(a, /, *, b: int) -> X:\n  return await a\n'],
    ['names in any script', 'héllo = 变量 = 1\nprint(héllo, 变量)\n'],
    ['a file without a last line end', 'def f():\n  pass'],
    ['nothing', ''],
  ])('such as %s', (_, text) => {
    expect(findSyntaxError(text)).toBeUndefined();
  });

  it('says nothing about texts in texts without end', () => {
    expect(findSyntaxError(`x = ${'f"{'.repeat(100_000)}`)).toBeUndefined();
  });
});

const broken = 'x = 1\ny = (\n';
const mapping = 'class A: pass\nNODE_CLASS_MAPPINGS = {"A": A}\n';
const stops = (file: string) => [
  { file, line: 2, message: 'is not valid Python; ComfyUI cannot load this pack', stops: true },
];

it.each([
  ['itself', { '__init__.py': broken }, '__init__.py'],
  ['imports', { '__init__.py': `from .nodes import *\n${mapping}`, 'nodes.py': broken }, 'nodes.py'],
  ['imports by name', { '__init__.py': `from . import nodes\n${mapping}`, 'nodes.py': broken }, 'nodes.py'],
  [
    'imports a module of',
    { '__init__.py': `from .a.b import *\n${mapping}`, 'a/__init__.py': broken, 'a/b.py': '' },
    'a/__init__.py',
  ],
  [
    'imports through another module',
    { '__init__.py': `from .a import *\n${mapping}`, 'a.py': 'from .b.c import x', 'b/c.py': broken },
    'b/c.py',
  ],
])('a broken file that __init__.py %s stops the pack', async (_, files, file) => {
  expect((await readPackCode(files)).unreadable).toEqual(stops(file));
});

it.each([
  ['nothing imports', mapping],
  ['is imported in a function', `${mapping}def f():\n  from . import nodes\n`],
  ['may fail to be imported', `${mapping}try:\n  from . import nodes\nexcept Exception: pass\n`],
  ['is imported under a condition', `${mapping}if x:\n  from . import nodes\n`],
])('a broken file that %s only loses definitions', async (_, init) => {
  expect((await readPackCode({ '__init__.py': init, 'nodes.py': broken })).unreadable).toEqual([
    { file: 'nodes.py', line: 2, message: 'is not valid Python; what could be read of it is used' },
  ]);
});

it('what only the grammar does not understand is reported with its line, and stops nothing', async () => {
  const files = { '__init__.py': `${mapping}host, *rest = endpoint, *[]\n` };
  expect((await readPackCode(files)).unreadable).toEqual([
    { file: '__init__.py', line: 3, message: 'may not be valid Python; what could be read of it is used' },
  ]);
});

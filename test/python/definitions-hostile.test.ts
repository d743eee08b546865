import { describe, expect, it } from 'vitest';
import { readPackCode, readPackNodes } from './read-pack.js';

const plain = '\nclass A:\n  CATEGORY = "x"\nNODE_CLASS_MAPPINGS = {"A": A}\n';
const repeatLine = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

describe('reading definitions ends and keeps the plain ones if a file', () => {
  it.each([
    ['nests parentheses', `${plain}x = ${'('.repeat(900)}${')'.repeat(900)}`],
    ['nests calls', `${plain}x = ${'exec('.repeat(900)}${')'.repeat(900)}`],
    ['leaves brackets open', `${plain}x = ${'[{('.repeat(300)}`],
    ['chains attributes', `${plain}x = a${'.b'.repeat(100_000)}\nexec(x)`],
    ['nests blocks', plain + repeatLine(300, (index) => `${' '.repeat(index)}if x:\n`)],
    ['nests functions', plain + repeatLine(300, (index) => `${' '.repeat(index)}def f(x):\n`)],
    ['loops for ever', `${plain}while True:\n  x = 1\n`],
    ['calls itself for ever', `def f(x):\n  return f(x) + f(x)\ny = f(1)\n${plain}`],
    ['loops for ever in a call', `def f():\n  while True:\n    x = [1] * 20000\nf()\n${plain}`],
    ['inherits in a circle', `class C(D): pass\nclass D(C): pass\nD.X\n${plain}`],
    [
      'asks for huge values',
      `a = "a" * 10**9\nb = [0] * 10**9\nc = 9**9**9\nd = range(10**12)\ne = 1 << 10**9\n${plain}`,
    ],
    [
      'has a pattern that takes for ever',
      `import re\nfor i in range(999):\n  re.sub("(a+)+b", "", "${'a'.repeat(60)}")\n  re.findall("a*a*a*a*b", "${'a'.repeat(90)}")\n${plain}`,
    ],
    [
      'has bytes that are not UTF-8',
      Buffer.concat([Buffer.from(plain), Buffer.from([0x23, 0xff, 0xfe, 0xc3, 0x28, 0x0a])]),
    ],
  ])('%s', async (_, source) => {
    const { nodes } = await readPackCode({ '__init__.py': source });
    expect(nodes.map(({ definition }) => definition)).toEqual([{ host_node_name: 'A', category: 'x' }]);
  });
});

it('reads modules that import each other by star', async () => {
  const nodes = await readPackNodes({
    '__init__.py': 'from .a import *\nfrom .b import *',
    'a.py': 'from .b import *\nclass A: pass\nNODE_CLASS_MAPPINGS = {"A": A}',
    'b.py': 'from .a import *\nclass B: pass',
  });
  expect(Object.keys(nodes)).toEqual(['A']);
});

it('bounds a definition that grows without end or holds itself', async () => {
  const { nodes } = await readPackCode({
    '__init__.py': `
x = ["some text"]
for i in range(40):
    x = [x, x]
d = {}
d["d"] = d
class A:
    RETURN_TYPES = x
    @classmethod
    def INPUT_TYPES(s): return d
NODE_CLASS_MAPPINGS = {"A": A}
`,
  });
  const [node] = nodes;
  expect(JSON.parse(node?.definition.input_types ?? '')).toHaveProperty('d');
  expect(node?.definition.return_types?.length).toBeLessThan(4_000_000);
});

it("does not confuse a pack's words with the names of JavaScript's own properties", async () => {
  const { A } = await readPackNodes(`
class A:
    CATEGORY = "x".constructor("y")
    FUNCTION = {}.hasOwnProperty
    constructor = 1
NODE_CLASS_MAPPINGS = {"__proto__": A, "toString": A, "A": A}
`);
  expect(A?.unknown).toEqual(['category', 'function']);
});

it('files that are invalid or too large are named, and the others are read', async () => {
  const { unreadable, nodes } = await readPackCode({ '__init__.py': plain, 'old.py': 'print "hello\nif :' });
  expect(nodes).toHaveLength(1);
  expect(unreadable).toEqual([
    { file: 'old.py', line: 1, message: 'is not valid Python; what could be read of it is used' },
  ]);
});

it('leaves the paths of a pack out of its definitions', async () => {
  const { A } = await readPackNodes(
    'import os\nclass A:\n  CATEGORY = os.path.dirname(__file__)\nNODE_CLASS_MAPPINGS = {"A": A}',
  );
  expect(A?.unknown).toEqual(['category']);
});

it('reads a choice where calls nest as deep as they are followed', async () => {
  const nest = (text: string, depth: number) => `${'['.repeat(depth)}${text}${']'.repeat(depth)}`;
  for (let deeper = 28; deeper <= 36; deeper++) {
    const calls = repeatLine(
      39,
      (at) => `def f${at}(): return ${nest(`f${at + 1}()`, at < deeper ? 15 : 14)}\n`,
    );
    const choice = `def f39(): return ${nest('(a if b() else c)', 100)}\nf0()\n`;
    const { nodes } = await readPackCode({ '__init__.py': calls + choice + plain });
    expect(nodes.map(({ name }) => name)).toEqual(['A']);
  }
});

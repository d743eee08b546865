import { describe, expect, it } from 'vitest';
import { readPackCode, readPackNodes } from './read-pack.js';

const formatModule = (...names: string[]) =>
  `${names.map((name) => `class ${name}:\n    CATEGORY = "${name}"\n`).join('')}
NODE_CLASS_MAPPINGS = {${names.map((name) => `"${name}": ${name}`).join(', ')}}\n`;

async function readNames(files: Readonly<Record<string, string>>) {
  return Object.keys(await readPackNodes(files));
}

const two = { 'a.py': formatModule('A'), 'b.py': formatModule('B') };

describe('finds the mapping', () => {
  it.each([
    [
      'updated',
      'from .a import NODE_CLASS_MAPPINGS\nfrom . import b\nNODE_CLASS_MAPPINGS.update(b.NODE_CLASS_MAPPINGS)',
    ],
    [
      'spread',
      'from .a import NODE_CLASS_MAPPINGS as x\nfrom .b import NODE_CLASS_MAPPINGS as y\nNODE_CLASS_MAPPINGS = {**x, **y}',
    ],
    [
      'joined with |',
      'from . import a, b\nNODE_CLASS_MAPPINGS = a.NODE_CLASS_MAPPINGS | b.NODE_CLASS_MAPPINGS',
    ],
    [
      'grown with |=',
      'from . import a, b\nNODE_CLASS_MAPPINGS = {}\nfor m in (a, b):\n  NODE_CLASS_MAPPINGS |= m.NODE_CLASS_MAPPINGS',
    ],
    [
      'imported by star',
      'from .a import *\nm = NODE_CLASS_MAPPINGS\nfrom .b import *\nNODE_CLASS_MAPPINGS = {**m, **NODE_CLASS_MAPPINGS}',
    ],
    [
      'loaded by name',
      'import importlib\nNODE_CLASS_MAPPINGS = {}\nfor n in ["a", "b"]:\n  m = importlib.import_module(f".{n}", package=__name__)\n  NODE_CLASS_MAPPINGS.update(m.NODE_CLASS_MAPPINGS)',
    ],
    [
      'made by a comprehension',
      'from .a import A\nfrom .b import B\nNODE_CLASS_MAPPINGS = {c.__name__: c for c in [A, B]}',
    ],
    [
      'made by a helper from a table',
      `from .a import A
from .b import B
TABLE = {"A": {"class": A, "name": "a"}, "B": {"class": B}}
def build(table):
    classes, names = {}, {}
    for key, info in table.items():
        classes[key] = info["class"]
        names[key] = info.get("name", key)
    return classes, names
NODE_CLASS_MAPPINGS, NODE_DISPLAY_NAME_MAPPINGS = build(TABLE)`,
    ],
    [
      'guarded by try',
      'try:\n  from .a import *\n  from .b import B\n  NODE_CLASS_MAPPINGS["B"] = B\nexcept ImportError:\n  NODE_CLASS_MAPPINGS = {}',
    ],
    [
      'of subclasses of a class',
      'from .a import A\nfrom .b import B\nclass Base: pass\nclass X(Base, A): pass\nclass Y(Base, B): pass\nNODE_CLASS_MAPPINGS = {c.CATEGORY: c for c in [X, Y, A] if issubclass(c, Base)}',
    ],
    [
      'named by methods of text',
      'from .a import A\nfrom .b import B\nTEXT = "ClassA.py\\nClassB.py\\n"\nNAMES = [n.removesuffix(".py").removeprefix("Class") for n in TEXT.splitlines() if not n.islower()]\nNODE_CLASS_MAPPINGS = {NAMES[abs(-i)]: c for i, c in enumerate([A, B]) if not NAMES[i].isdigit()}',
    ],
    [
      'named by how many lines a text has',
      'from .a import A\nfrom .b import B\nNODE_CLASS_MAPPINGS = {"ABC"[len(t.splitlines())]: c for t, c in [("", A), ("b\\n", B)]}',
    ],
    ['filled by decorators', 'from .c import NODE_CLASS_MAPPINGS\nfrom . import d'],
  ])('%s', async (_, root) => {
    const registry = {
      'c.py':
        'NODE_CLASS_MAPPINGS = {}\ndef node(name=None):\n  def add(cls):\n    nonlocal name\n    name = name or cls.__name__\n    NODE_CLASS_MAPPINGS[name] = cls\n    return cls\n  return add\n',
      'd.py': 'from .c import node\n@node()\nclass A: pass\n@node(name="B")\nclass Other: pass\n',
    };
    const { nodes, unresolved } = await readPackCode({ '__init__.py': root, ...two, ...registry });
    expect(nodes.map(({ name }) => name).sort()).toEqual(['A', 'B']);
    // Mappings that are not found would be listed as their modules state them, and reported.
    expect(unresolved).toEqual([]);
  });

  it('by listing the folder its modules lie in, in any of the usual ways', async () => {
    const ways = [
      'import os\nfiles = os.listdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "nodes"))\nnames = [os.path.splitext(f)[0] for f in files if f.endswith(".py")]',
      'from pathlib import Path\nnames = [f.stem for f in (Path(__file__).parent / "nodes").glob("*.py")]',
      'from pathlib import Path\nhere = Path(__file__).parent.resolve()\nnames = [f.stem for f in (here / "nodes").iterdir() if f.suffix == ".py"]',
      'import glob, os\nnames = [os.path.basename(f)[:-3] for f in glob.glob(os.path.join(os.path.dirname(__file__), "nodes", "*.py"))]',
    ];
    const load =
      '\nimport importlib\nNODE_CLASS_MAPPINGS = {}\nfor name in names:\n  if name == "__init__": continue\n  NODE_CLASS_MAPPINGS.update(importlib.import_module(".nodes." + name, __package__).NODE_CLASS_MAPPINGS)';
    for (const way of ways) {
      const files = {
        '__init__.py': way + load,
        'nodes/a.py': formatModule('A'),
        'nodes/b.py': formatModule('B'),
      };
      expect(await readNames(files)).toEqual(['A', 'B']);
    }
  });

  it('in modules the pack puts on the search path, and in those that import each other', async () => {
    const files = {
      '__init__.py':
        'import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), "lib"))\nfrom core.nodes import NODE_CLASS_MAPPINGS',
      'lib/core/__init__.py': '',
      'lib/core/nodes.py': 'from . import other\nclass A: pass\nNODE_CLASS_MAPPINGS = {"A": A, "B": other.B}',
      'lib/core/other.py': 'from . import nodes\nclass B: pass',
    };
    expect(await readNames(files)).toEqual(['A', 'B']);
  });
});

it('works out keys that are constants, attributes, or put together', async () => {
  const names = await readNames({
    '__init__.py': `
import re
from .names import PREFIX
class A:
    NAME = "first"
class B: pass
class MTB_LoadImage: pass
NODE_CLASS_MAPPINGS = {A.NAME: A, f"{PREFIX} B": B}
NODE_CLASS_MAPPINGS[PREFIX + "/c"] = B
NODE_CLASS_MAPPINGS[re.sub("x*", "-", "abxd")] = A
NODE_CLASS_MAPPINGS[re.sub(r"(?<=[a-z])([A-Z])", r" \\1", "twoWords")] = A
NODE_CLASS_MAPPINGS[" ".join(re.findall("(?:^|[A-Z])[a-z]*", MTB_LoadImage.__name__[4:])).strip()] = A
`,
    'names.py': 'PREFIX = "My"',
  });
  expect(names).toEqual(['first', 'My B', 'My/c', '-a-b--d-', 'two Words', 'Load Image']);
});

it('reads names as Python does, to which styled letters are plain ones', async () => {
  const names = await readNames({
    '__init__.py':
      'from .nodes import 𝐍𝐨𝐝𝐞\nclass 𝐎𝐭𝐡𝐞𝐫: NAME = "b"\nNODE_CLASS_MAPPINGS = {Node.NAME: Node, Other.NAME: Other}\n',
    'nodes.py': 'class 𝐍𝐨𝐝𝐞: NAME = "a"\n',
  });
  expect(names).toEqual(['a', 'b']);
});

it('reports with file and line what is registered at run time, and invents nothing', async () => {
  const { nodes, unresolved } = await readPackCode({
    '__init__.py': `
import other
class A: pass
NODE_CLASS_MAPPINGS = {
    "A": A,
    "Theirs": other.Thing,
    **other.more(),
}
NODE_CLASS_MAPPINGS[other.name()] = A
`,
  });
  expect(nodes.map(({ name, class: from, unknown }) => [name, from, unknown.length])).toEqual([
    ['A', 'A', 0],
    ['Theirs', undefined, 4],
  ]);
  expect(unresolved).toEqual([
    { file: '__init__.py', line: 6, what: 'the class of "Theirs" is computed at run time: other.Thing' },
    expect.objectContaining({ what: 'nodes are registered at run time: **other.more()' }),
    { file: '__init__.py', line: 3, what: 'class A is registered under a computed name: other.name()' },
  ]);
});

it('lists the mappings of the modules, and says so, where another package registers them', async () => {
  const { nodes, unresolved } = await readPackCode({
    '__init__.py': 'from elsewhere import register_nodes\nNODE_CLASS_MAPPINGS = register_nodes()',
    'nodes/__init__.py': formatModule('A'),
  });
  expect(nodes.map((node) => node.name)).toEqual(['A']);
  expect(unresolved.map((one) => one.file)).toEqual(['__init__.py', 'nodes/__init__.py']);
});

it('finds nothing in a pack that has only a web folder', async () => {
  expect(await readPackCode({ '__init__.py': 'WEB_DIRECTORY = "./js"\nNODE_CLASS_MAPPINGS = {}' })).toEqual({
    nodes: [],
    unresolved: [],
    isEmpty: true,
    followed: true,
    unreadable: [],
    findings: [],
  });
});

it('takes lists apart into names, one of which takes what the others leave', async () => {
  const names = await readNames({
    '__init__.py': `
class A: pass
words = ["one", "two", "three", "four", "five"]
first, *middle, last = words
*start, _ = words
[_, *end] = words
only, *none = ["only"]
NODE_CLASS_MAPPINGS = {"-".join(x): A for x in ([first, last], middle, start, end)}
NODE_CLASS_MAPPINGS[f"{only}{len(none)}"] = A
`,
  });
  expect(names).toEqual(['one-five', 'two-three-four', 'one-two-three-four', 'two-three-four-five', 'only0']);
});

it('follows calls of calls, 40 deep and no deeper', async () => {
  const source = (depth: number) => `
class A: pass
def count(n): return [] if n == 0 else ["x"] + count(n - 1)
NODE_CLASS_MAPPINGS = {"A": A, "".join(count(${depth})): A}
`;
  expect(await readNames({ '__init__.py': source(39) })).toEqual(['A', 'x'.repeat(39)]);
  expect(await readNames({ '__init__.py': source(40) })).toEqual(['A']);
});

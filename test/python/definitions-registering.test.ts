import { describe, expect, it } from 'vitest';
import { readPackCode, readPackNodes } from './read-pack.js';

/* How packs register nodes while they are imported: in branches, by walking folders, and through functions of their own. */

const formatModule = (...names: string[]) =>
  `${names.map((name) => `class ${name}:\n  CATEGORY = "${name}"\n`).join('')}
NODE_CLASS_MAPPINGS = {${names.map((name) => `"${name}": ${name}`).join(', ')}}\n`;

const formatSchemaNode = (name: string) => `from comfy_api.latest import io
class ${name}(io.ComfyNode):
  @classmethod
  def define_schema(cls): return io.Schema(node_id="${name}")
`;

const extension = `
from comfy_api.latest import ComfyExtension, io
class Extension(ComfyExtension):
  async def get_node_list(self): return find()
async def comfy_entrypoint(): return Extension()
`;

async function readNames(files: Readonly<Record<string, string>>) {
  return Object.keys(await readPackNodes(files)).sort();
}

describe('under a condition that cannot be known', () => {
  it.each([
    [
      'runs each round of a loop',
      'import importlib\nNODE_CLASS_MAPPINGS = {}\nif torch.cuda.is_available():\n  for n in ["a", "b"]:\n    m = importlib.import_module(f".{n}", __name__)\n    NODE_CLASS_MAPPINGS.update(m.NODE_CLASS_MAPPINGS)',
    ],
    [
      'keeps the names known before, where they are given another value',
      'from . import a, b\nNODE_CLASS_MAPPINGS = {**a.NODE_CLASS_MAPPINGS, **b.NODE_CLASS_MAPPINGS}\nif torch.cuda.is_available():\n  NODE_CLASS_MAPPINGS = unknown(NODE_CLASS_MAPPINGS)',
    ],
    [
      'takes both of two modules',
      'if torch.cuda.is_available():\n  from . import a as impl\nelse:\n  from . import b as impl\nNODE_CLASS_MAPPINGS = {**impl.NODE_CLASS_MAPPINGS}',
    ],
    [
      'takes both of two lists of modules',
      'import importlib\nnames = ["a"] if torch.cuda.is_available() else ["b"]\nNODE_CLASS_MAPPINGS = {}\nfor n in names:\n  NODE_CLASS_MAPPINGS.update(importlib.import_module("." + n, __package__).NODE_CLASS_MAPPINGS)',
    ],
    [
      'calls both of two functions',
      'from . import a, b\nif torch.cuda.is_available():\n  def get(): return a.NODE_CLASS_MAPPINGS\nelse:\n  def get(): return b.NODE_CLASS_MAPPINGS\nNODE_CLASS_MAPPINGS = dict(get())',
    ],
    [
      'keeps what one way removes',
      'from . import a, b\nNODE_CLASS_MAPPINGS = {**a.NODE_CLASS_MAPPINGS, **b.NODE_CLASS_MAPPINGS}\nif torch.cuda.is_available():\n  NODE_CLASS_MAPPINGS.pop("B")\n  del NODE_CLASS_MAPPINGS["A"]',
    ],
    [
      'leaves out the way that ends in an error',
      'from . import a, b\nNODE_CLASS_MAPPINGS = {**a.NODE_CLASS_MAPPINGS, **b.NODE_CLASS_MAPPINGS}\nif torch.cuda.is_available():\n  NODE_CLASS_MAPPINGS = {}\n  raise RuntimeError()',
    ],
    [
      'follows a module that only one way imports, whichever way sees it first',
      'from .all import NODE_CLASS_MAPPINGS\nif torch.cuda.is_available():\n  from . import use\nelse:\n  from . import use',
    ],
    [
      'joins what a match and a while leave behind',
      'from . import a, b\nNODE_CLASS_MAPPINGS = {}\nmatch torch.__version__:\n  case "2":\n    NODE_CLASS_MAPPINGS.update(a.NODE_CLASS_MAPPINGS)\n  case _:\n    pass\nwhile torch.cuda.is_available():\n  NODE_CLASS_MAPPINGS.update(b.NODE_CLASS_MAPPINGS)',
    ],
    [
      'keeps the classes of a comprehension whose condition is one',
      'from . import a, b\nNODE_CLASS_MAPPINGS = {n: c for m in [a, b] for n, c in m.NODE_CLASS_MAPPINGS.items() if torch.has(c)}',
    ],
  ])('%s', async (_, root) => {
    const files = {
      '__init__.py': `import torch\n${root}`,
      'a.py': formatModule('A'),
      'b.py': formatModule('B'),
      'all.py': 'NODE_CLASS_MAPPINGS = {}',
      'use.py':
        'from . import a, b\nfrom .all import NODE_CLASS_MAPPINGS\nNODE_CLASS_MAPPINGS.update({**a.NODE_CLASS_MAPPINGS, **b.NODE_CLASS_MAPPINGS})',
    };
    expect(await readNames(files)).toEqual(['A', 'B']);
  });

  it('takes a value for known that is the same whichever way is taken, and no other', async () => {
    const { A } = await readPackNodes(`
import torch
def category():
    place = "one"
    if torch.cuda.is_available():
        place = "two"
        return "one"
    return place
sizes = ["1"]
if torch.cuda.is_available():
    sizes.append("2")
    own = []
    own.append("a")
else:
    own = ["a"]
class A:
    CATEGORY = category()
    FUNCTION = "go" if torch.cuda.is_available() else "run"
    @classmethod
    def INPUT_TYPES(s): return {"required": {"size": (sizes,), "own": (own,)}}
NODE_CLASS_MAPPINGS = {"A": A}
`);
    expect(A).toMatchObject({
      category: 'one',
      unknown: ['function', 'input_types.required.size', 'input_types.required.own'],
    });
    expect(A?.input_types.required.size).toEqual([['1', '2', { $computed: 'torch.cuda.is_available()' }]]);
  });

  it('reports the line that may register more nodes', async () => {
    const { unresolved } = await readPackCode({
      '__init__.py': `import torch\n${formatModule('A')}\nif torch.cuda.is_available():\n  NODE_CLASS_MAPPINGS = more()`,
    });
    expect(unresolved).toEqual([
      { file: '__init__.py', line: 7, what: 'nodes are registered at run time: torch.cuda.is_available()' },
    ]);
  });
});

describe('finds the modules of a pack', () => {
  const update = 'NODE_CLASS_MAPPINGS.update(module.NODE_CLASS_MAPPINGS)';
  it.each([
    [
      'below a folder, by rglob',
      `from pathlib import Path
for file in Path(__file__).parent.rglob("*.py"):
  if file.stem == "__init__" or not file.is_relative_to(Path(__file__).parent / "nodes"): continue
  spec = importlib.util.spec_from_file_location(file.stem, file)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  ${update}`,
    ],
    [
      'by pkgutil.walk_packages and their full names',
      `import pkgutil
from . import nodes
for info in pkgutil.walk_packages(nodes.__path__, nodes.__name__ + "."):
  if info.ispkg: continue
  module = importlib.import_module(info.name)
  ${update}`,
    ],
    [
      'by pkgutil.iter_modules of each folder that os.walk gives',
      `import os, pkgutil
here = os.path.dirname(__file__)
for root, folders, files in os.walk(here + "/nodes"):
  for _, name, is_package in pkgutil.iter_modules([root]):
    if is_package: continue
    package = os.path.relpath(root, here).replace(os.sep, ".")
    module = importlib.import_module(f"{__name__}.{package}.{name}")
    ${update}`,
    ],
    [
      'by paths that are cut like texts',
      `import glob, os
here = os.path.dirname(os.path.realpath(__file__))
for file in glob.glob(os.path.join(here, "nodes", "**", "*.py"), recursive=True):
  name = os.path.splitext(file[len(here):])[0].replace(os.sep, ".")
  if name.endswith("__init__"): continue
  module = importlib.import_module(name, package=__name__)
  ${update}`,
    ],
    [
      'by the parts of a path that is made relative',
      `from pathlib import Path
here = Path(__file__).resolve().parent
for file in sorted((here / "nodes").glob("**/*.py")):
  if file.name.startswith("_"): continue
  module = importlib.import_module("." + ".".join(file.relative_to(here).with_suffix("").parts), __package__)
  ${update}`,
    ],
    [
      'that a generator yields, from the name of the folder of the pack',
      `import os
def load(folder):
  for entry in os.scandir(folder):
    if entry.is_dir(): yield from load(entry.path)
    elif entry.name.endswith(".py") and entry.name != "__init__.py": yield entry.path
for path in load(os.path.join(os.path.dirname(__file__), "nodes")):
  folder = os.path.basename(os.path.dirname(__file__))
  name = path.split(folder + os.sep)[-1][:-3].replace("/", ".")
  if (module := importlib.import_module(f"custom_nodes.{folder}.{name}")) is not None:
    ${update}`,
    ],
    [
      'by loaders of one file',
      `import os
from importlib.machinery import SourceFileLoader
for name in ["a", "deep/b"]:
  module = SourceFileLoader(name, f"{os.path.dirname(__file__)}/nodes/{name}.py").load_module()
  ${update}`,
    ],
  ])('%s', async (_, root) => {
    const files = {
      '__init__.py': `import importlib.util\nNODE_CLASS_MAPPINGS = {}\n${root}`,
      'nodes/__init__.py': '',
      'nodes/a.py': formatModule('A'),
      'nodes/deep/__init__.py': '',
      'nodes/deep/b.py': formatModule('B'),
    };
    expect(await readPackCode(files)).toMatchObject({
      nodes: [{ name: 'A' }, { name: 'B' }],
      unresolved: [],
    });
  });
});

describe('follows what registers classes:', () => {
  it.each([
    [
      'a decorator that makes a class of a function',
      `NODE_CLASS_MAPPINGS = {}
def node(name):
  def wrap(function):
    NODE_CLASS_MAPPINGS[name] = type(name, (), {"CATEGORY": "x", "FUNCTION": function.__name__})
    return function
  return wrap
@node("A")
def a(): pass
@node("B")
def b(): pass`,
    ],
    [
      'a base class that is told of those who inherit from it',
      `NODE_CLASS_MAPPINGS = {}
class Base:
  def __init_subclass__(cls, name=None, **rest):
    super().__init_subclass__(**rest)
    NODE_CLASS_MAPPINGS[name or cls.__name__] = cls
class A(Base): pass
class Other(Base, name="B"): pass`,
    ],
    [
      'a metaclass',
      `NODE_CLASS_MAPPINGS = {}
class Meta(type):
  def __init__(cls, name, bases, attributes):
    if "CATEGORY" in attributes: NODE_CLASS_MAPPINGS[name] = cls
class Base(metaclass=Meta): pass
class A(Base): CATEGORY = "x"
class B(Base): CATEGORY = "x"`,
    ],
    [
      'names that are set on a class, whatever its body says',
      `classes = []
def make(kind):
  class Made:
    CATEGORY = "x"
    __name__ = "Body"
  Made.__name__ = "{}".format(kind)
  classes.append(Made)
def change(kind):
  class Made: CATEGORY = "x"
  setattr(Made, "__name__", "%s" % kind)
  classes.append(Made)
make("A")
change("B")
class Body: __name__ = "A"
NODE_CLASS_MAPPINGS = {one.__name__: one for one in classes if Body.__name__ == "Body"}`,
    ],
    [
      'a list of the subclasses of a class',
      'class Base: pass\nclass A(Base): pass\nclass B(Base): pass\nNODE_CLASS_MAPPINGS = {c.__name__: c for c in Base.__subclasses__()}',
    ],
    [
      'the classes of the own module, but those of other libraries',
      `import inspect, sys, torch
class A: INPUT_TYPES = {}
class B: INPUT_TYPES = {}
class Model(torch.nn.Module): pass
NODE_CLASS_MAPPINGS = {}
for name, one in inspect.getmembers(sys.modules[__name__], inspect.isclass):
  if one.__module__ == __name__ and hasattr(one, "INPUT_TYPES"): NODE_CLASS_MAPPINGS[name] = one`,
    ],
    [
      'an object that collects them',
      `class Registry:
  def __init__(self): self.classes = {}
  def __call__(self, cls):
    self.classes[cls.__name__] = cls
    return cls
  def register(self, name):
    def wrap(cls):
      self.classes[name] = cls
      return cls
    return wrap
registry = Registry()
@registry
class A: pass
@registry.register("B")
class Other: pass
NODE_CLASS_MAPPINGS = registry.classes`,
    ],
  ])('%s', async (_, root) => {
    expect(await readNames({ '__init__.py': root })).toEqual(['A', 'B']);
  });

  it('names what a metaclass registers before there is a class', async () => {
    const root = `found = {}
class Meta(type):
  def __new__(meta, name, bases, attributes):
    found[name] = super().__new__(meta, name, bases, attributes)
    return found[name]
class A(metaclass=Meta): CATEGORY = "x"
NODE_CLASS_MAPPINGS = found`;
    const { nodes, unresolved } = await readPackCode({ '__init__.py': root });
    expect([nodes.map(({ name }) => name), unresolved.map(({ what }) => what)]).toEqual([
      ['A'],
      ['the class of "A" is computed at run time: super().__new__(meta, name, bases, attributes)'],
    ]);
  });

  it('an extension whose list is found in the folders of the pack', async () => {
    const files = {
      '__init__.py': `import importlib, inspect, pkgutil
from comfy_api.latest import io
_found = None
def find():
  global _found
  if _found is not None: return _found
  nodes = importlib.import_module(".nodes", package=__name__)
  _found = []
  for _, name, _ in pkgutil.walk_packages(nodes.__path__, prefix=f"{__name__}.nodes."):
    try:
      module = importlib.import_module(name)
    except Exception:
      continue
    for _, one in inspect.getmembers(module, inspect.isclass):
      try:
        if issubclass(one, io.ComfyNode) and one is not io.ComfyNode: _found.append(one)
      except Exception:
        continue
  return _found
${extension}`,
      'nodes/__init__.py': '',
      'nodes/a.py': `${formatSchemaNode('A')}class Helper: pass\n`,
      'nodes/deep/__init__.py': '',
      'nodes/deep/b.py': `import torch\n${formatSchemaNode('B')}class Model(torch.nn.Module): pass\n`,
    };
    expect(await readNames(files)).toEqual(['A', 'B']);
  });

  it('lists of modules that are kept, under a variable that hosts do not set', async () => {
    const files = {
      '__init__.py': `import importlib, os
modules = []
if "UNDER_TEST" not in os.environ:
  for name in ["a", "b"]:
    modules.append(importlib.import_module(f".nodes_{name}", package=__name__))
if "MY_EXTRAS" in os.environ and os.environ["MY_EXTRAS"] == "1":
  modules.append(importlib.import_module(".nodes_extra", package=__name__))
def find():
  found = []
  for module in modules: found.extend(module.NODES)
  return found
${extension}`,
      'nodes_a.py': `${formatSchemaNode('A')}NODES = [A]`,
      'nodes_b.py': `${formatSchemaNode('B')}NODES = [B]`,
      'nodes_extra.py': `${formatSchemaNode('C')}NODES = [C]`,
    };
    expect(await readNames(files)).toEqual(['A', 'B']);
  });
});

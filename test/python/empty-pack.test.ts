import { expect, it } from 'vitest';
import { readPackCode } from './read-pack.js';

const node = 'class A:\n  @classmethod\n  def INPUT_TYPES(s): return {}\n';

it.each<[string, Record<string, string>]>([
  ['sets no mapping', { '__init__.py': 'x = 1' }],
  ['forgets the mapping of its node', { '__init__.py': 'from .nodes import A', 'nodes.py': node }],
  [
    'forgets to pass on the mapping of a module',
    {
      '__init__.py': 'from . import nodes',
      'nodes.py': `${node}NODE_CLASS_MAPPINGS = {"A": A}`,
    },
  ],
  ['leaves the mapping empty', { '__init__.py': `${node}NODE_CLASS_MAPPINGS = {}` }],
  ['has only a web folder', { '__init__.py': 'WEB_DIRECTORY = "./js"' }],
  ['has no __init__.py', { 'nodes.py': `${node}NODE_CLASS_MAPPINGS = {"A": A}` }],
  [
    'sets names at run time in a module that nothing imports',
    { '__init__.py': 'x = 1', 'tests/test_a.py': 'exec(code)' },
  ],
])('a pack that %s is certain to have no nodes', async (_, files) => {
  expect(await readPackCode(files)).toMatchObject({ nodes: [], isEmpty: true });
});

it.each<[string, Record<string, string>]>([
  ['imports all names of another package', { '__init__.py': 'from elsewhere import *' }],
  ['imports a module that is not packed', { '__init__.py': 'from ._native import *' }],
  ['runs code from a text', { '__init__.py': 'exec(open("nodes.txt").read())' }],
  ['sets names of its module', { '__init__.py': 'globals().update(load())' }],
  ['sets an attribute of its module', { '__init__.py': 'import sys\nsetattr(sys.modules[__name__], n, {})' }],
  ['looks names up at run time', { '__init__.py': 'def __getattr__(name): return load(name)' }],
  ['imports modules by their names', { '__init__.py': 'import importlib\nimportlib.import_module(name)' }],
  [
    'sets names in a module that it imports',
    { '__init__.py': 'from . import register', 'register.py': 'import sys\ndef f(): sys.modules[n].x = 1' },
  ],
  [
    'adds to the nodes of the host',
    { '__init__.py': `import nodes\n${node}nodes.NODE_CLASS_MAPPINGS["A"] = A` },
  ],
  [
    'has a function of another package register its class',
    { '__init__.py': `from elsewhere import register\n@register("A")\n${node}NODE_CLASS_MAPPINGS = {}` },
  ],
  ['computes its mapping', { '__init__.py': 'from elsewhere import load\nNODE_CLASS_MAPPINGS = load()' }],
])('a pack that %s may have nodes', async (_, files) => {
  expect(await readPackCode(files)).not.toHaveProperty('isEmpty');
});

import { expect, it } from 'vitest';
import { readPackCode } from './read-pack.js';

const formatNode = (name: string) => `class ${name}:
  @classmethod
  def INPUT_TYPES(s): return {}
`;

it.each([
  [
    'a pack without __init__.py in its root',
    { 'nodes/__init__.py': `${formatNode('A')}NODE_CLASS_MAPPINGS = {"A": A}` },
    ['the pack has no __init__.py in its root folder, so the host finds no nodes', /look like nodes/],
  ],
  [
    'a pack that sets no mapping',
    { '__init__.py': 'WEB_DIRECTORY = "js"' },
    ['neither NODE_CLASS_MAPPINGS nor comfy_entrypoint is set'],
  ],
  [
    'a module that is not packed, such as a compiled one',
    {
      '__init__.py': `${formatNode('A')}NODE_CLASS_MAPPINGS = {"A": A}\ntry:\n  from .native import *\nexcept ImportError: pass`,
    },
    ['the module .native is imported, and is not among the Python files of the pack'],
  ],
  [
    'classes that nothing registers',
    {
      '__init__.py': 'from . import nodes\nNODE_CLASS_MAPPINGS = {}',
      'nodes.py': `@elsewhere.register\n${formatNode('A')}`,
    },
    [/^classes look like nodes and are not registered, .*: A \(nodes\.py:2\)$/],
  ],
  [
    'a module with a computed name',
    {
      '__init__.py':
        'import importlib\nNODE_CLASS_MAPPINGS = {}\nfor name in read_names():\n  importlib.import_module("." + name, __name__)',
    },
    ['a module is imported under a computed name'],
  ],
  [
    'a mapping that another package is given',
    {
      '__init__.py': `from elsewhere import add_nodes\n${formatNode('A')}NODE_CLASS_MAPPINGS = {"A": A}\nadd_nodes(NODE_CLASS_MAPPINGS)`,
    },
    ['another package may register more nodes: add_nodes(NODE_CLASS_MAPPINGS)'],
  ],
  [
    'a mapping that is unknown, or empty after an error',
    {
      '__init__.py':
        'try:\n  NODE_CLASS_MAPPINGS = elsewhere.load()\nexcept Exception:\n  NODE_CLASS_MAPPINGS = {}',
    },
    [/^nodes are registered at run time/],
  ],
  [
    'names that are set in all of a module',
    {
      '__init__.py': `${formatNode('A')}NODE_CLASS_MAPPINGS = {"A": A}\nglobals().update(elsewhere.names())`,
    },
    [/^names are set at run time: /],
  ],
])('reports that nodes may be missing in %s', async (_, files, lines) => {
  const { unresolved } = await readPackCode(files as Record<string, string>);
  expect(unresolved.map(({ what }) => what)).toEqual(
    lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
  );
});

it('base classes, tests and a pack with only a web folder are not reported', async () => {
  const { unresolved } = await readPackCode({
    '__init__.py': `${formatNode('Base')}class A(Base): pass\nNODE_CLASS_MAPPINGS = {"A": A}`,
    'tests/test_nodes.py': formatNode('Fake'),
  });
  expect(unresolved).toEqual([]);
});

import { expect, it } from 'vitest';
import { readPackCode, readPackNodes } from './read-pack.js';

const blur = `
class Blur:
    """Softens."""
    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "image": ("IMAGE",),
                "radius": ("INT", {"default": 4, "min": 0, "max": 0xffffffffffffffff}),
                "sigma": ("FLOAT", {"default": 1.0, "step": 0.05}),
                "mode": (["fast", "good"], {"default": "fast"}),
            },
            "optional": {"mask": ("MASK",)},
        }
    RETURN_TYPES = ("IMAGE", "MASK")
    RETURN_NAMES = ("image", "rest")
    OUTPUT_IS_LIST = (True, False)
    FUNCTION = "blur"
    CATEGORY = "image/filter"
    DESCRIPTION = "Blurs" " an image."
    DEPRECATED = True
    EXPERIMENTAL = False

NODE_CLASS_MAPPINGS = {"Blur": Blur}
`;

it('reads every field that a class states in its attributes', async () => {
  expect(await readPackNodes(blur)).toEqual({
    Blur: {
      class: 'Blur',
      file: '__init__.py',
      line: 2,
      host_node_name: 'Blur',
      category: 'image/filter',
      function: 'blur',
      description: 'Blurs an image.',
      deprecated: true,
      experimental: false,
      input_types: {
        required: {
          image: ['IMAGE'],
          radius: ['INT', { default: 4, min: 0, max: 2 ** 64 }],
          sigma: ['FLOAT', { default: 1, step: 0.05 }],
          mode: [['fast', 'good'], { default: 'fast' }],
        },
        optional: { mask: ['MASK'] },
      },
      return_types: ['IMAGE', 'MASK'],
      return_names: ['image', 'rest'],
      output_is_list: [true, false],
      unknown: [],
    },
  });
});

it('writes whole numbers with all their digits and floats as floats', async () => {
  const [node] = (await readPackCode({ '__init__.py': blur })).nodes;
  expect(node?.definition.input_types).toContain('"max":18446744073709551615');
  expect(node?.definition.input_types).toContain('{"default":1.0,"step":0.05}');
});

it('names outputs by their types, and takes none for a list, where the class says nothing else', async () => {
  const { A } = await readPackNodes(`
class A:
    RETURN_TYPES = ("IMAGE", "INT")
NODE_CLASS_MAPPINGS = {"A": A}
`);
  expect(A).toMatchObject({ return_names: ['IMAGE', 'INT'], output_is_list: [false, false] });
});

it('finds what a class inherits, across modules, and what its parent computes with super()', async () => {
  const { Child } = await readPackNodes({
    '__init__.py': 'from .nodes.child import Child\nNODE_CLASS_MAPPINGS = {"Child": Child}',
    'nodes/child.py': `
from ..base import Base
class Child(Base):
    @classmethod
    def INPUT_TYPES(cls):
        types = super().INPUT_TYPES()
        types["required"]["extra"] = ("STRING", {"default": cls.WORD})
        return types
    WORD = "hello"
`,
    'base.py': `
CATEGORY = "base"
class Base:
    CATEGORY = CATEGORY + "/things"
    FUNCTION = "go"
    RETURN_TYPES = ()
    @classmethod
    def INPUT_TYPES(s):
        return {"required": {"seed": ("INT",)}}
`,
  });
  expect(Child).toMatchObject({
    file: 'nodes/child.py',
    category: 'base/things',
    function: 'go',
    return_types: [],
    input_types: { required: { seed: ['INT'], extra: ['STRING', { default: 'hello' }] } },
    unknown: [],
  });
});

it('lists the inputs that are known and marks the values that are computed', async () => {
  const { Loader } = await readPackNodes(`
import folder_paths
SIZES = [64 * n for n in range(1, 4)]
class Loader:
    @classmethod
    def INPUT_TYPES(s):
        return {"required": {
            "name": (folder_paths.get_filename_list("loras"), {"tooltip": "which"}),
            "size": (SIZES,),
        }, "hidden": {**common()}}
    CATEGORY = pick_category()
NODE_CLASS_MAPPINGS = {"Loader": Loader}
`);
  expect(Loader?.input_types).toEqual({
    required: {
      name: [{ $computed: 'folder_paths.get_filename_list("loras")' }, { tooltip: 'which' }],
      size: [[64, 128, 192]],
    },
    hidden: { $computed: '**common()' },
  });
  expect(Loader?.category).toBeUndefined();
  expect(Loader?.unknown).toEqual(['category', 'input_types.required.name', 'input_types.hidden']);
});

it('never takes one of two possible values for the real one', async () => {
  const { A, B } = await readPackNodes(`
import os
place = "one"
if os.environ.get("X"):
    place = "two"
def title(x=None):
    if os.environ.get("Y"):
        return "first"
    return "second"
class A:
    CATEGORY = place
    FUNCTION = title()
class B:
    CATEGORY = "kept"
    FUNCTION = "go" if True else other()
NODE_CLASS_MAPPINGS = {"A": A, "B": B}
`);
  expect(A?.unknown).toEqual(['category', 'function']);
  expect(A).not.toHaveProperty('category');
  expect(B).toMatchObject({ category: 'kept', function: 'go', unknown: [] });
});

it('reports which fields come from a class of another package', async () => {
  const { Preview } = await readPackNodes(`
import nodes
class Preview(nodes.PreviewImage):
    CATEGORY = "mine"
NODE_CLASS_MAPPINGS = {"Preview": Preview}
`);
  expect(Preview?.category).toBe('mine');
  expect(Preview?.unknown).toEqual(['function', 'input_types', 'return_types', 'return_names']);
});

it('takes the wildcard type for its text, however the class that makes it is written', async () => {
  const { A } = await readPackNodes(`
from comfy.comfy_types.node_typing import IO
class AnyType(str):
    def __ne__(self, other):
        return False
any_type = AnyType("*")
class A:
    RETURN_TYPES = (any_type, IO.ANY, IO.IMAGE)
NODE_CLASS_MAPPINGS = {"A": A}
`);
  expect(A?.return_types).toEqual(['*', '*', 'IMAGE']);
});

it('evaluates the helpers of a pack: loops, formats, methods of texts, and enums', async () => {
  const { A } = await readPackNodes(`
from enum import Enum
class Mode(Enum):
    FAST = "fast"
    GOOD = "good"
def field(kind, **options):
    return (kind.upper(), dict(options))
def build():
    inputs = {}
    for index, name in enumerate(["a", "b"], 1):
        inputs[f"{name}_{index}"] = field("int", default=index)
    inputs["mode"] = ([m.value for m in Mode],)
    inputs["text"] = field("string", default="{}-{}".format("x", 2), multiline=not False)
    return {"required": inputs}
class A:
    INPUT_TYPES = classmethod(lambda cls: build())
    @classmethod
    def INPUT_TYPES(cls):
        return build()
NODE_CLASS_MAPPINGS = {"A": A}
`);
  expect(A?.input_types).toEqual({
    required: {
      a_1: ['INT', { default: 1 }],
      b_2: ['INT', { default: 2 }],
      mode: [['fast', 'good']],
      text: ['STRING', { default: 'x-2', multiline: true }],
    },
  });
});

it('keeps None apart from what is unknown', async () => {
  const { A } = await readPackNodes(`
def category(sub=None):
    if sub is None:
        return "top"
    return "top/" + sub
class A:
    CATEGORY = category()
    FUNCTION = {"x": None}.get("x", "go") or "run"
    DESCRIPTION = None
NODE_CLASS_MAPPINGS = {"A": A}
`);
  expect(A).toMatchObject({ category: 'top', function: 'run', unknown: [] });
});

it('marks outputs that a base class of the host or a call defines, and reads outputs of a tuple subclass', async () => {
  const { Inherits, Calls, Own } = await readPackNodes(`
import nodes
from elsewhere import make_types
class Types(tuple):
    def __getitem__(self, index): return super().__getitem__(0)
class Inherits(nodes.PreviewImage):
    CATEGORY = "mine"
class Calls:
    RETURN_TYPES = make_types("IMAGE")
class Own:
    RETURN_TYPES = Types(("IMAGE", "MASK"))
    RETURN_NAMES = Types(("a", "b"))
NODE_CLASS_MAPPINGS = {"Inherits": Inherits, "Calls": Calls, "Own": Own}
`);
  const inherited = [{ $computed: 'RETURN_TYPES of a base class' }];
  expect(Inherits).toMatchObject({ return_types: inherited, return_names: inherited });
  const called = [{ $computed: 'make_types("IMAGE")' }];
  expect(Calls).toMatchObject({ return_types: called, return_names: called });
  expect(Own).toMatchObject({ return_types: ['IMAGE', 'MASK'], return_names: ['a', 'b'], unknown: [] });
});

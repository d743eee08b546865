import { expect, it } from 'vitest';
import { readPackCode, readPackNodes } from './read-pack.js';

const pack = `
from typing_extensions import override
from comfy_api.latest import ComfyExtension, io
Thing = io.Custom("THING")

class Mix(io.ComfyNode):
    @classmethod
    def define_schema(cls) -> io.Schema:
        return io.Schema(
            node_id="MixImages",
            display_name="Mix images",
            category="image/mix",
            description="Mixes two.",
            is_experimental=True,
            is_output_node=True,
            inputs=[
                io.Image.Input("image", tooltip="first"),
                io.Float.Input("amount", default=0.5, min=0.0, max=1.0, display_mode=io.NumberDisplay.slider),
                io.Combo.Input("mode", options=["a", "b"], default="a", upload=io.UploadType.image),
                io.String.Input("note", multiline=True, optional=True, force_input=True),
                Thing.Input("thing", optional=True),
                io.MultiType.Input("any", [io.Mask, io.Latent]),
            ],
            outputs=[io.Image.Output(display_name="mixed"), Thing.Output(is_output_list=True)],
            hidden=[io.Hidden.unique_id],
        )
    @classmethod
    def execute(cls, **kwargs) -> io.NodeOutput:
        pass

class Extension(ComfyExtension):
    @override
    async def get_node_list(self) -> list[type[io.ComfyNode]]:
        return [Mix]

async def comfy_entrypoint() -> Extension:
    return Extension()
`;

it('reads a schema into the same form as a class of attributes', async () => {
  expect(await readPackNodes(pack)).toEqual({
    MixImages: {
      class: 'Mix',
      file: '__init__.py',
      line: 6,
      host_node_name: 'MixImages',
      category: 'image/mix',
      description: 'Mixes two.',
      experimental: true,
      function: 'execute',
      input_types: {
        required: {
          image: ['IMAGE', { tooltip: 'first' }],
          amount: ['FLOAT', { default: 0.5, min: 0, max: 1, display: 'slider' }],
          mode: ['COMBO', { multiselect: false, options: ['a', 'b'], default: 'a', image_upload: true }],
          any: ['MASK,LATENT', {}],
        },
        optional: {
          note: ['STRING', { multiline: true, forceInput: true }],
          thing: ['THING', {}],
        },
        hidden: { unique_id: ['UNIQUE_ID'], prompt: ['PROMPT'], extra_pnginfo: ['EXTRA_PNGINFO'] },
      },
      return_types: ['IMAGE', 'THING'],
      return_names: ['mixed', 'THING'],
      output_is_list: [false, true],
      unknown: [],
    },
  });
});

it('takes the name of the mapping where a schema is registered in one', async () => {
  expect(Object.keys(await readPackNodes(`${pack}\nNODE_CLASS_MAPPINGS = {"Other": Mix}`))).toEqual([
    'Other',
  ]);
});

it('follows a schema that is changed before it is returned', async () => {
  const { Child } = await readPackNodes(`
from comfy_api.latest import io
class Base(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        schema = io.Schema(node_id="Base", category="c", inputs=[io.Int.Input("a")])
        schema.inputs.append(io.Mask.Input("b"))
        return schema
class Child(Base): pass
NODE_CLASS_MAPPINGS = {"Child": Child}
`);
  expect(Object.keys(Child?.input_types.required)).toEqual(['a', 'b']);
});

it.each([
  ['schema.node_id = "Sub"', 'Sub'],
  ['schema.node_id += "More"', 'BaseMore'],
  ['schema.node_id = f"{schema.node_id}.{cls.__name__}"', 'Base.Child'],
  ['setattr(schema, "node_id", "Set")', 'Set'],
])('follows a schema of the base class that is changed with %s', async (change, name) => {
  const nodes = await readPackNodes(`
from comfy_api.latest import ComfyExtension, io
class Base(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        return io.Schema(node_id="Base", category="c", inputs=[io.Int.Input("a"), io.Mask.Input("b")])
class Child(Base):
    @classmethod
    def define_schema(cls):
        schema = super().define_schema()
        ${change}
        schema.category = schema.category + "/more"
        schema.inputs = [*schema.inputs, io.Float.Input("d")]
        del schema.inputs[1]
        return schema
class Extension(ComfyExtension):
    async def get_node_list(self):
        return [Base, Child]
async def comfy_entrypoint():
    return Extension()
`);
  const seen = Object.entries(nodes).map(([id, node]) => [
    ...[id, node.class, node.category, Object.keys(node.input_types.required)],
    node.unknown,
  ]);
  expect(seen).toEqual([
    ['Base', 'Base', 'c', ['a', 'b'], []],
    [name, 'Child', 'c/more', ['a', 'd'], []],
  ]);
});

it('reports a class that changes the name in a schema whose own name it cannot see', async () => {
  const { nodes, unresolved } = await readPackCode({
    '__init__.py': `
from comfy_api.latest import io
from elsewhere import Foreign
class Child(Foreign):
    @classmethod
    def define_schema(cls):
        schema = super().define_schema()
        schema.node_id = schema.node_id + "More"
        return schema
class E:
    async def get_node_list(self):
        return [Child]
async def comfy_entrypoint():
    return E()
`,
  });
  expect(nodes).toEqual([]);
  expect(unresolved.map(({ what }) => what)).toEqual([
    'what class Child defines cannot be followed: it is computed at run time',
  ]);
});

it('marks what a schema computes, and reports nodes that are listed at run time', async () => {
  const { nodes, unresolved } = await readPackCode({
    '__init__.py': `
from comfy_api.latest import io
import folder_paths
class A(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        return io.Schema("A", inputs=[io.Combo.Input("x", options=folder_paths.names()), *more()], outputs=[io.Strange.Output()])
class E:
    async def get_node_list(self):
        return [A, elsewhere.B]
async def comfy_entrypoint():
    return E()
`,
  });
  expect(nodes[0]?.unknown).toEqual([
    'input_types.required.x',
    'input_types.required',
    'return_types.0',
    'return_names.0',
  ]);
  expect(unresolved.map(({ line, what }) => [line, what])).toEqual([
    [10, 'nodes are listed at run time: elsewhere.B'],
  ]);
});

it('names outputs by their ids, and gives inputs the options that the host gives them', async () => {
  const { A } = await readPackNodes(`
from comfy_api.latest import io
class A(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        return io.Schema(node_id="A", category="c", inputs=[
            io.BoundingBox.Input("box"),
            io.BoundingBox.Input("own", socketless=False, default={"x": 1}),
            io.Color.Input("color", tooltip="which"),
            io.MultiType.Input(io.Float.Input("size", default=1.0, optional=True), [io.Int, io.Float], tooltip="how much"),
            io.MultiType.Input(io.Image.Input("image"), [io.Mask]),
        ], outputs=[
            io.BoundingBox.Output("bounding_box"),
            io.Image.Output(id="image", display_name="shown"),
            io.Image.Output(),
            io.MatchType.Output(template),
        ])
NODE_CLASS_MAPPINGS = {"A": A}
`);
  expect(A?.input_types).toEqual({
    required: {
      box: ['BOUNDING_BOX', { socketless: true, default: { x: 0, y: 0, width: 512, height: 512 } }],
      own: ['BOUNDING_BOX', { socketless: false, default: { x: 1 } }],
      color: ['COLOR', { socketless: true, default: '#ffffff', tooltip: 'which' }],
      image: ['IMAGE,MASK', {}],
    },
    optional: { size: ['FLOAT,INT', { default: 1, widgetType: 'FLOAT', tooltip: 'how much' }] },
  });
  expect(A?.return_names).toEqual(['bounding_box', 'shown', 'IMAGE', 'MATCHTYPE']);
});

/** What a new pack is named after. */
interface ScaffoldFacts {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly publisher: string;
  readonly description: string;
  readonly year: number;
}

/** The files of a new pack with one working node, by their paths; without the manifest. */
export function createScaffold(facts: ScaffoldFacts): Readonly<Record<string, string>> {
  return {
    '__init__.py': INIT,
    'nodes.py': writeNodes(facts),
    'README.md': writeReadme(facts),
    LICENSE: writeLicense(facts),
  };
}

const INIT = `from .nodes import NODE_CLASS_MAPPINGS, NODE_DISPLAY_NAME_MAPPINGS

__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS"]
`;

/** The name of the class: workflows store it, so it must differ from those of other packs. */
function toClassName(id: string): string {
  const words = id.split(/[^a-z0-9]+/i).filter(Boolean);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return `${/^\d/.test(name) ? 'Pack' : ''}${name}Brightness`;
}

function writeNodes({ id, name }: ScaffoldFacts): string {
  const className = toClassName(id);
  return `class ${className}:
    """Makes images brighter or darker."""

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "image": ("IMAGE",),
                "strength": ("FLOAT", {"default": 1.2, "min": 0.0, "max": 4.0, "step": 0.05}),
            }
        }

    RETURN_TYPES = ("IMAGE",)
    RETURN_NAMES = ("image",)
    FUNCTION = "brighten"
    CATEGORY = ${JSON.stringify(name)}

    def brighten(self, image, strength):
        return ((image * strength).clamp(0.0, 1.0),)


# Workflows store these names: change the text of the second, never that of the first.
NODE_CLASS_MAPPINGS = {"${className}": ${className}}
NODE_DISPLAY_NAME_MAPPINGS = {"${className}": "Brightness"}
`;
}

function writeReadme({ id, name, description }: ScaffoldFacts): string {
  return `# ${name}

${description}

## Nodes

- **Brightness** makes images brighter or darker.

## Install

Put this folder into \`custom_nodes/${id}\` of ComfyUI, and restart it. Its nodes are in the menu under *${name}*.
`;
}

function writeLicense({ publisher, year }: ScaffoldFacts): string {
  return `MIT License

Copyright (c) ${year} ${publisher}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;
}

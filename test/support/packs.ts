import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folderForTest } from './service.js';

/** Writes files into a folder, made for the test unless it is given. */
export function filesForTest(files: Record<string, string | Buffer>, folder = folderForTest()): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export interface PackFacts {
  readonly name?: string;
  readonly version?: string;
  readonly publisher?: string;
  readonly files?: Record<string, string | Buffer>;
  readonly folder?: string;
}

/** A small sound pack of the publisher `acme`. */
export function packForTest({
  name = 'pack',
  version = '1.0.0',
  publisher = 'acme',
  files,
  folder = folderForTest(),
}: PackFacts = {}): string {
  const all = {
    'pyproject.toml': `[project]
name = "${name}"
version = "${version}"
description = "A pack"

[tool.hostui]
PublisherId = "${publisher}"
DisplayName = "Pack"
`,
    '__init__.py': nodePython,
    ...files,
  };
  return filesForTest(all, folder);
}

const nodePython = `
class Greet:
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"name": ("STRING", {"default": "you"})}}

    RETURN_TYPES = ("STRING",)
    FUNCTION = "greet"
    CATEGORY = "pack"

    def greet(self, name):
        return (f"Hello {name}",)

NODE_CLASS_MAPPINGS = {"Greet": Greet}
`;

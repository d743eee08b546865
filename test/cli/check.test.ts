import { expect, test } from 'vitest';
import { regen } from '../support/cli.js';
import { filesForTest, packForTest } from '../support/packs.js';

test('check lists what the registry will see, and sends nothing', async () => {
  const { exit, stdout } = await regen(['version', 'check', packForTest(), '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    files: [
      { path: '__init__.py', size: expect.any(Number) },
      { path: 'pyproject.toml', size: expect.any(Number) },
    ],
    definitions: [
      {
        host_node_name: 'Greet',
        category: 'pack',
        function: 'greet',
        input_types: '{"required":{"name":["STRING",{"default":"you"}]}}',
        return_types: '["STRING"]',
        return_names: '["STRING"]',
        output_is_list: [false],
      },
    ],
    unknown: [],
    findings: [],
    verdict: 'NodeVersionStatusActive',
  });
});

test('check is exit 6 where the registry would flag the version, and names file, line and rule', async () => {
  const pack = packForTest({
    files: { 'load.py': 'import base64\n\nexec(base64.b64decode("cHJpbnQoMSk="))\n' },
  });
  const { exit, stdout } = await regen(['version', 'check', pack]);
  expect(exit).toBe(6);
  expect(stdout).toContain('high\tobfuscated-code\tload.py:3\t');
  expect(stdout).toMatch(/verdict\tNodeVersionStatusFlagged\t\t\n$/);
});

test('what is computed at run time is marked unknown, never invented', async () => {
  const pack = packForTest({
    files: {
      '__init__.py': `
import folder_paths

class Load:
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"name": (folder_paths.get_filename_list("x"),), "size": ("INT", {"default": 1})}}
    RETURN_TYPES = ("MODEL",)
    FUNCTION = "load"
    CATEGORY = "loaders"

NODE_CLASS_MAPPINGS = {"Load": Load}
`,
    },
  });
  const { stdout } = await regen(['version', 'check', pack]);
  expect(stdout).toContain('definition\tLoad\t__init__.py:4\tloaders load ["MODEL"]\n');
  expect(stdout).toContain('unknown\tLoad\t__init__.py:4\tcomputed at run time: input_types.required.name');
});

test('a folder without a manifest is sent to the command that writes one', async () => {
  const { exit, stderr } = await regen(['version', 'check', filesForTest({ 'a.py': '' })]);
  expect(exit).toBe(2);
  expect(stderr).toContain('regen node init');
});

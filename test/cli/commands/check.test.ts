import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { filesForTest, packForTest } from '../../support/packs.js';
import { publisherForTest, serviceForTest } from '../../support/service.js';

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

test('check exits 6 if the registry would flag the version, and names file, line and rule', async () => {
  const pack = packForTest({
    files: { 'load.py': 'import base64\n\nexec(base64.b64decode("cHJpbnQoMSk="))\n' },
  });
  const { exit, stdout, stderr } = await regen(['version', 'check', pack]);
  expect(exit).toBe(6);
  expect(stdout).toContain('high\tobfuscated-code\tload.py:3\t');
  expect(stdout).toMatch(/verdict\tNodeVersionStatusFlagged\t\t1 high finding flags this version\.\n$/);
  expect(stderr).toContain('publish with --allow-findings, and ask an admin of the registry for a review.\n');
  const shown = await regen(['version', 'check', pack], { terminal: true });
  expect(shown.stderr).toContain('obfuscated-code: Publish the source as it is.');
});

test('values computed at run time are marked unknown', async () => {
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

test('check of a folder without a manifest suggests the command that creates one', async () => {
  const { exit, stderr } = await regen(['version', 'check', filesForTest({ 'a.py': '' })]);
  expect(exit).toBe(2);
  expect(stderr).toContain('regen node init');
});

test('check --for comfy adds what that scanner is known to flag, with rule, source and what to write instead', async () => {
  const pack = packForTest({
    files: {
      'run.py': 'import subprocess\nimport os\n\nKEY = os.environ["KEY"]\n',
      'web/graph.js': '// node.connect(1)\nnode.connect(slot, target)\n',
      'vendor/lib/a.js': 'export const a = 1;\n',
      'vendor/free/b.js': 'export const b = 1;\n',
      'vendor/free/LICENSE': 'MIT\n',
      'tools/clean.sh': 'rm -rf build\n',
    },
  });
  const plain = await regen(['version', 'check', pack]);
  expect([plain.exit, plain.stdout]).toEqual([0, expect.not.stringContaining('comfy')]);
  const { exit, stdout } = await regen(['version', 'check', pack, '--for', 'comfy', '--json']);
  expect(exit).toBe(6);
  const answer = JSON.parse(stdout);
  expect(answer.verdict).toBe('NodeVersionStatusActive');
  expect(answer.for.verdict).toBe('NodeVersionStatusFlagged');
  const found = answer.for.findings.map(
    ({ rule, file, line }: Record<string, unknown>) => `${rule} ${file}:${line}`,
  );
  expect(found.sort()).toEqual([
    'python_command_injection_risk run.py:1',
    'python_environment_manipulation run.py:4',
    'python_network_operations web/graph.js:1',
    'python_network_operations web/graph.js:2',
    'rm -rf tools/clean.sh:1',
    'vendored_unknown vendor/lib/a.js:1',
  ]);
  for (const finding of answer.for.findings) {
    expect(finding.date).toMatch(/^2026-\d\d-\d\d$/);
    expect(finding.source).toMatch(/#\d+$/);
    expect(finding.instead).not.toBe('');
  }
  const rows = await regen(['version', 'check', pack, '--for', 'comfy']);
  expect(rows.stdout).toContain('comfy\tpython_command_injection_risk\trun.py:1\tsubprocess Call a library');
  expect(rows.stdout).toMatch(/comfy\tNodeVersionStatusFlagged\t\t\n$/);
});

test('check --for comfy accepts a pack without such findings, and refuses other registries', async () => {
  const { exit, stdout } = await regen(['version', 'check', packForTest(), '--for', 'comfy']);
  expect([exit, stdout]).toEqual([0, expect.stringMatching(/comfy\tNodeVersionStatusActive\t\t\n$/)]);
  const other = await regen(['version', 'check', packForTest(), '--for', 'npm']);
  expect([other.exit, other.stderr]).toEqual([2, expect.stringContaining("--for must be comfy, not 'npm'.")]);
});

test.each([
  ['an empty mapping', 'NODE_CLASS_MAPPINGS = {}\n', ''],
  ['no mapping', 'x = 1\n', '  __init__.py:1 neither NODE_CLASS_MAPPINGS nor comfy_entrypoint is set\n'],
])('check refuses a pack with %s as publish does, unless that is allowed', async (_, code, detail) => {
  const pack = packForTest({ files: { '__init__.py': code } });
  const { exit, stdout, stderr } = await regen(['version', 'check', pack]);
  expect([exit, stdout]).toEqual([2, expect.stringMatching(/verdict\tNodeVersionStatusActive/)]);
  const refusal = `error: No node definition was found; nothing was sent.\n${detail}hint: `;
  expect(stderr).toContain(refusal);
  expect(stderr).not.toContain('warning');
  const published = await regen(['version', 'publish', pack]);
  expect([published.exit, published.stderr]).toEqual([2, expect.stringContaining(refusal)]);
  const allowed = await regen(['version', 'check', pack, '--allow-empty']);
  expect([allowed.exit, allowed.stderr]).toEqual([
    0,
    expect.stringContaining('No node definition was found'),
  ]);
});

test('a pack whose mapping is computed at run time passes with a warning', async () => {
  const code = 'from elsewhere import load\nNODE_CLASS_MAPPINGS = load()\n';
  const { exit, stderr } = await regen(['version', 'check', packForTest({ files: { '__init__.py': code } })]);
  expect([exit, stderr]).toEqual([
    0,
    expect.stringContaining(
      'warning: No node definition was found, because NODE_CLASS_MAPPINGS of __init__.py is computed at run time',
    ),
  ]);
});

test('Python that ComfyUI cannot import is refused with its line, unless findings are allowed', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const files = { '__init__.py': 'from .nodes import *\nNODE_CLASS_MAPPINGS = {"A": A}\n' };
  const pack = packForTest({ files: { ...files, 'nodes.py': 'class A:\n  RETURN_TYPES = ("IMAGE",\n' } });
  for (const words of [['check'], ['publish'], ['publish', '--dry-run']]) {
    const { exit, stderr } = await regen(['version', ...words, pack], { env });
    expect([exit, stderr]).toEqual([
      2,
      expect.stringContaining(
        'error: nodes.py:2 is not valid Python; ComfyUI cannot load this pack. Nothing was sent.\nhint: Fix it, or pass --allow-findings',
      ),
    ]);
  }
  const published = await regen(['version', 'publish', pack, '--allow-findings'], { env });
  expect([published.exit, published.stderr]).toEqual([
    0,
    expect.stringContaining('warning: nodes.py:2 is not valid Python; ComfyUI cannot load this pack.'),
  ]);
});

test('check reports a file with an error that nothing imports', async () => {
  const pack = packForTest({ files: { 'bad.py': 'x = 1\ndef (:\n' } });
  const { exit, stdout, stderr } = await regen(['version', 'check', pack]);
  const report = 'is not valid Python; what could be read of it is used';
  expect([exit, stdout]).toEqual([0, expect.stringContaining(`unknown\t\tbad.py:2\t${report}\n`)]);
  expect(stderr).toContain(`warning: bad.py:2 ${report}.`);
});

test('an unreadable file is reported with a message, not as a bug', async () => {
  const folder = filesForTest({ 'pyproject.toml/inner': '' });
  const { exit, stderr } = await regen(['version', 'check', folder]);
  expect(exit).toBe(2);
  expect(stderr).not.toContain('bug');
});

describe('findings for other programs', () => {
  const hostile = 'load,100% it.py';
  const pack = () =>
    packForTest({ files: { [hostile]: 'import base64\n\nexec(base64.b64decode("cHJpbnQoMSk="))\n' } });

  test('are commands of a GitHub workflow with paths from the current folder', async () => {
    const folder = pack();
    const { exit, stdout } = await regen(['version', 'check', basename(folder), '--format', 'github'], {
      cwd: dirname(folder),
    });
    expect(exit).toBe(6);
    expect(
      stdout
        .split('\n')
        .filter(Boolean)
        .every((line) => /^::(error|warning) file=/.test(line)),
    ).toBe(true);
    expect(stdout).toContain(
      `::error file=${basename(folder)}/load%2C100%25 it.py,line=3,title=regen%3A obfuscated-code::`,
    );
    const clean = await regen(['version', 'check', packForTest(), '--format', 'github']);
    expect([clean.exit, clean.stdout]).toEqual([0, '']);
  });

  test('are SARIF with paths as URIs', async () => {
    const { exit, stdout } = await regen(['version', 'check', '--format', 'sarif'], { cwd: pack() });
    expect(exit).toBe(6);
    const { version, runs } = JSON.parse(stdout);
    expect([version, runs[0].tool.driver.name]).toEqual(['2.1.0', 'regen']);
    expect(runs[0].results).toContainEqual({
      ruleId: 'obfuscated-code',
      level: 'error',
      message: { text: expect.stringContaining('decoded') },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'load%2C100%25%20it.py' },
            region: { startLine: 3 },
          },
        },
      ],
    });
    expect((await regen(['version', 'check', '--format', 'sarif', '--json'], { cwd: pack() })).exit).toBe(2);
    expect((await regen(['version', 'check', '--format', 'junit'], { cwd: pack() })).exit).toBe(2);
  });
});

test('check refuses a version number that is used by other files, as a publish does', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const pack = packForTest();
  expect((await regen(['version', 'publish', pack], { env })).exit).toBe(0);
  const check = (dir: string, ...flags: string[]) =>
    regen(['version', 'check', dir, '--base-url', service.url, ...flags], { env });
  const same = await check(pack);
  expect([same.exit, same.stderr]).toEqual([
    0,
    expect.stringContaining('pack 1.0.0 is already published, with the same files.\n'),
  ]);
  const changed = packForTest({ files: { 'more.py': 'MORE = 1\n' } });
  for (const flags of [[], ['--allow-breaking']]) {
    const { exit, stderr } = await check(changed, ...flags);
    expect([exit, stderr]).toEqual([
      5,
      expect.stringContaining('error: pack 1.0.0 is already published with other files.\n'),
    ]);
  }
});

test('on a terminal, check separates the category, the function and the outputs of a definition', async () => {
  const shown = await regen(['version', 'check', packForTest()], { terminal: true });
  expect(shown.stdout).toContain('pack, greet, ["STRING"]');
});

test('check names definitions that other nodes of the named registry have, too, as a low finding', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  expect((await regen(['version', 'publish', packForTest({ name: 'first' })], { env })).exit).toBe(0);
  const check = (name: string, ...flags: string[]) =>
    regen(['version', 'check', packForTest({ name }), ...flags], { env });
  const { exit, stdout } = await check('second', '--base-url', service.url);
  expect([exit, stdout]).toEqual([
    0,
    expect.stringContaining(
      'low\ttaken-name\t__init__.py:2\tThe definition Greet is in first, too; the host loads only one of them.\n',
    ),
  ]);
  const own = await check('first', '--base-url', service.url);
  expect(own.stdout).not.toContain('taken-name');
  expect((await check('second')).stdout).not.toContain('taken-name');
  await service.stop();
  const offline = await check('second', '--base-url', service.url);
  expect([offline.exit, offline.stderr]).toEqual([
    0,
    expect.stringContaining('Names of other nodes were not compared'),
  ]);
});

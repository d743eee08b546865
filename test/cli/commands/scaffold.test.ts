import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { regen } from '../../support/cli.js';
import { ask, folderForTest, serviceForTest } from '../../support/service.js';

const createScaffoldArguments = (dir: string) => ['node', 'scaffold', dir, '--publisher', 'my-team'];

it('a scaffold passes every check, with one definition and no finding', async () => {
  const cwd = folderForTest();
  const made = await regen(createScaffoldArguments('light-tools'), { cwd });
  expect([made.exit, made.stdout]).toEqual([0, `${join(cwd, 'light-tools')}\n`]);
  expect(readdirSync(join(cwd, 'light-tools')).sort()).toEqual([
    ...['LICENSE', 'README.md', '__init__.py', 'nodes.py', 'pyproject.toml'],
  ]);
  const { exit, stdout, stderr } = await regen(['version', 'check', 'light-tools', '--json'], { cwd });
  expect(exit, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    definitions: [{ host_node_name: 'LightToolsBrightness', category: 'Light tools' }],
    ...{ unknown: [], findings: [], verdict: 'NodeVersionStatusActive' },
  });
});

it('the node of a scaffold runs', async () => {
  const cwd = folderForTest();
  await regen(createScaffoldArguments('3d_tools.x'), { cwd });
  const program = `
import importlib.util, sys
spec = importlib.util.spec_from_file_location("pack", "3d_tools.x/__init__.py", submodule_search_locations=["3d_tools.x"])
pack = importlib.util.module_from_spec(spec)
sys.modules["pack"] = pack
spec.loader.exec_module(pack)
class Image(float):
    def __mul__(self, other): return Image(float(self) * other)
    def clamp(self, low, high): return min(max(self, low), high)
[(name, node)] = pack.NODE_CLASS_MAPPINGS.items()
print(name, getattr(node(), node.FUNCTION)(Image(0.5), 3.0), pack.NODE_DISPLAY_NAME_MAPPINGS[name])
`;
  const printed = execFileSync('python3', ['-c', program], { cwd, encoding: 'utf8' });
  expect(printed).toBe('Pack3dToolsXBrightness (1.0,) Brightness\n');
});

it('a scaffold can be published as it is, and an empty folder cannot', { timeout: 60_000 }, async () => {
  const { url, ownerToken } = await serviceForTest();
  await ask(`${url}/publishers`, {
    method: 'POST',
    token: ownerToken,
    json: { id: 'my-team', name: 'My team' },
  });
  const path = `${url}/publishers/my-team/tokens`;
  const made = await ask(path, { method: 'POST', token: ownerToken, json: { name: 'test' } });
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken, REGEN_PUBLISH_TOKEN: made.body.token };
  const cwd = folderForTest();
  await regen(createScaffoldArguments('light-tools'), { cwd });
  const published = await regen(['version', 'publish', 'light-tools'], { cwd, env });
  expect(published.exit, published.stderr).toBe(0);
  expect(published.stderr).toContain('light-tools 1.0.0 is Active with 1 node definition.');
  mkdirSync(join(cwd, 'empty'));
  await regen(['node', 'init', '--publisher', 'my-team'], { cwd: join(cwd, 'empty'), env });
  const empty = await regen(['version', 'publish', 'empty'], { cwd, env });
  expect([empty.exit, empty.stderr]).toEqual([
    2,
    expect.stringContaining('No node definition was found; nothing was sent.'),
  ]);
  expect(empty.stderr).toContain('--allow-empty');
  expect((await regen(['version', 'list', 'empty'], { env })).exit).toBe(3);
  const allowed = await regen(['version', 'publish', 'empty', '--allow-empty'], { cwd, env });
  expect(allowed.exit, allowed.stderr).toBe(0);
});

it('a folder that has files keeps them, and a repository counts as empty', async () => {
  const cwd = folderForTest();
  mkdirSync(join(cwd, 'taken'));
  writeFileSync(join(cwd, 'taken', 'nodes.py'), 'mine');
  const taken = await regen(createScaffoldArguments('taken'), { cwd });
  expect([taken.exit, taken.stderr]).toEqual([
    2,
    expect.stringContaining('taken is not empty: it has nodes.py.'),
  ]);
  expect(readdirSync(join(cwd, 'taken'))).toEqual(['nodes.py']);
  writeFileSync(join(cwd, 'file'), '');
  expect((await regen(createScaffoldArguments('file'), { cwd })).stderr).toContain(
    'is a file; name a folder.',
  );
  mkdirSync(join(cwd, 'repository', '.git'), { recursive: true });
  expect((await regen(createScaffoldArguments('repository'), { cwd })).exit).toBe(0);
});

it('on a terminal only the publisher is asked for, and the next commands can be copied', async () => {
  const cwd = folderForTest();
  const { exit, stderr } = await regen(['node', 'scaffold', 'tools'], { cwd, answers: ['my-team'] });
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain('Next: regen version check tools, then regen version publish tools\n');
});

it('without a publisher and a terminal, nothing is created in the folder', async () => {
  const cwd = folderForTest();
  const { exit, stderr } = await regen(['node', 'scaffold', 'tools'], { cwd });
  expect([exit, stderr]).toEqual([2, expect.stringContaining('--publisher is required')]);
  expect(stderr).toContain('Pass values, such as: regen node scaffold --publisher <publisher> tools\n');
  expect(existsSync(join(cwd, 'tools', 'pyproject.toml'))).toBe(false);
});

it('quotes in a name stay text in the code', async () => {
  const cwd = folderForTest();
  const name = 'Bob"s """ \\ tools\u2028 x';
  await regen([...createScaffoldArguments('tools'), '--name', name], { cwd });
  const { stdout } = await regen(['version', 'check', 'tools', '--json'], { cwd });
  expect(JSON.parse(stdout).definitions).toMatchObject([{ category: name }]);
});

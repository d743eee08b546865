import { expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { publisherForTest, serviceForTest } from '../../support/service.js';

test('two published versions are compared', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const second = `
class Wave:
    RETURN_TYPES = ()
    FUNCTION = "wave"
    CATEGORY = "pack"
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {}}

NODE_CLASS_MAPPINGS = {"Wave": Wave}
`;
  await regen(['version', 'publish', packForTest()], { env });
  await regen(['version', 'publish', packForTest({ version: '2.0.0', files: { '__init__.py': second } })], {
    env,
  });
  const { exit, stdout, stderr } = await regen(['version', 'diff', 'pack', '1.0.0', '2.0.0'], { env });
  expect(exit).toBe(0);
  expect(stdout).toBe(
    'Greet\tnode removed\tworkflows that use it no longer load\ttrue\nWave\tnode added\t\tfalse\n',
  );
  expect(stderr).toContain('2 changes; 1 of them breaks saved workflows.');
  const same = await regen(['version', 'diff', 'pack', '1.0.0', '1.0.0'], { env });
  expect([same.exit, same.stderr]).toEqual([
    0,
    expect.stringMatching(/^No changes in \d+ definitions?\.\n$/),
  ]);
  expect((await regen(['version', 'diff', 'pack', '1.0.0', '9.0.0'], { env })).exit).toBe(3);
});

test('the pack in a folder is compared with the latest version, or the one that is named', async () => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const code = (name: string) => ({
    '__init__.py': `class A:\n  RETURN_TYPES = ()\n  FUNCTION = "a"\nNODE_CLASS_MAPPINGS = {"${name}": A}\n`,
  });
  for (const version of ['1.0.0', '2.0.0'])
    await regen(['version', 'publish', packForTest({ version, files: code(`V${version}`) })], { env });
  const cwd = packForTest({ version: '2.0.0', files: code('Next') });
  const diff = (...argv: string[]) => regen(['version', 'diff', ...argv], { env, cwd });
  const latest = await diff('.');
  expect(latest).toMatchObject({
    exit: 0,
    stdout: 'Next\tnode added\t\tfalse\nV2.0.0\tnode removed\tworkflows that use it no longer load\ttrue\n',
  });
  expect(latest.stderr).toContain('Comparing pack 2.0.0 with the pack in .\n');
  expect((await diff('../', '1.0.0', '2.0.0')).exit).toBe(2);
  const named = await diff('./', '1.0.0', '--exit-code');
  expect([named.exit, named.stdout]).toEqual([6, expect.stringContaining('V1.0.0\tnode removed')]);
  expect((await diff('./none')).stderr).toContain('Folder not found');
});

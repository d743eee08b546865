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
  expect(stderr).toContain('2 changes, 1 breaking workflows.');
  const same = await regen(['version', 'diff', 'pack', '1.0.0', '1.0.0'], { env });
  expect([same.exit, same.stderr]).toEqual([
    0,
    expect.stringMatching(/^No changes in \d+ definitions?\.\n$/),
  ]);
  expect((await regen(['version', 'diff', 'pack', '1.0.0', '9.0.0'], { env })).exit).toBe(3);
});

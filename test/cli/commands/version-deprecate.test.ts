import { expect, test } from 'vitest';
import { homeForTest, regen, type Surroundings } from '../../support/cli.js';
import { publisherForTest, readVersion, registerVersion, serviceForTest } from '../../support/service.js';

async function createRegistry() {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  const surroundings: Surroundings = {
    home: homeForTest(),
    env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken },
  };
  return {
    publisher,
    run: (argv: readonly string[], more = {}) => regen(argv, { ...surroundings, ...more }),
    surroundings,
  };
}

test('version deprecate marks all versions in a range, and --undo removes the mark', async () => {
  const { publisher, run } = await createRegistry();
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) await registerVersion(publisher, version);
  const deprecate = ['version', 'deprecate', 'pack', '1.x'];
  expect((await run([...deprecate, '--dry-run', '--json'])).stdout.match(/"method":"PUT"/g)).toHaveLength(2);
  expect((await readVersion(publisher, '1.0.0')).deprecated).toBe(false);
  const { exit, stdout, stderr } = await run(deprecate);
  expect(exit, stderr).toBe(0);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t').slice(0, 2)),
  ).toEqual(
    expect.arrayContaining([
      ['1.0.0', 'true'],
      ['1.1.0', 'true'],
    ]),
  );
  expect((await readVersion(publisher, '2.0.0')).deprecated).toBe(false);
  expect((await run(deprecate)).exit).toBe(3);
  expect((await run([...deprecate, '--undo'])).exit).toBe(0);
  expect((await readVersion(publisher, '1.1.0')).deprecated).toBe(false);
  expect((await run(['version', 'deprecate', 'pack', 'soon'])).exit).toBe(2);
  expect((await run(deprecate, { answers: [false] })).exit).toBe(2);
});

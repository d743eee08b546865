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
  expect(stderr).toContain('run the command again with --message');
  expect(await run(deprecate)).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining('error: All versions of pack in 1.x are deprecated already.'),
  });
  expect((await run(['version', 'deprecate', 'pack', '>9'])).stderr).toContain(
    'error: No version of pack matches >9.',
  );
  expect((await run([...deprecate, '--undo'])).exit).toBe(0);
  expect((await readVersion(publisher, '1.1.0')).deprecated).toBe(false);
  expect((await run(['version', 'deprecate', 'pack', 'soon'])).exit).toBe(2);
  expect((await run(deprecate, { answers: ['', false] })).exit).toBe(2);
});

test('version deprecate accepts node@version, and corrects a reason in the place of the range', async () => {
  const { publisher, run } = await createRegistry();
  await registerVersion(publisher, '1.0.0');
  const wrong = await run(['version', 'deprecate', 'pack@1.0.0', 'use 2.0.0']);
  expect([wrong.exit, wrong.stderr]).toEqual([
    2,
    "error: 'use 2.0.0' is not a range of versions.\nhint: Run: regen version deprecate pack 1.0.0 --message 'use 2.0.0'\n",
  ]);
  expect((await run(['version', 'deprecate', 'pack@1.0.0', '--yes'])).exit).toBe(0);
  expect((await readVersion(publisher, '1.0.0')).deprecated).toBe(true);
});

test('on a terminal, the reason is asked for, and listed if there is room for it', async () => {
  const { publisher, run } = await createRegistry();
  await registerVersion(publisher, '1.0.0');
  const deprecate = ['version', 'deprecate', 'pack', '1.x'];
  const asked = await run(deprecate, { answers: ['Use 2.0.0', true] });
  expect([asked.exit, asked.stderr]).toEqual([0, expect.not.stringContaining('--message')]);
  expect((await readVersion(publisher, '1.0.0')).deprecation_message).toBe('Use 2.0.0');
  const list = (columns: number) => run(['version', 'list', 'pack'], { terminal: true, columns });
  expect((await list(120)).stdout).toContain('Use 2.0.0');
  expect((await list(50)).stdout).not.toContain('Use 2.0.0');
  expect((await run(['version', 'list', 'pack'])).stdout).not.toContain('Use 2.0.0');
});

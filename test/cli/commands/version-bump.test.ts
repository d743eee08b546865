import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildBody } from '../../../src/cli/api/fields.js';
import { compareDefinitions } from '../../../src/cli/diff/compare.js';
import { homeForTest, regen, type Surroundings } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { publisherForTest, readVersion, registerVersion, serviceForTest } from '../../support/service.js';

test('version bump raises the version in [project], and keeps the rest of the file as it is', async () => {
  const cwd = packForTest({ version: '1.2.3' });
  const path = join(cwd, 'pyproject.toml');
  const before = `# kept\n${readFileSync(path, 'utf8')}\n[tool.other]\nversion = "1.2.3" # not this one\n`;
  writeFileSync(path, before);
  expect(await regen(['version', 'bump', 'minor'], { cwd })).toMatchObject({ exit: 0, stdout: '1.3.0\n' });
  expect(readFileSync(path, 'utf8')).toBe(before.replace('"1.2.3"', '"1.3.0"'));
  expect((await regen(['version', 'bump', '2.0.0-rc.1', cwd])).stdout).toBe('2.0.0-rc.1\n');
  for (const to of ['1.0.0', 'odd', 'v3.0.0']) {
    expect((await regen(['version', 'bump', to, cwd])).exit).toBe(2);
  }
  expect(readFileSync(path, 'utf8')).toContain('version = "2.0.0-rc.1"');
});

test('version bump of a folder without a manifest says so', async () => {
  const { exit, stderr } = await regen(['version', 'bump', 'patch', 'pack'], { cwd: homeForTest() });
  expect(exit).toBe(2);
  expect(stderr).toMatch(
    /pyproject\.toml is missing in .*pack\.\nhint: Create one with: regen node init pack\n/,
  );
});

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

test('publisher token check says whether the token of the environment can publish', async () => {
  const { publisher, run, surroundings } = await createRegistry();
  const check = ['publisher', 'token', 'check', 'acme'];
  expect((await run(check)).stderr).toContain('There is no token of acme');
  const withToken = (REGEN_PUBLISH_TOKEN: string) => ({ env: { ...surroundings.env, REGEN_PUBLISH_TOKEN } });
  const good = await run(check, withToken(publisher.personalAccessToken));
  expect(good.exit, good.stderr).toBe(0);
  expect(good.stdout).toMatch(/^publisher\tacme\nsource\tREGEN_PUBLISH_TOKEN\n/);
  expect(
    (await run(['publisher', 'token', 'check', 'other'], withToken(publisher.personalAccessToken))).stderr,
  ).toContain('belongs to another publisher');
  expect(await run(check, withToken('regen_pat_wrong'))).toMatchObject({
    exit: 4,
    stderr: expect.stringContaining('is unknown, expired or revoked'),
  });
  const limited = await run(['publisher', 'token', 'create', 'acme', 'one', '--nodes', 'pack']);
  const onlyPack = withToken(limited.stdout.trim());
  expect((await run([...check, '--node', 'pack'], onlyPack)).exit).toBe(0);
  expect((await run([...check, '--node', 'light'], onlyPack)).stderr).toContain('is limited to pack');
});

test('a changed order of widgets breaks workflows, a widget at the end does not', () => {
  const define = (inputs: object) => [
    { host_node_name: 'Blur', input_types: JSON.stringify({ required: inputs }) },
  ];
  const image = { image: ['IMAGE'] };
  const [size, mode, extra] = [['INT', {}], [['a', 'b']], ['FLOAT', {}]];
  const compare = (now: object) =>
    compareDefinitions(define({ ...image, size, mode }), define(now)).filter(
      ({ change }) => change === 'input order',
    );
  expect(compare({ mode, size, ...image })).toMatchObject([
    { detail: 'size, mode -> mode, size', breaks: true },
  ]);
  expect(compare({ ...image, size, extra, mode })).toMatchObject([{ breaks: true }]);
  expect(compare({ ...image, size, mode, extra })).toEqual([]);
  // Connections have no saved value.
  expect(compare({ size, mode, ...image })).toEqual([]);
  expect(compare({ ...image, size })).toEqual([]);
});

test('a new required connection breaks workflows', () => {
  const define = (inputs: object) => [
    { host_node_name: 'Blur', input_types: JSON.stringify({ required: inputs }) },
  ];
  expect(compareDefinitions(define({}), define({ mask: ['MASK'] }))).toMatchObject([
    { change: 'input added', breaks: true },
  ]);
});

test('fields of api build lists of objects', async () => {
  const build = (...typed: string[]) => buildBody(typed, [], async () => '');
  expect(await build('a[][b]=1', 'a[][c]=x', 'a[][b]=2')).toEqual({ a: [{ b: 1, c: 'x' }, { b: 2 }] });
  expect(await build('a[][tags][]=1', 'a[][tags][]=2', 'a[][id]=x')).toEqual({
    a: [{ tags: [1, 2], id: 'x' }],
  });
  expect(await build('a[][b][c]=1', 'a[][b][d]=2', 'a[][b][c]=3')).toEqual({
    a: [{ b: { c: 1, d: 2 } }, { b: { c: 3 } }],
  });
  await expect(build('a=1', 'a[][b]=2')).rejects.toThrow('cannot be a value');
});

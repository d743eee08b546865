import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { commandTree } from '../../../src/cli/command-tree.js';
import { contract } from '../../../src/contract/index.js';
import { listOperations } from '../../../src/contract/operation.js';
import { homeForTest, regen, type Surroundings, startRegen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';

async function withNode() {
  const service = await serviceForTest();
  await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  await regen(['node', 'create', 'acme', '--id', 'light', '--name', 'Light'], { env });
  const remove = (surroundings: Surroundings, ...flags: string[]) =>
    regen(['node', 'delete', 'acme', 'light', ...flags], {
      ...surroundings,
      env: { ...env, ...surroundings.env },
    });
  const isThere = async () =>
    (await regen(['node', 'search', '--json'], { env })).stdout.includes('"id":"light"');
  return { service, env, remove, isThere };
}

test('deleting a node asks for confirmation, and the answer no changes nothing', async () => {
  const { remove, isThere } = await withNode();
  const { exit, stderr } = await remove({ answers: [false] });
  expect(exit, stderr).toBe(2);
  expect(stderr).toBe('Cancelled. Nothing was changed.\n');
  expect(await isThere()).toBe(true);
  expect((await remove({ answers: [true] })).exit).toBe(0);
  expect(await isThere()).toBe(false);
});

test.each(['--yes', '-y'])(
  '%s confirms a delete in a script and reports what was deleted on which service',
  async (flag) => {
    const { env, remove, isThere } = await withNode();
    const deleted = await remove({}, flag);
    expect(deleted).toMatchObject({
      exit: 0,
      stderr: `Deleted node light of acme on ${env.REGEN_BASE_URL}.\n`,
    });
    expect(await isThere()).toBe(false);
  },
);

test.each([
  ['without a terminal', {}, []],
  ['with --no-input', { answers: [] }, ['--no-input']],
  ['in CI', { answers: [], env: { CI: '1' } }, []],
] satisfies [string, Surroundings, string[]][])(
  '%s, a delete needs --yes',
  async (_, surroundings, flags) => {
    const { remove, isThere } = await withNode();
    const refused = await remove(surroundings, ...flags);
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    expect(refused.stderr).toContain('--yes is required to delete node light of acme.');
    expect(await isThere()).toBe(true);
  },
);

test('the built program deletes nothing in a pipe without --yes', async () => {
  const { env, isThere } = await withNode();
  const refused = await startRegen(['node', 'delete', 'acme', 'light', '--json'], { env }).ended;
  expect([refused.exit, refused.stdout]).toEqual([2, '']);
  expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'usage' });
  expect(await isThere()).toBe(true);
});

const destructive = commandTree().commands.filter(({ destroys }) => destroys);

test('every operation that destroys something has a command that asks for confirmation', () => {
  const declared = [...listOperations(contract)].flatMap(([, { destroys }]) => destroys?.action ?? []);
  expect(destructive.map(({ destroys }) => destroys?.action)).toEqual(expect.arrayContaining(declared));
  for (const { destroys } of destructive) expect(destroys?.action).toMatch(/^[A-Z]\w+e .*[^.]$/);
  const removing = [...listOperations(contract)].filter(([, { method }]) => method === 'DELETE');
  expect(removing.filter(([, { destroys }]) => !destroys)).toEqual([]);
});

test.each(destructive.map((command) => [command.words.join(' '), command] as const))(
  'without a terminal, %s sends nothing unless --yes or --dry-run is given',
  async (_, { words, arguments: positionals, destroys, flags }) => {
    const asked: string[] = [];
    const { url, close } = await listenOn(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(500).end('{}');
    });
    onTestFinished(close);
    const data = folderForTest();
    const home = homeForTest();
    const given = [
      ...words,
      ...positionals.map(() => '018f4a5e'),
      ...(destroys?.flag ? [`--${destroys.flag}`] : []),
      ...(flags.some(({ name }) => name === 'data') ? ['--data', data] : []),
    ];
    const env = { REGEN_BASE_URL: url, REGEN_TOKEN: 'x' };
    const refused = await regen(given, { env, home });
    expect(refused).toMatchObject({ exit: words.join(' ') === 'task forget' ? 3 : 2, stdout: '' });
    if (refused.exit === 2) expect(refused.stderr).toContain('--yes is required to ');
    expect(asked).toEqual([]);
    expect(existsSync(`${data}/owner.token`)).toBe(false);
  },
);

test('task forget needs --yes without a terminal, and names the task', async () => {
  const service = await serviceForTest();
  const home = homeForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const run = (...argv: string[]) => regen(argv, { env, home });
  await run('video', 'text2video', 'a fox', '--no-wait');
  const refused = await run('task', 'forget', '@last', '--force');
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(JSON.parse((await run('task', 'list', '--json')).stdout)).toHaveLength(1);
  const done = await run('task', 'forget', '@last', '--force', '--yes');
  expect(done.stderr).toBe(`Removed task ${done.stdout.trim()} from the list on this machine.\n`);
});

test('a command that can be undone needs no --yes in a script', async () => {
  const { env, remove } = await withNode();
  for (const word of ['ban', 'unban'])
    expect(await regen(['admin', 'node', word, 'light'], { env })).toMatchObject({ exit: 0 });
  expect((await remove({}, '--dry-run')).stdout).toContain('DELETE');
});

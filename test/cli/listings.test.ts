import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen, type Surroundings, start } from '../support/cli.js';
import { png } from '../support/generation-double.js';
import { packForTest } from '../support/packs.js';
import { folderForTest, publisherForTest, register, serviceForTest } from '../support/service.js';
import { inTerminal, regenInTerminal } from '../support/terminal.js';

/** A registry and a ledger with something in each listing. */
async function filled(): Promise<Surroundings> {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  await register(publisher, '1.0.0');
  const surroundings: Surroundings = {
    home: homeForTest(),
    cwd: folderForTest(),
    env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken },
  };
  writeFileSync(join(surroundings.cwd as string, 'photo.png'), png);
  const facts = [
    '--id',
    `light-${'x'.repeat(60)}`,
    '--name',
    'Light',
    '--description',
    '漢字とemoji🙂 '.repeat(20),
  ];
  for (const argv of [
    ['node', 'create', 'acme', ...facts],
    ['publisher', 'token', 'create', 'acme', 'release workflow', '--nodes', 'pack'],
    ['admin', 'generate-token', '--output-file', 'admin.txt'],
    ['key', 'create', 'photo import', '--operations', 'image.relight', '--credits-per-month', '500'],
    ['image', 'relight', 'photo.png', '--prompt', 'warm', '--no-wait'],
  ]) {
    const { exit, stderr } = await regen(argv, surroundings);
    expect(exit, stderr).toBe(0);
  }
  return surroundings;
}

const LISTINGS = [
  ['node', 'list', 'acme'],
  ['node', 'search'],
  ['node', 'get', 'pack'],
  ['version', 'list', 'pack'],
  ['version', 'get', 'pack', '1.0.0'],
  ['version', 'bulk', 'pack@1.0.0', 'pack@2.0.0'],
  ['host-nodes', 'list'],
  ['publisher', 'list'],
  ['publisher', 'get', 'acme'],
  ['publisher', 'member', 'list', 'acme'],
  ['publisher', 'token', 'list', 'acme'],
  ['publisher', 'audit', 'acme'],
  ['admin', 'audit'],
  ['admin', 'token', 'list'],
  ['task', 'list'],
  ['key', 'list'],
  ['usage'],
  ['admin', 'usage'],
  ['webhook', 'deliveries'],
  ['video', 'prices'],
  ['config', 'list'],
  ['doctor'],
];

test.each([40, 80, 140])('no line of a listing is wider than a terminal of %i columns', async (columns) => {
  const { default: stringWidth } = await import('string-width');
  const surroundings = await filled();
  for (const argv of [...LISTINGS, ['version', 'check', packForTest()]]) {
    const { stdout, stderr } = await regen(argv, { ...surroundings, terminal: true, columns });
    const wide = stdout.split('\n').filter((line) => stringWidth(line) > columns);
    expect(wide, argv.join(' ')).toEqual([]);
    expect(stdout + stderr, argv.join(' ')).not.toBe('');
  }
});

test('where not even the most important columns fit, each item is a block', async () => {
  const { stdout } = await regen(['node', 'list', 'acme'], {
    ...(await filled()),
    terminal: true,
    columns: 40,
  });
  expect(stdout).toMatch(/^ID +light-x+\n +x+/m);
  expect(stdout).toMatch(/^STATUS +active$/m);
});

test('a long list is shown in the pager of the environment, and never with --no-pager or in a pipe', async () => {
  const { home, env } = (await filled()) as { home: string; env: Record<string, string> };
  const more = { home, env: { ...env, PAGER: "sed 's/^/> /'" }, columns: 40 };
  const list = ['admin', 'audit', '--no-color'];
  const long = regenInTerminal(list, more);
  expect(await long.exit, long.screen()).toBe(0);
  expect(long.screen()).toMatch(/^> AT /m);
  const whole = regenInTerminal([...list, '--no-pager'], more);
  expect(await whole.exit, whole.screen()).toBe(0);
  expect(whole.screen()).not.toContain('> ');
  const piped = await start(list, { home, env: more.env }).ended;
  expect(piped.stdout).not.toContain('> ');
});

test('a pager that does not exist costs nothing but the paging', async () => {
  const { home, env } = (await filled()) as { home: string; env: Record<string, string> };
  const terminal = regenInTerminal(['admin', 'audit'], {
    home,
    env: { ...env, PAGER: '/nonexistent/pager' },
    columns: 40,
  });
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect(terminal.screen()).toContain('ACTION');
});

test('Ctrl-C in a pager is for the pager', async () => {
  const { home, env } = (await filled()) as { home: string; env: Record<string, string> };
  const pager =
    "node -e \"process.on('SIGINT', () => console.log('caught')); process.stdin.resume(); setTimeout(() => {}, 1e6); process.stdout.on('error', () => {}); process.on('SIGUSR1', () => {}); console.log('ready')\"";
  const terminal = inTerminal('/bin/sh', ['-c', `exec node bin/regen.js admin audit`], {
    home,
    env: { ...env, PAGER: pager },
    columns: 40,
  });
  await terminal.shows('ready');
  terminal.type('\x03');
  await terminal.shows('caught');
  terminal.type('\x03');
  await terminal.shows('caught');
  expect(terminal.screen()).not.toContain('Interrupted');
});

test('colours are readable on light and dark backgrounds, and cut text is ASCII where the locale is', async () => {
  const surroundings = await filled();
  // Yellow and white, of which a light background shows nothing.
  const pale = new RegExp(`${String.fromCharCode(27)}\\[(?:\\d+;)*(?:33|37|93|97)m`);
  for (const argv of [['task', 'list'], ['doctor'], ['node', 'search'], ['admin', 'audit', '--no-pager']]) {
    const { home, env } = surroundings as { home: string; env: Record<string, string> };
    const terminal = regenInTerminal(argv, { home, env: { ...env, LC_ALL: 'C' }, columns: 80 });
    await terminal.exit;
    expect(terminal.raw(), argv.join(' ')).not.toMatch(pale);
    expect(terminal.screen(), argv.join(' ')).not.toMatch(/[…→█░⠋]/);
  }
});

test.each([40, 80, 140])('no line of a publish is wider than a terminal of %i columns', async (columns) => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const tokens = { REGEN_TOKEN: service.ownerToken, REGEN_PUBLISH_TOKEN: personalAccessToken };
  // A spinner draws over one line, which is seen as one here.
  const env = { REGEN_BASE_URL: service.url, ...tokens, TERM: 'dumb' };
  const terminal = regenInTerminal(['version', 'publish', packForTest()], { env, columns });
  expect(await terminal.exit, terminal.screen()).toBe(0);
  const lines = terminal.screen().split(/[\r\n]+/);
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
});

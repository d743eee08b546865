import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningService } from '../../../src/service/serve.js';
import { regen, startRegen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { png } from '../../support/generation-double.js';
import { packForTest } from '../../support/packs.js';
import {
  publisherForTest,
  registerVersion,
  serviceForTest,
  startTestService,
} from '../../support/service.js';
import { SCREEN_SIZES, SCREENS, startInTerminal, startRegenInTerminal } from '../../support/terminal.js';

const folder = mkdtempSync(join(tmpdir(), 'regen-listings-'));
const home = join(folder, 'home');
let service: RunningService;
/** Names a registry with something in each listing. `home` has a ledger like that. The tests only read both. */
let env: Record<string, string>;

beforeAll(async () => {
  mkdirSync(home);
  const engines = { image: createCopyingEngine(), video: createFilmingEngine() };
  service = await startTestService({}, { engines });
  const publisher = await publisherForTest(service);
  await registerVersion(publisher, '1.0.0');
  env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  writeFileSync(join(folder, 'photo.png'), png);
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
    const { exit, stderr } = await regen(argv, { home, env, cwd: folder });
    expect(exit, stderr).toBe(0);
  }
});

afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

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
  ['version', 'history', 'acme', 'pack', '1.0.0'],
  ['version', 'diff', 'pack', '1.0.0', '1.0.0'],
  ['host-nodes', 'list', 'pack', '1.0.0'],
  ['host-nodes', 'find', 'Greet'],
  ['admin', 'review'],
  ['task', 'show', '@last'],
  ['auth', 'status'],
  ['schema'],
  ['config', 'list'],
  ['doctor'],
];

test.each(SCREEN_SIZES)('every listing fits a %s of %i columns', async (screen, columns) => {
  const { default: stringWidth } = await import('string-width');
  for (const argv of [...LISTINGS, ['version', 'check', packForTest()]]) {
    // A spinner needs a real terminal.
    const screenEnv = { ...env, ...SCREENS[screen], CI: '1' };
    const options = { home, cwd: folder, env: screenEnv, terminal: true, columns };
    const { stdout, stderr } = await regen(argv, options);
    const name = argv.join(' ');
    expect(stdout + stderr, name).not.toBe('');
    expect(stdout + stderr, name).not.toMatch(FAINT);
    // A screen reader reads whole lines.
    const wide = stdout.split('\n').filter((line) => stringWidth(line) > columns);
    expect(screen === 'screen reader' ? [] : wide, name).toEqual([]);
    if (screen === 'terminal without Unicode') expect(stdout, name).not.toMatch(DRAWN);
    if (screen === 'dumb terminal') expect(stdout, name).not.toContain('\x1b[');
  }
});

/** Yellow and white, of which a light background shows nothing, and black. */
const FAINT = new RegExp(`${String.fromCharCode(27)}\\[(?:\\d+;)*(?:30|33|37|93|97)m`);

/** What is drawn, and not part of the data. */
const DRAWN = /[…→█░⠋✔•]/;

test('where not even the most important columns fit, each item is a block', async () => {
  const { stdout } = await regen(['node', 'list', 'acme'], {
    home,
    env,
    terminal: true,
    columns: 40,
  });
  expect(stdout).toMatch(/^ID +light-x+\n +x+/m);
  expect(stdout).toMatch(/^STATUS +active$/m);
});

test('a long list is shown in the pager of the environment, and never with --no-pager or in a pipe', async () => {
  const more = { home, env: { ...env, PAGER: "sed 's/^/> /'" }, columns: 40 };
  const list = ['admin', 'audit', '--no-color'];
  const long = startRegenInTerminal(list, more);
  expect(await long.exit, long.screen()).toBe(0);
  expect(long.screen()).toMatch(/^> AT /m);
  const whole = startRegenInTerminal([...list, '--no-pager'], more);
  expect(await whole.exit, whole.screen()).toBe(0);
  expect(whole.screen()).not.toContain('> ');
  const piped = await startRegen(list, { home, env: more.env }).ended;
  expect(piped.stdout).not.toContain('> ');
});

test('a pager that does not exist costs nothing but the paging', async () => {
  const terminal = startRegenInTerminal(['admin', 'audit'], {
    home,
    env: { ...env, PAGER: '/nonexistent/pager' },
    columns: 40,
  });
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect(terminal.screen()).toContain('ACTION');
});

test('Ctrl-C in a pager is for the pager', async () => {
  const pager =
    "node -e \"process.on('SIGINT', () => console.log('caught')); process.stdin.resume(); setTimeout(() => {}, 1e6); process.stdout.on('error', () => {}); process.on('SIGUSR1', () => {}); console.log('ready')\"";
  const terminal = startInTerminal('/bin/sh', ['-c', `exec node bin/regen.js admin audit`], {
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
  for (const argv of [['task', 'list'], ['doctor'], ['node', 'search'], ['admin', 'audit', '--no-pager']]) {
    const terminal = startRegenInTerminal(argv, { home, env: { ...env, LC_ALL: 'C' }, columns: 80 });
    await terminal.exit;
    expect(terminal.raw(), argv.join(' ')).not.toMatch(FAINT);
    expect(terminal.screen(), argv.join(' ')).not.toMatch(DRAWN);
  }
});

test.each(SCREEN_SIZES)('a publish fits a %s of %i columns', async (screen, columns) => {
  const service = await serviceForTest();
  const { personalAccessToken } = await publisherForTest(service);
  const tokens = { REGEN_TOKEN: service.ownerToken, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const env = { REGEN_BASE_URL: service.url, ...tokens, ...SCREENS[screen] };
  const terminal = startRegenInTerminal(['version', 'publish', packForTest()], { env, columns });
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect(terminal.raw()).not.toMatch(FAINT);
  const lines = await terminal.lines();
  expect(lines.filter(({ isTooWide }) => isTooWide && screen !== 'screen reader')).toEqual([]);
  expect(lines.map(({ text }) => text).join('\n')).toMatch(/status\W+active/);
});

test.each(SCREEN_SIZES)(
  'questions fit a %s of %i columns, and are answered there',
  async (screen, columns) => {
    const service = await serviceForTest();
    const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken, ...SCREENS[screen] };
    const terminal = startRegenInTerminal(['publisher', 'create'], { env, columns });
    await terminal.shows('Publisher id:');
    terminal.type('x\r');
    await terminal.shows('It must');
    terminal.type(screen === 'terminal' ? '\x7facme\r' : 'acme\r');
    await terminal.shows('(acme)');
    terminal.type('\r');
    expect(await terminal.exit, terminal.screen()).toBe(0);
    expect(terminal.raw()).not.toMatch(FAINT);
    expect((await terminal.lines()).map(({ text }) => text).join('\n')).toMatch(/name\W+acme/);
  },
);

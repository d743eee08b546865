import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningService } from '../../../src/service/serve.js';
import { regen } from '../../support/cli.js';
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
import { SCREEN_SIZES, SCREENS, startRegenInTerminal } from '../../support/terminal.js';

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
    // A screen reader reads whole lines, and what is copied is whole on any screen.
    const isCopied = (line: string) => /(?:^| )(?:https?:\/\/|\/)\S+$|[0-9a-f]{64}\S*$/.test(line);
    const wide = stdout.split('\n').filter((line) => stringWidth(line) > columns && !isCopied(line));
    expect(screen === 'screen reader' ? [] : wide, name).toEqual([]);
    if (screen === 'terminal without Unicode') expect(stdout, name).not.toMatch(DRAWN);
    if (screen === 'dumb terminal') expect(stdout, name).not.toContain('\x1b[');
  }
});

/** Yellow and white, of which a light background shows nothing, and black. */
const FAINT = new RegExp(`${String.fromCharCode(27)}\\[(?:\\d+;)*(?:30|33|37|93|97)m`);

/** What is drawn, and not part of the data. */
const DRAWN = /[…→█░⠋✔•]/;

test('items are printed as blocks if the most important columns do not fit', async () => {
  const { stdout } = await regen(['node', 'list', 'acme'], {
    home,
    env,
    terminal: true,
    columns: 40,
  });
  expect(stdout).toMatch(/^ID +light-x+\n +x+/m);
  expect(stdout).toMatch(/^STATUS +active$/m);
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
  // What is copied, such as an address, is whole on any screen.
  const wide = lines.filter(
    ({ text, isTooWide }) => isTooWide && !/(?:\/archives\/\S+|[0-9a-f]{64})$/.test(text),
  );
  expect(screen === 'screen reader' ? [] : wide).toEqual([]);
  expect(lines.map(({ text }) => text).join('\n')).toMatch(/Status\W+active/);
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
    expect((await terminal.lines()).map(({ text }) => text).join('\n')).toMatch(/name\W+acme/i);
  },
);

test('a card names the members of a publisher as people know them', async () => {
  const service = await serviceForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const create = ['publisher', 'create', 'acme', '--name', 'Acme'];
  const { stdout } = await regen(create, { env, terminal: true, columns: 80 });
  expect(stdout).toMatch(/^Members +Owner \(owner\)$/m);
});

test('an empty list and a list with more pages print a note', async () => {
  const service = await serviceForTest();
  await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  expect(await regen(['node', 'search', 'nothing'], { env })).toEqual({
    exit: 0,
    stdout: '',
    stderr: 'Nothing to list.\n',
  });
  for (const id of ['a', 'b']) await regen(['node', 'create', 'acme', '--id', id, '--name', id], { env });
  const { stderr } = await regen(['node', 'list', 'acme', '--limit', '1'], { env });
  expect(stderr).toBe('Page 1 of 2. Pass --all for every page.\n');
});

async function createLongNode() {
  const service = await serviceForTest();
  await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const facts = ['--id', 'light', '--name', 'Light', '--description', `${'long '.repeat(40)}end`];
  await regen(['node', 'create', 'acme', ...facts], { env });
  return (columns: number, argv: readonly string[], terminal = true) =>
    regen(argv, { env, terminal, columns });
}

const measureWidth = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

test('a table is cut to the width of a terminal, and whole everywhere else', async () => {
  const run = await createLongNode();
  const { stdout } = await run(90, ['node', 'list', 'acme']);
  expect(measureWidth(stdout)).toBeLessThanOrEqual(90);
  expect(stdout).toMatch(/^light .*long lo?n?g?.*…\n$/m);
  expect((await run(90, ['node', 'list', 'acme'], false)).stdout).toContain('end\n');
  expect((await run(400, ['node', 'list', 'acme'])).stdout).toContain('end\n');
});

test('ids are shortened on a terminal and accepted so, and empty columns are left out', async () => {
  const run = await createLongNode();
  const { id } = JSON.parse(
    (await run(40, ['publisher', 'token', 'create', 'acme', 'ci', '--json'], false)).stdout,
  );
  const list = ['publisher', 'token', 'list', 'acme'];
  const { stdout } = await run(80, list);
  expect(stdout).toMatch(new RegExp(`^${id.slice(0, 8)} +ci `, 'm'));
  expect(stdout).not.toContain(id);
  const revoke = await run(80, ['publisher', 'token', 'revoke', 'acme', id.slice(0, 8), '--yes']);
  expect(revoke.exit, revoke.stderr).toBe(0);
  expect((await run(80, [...list, '--json'], false)).stdout).not.toContain(id);
  expect((await run(400, ['node', 'list', 'acme'])).stdout).not.toContain('VERSION');
});

test('prices are a table of models and resolutions', async () => {
  const run = await createLongNode();
  const { stdout } = await run(80, ['video', 'prices']);
  expect(stdout).toMatch(/^CREDITS PER SECOND +360P +540P +720P +1080P +2K$/m);
  expect(stdout).toMatch(/^vvq3-pro +4 +6 +10 +16$/m);
  expect(stdout).toMatch(/^Extra for --is-rec +10$/m);
});

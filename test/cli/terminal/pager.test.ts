import { beforeAll, expect, test } from 'vitest';
import { startRegen } from '../../support/cli.js';
import { registryForFile } from '../../support/registry.js';
import { startInTerminal, startRegenInTerminal } from '../../support/terminal.js';

const registry = registryForFile();
/** Names a registry whose audit log is longer than a terminal. */
let env: Record<string, string>;

beforeAll(async () => {
  for (let at = 0; at < 50; at += 1) {
    await registry().ok('ann', 'POST', '/publishers/acme/nodes', { id: `node-${at}`, name: 'Node' });
  }
  env = { REGEN_BASE_URL: registry().url, REGEN_TOKEN: registry().tokens.admin as string };
});

test('a long list is shown in the pager of the environment, and never with --no-pager or in a pipe', async () => {
  const more = { env: { ...env, PAGER: "sed 's/^/> /'" }, columns: 40 };
  const list = ['admin', 'audit', '--limit', '60', '--no-color'];
  const long = startRegenInTerminal(list, more);
  expect(await long.exit, long.screen()).toBe(0);
  expect(long.screen()).toMatch(/^> AT /m);
  const whole = startRegenInTerminal([...list, '--no-pager'], more);
  expect(await whole.exit, whole.screen()).toBe(0);
  expect(whole.screen()).not.toContain('> ');
  const piped = await startRegen(list, { env: more.env }).ended;
  expect(piped.stdout).not.toContain('> ');
});

test('output is printed without paging if the pager does not exist', async () => {
  const terminal = startRegenInTerminal(['admin', 'audit', '--limit', '60'], {
    env: { ...env, PAGER: '/nonexistent/pager' },
    columns: 40,
  });
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect(terminal.screen()).toContain('ACTION');
});

test('Ctrl-C in a pager does not end the command', async () => {
  const pager =
    "node -e \"process.on('SIGINT', () => console.log('caught')); process.stdin.resume(); setTimeout(() => {}, 1e6); process.stdout.on('error', () => {}); process.on('SIGUSR1', () => {}); console.log('ready')\"";
  const terminal = startInTerminal('/bin/sh', ['-c', `exec node bin/regen.js admin audit --limit 60`], {
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

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { png } from '../../support/generation-double.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, registerVersion, serviceForTest } from '../../support/service.js';
import { startRegenInTerminal } from '../../support/terminal.js';

async function createEnvironment() {
  const service = await serviceForTest();
  await registerVersion(await publisherForTest(service), '1.0.0');
  return { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
}

test('required values are asked for on a terminal with a proposed value, and checked at the prompt', async () => {
  const env = await createEnvironment();
  const terminal = startRegenInTerminal(['publisher', 'create'], { env });
  await terminal.shows('?');
  terminal.type('x\r');
  await terminal.shows('It must');
  terminal.type('yz\r');
  await terminal.shows('(xyz)');
  terminal.type('\r');
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect((await regen(['publisher', 'get', 'xyz'], { env })).stdout).toContain('name\txyz\n');
});

test('a required value with choices is chosen from them', async () => {
  const env = await createEnvironment();
  const argv = ['publisher', 'member', 'set', 'acme', 'owner', '--dry-run'];
  const asked = await regen(argv, { env, answers: ['owner'] });
  expect(asked.exit, asked.stderr).toBe(0);
  expect(asked.stdout).toContain('"role": "owner"');
});

test('no prompt appears with --no-input, in a pipe, or when all values are given', async () => {
  const env = await createEnvironment();
  const create = ['publisher', 'create'];
  expect(await regen(create, { env })).toMatchObject({ exit: 2, stdout: '' });
  expect(await regen([...create, '--no-input'], { env, answers: ['abc', 'Abc'] })).toMatchObject({ exit: 2 });
  expect((await regen([...create, 'abc', '--name', 'Abc'], { env, answers: [] })).exit).toBe(0);
});

test('a video command asks for its missing required values', async () => {
  const env = await createEnvironment();
  const asked = await regen(['video', 'text2video', '--dry-run'], { env, answers: ['', 'a paper boat'] });
  expect(asked.stdout).toContain('"prompt": "a paper boat"');
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'start.png'), png);
  const between = ['video', 'start-end2video', '--dry-run'];
  const { stdout, stderr } = await regen(between, { env, cwd, answers: ['nothing.png', 'start.png', ''] });
  expect(stdout, stderr).toContain('"images": [');
  const extended = await regen(['video', 'extend', '--dry-run'], { env, answers: ['@last:video'] });
  expect(extended.exit, extended.stderr).toBe(0);
});

test('an image command asks for its images', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.png'), png);
  const env = await createEnvironment();
  const run = (argv: readonly string[], answers: readonly string[]) => regen(argv, { env, cwd, answers });
  const relit = await run(['image', 'relight', '--dry-run'], ['absent.png', 'photo.png']);
  expect(relit.exit, relit.stderr).toBe(0);
  const argv = ['image', 'style-transfer', 'photo.png', '--dry-run'];
  const styled = await run(argv, ['https://example.com/painting.png']);
  expect(styled.stdout).toContain('"reference_image": "https://example.com/painting.png"');
});

test('publishing while signed in offers to create the publish token', async () => {
  const service = await serviceForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const home = homeForTest();
  const argv = ['version', 'publish', packForTest()];
  const { exit, stderr } = await regen(argv, { env, home, answers: ['Create one and save it'] });
  expect(exit, stderr).toBe(0);
  expect(stderr).toMatch(/Created the publisher \S+ and a token for it on http/);
  const again = await regen([...argv, '--skip-existing'], { env, home });
  expect(again.exit, again.stderr).toBe(0);
});

test.each([
  ['a prompt that is redrawn', {}],
  ['a plain prompt', { REGEN_ACCESSIBLE: '1' }],
])('a signal ends %s', async (_, more) => {
  const env = { ...(await createEnvironment()), ...more };
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const terminal = startRegenInTerminal(['publisher', 'create'], { env });
    await terminal.shows('Publisher id:');
    terminal.kill(signal);
    expect(await terminal.exit, terminal.screen()).toBe(code);
    expect(terminal.screen()).toContain('Interrupted.');
  }
});

import { expect, test } from 'vitest';
import { regen } from '../support/cli.js';
import { publisherForTest, register, serviceForTest } from '../support/service.js';
import { regenInTerminal } from '../support/terminal.js';

async function prepare() {
  const service = await serviceForTest();
  await register(await publisherForTest(service), '1.0.0');
  return { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
}

test('required values are asked for on a terminal, checked at the prompt, with a proposal', async () => {
  const env = await prepare();
  const terminal = regenInTerminal(['publisher', 'create'], { env });
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
  const env = await prepare();
  const argv = ['publisher', 'member', 'set', 'acme', 'owner', '--dry-run'];
  const asked = await regen(argv, { env, answers: ['owner'] });
  expect(asked.exit, asked.stderr).toBe(0);
  expect(asked.stdout).toContain('"role": "owner"');
});

test('nothing is asked with --no-input, in a pipe, or when all values are there', async () => {
  const env = await prepare();
  const create = ['publisher', 'create'];
  expect(await regen(create, { env })).toMatchObject({ exit: 2, stdout: '' });
  expect(await regen([...create, '--no-input'], { env, answers: ['abc', 'Abc'] })).toMatchObject({ exit: 2 });
  expect((await regen([...create, 'abc', '--name', 'Abc'], { env, answers: [] })).exit).toBe(0);
});

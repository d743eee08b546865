import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfiguration } from '../../src/cli/connect/service-configuration.js';
import { regen } from '../support/cli.js';
import { folderForTest } from '../support/service.js';

function fileOf(name: string, text: string): string {
  const path = join(folderForTest(), name);
  writeFileSync(path, text);
  return path;
}

it('a configuration is TOML or JSON, with its folder meant from where it lies', async () => {
  const toml = fileOf('regen.toml', 'data = "data"\n[[issuers]]\nissuer = "https://login.example.com"\n');
  const issuers = [{ issuer: 'https://login.example.com' }];
  expect(await readConfiguration(toml)).toEqual({ data: join(toml, '../data'), issuers });
  const json = fileOf('regen.json', JSON.stringify({ data: '/data', issuers }));
  expect(await readConfiguration(json)).toEqual({ data: '/data', issuers });
});

it('every mistake of a configuration is told at once, with its path, before anything is started', async () => {
  const text = 'port = 70000\n[[issuers]]\nissuer = "http://login.example.com"\nclient_id = "x"\n';
  const { exit, stdout, stderr } = await regen(['serve', '--config', fileOf('regen.toml', text)]);
  expect([exit, stdout]).toEqual([2, '']);
  for (const path of [
    'port must be',
    'issuers.0.issuer must be an https URL',
    'issuers.0.client_id is not a known field',
  ])
    expect(stderr).toContain(path);
});

it.each([
  ['a.toml', 'port = \n', 'not valid TOML: line 1'],
  ['a.json', '{', 'not valid JSON'],
  ['a.json', 'null', 'must be an object'],
  ['a.json', '[]', 'must be an object'],
])('%s with %j is refused in a sentence', async (name, text, sentence) => {
  const { exit, stderr } = await regen(['serve', '--config', fileOf(name, text)]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});

it('a configuration that is not there, or no file, is refused in a sentence', async () => {
  const folder = folderForTest();
  mkdirSync(join(folder, 'a.toml'));
  const missing = await regen(['serve', '--config', 'no.toml'], { cwd: folder });
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('File not found')]);
  const noFile = await regen(['serve', '--config', 'a.toml'], { cwd: folder });
  expect([noFile.exit, noFile.stderr]).toEqual([2, expect.stringContaining('Could not read')]);
});

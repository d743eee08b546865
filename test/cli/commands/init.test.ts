import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readManifest } from '../../../src/pack/manifest.js';
import { homeForTest, regen } from '../../support/cli.js';
import { filesForTest } from '../../support/packs.js';
import { folderForTest } from '../../support/service.js';
import { startRegenInTerminal } from '../../support/terminal.js';

/** A folder `Light Tools` with these files. */
function createPack(files: Record<string, string> = {}): string {
  const folder = join(folderForTest(), 'Light Tools');
  mkdirSync(folder);
  return filesForTest(files, folder);
}

async function requireManifest(folder: string) {
  const read = await readManifest(folder);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.manifest;
}

const readme = `---
title: x
---
Light Tools
===========

[![build](https://x/y.svg)](https://x) <img src="x">

> a quote

Tools for **light** and [shade](https://example.org).
And "more" \`code\`.

Another paragraph.
`;

test('init derives the manifest from the folder, and publishing reads it back', async () => {
  const cwd = createPack({
    'README.md': readme,
    LICENSE: 'MIT',
    'requirements.txt': 'numpy>=1 # why\nPillow\n--index-url https://x\n',
  });
  execFileSync('git', ['init', '-q'], { cwd });
  execFileSync('git', ['remote', 'add', 'fork', 'https://example.org/fork/x.git'], { cwd });
  execFileSync('git', ['remote', 'add', 'origin', 'https://me:s3cret@example.org/me/light.git'], { cwd });
  const { exit, stdout, stderr } = await regen(['node', 'init', '--publisher', 'acme'], { cwd });
  expect(exit, stderr).toBe(0);
  expect(stdout).toBe(`${join(cwd, 'pyproject.toml')}\n`);
  expect(stderr).toContain('--index-url');
  expect(stderr).toContain('regen version check');
  expect(stderr).toContain('regen version publish');
  expect(readFileSync(join(cwd, 'pyproject.toml'), 'utf8')).not.toContain('s3cret');
  expect(await requireManifest(cwd)).toMatchObject({
    publisher: 'acme',
    node: {
      id: 'light-tools',
      name: 'Light tools',
      description: 'Tools for light and shade. And "more" code.',
      license: 'LICENSE',
      repository: 'https://example.org/me/light',
    },
    version: { version: '1.0.0', dependencies: ['numpy>=1', 'Pillow'] },
    warnings: [],
  });
});

test.each([
  ['git@example.org:me/light.git', 'https://example.org/me/light'],
  ['ssh://git@example.org:2222/me/light', 'https://example.org/me/light'],
  ['http://example.org/me/light/', 'https://example.org/me/light'],
  ['/srv/light.git', undefined],
])('writes the remote %s as %s', async (remote, repository) => {
  const cwd = createPack();
  execFileSync('git', ['init', '-q'], { cwd });
  execFileSync('git', ['remote', 'add', 'origin', remote], { cwd });
  expect((await regen(['node', 'init', '--publisher', 'acme'], { cwd })).exit).toBe(0);
  expect((await requireManifest(cwd)).node.repository).toBe(repository);
});

test('takes every value as a flag, with any characters', async () => {
  const cwd = createPack({ 'README.md': readme });
  const facts = {
    id: 'Own.Id',
    name: 'Mine "\\ é',
    publisher: 'acme',
    version: '2.0.0-rc.1',
    description: "Line '''",
    license: 'MIT',
    repository: 'https://example.org/x',
  };
  const argv = Object.entries(facts).flatMap(([name, value]) => [`--${name}`, value]);
  expect((await regen(['node', 'init', ...argv], { cwd })).exit).toBe(0);
  const { publisher, node, version } = await requireManifest(cwd);
  expect({ ...node, publisher, version: version.version }).toMatchObject(facts);
});

test('names all missing flags at once if it cannot prompt', async () => {
  const folder = join(folderForTest(), '___');
  mkdirSync(folder);
  const { exit, stdout, stderr } = await regen(['node', 'init', folder]);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain('--id, --name, --publisher are required');
  expect(existsSync(join(folder, 'pyproject.toml'))).toBe(false);
});

test('names every flag with a wrong value at once', async () => {
  const cwd = createPack();
  const argv = ['--id', '-x-', '--publisher', 'Acme', '--version', 'v1', '--repository', 'nowhere'];
  const { exit, stderr } = await regen(['node', 'init', ...argv], { cwd });
  expect(exit).toBe(2);
  for (const flag of ['--id', '--publisher', '--version', '--repository']) expect(stderr).toContain(flag);
  expect(stderr).toContain('1.0.0');
});

test('init asks for unknown values, repeats the question after an invalid answer, and takes an empty answer as no', async () => {
  const cwd = createPack({ 'README.md': readme });
  // Publisher twice, then version, licence and repository.
  const answers = ['Not Good', 'acme', '0.1.0', '', 'https://example.org/x'];
  const { exit, stderr } = await regen(['node', 'init'], { cwd, answers });
  expect(exit, stderr).toBe(0);
  const { publisher, node, version } = await requireManifest(cwd);
  expect(publisher).toBe('acme');
  expect(version.version).toBe('0.1.0');
  expect(node).not.toHaveProperty('license');
  expect(node.repository).toBe('https://example.org/x');
});

test('shows a person the publisher that it proposes, and takes another answer', async () => {
  const kept = '{"publish_tokens":{"acme":"pat_1"}}';
  const home = filesForTest({ '.config/regen/credentials/local.json': kept }, homeForTest());
  const cwd = createPack({ 'README.md': readme });
  const terminal = startRegenInTerminal(['node', 'init'], { home, cwd });
  await terminal.shows('Publisher id: (acme)');
  terminal.type('other\r');
  await terminal.shows('Version:');
  terminal.type('1\r');
  await terminal.shows("'1' is not a semantic version");
  terminal.type('\x03');
  expect(await terminal.exit).toBe(130);
  expect(existsSync(join(cwd, 'pyproject.toml'))).toBe(false);
});

test('publishes as the one publisher whose token is kept', async () => {
  const kept = '{"publish_tokens":{"acme":"pat_1"}}';
  const home = filesForTest({ '.config/regen/credentials/local.json': kept }, homeForTest());
  const cwd = createPack();
  expect((await regen(['node', 'init'], { home, cwd })).exit).toBe(0);
  expect((await requireManifest(cwd)).publisher).toBe('acme');
});

test('never writes over a pyproject.toml unless forced', async () => {
  const cwd = createPack({ 'pyproject.toml': '# mine\n' });
  const refused = await regen(['node', 'init', '--publisher', 'acme'], { cwd });
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain('--force');
  expect(readFileSync(join(cwd, 'pyproject.toml'), 'utf8')).toBe('# mine\n');
  expect((await regen(['node', 'init', '--publisher', 'acme', '--force'], { cwd })).exit).toBe(0);
  expect((await requireManifest(cwd)).node.id).toBe('light-tools');
});

test('init names the publisher that it chose, and the id that it derived from the folder name', async () => {
  const kept = '{"publish_tokens":{"acme":"pat_1"}}';
  const home = filesForTest({ '.config/regen/credentials/local.json': kept }, homeForTest());
  const cwd = join(folderForTest(), 'Lichtmaß');
  mkdirSync(cwd);
  const { exit, stderr } = await regen(['node', 'init'], { home, cwd });
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain('Using your only publisher, acme (change it in pyproject.toml).');
  expect(stderr).toContain("The node id 'lichtma' is derived from the folder name 'Lichtmaß'");
});

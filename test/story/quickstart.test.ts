import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.js';
import { isRecord } from '../../src/contract/json.js';
import { readManifest } from '../../src/pack/manifest.js';
import { entry, homeWithService, regen } from '../support/cli.js';
import { filesForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';
import { runInShell } from '../support/transcript.js';

function readBlocks(page: string, language: string): string[] {
  const blocks = readFileSync(page, 'utf8').matchAll(
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'),
  );
  return Array.from(blocks, ([, block]) => block as string);
}

const pages = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const listBlocks = (language: string) =>
  pages.flatMap((page) =>
    readBlocks(page, language).map((block, at) => [`${page} ${at + 1}`, block] as const),
  );

test('the commands of the quickstart lead from an empty folder to an installed pack', {
  timeout: 300_000,
}, async () => {
  const home = homeWithService();
  const cwd = folderForTest();
  const known = commandTree().commands.map(({ words }) => words.join(' '));
  const lines = readBlocks('docs/quickstart.md', 'sh').join('').trim().split('\n');
  const commands = lines.filter(
    (line) => !line.startsWith('regen node install') || known.includes('node install'),
  );
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) {
    if (command.includes('bump')) changeNode(cwd);
    const line = command.replace(/^regen /, `${process.execPath} ${entry} `);
    const { exit, text } = await runInShell(`cd ${cwd} && ${line}`, { PATH: process.env.PATH, HOME: home });
    expect(exit, `${command}\n${text}`).toBe(0);
  }
  const zip = join(cwd, 'downloads', 'light-tools-1.0.0.zip');
  expect(execFileSync('unzip', ['-Z1', zip], { encoding: 'utf8' }).trim().split('\n').sort()).toEqual([
    ...['LICENSE', 'README.md', '__init__.py', 'nodes.py', 'pyproject.toml'],
  ]);
});

/** The edit that the quickstart asks for. */
function changeNode(cwd: string): void {
  const path = join(cwd, 'light-tools', 'nodes.py');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"default": 1.2', '"default": 1.4'));
}

const isService = (document: object) => !('rules' in document || 'project' in document || 'tool' in document);
const tomlBlocks = listBlocks('toml').map(([name, block]) => [name, block, parse(block)] as const);

test.each(tomlBlocks.filter(([, , document]) => isService(document)).map(([name, block]) => [name, block]))(
  'the settings in %s are accepted as they are',
  async (_, block) => {
    const cwd = filesForTest({ 'regen.toml': block });
    const env = Object.fromEntries(
      Array.from(block.matchAll(/env = "(\w+)"/g), ([, name]) => [name, 'secret']),
    );
    const { exit, stderr } = await regen(['serve', '--config', 'regen.toml', '--check'], {
      cwd,
      env: { ...env, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
    });
    // Files that an example names are not there.
    const others = stderr.split('\n').filter((line) => line !== '' && !/\/|The configuration/.test(line));
    expect(exit === 0 || others.length === 0, stderr).toBe(true);
  },
);

test.each(tomlBlocks.filter(([, , document]) => 'rules' in document).map(([name, block]) => [name, block]))(
  'the scenario in %s is accepted as it is',
  async (_, block) => {
    const cwd = filesForTest({ 'scenario.toml': block });
    const { exit, stderr } = await regen(['serve', '--check', '--scenario', 'scenario.toml'], { cwd });
    expect(exit, stderr).toBe(0);
  },
);

test.each(tomlBlocks.filter(([, , document]) => 'project' in document).map(([name, block]) => [name, block]))(
  'the manifest in %s is read without a problem',
  async (_, block) => {
    const folder = filesForTest({ 'pyproject.toml': block, LICENSE: 'MIT' });
    const read = await readManifest(folder);
    expect(read).toMatchObject({ ok: true, manifest: { warnings: [] } });
  },
);

test.each(listBlocks('json'))('each line or block of JSON in %s is JSON', (_, block) => {
  const isEach = (texts: readonly string[]) => {
    try {
      return texts.every((text) => isRecord(JSON.parse(text)));
    } catch {
      return false;
    }
  };
  expect(isEach([block]) || isEach(block.trim().split('\n'))).toBe(true);
});

test('the jobs of the batch guide are accepted, as JSON and as CSV', async () => {
  const [jobs = ''] = readBlocks('docs/batches.md', 'json');
  const [csv = '', lists = ''] = readBlocks('docs/batches.md', 'csv');
  const images = ['a', 'b', 'morning', 'evening'].map((name) => [`${name}.jpg`, '\xff\xd8']);
  const files = { 'jobs.jsonl': jobs, 'jobs.csv': csv, 'lists.csv': lists };
  const cwd = filesForTest({ ...Object.fromEntries(images), ...files });
  for (const [file, count] of [
    ['jobs.jsonl', 2],
    ['jobs.csv', 2],
    ['lists.csv', 1],
  ] as const) {
    const { exit, stdout, stderr } = await regen(['batch', file, '--dry-run', '--json'], { cwd });
    expect(exit, stderr).toBe(0);
    expect(JSON.parse(stdout)).toHaveLength(count);
  }
});

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.js';
import { entry, homeWithService, regen } from '../support/cli.js';
import { normalizeOutput, readScenes, replaceScenes, runInShell, type Scene } from '../support/transcript.js';

const readme = readFileSync('README.md', 'utf8');
const path = 'docs/publishing.md';
const page = readFileSync(path, 'utf8');

// UPDATE_TRANSCRIPT=1 writes what the commands show now into the page.
test('the transcript in the publishing guide matches the real output', async () => {
  const home = homeWithService();
  const env = { PATH: process.env.PATH, HOME: home };
  const scenes = readScenes(page);
  expect(scenes.length).toBeGreaterThan(2);
  const now: Scene[] = [];
  for (const { command } of scenes) {
    const { exit, text } = await runInShell(`${process.execPath} ${entry} ${command}`, env);
    now.push({ command, exit, shows: normalizeOutput(text, home) });
  }
  if (process.env.UPDATE_TRANSCRIPT) writeFileSync(path, replaceScenes(page, now));
  else expect(now).toEqual(scenes);
});

test('the README shows the first commands in the order they are needed', () => {
  expect(readme.indexOf('npm install && npx regen version publish examples/hello-nodes')).toBeGreaterThan(0);
  expect(readme.indexOf('npm install && npm test')).toBeLessThan(readme.indexOf('npm install -g'));
  expect(readme.split('\n').length).toBeLessThan(100);
});

test('every page that the README and the guides link to exists', () => {
  const missing = listPages().flatMap((from) =>
    Array.from(readFileSync(from, 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g), ([, to]) =>
      join(dirname(from), to as string),
    )
      .filter((to) => !existsSync(to))
      .map((to) => `${from} → ${to}`),
  );
  expect(missing).toEqual([]);
});

test('every command in the README and the guides exists, with its flags', () => {
  const { commands, globals } = commandTree();
  const lines = listPages().flatMap((from) => listCommandLines(readFileSync(from, 'utf8')));
  expect(lines.length).toBeGreaterThan(50);
  const wrong = lines.filter((line) => {
    const words = line.split(/\s+/);
    const command = commands
      .filter(({ words: own, aliases = [] }) =>
        own.every(
          (word, at) => words[at] === word || (at === own.length - 1 && aliases.includes(words[at] ?? '')),
        ),
      )
      .sort((one, other) => other.words.length - one.words.length)[0];
    const flags = [...(command?.flags ?? []), ...globals].flatMap(({ name }) => [
      `--${name}`,
      `--no-${name}`,
    ]);
    const own = line.replace(/ -- .*/, '');
    return (
      (!command && words[0] !== 'help') ||
      (own.match(/--[a-z][\w-]+/g) ?? []).some((flag) => !flags.includes(flag) && flag !== '--help')
    );
  });
  expect(wrong).toEqual([]);
});

test('the guide and the help name the same environment variables', async () => {
  const guide = readFileSync('docs/troubleshooting.md', 'utf8').split('## Environment')[1] as string;
  const { stdout } = await regen(['help', 'environment']);
  const listNames = (rows: RegExp, text: string) =>
    Array.from(text.matchAll(rows), ([, names]) => (names as string).match(/[A-Z][A-Z_*]+/g) ?? [])
      .flat()
      .sort();
  expect(listNames(/^\| (`[A-Z].*?`) +\|/gm, guide)).toEqual(
    listNames(/^ {2}([A-Z][A-Z_*, ]+)(?: {2}|$)/gm, stdout),
  );
});

function listPages(): string[] {
  const guides = readdirSync('docs').filter((name) => name.endsWith('.md') && name !== 'reference.md');
  return ['README.md', 'CONTRIBUTING.md', 'skills/regen/SKILL.md', ...guides.map((name) => `docs/${name}`)];
}

/** What follows `regen` in blocks of commands and in inline code. */
function listCommandLines(page: string): string[] {
  const blocks = Array.from(
    page.matchAll(/```(?:sh|yaml|console)\n([\s\S]*?)```/g),
    ([, block]) => block as string,
  );
  const inBlocks = blocks.flatMap((block) => block.match(/(?<=^|[ ;|$] ?)regen [a-z][^\n|#;]*/gm) ?? []);
  const inText = Array.from(page.matchAll(/`regen ([a-z][^`]*)`/g), ([, line]) => `regen ${line}`);
  return [...inBlocks, ...inText].map((line) => line.slice('regen '.length).replace(/\s+/g, ' ').trim());
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { folderForTest } from '../../support/service.js';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.includes('generated'))
  .map((path) => readFileSync(join('src', path), 'utf8'));

/** Commands of messages as sources write them: regen('task wait', `${id} --all`). Those in backquotes are only named. */
const WRITTEN =
  /(?<!`\$\{)\bregen\('([^']+)'(?:,\s*(?:'([^']*)'|`((?:[^`\\]|\$\{[^}]*\})*)`|(\w[\w.]*|shellWord\([\w.]+\))))?,?\s*\)/g;

const VALUE = 'x1@1.0.0';

/** The commands that messages tell people to run, with a value where one is filled in. */
const commands = sources.flatMap((source) =>
  Array.from(source.matchAll(WRITTEN), ([, words, text = '', template = '', value]) => {
    const filled = value ? VALUE : text + template.replace(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, VALUE);
    return `${words} ${filled.replace(/ [<>] \S+$/, '').replace(/<[^>]+>/g, VALUE)}`.trim();
  }),
);

/** They run until they are stopped, or start a program. */
const ENDLESS = /^(serve|webhook listen|open)\b/;

/** The commands with options that guides have in a sentence, where they are read before they are run. */
const named = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md') && path !== 'docs/reference.md')
  .flatMap((path) => {
    const text = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
    return Array.from(text.matchAll(/`regen ([^`|>…]+ --?[a-z][^`|>…]*)`/g), ([, command = '']) =>
      command.replace(/\s+/g, ' ').replace(/<[^>]+>/g, VALUE),
    );
  });

test.each([
  ['messages tell to run', commands, 50],
  ['guides name with an option', named, 10],
])('the commands that %s have everything that they require', async (_name, found, least) => {
  const { url, close } = await listenOn((_, response) => void response.writeHead(404).end());
  onTestFinished(close);
  const written = [...new Set(found)].filter((command) => !ENDLESS.test(command));
  expect(written.length).toBeGreaterThan(least);
  const surroundings = { env: { REGEN_BASE_URL: url }, home: homeForTest(), cwd: folderForTest() };
  const wrong: string[] = [];
  for (const command of written) {
    const { stderr } = await regen(command.split(' '), surroundings);
    // On a terminal, others are asked for.
    const isMissing = /(is|are) required(\.|$)|argument missing|No \w+ given|Unknown (command|option)/m.test(
      stderr,
    );
    if (isMissing) wrong.push(`${command}: ${stderr}`);
  }
  expect(wrong).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import {
  describeProblems,
  joinTexts,
  regen,
  render,
  say,
  translate,
} from '../../../src/contract/schema/message.js';

const message = say`cannot be ${{ value: 'vvq1' }} with ${{ field: 'node.icon' }}; see ${regen('node get', 'x')}`;

describe('a message', () => {
  it('has the names of the contract as a string and in JSON', () => {
    const text = 'cannot be vvq1 with node.icon; see regen node get x';
    expect([String(message), render(message)]).toEqual([text, text]);
    expect(JSON.stringify({ message })).toBe(JSON.stringify({ message: text }));
  });

  it('has the names of its reader', () => {
    const field = (path: string) => `--${path.replace('.', '-')}`;
    const command = (words: string, rest: string) => `regen ${words} --profile work ${rest}`;
    expect(render(message, { field, command, value: () => 'viduq1' })).toBe(
      'cannot be viduq1 with --node-icon; see regen node get --profile work x',
    );
  });

  it('is written by several readers, each with its own names', () => {
    const half = translate(message, { field: () => '--icon' });
    expect(render(half, { field: () => 'never', value: () => 'viduq1' })).toBe(
      'cannot be viduq1 with --icon; see regen node get x',
    );
  });

  it('leaves text as it is, even if it looks like a part', () => {
    const names = { field: () => 'wrong', command: () => 'wrong' };
    expect(render('node.icon: regen node get', names)).toBe('node.icon: regen node get');
    expect(render(say`${'node.icon'} ${3}${undefined}`, names)).toBe('node.icon 3');
  });

  it('contains other messages', () => {
    const whole = say`Once: ${joinTexts([message, { field: 'icon' }, 'text'], '; ')}.`;
    expect(render(whole, { field: () => 'F', value: () => 'V', command: () => 'C' })).toBe(
      'Once: cannot be V with F; see C; F; text.',
    );
  });
});

describe('problems in one sentence', () => {
  const list = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ path: `f${at}`, message: 'is wrong' }));

  it.each([
    [1, 'f0 is wrong.'],
    [3, 'f0 is wrong; f1 is wrong; f2 is wrong.'],
    [5, 'f0 is wrong; f1 is wrong; f2 is wrong; and 2 more.'],
    [100, 'f0 is wrong; f1 is wrong; f2 is wrong; and many more.'],
  ])('%i', (count, sentence) => {
    expect(String(describeProblems(list(count)))).toBe(sentence);
  });
});

/** Files that find out what a message of another program means, which has no better sign. */
const FOREIGN_MESSAGES: Readonly<Record<string, string>> = {
  'cli/command/program.ts': 'commander',
  'cli/terminal/json-filter.ts': 'jq',
  'client/network.ts': 'undici',
  'disk/machine-trouble.ts': 'the system',
  'pack/toml-error.ts': 'smol-toml',
  'python/reader.ts': 'WebAssembly',
  'service/database/postgres.ts': 'PostgreSQL',
  'service/maintenance/store-folder.ts': 'yauzl',
};

test('sentences are read and rewritten only where another program wrote them', () => {
  const sentence = '(?:\\w*[mM]essage|sentence|hint|description|summary|advice|reason)';
  const methods = '(?:replace|replaceAll|match|matchAll|search|split)';
  const rewriting = new RegExp(
    `\\b${sentence}\\??\\.${methods}\\(|\\.(?:exec|test)\\((?:\\w+\\.)*${sentence}\\b`,
  );
  const found = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && rewriting.test(readFileSync(join('src', file), 'utf8')),
  );
  expect(found.sort()).toEqual(Object.keys(FOREIGN_MESSAGES));
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => ({ path, text: readFileSync(join('test', path), 'utf8') }));

/** The functions that a file declares at its top level. */
function listHelpers(text: string): string[] {
  const declared = /^(?:export )?(?:async )?function\*? (\w+)/gm;
  const assigned =
    /^(?:export )?const (\w+)(?:: [^=\n]+)? =\s+(?:async )?(?:<[^\n]*?>)?\([^=]*?\)(?:: [^=\n]+)? =>/gm;
  return [declared, assigned].flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ([, name]) => name ?? ''),
  );
}

describe('the helpers of tests', () => {
  const helpers = files.flatMap(({ text }) => listHelpers(text));

  test('are named by verb and noun, with as few single words as src has', () => {
    const single = helpers.filter((name) => /^[a-z]+\d*$/.test(name));
    expect(helpers.length).toBeGreaterThan(500);
    expect(single.length / helpers.length, single.join(', ')).toBeLessThanOrEqual(0.03);
  });

  test('are not named after what they return, such as clientOf', () => {
    expect(helpers.filter((name) => /Of$/.test(name))).toEqual([]);
  });
});

test('no function or method of src is named after what it returns', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const named = sources.flatMap((path) => {
    const text = readFileSync(join('src', path), 'utf8');
    const methods = Array.from(
      text.matchAll(/^ {2}(?:static |async )*#?(\w+)\(/gm),
      ([, name]) => name ?? '',
    );
    return [...listHelpers(text), ...methods].map((name) => ({ path, name }));
  });
  expect(named.length).toBeGreaterThan(3000);
  expect(named.filter(({ name }) => /[a-z]Of$/.test(name))).toEqual([]);
});

test('the index of test/support lists every file', () => {
  const index = readFileSync('test/support/README.md', 'utf8');
  const all = readdirSync('test/support').filter((name) => !/\.test\.ts$|^README\.md$/.test(name));
  expect(all.filter((name) => !index.includes(`\`${name}\``))).toEqual([]);
  const listed = Array.from(index.matchAll(/`([\w-]+\.(?:d\.)?[cm]?[jt]s)`/g), ([, name]) => name ?? '');
  expect(listed.filter((name) => !all.includes(name))).toEqual([]);
});

describe('the titles of tests', () => {
  const titles = files.flatMap(({ path, text }) => {
    const calls = /^( *)(?:test|it|describe)(?:\.\w+\([^\n]*\)|\.\w+)*\(\s*(['"`])(.+?)\2,/gm;
    return Array.from(text.matchAll(calls), ([, indent, , title = '']) => ({
      path,
      title,
      isNested: indent !== '',
    }));
  });

  test('do not begin in the middle of a sentence', () => {
    expect(titles.length).toBeGreaterThan(1000);
    const fragments = titles.filter(({ title, isNested }) =>
      (isNested ? /^(and|but|or|what became) / : /^(and|but|or|that|of|is|are|what became) /).test(title),
    );
    expect(fragments).toEqual([]);
  });

  test('use plain words', () => {
    const odd = /\b(told|heard|judges?|doubt|anew|nobody|whoever|whatever|strangers?|mend(s|ed)?|is said)\b/;
    expect(titles.filter(({ title }) => odd.test(title))).toEqual([]);
  });
});

import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadWithCode } from '../../src/disk/kept-code.js';
import { homeForTest } from '../support/cli.js';

/** A module in a folder of its own, whose code was kept. */
function keepModule() {
  const folder = homeForTest();
  const file = join(folder, 'module.cjs');
  const code = join(folder, 'code');
  const write = (word: string) =>
    writeFileSync(
      file,
      `exports.say = () => ${JSON.stringify(word)}; exports.join = require('node:path').join;`,
    );
  const require = createRequire(import.meta.url);
  /** What the module says in another process, and whether its code had to be compiled again. */
  const load = () => {
    delete require.cache[file];
    const keepCode = loadWithCode(file, code);
    const { say } = require(file);
    rmSync(code, { recursive: true, force: true });
    keepCode();
    return { word: say(), isCompiled: existsSync(code) };
  };
  write('hello');
  loadWithCode(file, code)();
  const kept = join(code, readdirSync(code)[0] as string);
  return { file, code, kept, write, load };
}

test('the code of a module is kept for its user alone, and taken by the next load', () => {
  const { file, kept, load } = keepModule();
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect(load()).toEqual({ word: 'hello', isCompiled: false });
  const module = createRequire(import.meta.url)(file);
  expect(module.join('a', 'b')).toBe(join('a', 'b'));
});

test('a module that is loaded already stays, and is evaluated once', () => {
  const { file, code } = keepModule();
  const require = createRequire(import.meta.url);
  delete require.cache[file];
  const loaded = require(file);
  loadWithCode(file, code);
  expect(require(file)).toBe(loaded);
});

test.each<[string, (kept: ReturnType<typeof keepModule>) => void, string]>([
  ['the source has changed', ({ write }) => write('holla'), 'holla'],
  ['it is damaged', ({ kept }) => writeFileSync(kept, readFileSync(kept).fill(0, 100, 101)), 'hello'],
  ['it is cut off', ({ kept }) => writeFileSync(kept, readFileSync(kept).subarray(0, 10)), 'hello'],
  ['others may write to it', ({ kept }) => chmodSync(kept, 0o666), 'hello'],
])('kept code is not used when %s', (_, change, word) => {
  const module = keepModule();
  change(module);
  expect(module.load()).toEqual({ word, isCompiled: true });
});

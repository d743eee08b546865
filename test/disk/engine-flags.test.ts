import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test.each([
  ['src/cli/terminal/engine.ts', ['semi-space-growth-factor', 'wasm-tiering-budget']],
  ['src/python/reader-child.ts', ['max-semi-space-size', 'wasm-tiering-budget']],
  ['src/service/engines/preview.ts', ['expose-gc']],
])('the engine knows the flags that %s sets', (path, expected) => {
  const lists = readFileSync(path, 'utf8').matchAll(/\b(?:FLAGS = |flags: )\[([^\]]*)\]/g);
  const flags = [...lists].flatMap(([list]) =>
    Array.from(list.matchAll(/'--([a-z-]+)/g), ([, name]) => name),
  );
  expect(flags).toEqual(expected);
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(flags.filter((flag) => !known.includes(`--${flag} (`))).toEqual([]);
});

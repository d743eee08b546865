import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The names of the flags that a source sets for its own engine or for that of a process. */
function listFlags(path: string): string[] {
  const lists = readFileSync(path, 'utf8').matchAll(/\b(?:FLAGS = |flags: )\[([^\]]*)\]/g);
  return [...lists].flatMap(([, list = '']) =>
    Array.from(list.matchAll(/'--([a-z-]+)/g), ([, name = '']) => name),
  );
}

test('the engine knows every flag that is set while the program runs or for its processes', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.includes('views/'),
  );
  const flags = sources.flatMap((path) => listFlags(`src/${path}`));
  expect(flags).toEqual(
    expect.arrayContaining(['semi-space-growth-factor', 'wasm-tiering-budget', 'expose-gc']),
  );
  expect(flags.filter((flag) => !known.includes(`--${flag} `))).toEqual([]);
});

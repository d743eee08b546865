import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** A new secret that a shell writes into a file which others can read. */
const REDIRECTED =
  /^.*(?:key create|token create|generate-token|webhook secret|rotate-key)\b[^|\n]* >{1,2} ?(?!\/dev\/)\S.*$/gm;

test('no page, example or hint redirects a secret into a file, which others could read', () => {
  const list = (folder: string, ending: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith(ending))
      .map((path) => join(folder, path));
  const files = [
    'README.md',
    ...list('docs', '.md'),
    ...list('src/cli', '.ts'),
    ...list('src/service', '.ts'),
  ];
  const found = files.flatMap((path) => readFileSync(path, 'utf8').match(REDIRECTED) ?? []);
  expect(found).toEqual([]);
  expect('regen key create import --credits 500 > key.txt'.match(REDIRECTED)).toHaveLength(1);
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isOpenToKeys, toolOperations } from '../../src/contract/tools.js';

/** Who may do what, as the service answers: see test/service/matrix.test.ts. */
const blocks = readFileSync('test/golden/matrix.txt', 'utf8').split('\n\n');

test('an API key can use the tools that the service lets one use, and no other', () => {
  const differing = [...toolOperations.values()].filter(([name, operation]) => {
    const rows =
      blocks.find((block) => block.startsWith(`${name}\n`) || block.startsWith(`${name}, `))?.split('\n') ??
      [];
    const status = rows.find((row) => row.includes("owner's API key"))?.trim() ?? '';
    return isOpenToKeys(operation) === /^403/.test(status) || status === '';
  });
  expect(differing.map(([name]) => name)).toEqual([]);
});

import { expect, test } from 'vitest';
import { chooseNext, findBrokenPromises, mayBreak } from '../../src/contract/release-rules.js';

test.each([
  ['1.2.3', '1.2.4', false],
  ['1.2.3', '1.3.0', false],
  ['1.2.3', '2.0.0', true],
  ['1.2.3', '1.3.0-rc.1', true],
  ['1.3.0-rc.1', '1.3.0', true],
  ['0.3.1', '0.3.2', false],
  ['0.3.1', '0.4.0', true],
  ['0.0.1', '0.0.2', true],
  ['0.0.0', '0.0.1', true],
  ['0.9.0', '1.0.0', true],
  ['10.0.0', '1.0.0', true],
])('%s may be followed by a breaking %s: %s', (from, to, expected) => {
  expect(mayBreak(from, to)).toBe(expected);
});

const define = (...names: string[]) =>
  names.map((host_node_name) => ({ host_node_name, input_types: '{}', return_types: '[]' }));
const release = (version: string, ...names: string[]) => ({ version, definitions: define(...names) });

test('a definition that may be where nothing could be read breaks no promise', () => {
  const [from, to] = [release('1.0.0', 'A', 'B'), release('1.0.1', 'A')];
  expect(findBrokenPromises(from, to, true)).toMatchObject([{ host_node_name: 'B', change: 'node removed' }]);
  expect(findBrokenPromises(from, to, false)).toEqual([]);
  expect(findBrokenPromises(from, release('2.0.0', 'A'), true)).toEqual([]);
});

test.each([
  ['1.4.2', ['A'], 'patch'],
  ['1.4.2', ['A', 'B'], 'minor'],
  ['1.4.2', [], 'major'],
  ['0.4.2', ['A', 'B'], 'patch'],
  ['0.4.2', [], 'minor'],
  ['0.0.2', [], 'patch'],
])('after %s, definitions %j need a new %s version', (version, names, part) => {
  expect(chooseNext(release(version, 'A'), define(...(names as string[])), true).part).toBe(part);
});

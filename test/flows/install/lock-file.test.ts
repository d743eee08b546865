import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  changeLockFile,
  findLocked,
  formatLockFile,
  type LockFile,
  readLockFile,
  replaceNodes,
  requireSource,
} from '../../../src/flows/install/lock-file.js';
import { folderForTest } from '../../support/service.js';

const sha256 = 'ab'.repeat(32);
const tree = '01'.repeat(32);
const source = { registry: 'https://registry.example/api', naming: 'regen' };
const lock: LockFile = {
  ...source,
  nodes: [
    { id: 'constructor', version: '1.0.0' },
    { id: 'Light-Tools', version: '1.2.0-rc.1', sha256, tree },
  ],
};

const writeLock = (text: string) => {
  const path = join(folderForTest(), 'regen.lock');
  writeFileSync(path, text);
  return path;
};

test('what was written is read back, sorted and with each node as a table of its own', async () => {
  const [folder, state] = [folderForTest(), folderForTest()];
  const path = join(folder, 'regen.lock');
  expect(readLockFile(path)).toBeUndefined();
  const reversed = { ...lock, nodes: [...lock.nodes].reverse() };
  expect(await changeLockFile(path, state, () => reversed)).toBe(true);
  expect(readLockFile(path)).toEqual(lock);
  expect(readFileSync(path, 'utf8').match(/^\[\[node\]\]$/gm)).toHaveLength(2);
  expect(await changeLockFile(path, state, () => lock)).toBe(false);
});

test('nodes are replaced and removed in any letter case', () => {
  const changed = replaceNodes(lock, [{ id: 'light-tools', version: '2.0.0' }], ['CONSTRUCTOR']);
  expect(changed.nodes).toEqual([{ id: 'light-tools', version: '2.0.0' }]);
  expect(findLocked(changed, 'LIGHT-tools')?.version).toBe('2.0.0');
  expect(findLocked(changed, 'toString')).toBeUndefined();
});

const [header = '', ...tables] = formatLockFile(lock).split('\n[[node]]\n');
const withTables = (...given: string[]) => [header, ...given].join('\n[[node]]\n');

test.each([
  ['conflict markers', `${header}\n<<<<<<< ours\n`, 'unresolved merge conflict in line 7'],
  [
    'a node twice',
    withTables(...tables, 'id = "light-TOOLS"\nversion = "1.0.0"\n'),
    'lists light-TOOLS twice',
  ],
  ['a line twice', withTables('id = "a"\nid = "a"\nversion = "1.0.0"\n'), 'is not valid TOML in line 9'],
  ['a path as id', withTables('id = "../a"\nversion = "1.0.0"\n'), 'has a node 1 without a valid id'],
  [
    'a prototype as id',
    withTables('id = "__proto__"\nversion = "1.0.0"\n'),
    'has a node 1 without a valid id',
  ],
  ['a range', withTables('id = "a"\nversion = "^1.0.0"\n'), 'a has no valid version'],
  ['half a digest', withTables('id = "a"\nversion = "1.0.0"\nsha256 = "abcd"\n'), 'a has a sha256'],
  [
    'a tree in capitals',
    withTables(`id = "a"\nversion = "1.0.0"\ntree = "${'AB'.repeat(32)}"\n`),
    'a has a tree',
  ],
  ['another key', withTables('id = "a"\nversion = "1.0.0"\nurl = "x"\n'), 'a has the unknown key "url"'],
  ['a table of a prototype', `${header}\n[__proto__]\nx = 1\n`, 'has the unknown key "__proto__"'],
  ['a list that is none', `${header}\nnode = 3\n`, 'has a key node that is not a list'],
  ['no format', header.replace(/^format.*$/m, ''), 'has no format = 1'],
  ['a later format', header.replace('format = 1', 'format = 2'), 'was written by a later release'],
  ['a credential', header.replace('https://', 'https://ann:secret@'), 'no valid address'],
  ['a signed address', header.replace('/api', '/api?signature=x'), 'no valid address'],
  ['a script as address', header.replace('https://registry.example', 'javascript:'), 'no valid address'],
  ['another naming', header.replace('"regen"', '"/home/ann/naming.json"'), 'a naming that is none of'],
])('a lock file with %s is refused, and never written', async (_, text, message) => {
  const path = writeLock(text);
  expect(() => readLockFile(path)).toThrow(message);
  await expect(changeLockFile(path, folderForTest(), () => lock)).rejects.toThrow(message);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('a lock file that could not be read back is not written', async () => {
  const path = join(folderForTest(), 'regen.lock');
  const wrong = { ...lock, registry: 'https://ann:secret@registry.example' };
  await expect(changeLockFile(path, folderForTest(), () => wrong)).rejects.toThrow('no valid address');
  expect(existsSync(path)).toBe(false);
});

test('another registry or naming is refused, a slash at the end is not', () => {
  requireSource('regen.lock', { ...lock, registry: `${lock.registry}/` }, source);
  expect(() => requireSource('regen.lock', lock, { ...source, registry: 'https://other.example' })).toThrow(
    'regen.lock belongs to the registry https://registry.example/api, but this command uses https://other.example.',
  );
  expect(() => requireSource('regen.lock', lock, { ...source, naming: 'comfy' })).toThrow('the naming regen');
});

test('changes at the same time are all kept', async () => {
  const [path, state] = [join(folderForTest(), 'regen.lock'), folderForTest()];
  const ids = Array.from({ length: 20 }, (_, at) => `pack-${at}`);
  await Promise.all(
    ids.map((id) =>
      changeLockFile(path, state, (before = { ...source, nodes: [] }) =>
        replaceNodes(before, [{ id, version: '1.0.0' }]),
      ),
    ),
  );
  expect(
    readLockFile(path)
      ?.nodes.map(({ id }) => id)
      .sort(),
  ).toEqual(ids.sort());
});

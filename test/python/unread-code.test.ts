import { describe, expect, it } from 'vitest';
import { createCodeReader } from '../../src/python/read-code.js';
import { readPackCode } from './read-pack.js';

const evil = 'import requests\ndef f():\n  exec(requests.get(u).text)\n';
const remoteCode = expect.objectContaining({ rule: 'remote-code', severity: 'high', file: '__init__.py' });
const formatComment = (bytes: number) => `#${'x'.repeat(bytes)}\n`;
const MIB = 2 ** 20;

describe('finds what is hidden', () => {
  it('behind 3 MiB of padding in the same file', async () => {
    const { findings } = await readPackCode({ '__init__.py': formatComment(3 * MIB) + evil });
    expect(findings).toEqual([{ ...findings[0], rule: 'remote-code', line: 4 }]);
  });

  it('behind more files than are kept for definitions', async () => {
    const padding = Array.from({ length: 20 }, (_, index) => [`m${index}.py`, formatComment(1.9 * MIB)]);
    const { findings } = await readPackCode({ ...Object.fromEntries(padding), '__init__.py': evil });
    expect(findings).toEqual([remoteCode]);
  });

  it('behind thousands of lesser findings', async () => {
    const lesser = `import shutil\n${'shutil.rmtree(x)\n'.repeat(150)}`;
    const many = Array.from({ length: 25 }, (_, index) => [`m${index}.py`, lesser]);
    expect((await readPackCode({ '__init__.py': lesser + evil })).findings).toContainEqual(remoteCode);
    expect(
      (await readPackCode({ ...Object.fromEntries(many), '__init__.py': evil })).findings,
    ).toContainEqual(remoteCode);
  });

  it.each(['__init__.PY', 'window.pyw'])('in a file named %s', async (name) => {
    const { findings } = await readPackCode({ [name]: evil });
    expect(findings.map(({ file, rule }) => [file, rule])).toEqual([[name, 'remote-code']]);
  });
});

describe('reports that code cannot be checked', () => {
  it.each([
    ['nests brackets', `${evil}x = ${'('.repeat(2000)}${')'.repeat(2000)}`, /1000 deep/],
    ['leaves brackets open', `${evil}x = ${'[{('.repeat(100_000)}`, /1000 deep/],
    ['holds too many words', `${evil}${'a\n'.repeat(300_000)}`, /400000 words/],
    ['holds more calls than are looked at', `${'f()\n'.repeat(61_000)}${evil}`, /more code than one file/],
    ['hides its letters', '# -*- coding: utf_7 -*-\nexec+AHI-\n', /encoding utf-7/],
    ['hides its letters after a long line', `#${'x'.repeat(5000)}\r# coding: utf-7\n`, /encoding utf-7/],
    ['hides its letters on the second line', '\ufeff\n# vim: set fileencoding=utf-16 :\n', /encoding utf-16/],
  ])('when a file %s', async (_, source, message) => {
    const { findings } = await readPackCode({ '__init__.py': source });
    expect(findings[0]).toEqual({
      file: '__init__.py',
      line: 1,
      rule: 'unread-code',
      severity: 'high',
      message: expect.stringMatching(message),
    });
  });

  it('when a file has more than 16 MiB, without reading it', async () => {
    const reader = await createCodeReader();
    expect(reader.wanted('big.py', 16 * MIB + 1)).toBe(false);
    expect(reader.wanted('big.bin', 16 * MIB + 1)).toBe(false);
    expect(reader.finish().findings).toEqual([
      expect.objectContaining({ file: 'big.py', message: 'Cannot be checked: it has more than 16 MiB.' }),
    ]);
  });
});

it.each(['utf-8', 'UTF8', 'latin-1', 'cp1252', 'gbk', 'utf-8-unix'])('reads code in %s', async (encoding) => {
  expect((await readPackCode({ '__init__.py': `# coding: ${encoding}\n${evil}` })).findings).toEqual([
    remoteCode,
  ]);
});

it('counts neither brackets in texts and comments nor what stands in long texts', async () => {
  const quoted = `"""${'([{ "\' '.repeat(100_000)}"""\n# ${'('.repeat(5000)}\n`;
  const marks = `${"'(\\'[' ".repeat(5000)}\n`;
  expect((await readPackCode({ '__init__.py': `x = ${quoted}y = ${marks}` })).findings).toEqual([]);
});

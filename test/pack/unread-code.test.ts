import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/contract/schema/limits.js';
import { codeReader } from '../../src/python/read-code.js';
import { inspectArchiveApart, ReaderInterrupted, readCodeApart } from '../../src/python/reader-process.js';
import { codeOf } from './code-of.js';
import { emptyFolder, folderOf } from './folders.js';
import { rawZip } from './raw-zip.js';

const evil = 'import requests\ndef f():\n  exec(requests.get(u).text)\n';
const remoteCode = expect.objectContaining({ rule: 'remote-code', severity: 'high', file: '__init__.py' });
const node = 'class A:\n  CATEGORY = "x"\nNODE_CLASS_MAPPINGS = {"A": A}\n';
const comment = (bytes: number) => `#${'x'.repeat(bytes)}\n`;
const MIB = 2 ** 20;

describe('finds what is hidden', () => {
  it('behind 3 MiB of padding in the same file', async () => {
    const { findings } = await codeOf({ '__init__.py': comment(3 * MIB) + evil });
    expect(findings).toEqual([{ ...findings[0], rule: 'remote-code', line: 4 }]);
  });

  it('behind more files than are kept for definitions', async () => {
    const padding = Array.from({ length: 20 }, (_, index) => [`m${index}.py`, comment(1.9 * MIB)]);
    const { findings } = await codeOf({ ...Object.fromEntries(padding), '__init__.py': evil });
    expect(findings).toEqual([remoteCode]);
  });

  it('behind thousands of lesser findings', async () => {
    const lesser = `import shutil\n${'shutil.rmtree(x)\n'.repeat(150)}`;
    const many = Array.from({ length: 25 }, (_, index) => [`m${index}.py`, lesser]);
    expect((await codeOf({ '__init__.py': lesser + evil })).findings).toContainEqual(remoteCode);
    expect((await codeOf({ ...Object.fromEntries(many), '__init__.py': evil })).findings).toContainEqual(
      remoteCode,
    );
  });

  it.each(['__init__.PY', 'window.pyw'])('in a file named %s', async (name) => {
    const { findings } = await codeOf({ [name]: evil });
    expect(findings.map(({ file, rule }) => [file, rule])).toEqual([[name, 'remote-code']]);
  });
});

describe('says of code that it cannot be checked', () => {
  it.each([
    ['nests brackets', `${evil}x = ${'('.repeat(2000)}${')'.repeat(2000)}`, /1000 deep/],
    ['leaves brackets open', `${evil}x = ${'[{('.repeat(100_000)}`, /1000 deep/],
    ['holds too many words', `${evil}${'a\n'.repeat(300_000)}`, /400000 words/],
    ['holds more calls than are looked at', `${'f()\n'.repeat(61_000)}${evil}`, /more code than one file/],
    ['hides its letters', '# -*- coding: utf_7 -*-\nexec+AHI-\n', /encoding utf_7/],
    ['hides its letters on the second line', '\ufeff\n# vim: set fileencoding=utf-16 :\n', /encoding utf-16/],
  ])('when a file %s', async (_, source, message) => {
    const { findings } = await codeOf({ '__init__.py': source });
    expect(findings[0]).toEqual({
      file: '__init__.py',
      line: 1,
      rule: 'unread-code',
      severity: 'high',
      message: expect.stringMatching(message),
    });
  });

  it('when a file has more than 16 MiB, without reading it', async () => {
    const reader = await codeReader();
    expect(reader.wanted('big.py', 16 * MIB + 1)).toBe(false);
    expect(reader.wanted('big.bin', 16 * MIB + 1)).toBe(false);
    expect(reader.finish().findings).toEqual([
      expect.objectContaining({ file: 'big.py', message: 'Cannot be checked: it has more than 16 MiB.' }),
    ]);
  });
});

it.each(['utf-8', 'UTF8', 'latin-1', 'cp1252', 'gbk', 'utf-8-unix'])('reads code in %s', async (encoding) => {
  expect((await codeOf({ '__init__.py': `# coding: ${encoding}\n${evil}` })).findings).toEqual([remoteCode]);
});

it('counts neither brackets in texts and comments nor what stands in long texts', async () => {
  const quoted = `"""${'([{ "\' '.repeat(100_000)}"""\n# ${'('.repeat(5000)}\n`;
  const marks = `${"'(\\'[' ".repeat(5000)}\n`;
  expect((await codeOf({ '__init__.py': `x = ${quoted}y = ${marks}` })).findings).toEqual([]);
});

describe('in a process of its own', () => {
  it('keeps the findings, and finds nothing else, when definitions take too much memory', async () => {
    const data = Array.from({ length: 7 }, (_, index) => [`m${index}.py`, `x = [${'1,'.repeat(190_000)}]\n`]);
    const folder = await folderOf({ ...Object.fromEntries(data), '__init__.py': evil + node });
    const files = [...data.map(([name = '']) => name), '__init__.py'].map((path) => ({
      path,
      absolute: join(folder, path),
      size: 380_000,
    }));
    const report = await readCodeApart(files);
    expect(report).toMatchObject({ followed: false, nodes: [] });
    expect(report.unresolved).toEqual([
      expect.objectContaining({ what: expect.stringContaining('too much memory') }),
    ]);
    expect(report.findings).toEqual([remoteCode]);
  });

  it('leaves out the file that takes too much memory to parse, and looks at the others', async () => {
    const minus = `x = ${'-'.repeat(390_000)}1\n`;
    const archive = join(await emptyFolder(), 'node.zip');
    const entries = { 'a.py': minus, '__init__.py': evil, 'r.bin': 'r'.repeat(9000) };
    await writeFile(
      archive,
      rawZip(Object.entries(entries).map(([name, content]) => ({ name, content, method: 0 }))),
    );
    const { code } = (await inspectArchiveApart(archive, limits)) as { code?: { findings: object[] } };
    expect(code?.findings).toEqual([
      remoteCode,
      expect.objectContaining({
        file: 'a.py',
        message: 'Cannot be checked: it takes too much memory to read.',
      }),
    ]);
  });

  it('flags a pack of nothing but files that take too much', async () => {
    const minus = `x = ${'-'.repeat(390_000)}1\n`;
    const folder = await folderOf(Object.fromEntries([1, 2, 3, 4].map((name) => [`m${name}.py`, minus])));
    const files = [1, 2, 3, 4].map((name) => ({
      path: `m${name}.py`,
      absolute: join(folder, `m${name}.py`),
      size: minus.length,
    }));
    const { findings } = await readCodeApart(files);
    expect(findings).toEqual([
      expect.objectContaining({ rule: 'unread-code', severity: 'high', file: 'm3.py' }),
    ]);
  });
});

describe('a reader process', () => {
  /** A pack whose definitions take a good part of a second to follow. */
  const slow = async () => {
    const lists = Array.from({ length: 60 }, (_, index) => `l${index} = [${'1,'.repeat(3000)}]\n`).join('');
    return filesOf({ '__init__.py': lists + node });
  };

  it.skipIf(!existsSync('/proc/self/stat'))(
    'that is paused for longer than it may work gives the same report',
    async () => {
      const files = await slow();
      const limits = { stepCpuMs: 1_500, totalCpuMs: 2_000 };
      const reading = readCodeApart(files, limits);
      const pid = await childRunning('pack-reader');
      process.kill(pid, 'SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      process.kill(pid, 'SIGCONT');
      expect(await reading).toMatchObject({ followed: true, nodes: [{ name: 'A' }], findings: [] });
    },
  );

  it.skipIf(!existsSync('/proc/self/stat'))('that is killed from outside is no verdict', async () => {
    const reading = readCodeApart(await slow());
    process.kill(await childRunning('pack-reader'), 'SIGKILL');
    await expect(reading).rejects.toThrow(ReaderInterrupted);
  });

  it('that uses up its CPU time leaves the file out', async () => {
    const source = `${'def f():\n  exec(a.b(c).d)\n'.repeat(8000)}${node}`;
    const report = await readCodeApart(await filesOf({ '__init__.py': source }), {
      stepCpuMs: 30,
      totalCpuMs: 200,
    });
    expect(report.findings).toContainEqual(expect.objectContaining({ rule: 'unread-code' }));
  });

  it('whose engine aborts for want of memory is reported, and does not take the program with it', async () => {
    const source = `X = [${'[[[1],2],3],'.repeat(20_000)}]\n${node}`;
    const report = await readCodeApart(await filesOf({ '__init__.py': source }), { heapMb: 9 });
    expect(report).toMatchObject({ followed: false, nodes: [], findings: [] });
    expect(report.unresolved[0]?.what).toContain('too much memory');
  });

  it.each(['[]*(10**8)', '[1]*(10**8)', '""*(10**9)', '"a"*(10**400)', '()*(2**62)', '[[]]*(10**400)'])(
    'is not held up by %s',
    async (expression) => {
      const source = `X = ${expression}\n${node}`;
      const report = await readCodeApart(await filesOf({ '__init__.py': source }));
      expect(report).toMatchObject({ followed: true, nodes: [{ name: 'A' }], findings: [] });
    },
  );
});

async function filesOf(content: Record<string, string>) {
  const folder = await folderOf(content);
  return Object.entries(content).map(([path, { length }]) => ({
    path,
    absolute: join(folder, path),
    size: length,
  }));
}

/** The process that this one started with `word` among its arguments, as soon as it runs. */
async function childRunning(word: string): Promise<number> {
  for (;;) {
    const children = readdirSync('/proc/self/task').flatMap((thread) =>
      readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    );
    const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word));
    if (found) return Number(found);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

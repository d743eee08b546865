import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/contract/schema/limits.js';
import { ChildInterrupted } from '../../src/disk/limited-child.js';
import { PackReader, type PackReaderOptions, readCodeApart } from '../../src/python/reader-process.js';
import { createEmptyFolder, createFolder } from '../pack/folders.js';
import { createRawZip } from '../pack/raw-zip.js';
import { listChildProcesses } from '../support/child-processes.js';
import { readPackCode } from './read-pack.js';

const evil = 'import requests\ndef f():\n  exec(requests.get(u).text)\n';
const remoteCode = expect.objectContaining({ rule: 'remote-code', severity: 'high', file: '__init__.py' });
const node = 'class A:\n  CATEGORY = "x"\nNODE_CLASS_MAPPINGS = {"A": A}\n';
const isLinux = existsSync('/proc/self/stat');

describe('in a process of its own', () => {
  it('keeps the findings, and finds nothing else, when definitions take too much memory', async () => {
    const data = Array.from({ length: 7 }, (_, index) => [`m${index}.py`, `x = [${'1,'.repeat(190_000)}]\n`]);
    const folder = await createFolder({ ...Object.fromEntries(data), '__init__.py': evil + node });
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
    const archive = join(await createEmptyFolder(), 'node.zip');
    const entries = { 'a.py': minus, '__init__.py': evil, 'r.bin': 'r'.repeat(9000) };
    await writeFile(
      archive,
      createRawZip(Object.entries(entries).map(([name, content]) => ({ name, content, method: 0 }))),
    );
    const { code } = (await readerForTest().inspectArchive(archive, DEFAULT_LIMITS)) as {
      code?: { findings: object[] };
    };
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
    const folder = await createFolder(Object.fromEntries([1, 2, 3, 4].map((name) => [`m${name}.py`, minus])));
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
  it.skipIf(!isLinux)('that is paused for longer than it may work gives the same report', async () => {
    const files = await filesTaking(30);
    const limits = { stepCpuMs: 4_000, totalCpuMs: 4_000 };
    const reading = readCodeApart(files, limits);
    const pid = await childRunning('pack-reader');
    process.kill(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    process.kill(pid, 'SIGCONT');
    expect(await reading).toMatchObject({ followed: true, nodes: [{ name: 'A' }], findings: [] });
  });

  it.skipIf(!isLinux)('that is killed from outside gives no verdict', async () => {
    const reading = readCodeApart(await filesTaking(60));
    process.kill(await childRunning('pack-reader'), 'SIGKILL');
    await expect(reading).rejects.toThrow(ChildInterrupted);
  });

  it('that uses up its CPU time leaves the file out', async () => {
    const source = `${'def f():\n  exec(a.b(c).d)\n'.repeat(8000)}${node}`;
    const report = await readCodeApart(await createPackFiles({ '__init__.py': source }), {
      stepCpuMs: 30,
      totalCpuMs: 200,
    });
    expect(report.findings).toContainEqual(expect.objectContaining({ rule: 'unread-code' }));
  });

  it('whose engine aborts for want of memory is reported, and does not take the program with it', async () => {
    const source = `X = [${'[[[1],2],3],'.repeat(20_000)}]\n${node}`;
    const report = await readCodeApart(await createPackFiles({ '__init__.py': source }), { heapMb: 9 });
    expect(report).toMatchObject({ followed: false, nodes: [], findings: [] });
    expect(report.unresolved[0]?.what).toContain('too much memory');
  });

  it.each(['[]*(10**8)', '[1]*(10**8)', '""*(10**9)', '"a"*(10**400)', '()*(2**62)', '[[]]*(10**400)'])(
    'is not held up by %s',
    async (expression) => {
      const report = await readPackCode({ '__init__.py': `X = ${expression}\n${node}` });
      expect(report).toMatchObject({ followed: true, nodes: [{ name: 'A' }], findings: [] });
    },
  );
});

it('needs little memory for deep folders', async () => {
  const path = join(await createEmptyFolder(), 'node.zip');
  const entries = Array.from({ length: 10_000 }, (_, index) => ({
    name: `${'a/'.repeat(150)}${index}`,
    method: 0,
  }));
  await writeFile(path, createRawZip(entries));
  const limits = { heapMb: 48 };
  expect(await readerForTest({ limits }).inspectArchive(path, DEFAULT_LIMITS)).toMatchObject({ ok: true });
});

it('refuses an archive that takes too much even without its code', async () => {
  const path = join(await createEmptyFolder(), 'node.zip');
  const entries = Array.from({ length: 20_000 }, (_, index) => ({
    name: `${'long-'.repeat(50)}${index}`,
    method: 0,
  }));
  await writeFile(path, createRawZip(entries));
  expect(await readerForTest({ limits: { heapMb: 9 } }).inspectArchive(path, DEFAULT_LIMITS)).toEqual({
    ok: false,
    reason: 'The archive cannot be checked: it takes too much memory to read.',
  });
});

describe('a process that reads several packs', () => {
  it.skipIf(!isLinux)('is the same for all of them, and nothing of one is seen in the next', async () => {
    const reader = readerForTest();
    const shared = await createPackFiles({ '__init__.py': 'from .nodes import *\n', 'nodes.py': node });
    const alone = await createPackFiles({
      '__init__.py': 'from .nodes import *\nNODE_CLASS_MAPPINGS = {"B": A}\n',
    });
    expect(await reader.readCode(shared)).toMatchObject({ nodes: [{ name: 'A' }] });
    const first = listChildProcesses('pack-reader');
    const { nodes } = await reader.readCode(alone);
    expect(nodes).toEqual([expect.objectContaining({ name: 'B' })]);
    expect(nodes[0]).not.toHaveProperty('class');
    expect(listChildProcesses('pack-reader')).toEqual(first);
    expect(first).toHaveLength(1);
  });

  it.skipIf(!isLinux)('gives way to another after a number of packs', async () => {
    const reader = readerForTest();
    const files = await createPackFiles({ '__init__.py': node });
    const pids: (number | undefined)[] = [];
    for (let round = 0; round < 101; round++) {
      expect(await reader.readCode(files)).toMatchObject({ followed: true });
      pids.push(listChildProcesses('pack-reader')[0]);
    }
    const [first] = pids;
    expect(pids.slice(0, 99)).toEqual(Array(99).fill(first));
    expect(pids.slice(99)).toEqual([undefined, expect.any(Number)]);
    expect(pids[100]).not.toBe(first);
  });

  it('counts the CPU time of each pack by itself', async () => {
    const reader = readerForTest({ limits: { stepCpuMs: 2_500, totalCpuMs: 2_500 } });
    const files = await filesTaking(8);
    for (let round = 0; round < 12; round++)
      expect(await reader.readCode(files)).toMatchObject({ followed: true, findings: [] });
  });

  it('reads a pack after one that exceeded its limits as if it were the first', async () => {
    const reader = readerForTest();
    const minus = await createPackFiles({ '__init__.py': `x = ${'-'.repeat(390_000)}1\n` });
    const good = await createPackFiles({ '__init__.py': node });
    const [bad, after] = await Promise.all([reader.readCode(minus), reader.readCode(good)]);
    expect(bad.findings).toEqual([expect.objectContaining({ rule: 'unread-code' })]);
    expect(after).toMatchObject({ followed: true, nodes: [{ name: 'A' }], findings: [] });
  });

  it.skipIf(!isLinux)('ends when no pack follows, and another takes its place', async () => {
    const reader = readerForTest({ idleMs: 1 });
    const files = await createPackFiles({ '__init__.py': node });
    expect(await reader.readCode(files)).toMatchObject({ nodes: [{ name: 'A' }] });
    await expect.poll(() => listChildProcesses('pack-reader')).toEqual([]);
    expect(await reader.readCode(files)).toMatchObject({ nodes: [{ name: 'A' }] });
  });

  it.skipIf(!isLinux)('that is killed while it waits costs no pack', async () => {
    const reader = readerForTest();
    const files = await createPackFiles({ '__init__.py': node });
    await reader.readCode(files);
    const [pid] = listChildProcesses('pack-reader');
    process.kill(pid as number, 'SIGKILL');
    await expect.poll(() => listChildProcesses('pack-reader')).toEqual([]);
    expect(await reader.readCode(files)).toMatchObject({ nodes: [{ name: 'A' }] });
  });

  it('does not keep the program running while it waits', async () => {
    const program = `
      import { PackReader } from './src/python/reader-process.ts';
      const reader = new PackReader({ idleMs: 2 ** 30 });
      console.log((await reader.readCode([])).followed);`;
    const options = ['--import', 'tsx', '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, options);
    expect(stdout).toBe('true\n');
  });

  it.skipIf(!isLinux)('ends with what it reads when the reader is closed or the job is aborted', async () => {
    const files = await filesTaking(60);
    const reader = readerForTest();
    const aborting = new AbortController();
    const aborted = reader.readCode(files, aborting.signal);
    await childRunning('pack-reader');
    aborting.abort(new Error('The service stops.'));
    await expect(aborted).rejects.toThrow('The service stops.');
    expect(listChildProcesses('pack-reader')).toEqual([]);
    const closed = reader.readCode(files);
    const refused = expect(closed).rejects.toThrow('The reader of packs is closed.');
    await childRunning('pack-reader');
    await reader.close();
    await refused;
    expect(listChildProcesses('pack-reader')).toEqual([]);
    await expect(reader.readCode(files)).rejects.toThrow('The reader of packs is closed.');
  });
});

function readerForTest(options?: PackReaderOptions): PackReader {
  const reader = new PackReader(options);
  onTestFinished(() => reader.close());
  return reader;
}

/** A pack that is read in the given number of hundredths of a second, on a quiet machine. */
function filesTaking(count: number) {
  const lists = Array.from({ length: count }, (_, index) => `l${index} = [${'1,'.repeat(3000)}]\n`).join('');
  return createPackFiles({ '__init__.py': lists + node });
}

async function createPackFiles(content: Record<string, string>) {
  const folder = await createFolder(content);
  return Object.entries(content).map(([path, { length }]) => ({
    path,
    absolute: join(folder, path),
    size: length,
  }));
}

/** The process that this one started with `word` among its arguments, as soon as it runs. */
async function childRunning(word: string): Promise<number> {
  for (;;) {
    const [found] = listChildProcesses(word);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

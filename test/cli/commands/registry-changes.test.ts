import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { homeForTest, regen, startRegen } from '../../support/cli.js';
import { registryForFile } from '../../support/registry.js';
import { type Answered, folderForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const registry = registryForFile();

const createEnv = () => ({ REGEN_BASE_URL: registry().url });
const parseLines = (text: string): Answered[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const listVersions = (lines: readonly Answered[]) =>
  lines.filter(({ change }) => change === 'version.active').map(({ version }) => version);

/** The id of a node that no earlier run of the test made. */
const createNodeId = () => `node-${randomUUID()}`;

/** A program that appends what it reads to a file, and fails while another file is there. */
function writeProgram(folder: string): { program: string; seen: string; obstacle: string } {
  const [program, seen, obstacle] = ['act', 'seen', 'obstacle'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(
    program,
    `#!/bin/sh\nif [ -e '${obstacle}' ]; then exit 3; fi\necho "$#:$1" >> '${seen}'\ncat >> '${seen}'\n`,
  );
  chmodSync(program, 0o700);
  return { program, seen, obstacle };
}

it('lists changes as a table for programs and people, and says where to go on', async () => {
  const nodeId = createNodeId();
  await registry().active(nodeId, '1.0.0');
  const { stdout } = await regen(['registry', 'changes', '--last', '1'], { env: createEnv() });
  expect(stdout.split('\t').slice(1)).toEqual(['version.active', nodeId, '1.0.0', 'acme\n']);
  const whole = JSON.parse(
    (await regen(['registry', 'changes', '--last', '1', '--json'], { env: createEnv() })).stdout,
  );
  const after = await regen(['registry', 'changes', '--since', whole.cursor], { env: createEnv() });
  expect([after.exit, after.stdout]).toEqual([0, '']);
  const lost = await regen(['registry', 'changes', '--since', 'lost'], { env: createEnv() });
  expect(lost.exit).toBe(5);
  expect(lost.stderr).toContain('start again without');
});

it('continues after the change of its state file, and runs a program for each without a shell', async () => {
  const { active } = registry();
  const nodeId = createNodeId();
  const folder = folderForTest();
  const { program, seen, obstacle } = writeProgram(folder);
  const state = join(folder, 'mirror.json');
  const run = (exec = `${program} '$(touch ${folder}/shell); x'`) =>
    regen(['registry', 'changes', '--json', '--state', state, '--exec', exec, '--node-id', nodeId], {
      env: createEnv(),
    });
  await active(nodeId, '1.0.0');
  expect(listVersions(parseLines((await run()).stdout))).toEqual(['1.0.0']);
  expect(readFileSync(seen, 'utf8')).toContain(`1:$(touch ${folder}/shell); x\n{"cursor":`);
  await active(nodeId, '1.1.0');
  await active(nodeId, '1.2.0');
  writeFileSync(obstacle, '');
  const failed = await run();
  expect([failed.exit, failed.stdout]).toEqual([9, '']);
  expect(failed.stderr).toContain('The program failed with 3');
  writeFileSync(program, `#!/bin/sh\ngrep -q '1.2.0' && exit 4\nexit 0\n`);
  expect(listVersions(parseLines((await run(program)).stdout))).toEqual(['1.1.0']);
  writeFileSync(program, '#!/bin/sh\nexit 0\n');
  expect(listVersions(parseLines((await run(program)).stdout))).toEqual(['1.2.0']);
  expect((await run(program)).stdout).toBe('');
});

it('refuses a state file of another service or another command, a program without one, and a missing program', async () => {
  const folder = folderForTest();
  const state = join(folder, 'state.json');
  const run = (...flags: string[]) => regen(['registry', 'changes', ...flags], { env: createEnv() });
  writeFileSync(state, JSON.stringify({ service: 'https://other.example', cursor: '1-a' }));
  expect((await run('--state', state)).stderr).toContain('belongs to https://other.example');
  for (const text of ['{', 'null', '[]', '{"service":1}']) {
    writeFileSync(state, text);
    const { exit, stderr } = await run('--state', state);
    expect(exit).toBe(2);
    expect(stderr).toContain('is not a state file of this command');
  }
  expect((await run('--exec', 'true')).stderr).toContain('--exec needs --state');
  const missing = await run('--state', join(folder, 'new.json'), '--exec', 'no-such-program-here');
  expect([missing.exit, missing.stderr]).toEqual([
    2,
    expect.stringContaining("no program 'no-such-program-here'"),
  ]);
});

it('follows new changes, also after its program failed, until it is ended; one process per state file', async () => {
  const { active } = registry();
  const nodeId = createNodeId();
  const folder = folderForTest();
  const { program, seen, obstacle } = writeProgram(folder);
  const state = join(folder, 'follow.json');
  await active(nodeId, '1.0.0');
  const flags = [
    '--follow',
    '--last',
    '1',
    '--json',
    '--interval',
    '20ms',
    '--state',
    state,
    '--exec',
    program,
  ];
  const started = startRegen(['registry', 'changes', ...flags], { home: homeForTest(), env: createEnv() });
  onTestFinished(() => void started.child.kill('SIGKILL'));
  let printed = '';
  started.child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  await waitFor(() => expect(readFileSync(seen, 'utf8')).toContain('1.0.0'));
  const second = await regen(['registry', 'changes', '--state', state], { env: createEnv() });
  expect([second.exit, second.stderr]).toEqual([5, expect.stringContaining('Another process follows')]);
  writeFileSync(obstacle, '');
  await active(nodeId, '2.0.0');
  await waitFor(() => expect(started.said()).toContain('Trying again in 0.02 s'));
  rmSync(obstacle);
  await waitFor(() => expect(printed).toMatch(/"2\.0\.0".*\n/));
  started.child.kill('SIGINT');
  const { exit, stdout } = await started.ended;
  expect(exit).toBe(130);
  expect(listVersions(parseLines(stdout))).toEqual(['1.0.0', '2.0.0']);
});

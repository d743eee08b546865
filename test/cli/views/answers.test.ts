import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { commandTree } from '../../../src/cli/command-tree.js';
import { failureCodes } from '../../../src/cli/terminal/failure-codes.js';
import { topics } from '../../../src/cli/views/topics.js';
import { errorCodes } from '../../../src/contract/error-codes.js';
import { homeForTest, regen, type Surroundings } from '../../support/cli.js';
import { png } from '../../support/generation-double.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, registerVersion, serviceForTest } from '../../support/service.js';

async function createRunner(): Promise<
  (argv: readonly string[], more?: Surroundings) => ReturnType<typeof regen>
> {
  const service = await serviceForTest();
  await registerVersion(await publisherForTest(service), '1.0.0');
  const surroundings: Surroundings = {
    home: homeForTest(),
    cwd: folderForTest(),
    env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken },
  };
  writeFileSync(join(surroundings.cwd as string, 'photo.png'), png);
  writeFileSync(
    join(surroundings.cwd as string, 'jobs.jsonl'),
    '{"command":"image relight","image":"photo.png","prompt":"warm"}\n{"command":"image upscaler","image":"photo.png"}\n',
  );
  return (argv, more) => regen(argv, { ...surroundings, ...more });
}

test('what a command prints with --json has the schema that `regen schema` prints for it', async () => {
  const run = await createRunner();
  const pack = packForTest();
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true } });
  const commands: (readonly [name: string, ...rest: string[]])[] = [
    ['node get', 'pack'],
    ['node search'],
    ['version list', 'pack'],
    ['version bulk', 'pack@1.0.0', 'pack@9.0.0'],
    ['version check', pack],
    ['version pack', pack, '--list'],
    ['version pack', pack],
    ['version publish', packForTest({ version: '2.0.0' }), packForTest({ version: 'nope' })],
    ['version diff', 'pack', '1.0.0', '1.0.0'],
    ['image relight', 'photo.png', '--prompt', 'warm', '--no-wait'],
    ['image relight', 'photo.png', 'photo.png', '--prompt', 'warm', '--no-wait'],
    ['batch', 'jobs.jsonl', '--timeout', '1ms'],
    ['task list'],
    ['task show', '@last'],
    ['config list'],
    ['config get', 'profile'],
    ['config path'],
    ['doctor'],
    ['auth status'],
    ['admin audit'],
    ['publisher token list', 'acme'],
    ['webhook deliveries'],
    ['video prices'],
  ];
  for (const [name, ...rest] of commands) {
    const schema = JSON.parse((await run(['schema', ...name.split(' ')])).stdout);
    const { stdout, stderr } = await run([...name.split(' '), ...rest, '--json']);
    const validate = ajv.compile({ ...schema, $id: `${schema.$id}:${rest.length}` });
    expect(validate(JSON.parse(stdout)), `${name}: ${JSON.stringify(validate.errors)} ${stderr}`).toBe(true);
  }
  const error = ajv.compile(JSON.parse((await run(['schema', 'error'])).stdout));
  for (const argv of [['node', 'get', 'nope'], ['nope'], ['node', 'create', 'acme', '--body', '{}']]) {
    const { stderr } = await run([...argv, '--json']);
    expect(error(JSON.parse(stderr)), stderr).toBe(true);
  }
});

test('every schema that is listed can be compiled', async () => {
  const listed = JSON.parse((await regen(['schema', '--json'])).stdout) as { command: string }[];
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true } });
  for (const { command } of listed) {
    const { stdout } = await regen(['schema', ...command.split(' ')]);
    expect(() => ajv.compile(JSON.parse(stdout)), command).not.toThrow();
  }
  expect((await regen(['schema', 'completion', 'bash'])).exit).toBe(2);
});

test('the schema of a request has the rules of each model', async () => {
  const ajv = new Ajv2020({ strict: false, formats: { uri: true, int32: true } });
  const validate = ajv.compile(
    JSON.parse((await regen(['schema', 'video', 'text2video', '--input'])).stdout),
  );
  expect(validate({ prompt: 'a boat', model: 'vvq2-pro', duration: 8 })).toBe(true);
  expect(validate({ prompt: 'a boat', model: 'vvq2-pro', duration: 12 })).toBe(false);
  expect((await regen(['schema', 'task', 'list', '--input'])).exit).toBe(2);
  expect((await regen(['schema', '--input'])).stdout).toContain(
    'image relight\turn:regen:request:image-relight:1',
  );
});

test('--jq filters the answer with jq, and a wrong expression is refused before anything is sent', async () => {
  const run = await createRunner();
  expect(await run(['version', 'list', 'pack', '--jq', '.[] | .version, .deprecated'])).toEqual({
    exit: 0,
    stdout: '1.0.0\nfalse\n',
    stderr: '',
  });
  expect((await run(['node', 'search', '--ndjson', '--all', '--jq', '{id}'])).stdout).toBe('{"id":"pack"}\n');
  const nothing = { exit: 0, stdout: '', stderr: '' };
  expect(await run(['version', 'list', 'pack', '--jq', '.[] | select(.version == "9.0.0")'])).toEqual(
    nothing,
  );
  expect(await run(['node', 'search', 'no such node', '--ndjson', '--all', '--jq', '.tags[]'])).toEqual(
    nothing,
  );
  const create = ['publisher', 'create', 'other', '--name', 'Other', '--jq', '.id |'];
  const { exit, stdout, stderr } = await run(create);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toMatch(/--jq: syntax error/);
  expect((await run(['publisher', 'get', 'other'])).exit).toBe(3);
});

test('output of --jq cannot control a terminal', async () => {
  const run = await createRunner();
  const argv = ['version', 'list', 'pack', '--jq', '"\\u001b]0;owned\\u0007\\u202e" + .[0].version'];
  expect((await run(argv, { terminal: true })).stdout).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
});

test('--columns chooses the columns, on a terminal and in a pipe; an unknown one is refused by name', async () => {
  const run = await createRunner();
  const columns = ['node', 'search', '--columns', 'id, status'];
  expect((await run(columns)).stdout).toBe('pack\tNodeStatusActive\n');
  expect((await run(columns, { terminal: true, columns: 80 })).stdout).toBe('ID    STATUS\npack  active\n');
  const { exit, stderr } = await run(['node', 'search', '--columns', 'id,nope']);
  expect({ exit, stderr }).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(/no column nope\.\n.*downloads/),
  });
  expect((await run([...columns, '--json'])).exit).toBe(2);
});

test('--help --json describes every command and flag', async () => {
  const { stdout } = await regen(['--help', '--json']);
  const described = JSON.parse(stdout).commands;
  expect(described.map(({ command }: { command: string }) => command)).toEqual(
    commandTree().commands.map(({ words }) => words.join(' ')),
  );
  const { commands } = JSON.parse((await regen(['task', '--json', '--help'])).stdout);
  expect(commands.every(({ command }: { command: string }) => command.startsWith('task '))).toBe(true);
  const wait = commands.find(({ command }: { command: string }) => command === 'task wait');
  expect(wait.flags).toContainEqual(expect.objectContaining({ name: 'output', short: 'o', value: 'path' }));
});

test('each topic has a page, and help names them', async () => {
  const { stdout } = await regen(['help']);
  for (const name of Object.keys(topics)) {
    expect(stdout).toContain(name);
    expect(await regen(['help', name])).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining(topics[name]?.summary as string),
      stderr: '',
    });
  }
});

test('every error code of the sources is explained, in help and in docs/errors.md', async () => {
  const sources = ['src/cli', 'src/client', 'src/flows'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(folder, path), 'utf8')),
  );
  const codes = sources.flatMap((text) => [
    ...Array.from(text.matchAll(/\bcode: '([a-z_]+)'/g), ([, code]) => code as string),
    ...Array.from(text.matchAll(/new FlowError\(\s*'([a-z_]+)'/g), ([, code]) => code as string),
  ]);
  expect(codes.length).toBeGreaterThan(30);
  const page = readFileSync('docs/errors.md', 'utf8');
  const help = (await regen(['help', 'errors'])).stdout;
  const known = { ...errorCodes, ...failureCodes };
  // Renamed where a flow's error is reported.
  const internal = [
    'manifest_missing',
    'invalid_python',
    'stage_unsupported',
    'no_active_version',
    'nothing_to_download',
    'version_withdrawn',
    'only_doubtful',
    'no_active_version',
    'same_version_exists',
    'still_checking',
    'stage_unsupported',
    'folder_exists',
    'unknown_placeholder',
    'same_output',
    'task_not_found',
    'task_hidden',
    'ambiguous_task',
  ];
  for (const code of new Set(codes.filter((one) => !internal.includes(one)))) {
    expect(Object.keys(known), code).toContain(code);
    expect(page).toContain(`| \`${code}\` |`);
    expect(help).toContain(code);
  }
});

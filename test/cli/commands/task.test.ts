import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import { homeForTest, regen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { startedTaskForTest } from '../../support/generation-desk.js';
import { generationDoubleForTest, png } from '../../support/generation-double.js';
import { listenOn } from '../../support/listen.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

test('task list and task show work offline, by local and remote id', async () => {
  const { run, id, double } = await startedTaskForTest();
  await run(['image', 'upscaler', 'photo.png']);
  await double.close();
  const list = JSON.parse((await run(['task', 'list', '--json'], { env: {} })).stdout);
  expect(list).toMatchObject([
    { operation: 'image.upscaler', state: 'COMPLETED' },
    { operation: 'image.relight', state: 'CREATED', task_id: id },
  ]);
  const rows = (await run(['task', 'list'], { env: {} })).stdout.trim().split('\n');
  expect(rows[1]).toMatch(new RegExp(`^${list[1].id}\t${id}\timage.relight\tCREATED\t`));
  const seen = (await run(['task', 'list'], { env: {}, terminal: true, columns: 80 })).stdout;
  expect(seen).toMatch(/^TASK +OPERATION +STATE +CREATED +NAME/);
  expect(seen).toMatch(new RegExp(`^${id.slice(0, 8)} +image.relight +queued +`, 'm'));
  for (const name of [id, list[1].id, id.slice(0, 8), '@last:relight']) {
    expect(JSON.parse((await run(['task', 'show', name, '--json'])).stdout)).toEqual(list[1]);
  }
  expect((await run(['task', 'show', 'nope'])).exit).toBe(3);
  expect(await run(['task', 'show', '@last:video'])).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining('No video task was started from here.'),
  });
});

test('task list says that a request got no response, and does not count its price', async () => {
  const { run, home } = await startedTaskForTest();
  const folder = join(home, '.local/state/regen/tasks');
  const path = join(folder, readdirSync(folder)[0] as string);
  const { task_id, state, ...entry } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...entry, credits: 3 }));
  const { stdout } = await run(['task', 'list'], { terminal: true, columns: 80 });
  expect(stdout).toContain('unanswered');
  const piped = await run(['task', 'list']);
  expect(piped.stdout).toContain('\tunanswered\t');
  expect(piped.stderr).toContain('0 tasks, 1 request without a response.');
});

test('task list asks services about tasks that were last seen queued or running', async () => {
  const { run, double, id } = await startedTaskForTest();
  double.endAll();
  const list = await run(['task', 'list', '--state', 'done', '--json']);
  expect(JSON.parse(list.stdout)).toMatchObject([{ task_id: id, state: 'COMPLETED' }]);
  const asked = double.looks;
  await run(['task', 'list']);
  // It has ended.
  expect(double.looks).toEqual(asked);
});

test('task list takes the states of services in any case, and names its own when it does not know one', async () => {
  const { run, double, id } = await startedTaskForTest();
  const list = async (state: string) =>
    JSON.parse((await run(['task', 'list', '--state', state, '--json'])).stdout).length;
  double.endAll();
  await run(['task', 'wait', id]);
  expect([await list('success'), await list('Completed')]).toEqual([1, 1]);
  expect([await list('queueing'), await list('IN_PROGRESS'), await list('FAILED')]).toEqual([0, 0, 0]);
  const { exit, stderr } = await run(['task', 'list', '--state', 'toString']);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('queued, running, done, failed, gone')]);
});

test('a task is found by a file that it saved, from the folder of the file', async () => {
  const { run, id } = await startedTaskForTest();
  await run(['task', 'wait', '@last', '-o', 'lit.png']);
  expect(JSON.parse((await run(['task', 'show', 'lit.png', '--json'])).stdout)).toMatchObject({
    task_id: id,
  });
});

test('an ambiguous beginning of an id is refused, and the matching ids are named', async () => {
  const { run, double } = await startedTaskForTest();
  await run(['image', 'upscaler', 'photo.png']);
  const ids = [...double.tasks.keys()];
  // Local ids begin with their time, so those of one test share their first characters.
  const [entry] = JSON.parse((await run(['task', 'list', '--json'])).stdout);
  const { exit, stderr } = await run(['task', 'show', entry.id.slice(0, 4)]);
  expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringContaining('2 tasks begin with') });
  for (const id of ids) expect(stderr).toContain(id);
});

test('image status finds the kind of a task in the ledger, from the command, or by trying each', async () => {
  const { run, id, home } = await startedTaskForTest();
  expect(JSON.parse((await run(['image', 'status', id, '--json'])).stdout)).toMatchObject({
    data: { task_id: id, status: 'IN_PROGRESS' },
  });
  expect((await run(['image', 'status', id])).stdout).toContain(`status\tCOMPLETED\ntask_id\t${id}\n`);
  expect((await run(['task', 'list', '--json'], { home })).stdout).toContain('"state":"COMPLETED"');
  const elsewhere = homeForTest();
  expect((await run(['image', 'status', id, '--kind', 'relight'], { home: elsewhere })).exit).toBe(0);
  expect((await run(['image', 'status', id], { home: elsewhere })).exit).toBe(0);
  expect((await run(['image', 'status', 'nope'], { home: elsewhere })).exit).toBe(3);
  expect((await run(['image', 'status', id, '--kind', 'video'], { home: elsewhere })).exit).toBe(2);
  expect((await run(['image', 'status'])).exit).toBe(2);
});

test('task wait takes several ids, also of other users, and --all takes all unfinished tasks', async () => {
  const { double, run, id } = await startedTaskForTest();
  await run(['image', 'upscaler', 'photo.png', '--no-wait']);
  const [, second = ''] = double.tasks.keys();
  const both = await run(['task', 'wait', second, id]);
  expect(both).toMatchObject({
    exit: 0,
    stdout: `${double.url}/results/${second}-0\n${double.url}/results/${id}-0\n`,
  });
  const elsewhere = await run(['task', 'wait', id], { home: homeForTest() });
  expect(elsewhere.stdout).toBe(`${double.url}/results/${id}-0\n`);
  expect(await run(['task', 'wait', '--all'])).toMatchObject({ exit: 0, stdout: '' });
  await run(['image', 'relight', 'photo.png', '--no-wait']);
  const [, , third = ''] = double.tasks.keys();
  expect((await run(['task', 'wait', '--all'])).stdout).toBe(`${double.url}/results/${third}-0\n`);
  expect((await run(['task', 'wait'])).exit).toBe(2);
  expect((await run(['task', 'wait', id, 'nope'])).exit).toBe(9);
});

test('task wait exits with the common result of several tasks, and 9 if their results differ', async () => {
  const { double, run, id } = await startedTaskForTest({ stuck: (_, count) => count > 1 });
  await run(['image', 'upscaler', 'photo.png', '--no-wait']);
  await run(['image', 'upscaler', 'photo.png', '--no-wait', '--again']);
  const [, second = '', third = ''] = double.tasks.keys();
  expect((await run(['task', 'wait', id])).exit).toBe(0);
  const wait = async (...ids: string[]) => (await run(['task', 'wait', ...ids, '--timeout', '1ms'])).exit;
  expect(await wait(id, second)).toBe(9);
  expect(await wait(second, third)).toBe(8);
  expect(await wait('nope', 'neither')).toBe(3);
});

test('with --json, a task that is not found is an error on stderr, or an entry in the list of several tasks', async () => {
  const { run } = await startedTaskForTest();
  const one = await run(['task', 'wait', 'nope', '--json']);
  expect(one).toMatchObject({ exit: 3, stdout: '' });
  expect(JSON.parse(one.stderr.trim().split('\n').at(-1) as string)).toMatchObject({
    error: { code: 'not_found' },
  });
  const several = await run(['task', 'wait', 'nope', 'neither', '--json']);
  const notFound = { error: { code: 'not_found' } };
  expect(JSON.parse(several.stdout)).toMatchObject([notFound, notFound]);
});

test('a task is read from the service that started it, whose token is not sent elsewhere', async () => {
  const { double, run, id } = await startedTaskForTest();
  const other = await generationDoubleForTest();
  const env = { REGEN_BASE_URL: other.url, REGEN_TOKEN: 'of-the-other' };
  const { exit, stdout } = await run(['task', 'wait', id], { env });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining(id) });
  expect(new Set(double.looks)).toEqual(new Set([undefined]));
  expect(other.looks).toEqual([]);
  // Named on the command line, the other service is meant.
  expect((await run(['task', 'wait', id, '--base-url', other.url])).exit).toBe(3);
  expect(other.looks.length).toBeGreaterThan(0);
});

test('task download saves the results of a task after reading it again', async () => {
  const { double, cwd, run, id } = await startedTaskForTest();
  expect((await run(['task', 'download', id])).exit).toBe(8);
  const { exit, stdout } = await run(['task', 'download', id, '--receipt']);
  const path = join(cwd, `photo-${id}.png`);
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: `${path}\n` });
  expect(readFileSync(path).equals(png)).toBe(true);
  const sha256 = createHash('sha256').update(png).digest('hex');
  expect(JSON.parse(readFileSync(`${path}.receipt.json`, 'utf8'))).toMatchObject({ task_id: id, sha256 });
  expect((await run(['task', 'download', id])).exit).toBe(2);
  expect((await run(['task', 'download', id, '-o', 'other.png'])).stdout).toBe(`${join(cwd, 'other.png')}\n`);
  expect(double.leaked).toEqual([]);
});

test('task rerun of an answered task starts and names a new one, and refuses a changed image', async () => {
  const { double, cwd, run, id } = await startedTaskForTest({}, [
    'image',
    'relight',
    'photo.png',
    '--style',
    'clean',
  ]);
  const again = await run(['task', 'rerun', id, '--no-wait']);
  expect(again.exit).toBe(0);
  expect(again.stderr).toContain('paid for again');
  expect(double.tasks.size).toBe(2);
  expect(double.asked[1]?.body).toEqual(double.asked[0]?.body);
  expect(double.asked[1]?.key).not.toBe(double.asked[0]?.key);
  const dry = await run(['task', 'rerun', id, '--dry-run', '--json']);
  expect(JSON.parse(dry.stdout).body).toMatchObject({ style: 'clean' });
  writeFileSync(join(cwd, 'photo.png'), 'another');
  expect(await run(['task', 'rerun', id])).toMatchObject({ exit: 2, stdout: '' });
  expect(double.asked).toHaveLength(2);
});

test('task rerun of an unanswered request repeats it with its key', async () => {
  const lost = await generationDoubleForTest({ onStart: (_, count) => count > 1 });
  const home = homeForTest();
  const env = { REGEN_BASE_URL: lost.url, REGEN_TOKEN: 'secret' };
  await regen(['image', 'upscaler', 'https://example.com/a.png'], { home, env });
  const [entry] = JSON.parse((await regen(['task', 'list', '--json'], { home })).stdout);
  const waiting = await regen(['task', 'wait', entry.id], { home, env });
  expect(waiting.exit).toBe(3);
  expect(waiting.stderr).toContain(`regen task rerun ${entry.id}`);
  expect((await regen(['task', 'rerun', entry.id], { home, env })).exit).toBe(0);
  expect(lost.tasks.size).toBe(1);
  expect(lost.asked.map(({ key }) => key)).toEqual([entry.idempotency_key, entry.idempotency_key]);
});

test('task wait --all skips tasks that their service no longer has, and saves the others', async () => {
  const gone = await generationDoubleForTest({ states: ['CREATED', 'IN_PROGRESS'] });
  const { double, home, cwd, run, id } = await startedTaskForTest();
  await regen(['image', 'upscaler', 'photo.png', '--no-wait'], {
    home,
    cwd,
    env: { REGEN_BASE_URL: gone.url },
  });
  await run(['image', 'upscaler', 'photo.png', '--no-wait']);
  const [, forgotten = ''] = double.tasks.keys();
  double.tasks.delete(forgotten);
  await gone.close();
  const { exit, stdout, stderr } = await run(['task', 'wait', '--all']);
  expect({ exit, stdout }, stderr).toEqual({ exit: 0, stdout: `${double.url}/results/${id}-0\n` });
  expect(stderr).toContain(`Could not reach ${gone.url}; skipped 1 task.`);
  expect(stderr).toContain(`no longer has task ${forgotten}`);
  const list = JSON.parse((await run(['task', 'list', '--json'])).stdout);
  expect(list.map(({ state }: { state: string }) => state)).toEqual(['GONE', 'CREATED', 'COMPLETED']);
  expect((await run(['task', 'wait', '--all'])).exit).toBe(7);
});

test('task list filters by state, kind, age and service, and counts what is listed', async () => {
  const { run, double } = await startedTaskForTest();
  await run(['image', 'upscaler', 'photo.png']);
  await double.close();
  const list = async (...flags: string[]) =>
    JSON.parse((await run(['task', 'list', '--json', ...flags])).stdout).map(
      (entry: { operation: string }) => entry.operation,
    );
  expect(await list('--state', 'queued')).toEqual(['image.relight']);
  expect(await list('--state', 'done', '--state', 'queued')).toHaveLength(2);
  expect(await list('--kind', 'upscaler')).toEqual(['image.upscaler']);
  expect(await list('--kind', 'video')).toEqual([]);
  expect(await list('--since', '1h')).toHaveLength(2);
  expect(await list('--since', '2999-01-01')).toEqual([]);
  expect(await list('--service', '127.0.0.1')).toHaveLength(2);
  expect(await list('--service', 'elsewhere')).toEqual([]);
  expect(await list('--limit', '1')).toEqual(['image.upscaler']);
  for (const flags of [
    ['--state', 'odd'],
    ['--limit', '0'],
    ['--since', 'odd'],
  ])
    expect((await run(['task', 'list', ...flags])).exit).toBe(2);
  expect((await run(['task', 'list'])).stderr).toBe('2 tasks.\n');
});

test('task forget removes ended tasks from the list, and others only with --force', async () => {
  const { run, id } = await startedTaskForTest();
  const refused = await run(['task', 'forget', id.slice(0, 8)]);
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain(`A task has not ended: ${id}.`);
  expect((await run(['task', 'forget', '@last', '--force', '--yes'])).stdout).toBe(`${id}\n`);
  expect((await run(['task', 'list', '--json'])).stdout).toBe('[]\n');
});

test('task cancel ends tasks on the service and in the list, and skips tasks that have ended', async () => {
  const service = await serviceForTest(
    { prices: { image: { relight: 7 } } },
    {
      engines: {
        image: createCopyingEngine((_, signal) => once(signal, 'abort').then(() => signal.throwIfAborted())),
      },
    },
  );
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.png'), png);
  const surroundings = {
    cwd,
    home: homeForTest(),
    env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken },
  };
  const run = (...argv: string[]) => regen(argv, surroundings);
  const ids: string[] = [];
  for (const prompt of ['warm', 'cold'])
    ids.push((await run('image', 'relight', 'photo.png', '--prompt', prompt, '--no-wait')).stdout.trim());
  const [first = '', second = ''] = ids;
  expect((await run('task', 'cancel', first, '--dry-run')).stdout).toContain(`/users/tasks/${first}/cancel`);
  const both = await run('task', 'cancel', first.slice(0, 10), second, '--json');
  expect((await run('task', 'show', first)).stdout).toContain('The task was cancelled.');
  expect(both.exit, both.stderr).toBe(0);
  expect(JSON.parse(both.stdout)).toMatchObject([
    { task_id: first, status: 'FAILED', reason: 'The task was cancelled.' },
    { task_id: second, status: 'FAILED' },
  ]);
  // Which of them had started by then depends on the machine.
  for (const { refunded } of JSON.parse(both.stdout)) expect([0, 7]).toContain(refunded);
  expect(both.stderr).toBe('');
  expect(JSON.parse((await run('task', 'list', '--state', 'failed', '--json')).stdout)).toMatchObject([
    { closed: true },
    { closed: true },
  ]);
  expect((await run('task', 'cancel', '00000000-0000-4000-8000-000000000000')).exit).toBe(3);

  const elsewhere = await generationDoubleForTest({});
  const start = ['image', 'relight', 'photo.png', '--no-wait', '--prompt'];
  const third = (await run(...start, 'dim')).stdout.trim();
  const env = { REGEN_BASE_URL: elsewhere.url, REGEN_TOKEN: 'secret' };
  const other = (await regen([...start, 'dim'], { ...surroundings, env })).stdout.trim();
  const mixed = await run('task', 'cancel', third, other);
  expect(mixed.stderr).toContain(`Task ${other}: `);
  expect(mixed.stderr).toContain(`Done on ${service.url}.`);
  expect(mixed.stderr).not.toContain(`Done on ${elsewhere.url}`);
});

test('an answer about another task is refused', async () => {
  const server = await listenOn((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ data: { task_id: 'other', status: 'COMPLETED', generated: [] } }));
  });
  onTestFinished(server.close);
  const env = { REGEN_BASE_URL: server.url };
  const { exit, stdout, stderr } = await regen(['image', 'status', 'mine', '--kind', 'relight'], { env });
  expect({ exit, stdout }).toEqual({ exit: 7, stdout: '' });
  expect(stderr).toContain('answered about other instead of mine');
});

test('task show and image status say later why a task failed', async () => {
  const engine = createCopyingEngine(() => {
    throw new EngineFailure('The image has no light.', { code: 'too_dark' });
  });
  const { url, ownerToken } = await serviceForTest({}, { engines: { image: engine } });
  const [cwd, home] = [folderForTest(), homeForTest()];
  writeFileSync(join(cwd, 'in.png'), png);
  const run = (...argv: string[]) =>
    regen(argv, { cwd, home, env: { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken } });
  expect((await run('image', 'relight', 'in.png')).exit).toBe(6);
  const why = { err_code: 'too_dark', reason: 'The image has no light.' };
  expect(JSON.parse((await run('task', 'show', '@last', '--json')).stdout)).toMatchObject(why);
  expect(JSON.parse((await run('image', 'status', '@last', '--json')).stdout).data).toMatchObject(why);
  expect((await run('image', 'status', '@last')).stdout).toContain('The image has no light.');
});

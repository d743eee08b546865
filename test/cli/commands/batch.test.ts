import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Ran, startRegen } from '../../support/cli.js';
import { generationDeskForTest } from '../../support/generation-desk.js';
import { type DoubleOptions, generationDoubleForTest, png } from '../../support/generation-double.js';
import { waitFor } from '../../support/wait-for.js';

/** A double, a folder with a photo, and one HOME for all commands of the test. */
async function createDesk(options: DoubleOptions = {}) {
  const desk = await generationDeskForTest(
    { states: ['CREATED', 'COMPLETED'], ...options },
    { 'photo.png': png },
  );
  const write = (lines: readonly object[], name = 'jobs.jsonl') =>
    writeFileSync(join(desk.cwd, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return { ...desk, write };
}

const relight = { command: 'image relight', image: 'photo.png' };
const upscaler = { command: 'image upscaler', image: 'photo.png' };

/** What `--ndjson` printed, in the order of the lines. */
function parseResults({ stdout }: Ran) {
  const results = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return results.sort((one, other) => one.line - other.line);
}

const prices = { video_per_second: {}, image: { relight: 10, upscaler: 30 }, is_rec: 10, off_peak: 0.5 };

describe('a line of a batch', () => {
  test('may use the names of flags or of the API, nested or dotted', async () => {
    const { double, run, write } = await createDesk();
    write([
      {
        ...relight,
        prompt: 'a',
        advanced_settings: { contrast: 60 },
        transfer_light_from_lightmap: 'photo.png',
      },
      {
        ...relight,
        prompt: 'a',
        'advanced-settings.contrast': 60,
        'transfer-light-from-lightmap': 'photo.png',
      },
      { ...relight, prompt: 'a', 'advanced_settings.contrast': '60', preserve_details: false, style: null },
      { ...relight, body: { image: 'iVBORw0KGgo=', prompt: 'whole' }, image: null },
    ]);
    const { exit, stderr } = await run(['batch', 'jobs.jsonl', '--concurrency', '1']);
    expect(exit, stderr).toBe(0);
    const [first, second, third, whole] = double.asked.map(({ body }) => body);
    expect(first).toEqual(second);
    expect(first.advanced_settings).toEqual({ contrast: 60 });
    expect(third).toMatchObject({ advanced_settings: { contrast: 60 }, preserve_details: false });
    expect(whole.prompt).toBe('whole');
  });

  test('may be a row of a CSV file, in which empty cells are absent', async () => {
    const { double, cwd, run } = await createDesk();
    const rows = ['command,image,prompt,scale_factor', 'image relight,photo.png,"warm, soft",'];
    writeFileSync(
      join(cwd, 'jobs.csv'),
      `\uFEFF${[...rows, 'image upscaler,photo.png,,2', ''].join('\r\n')}`,
    );
    const ran = await run(['batch', 'jobs.csv', '--concurrency', '1', '--ndjson']);
    expect(ran.exit, ran.stderr).toBe(0);
    expect(parseResults(ran).map(({ line }) => line)).toEqual([2, 3]);
    expect(double.asked.map(({ body: { image, ...rest } }) => rest)).toEqual([
      { prompt: 'warm, soft' },
      { scale_factor: 2 },
    ]);
  });

  test('may be separated by semicolons, as spreadsheets write CSV in many countries', async () => {
    const { double, cwd, run } = await createDesk();
    const rows = ['"command";image;prompt;scale_factor', 'image relight;photo.png;warm, soft;'];
    const table = `\uFEFF${[...rows, 'image upscaler;photo.png;;2', ''].join('\r\n')}`;
    writeFileSync(join(cwd, 'jobs.csv'), table);
    for (const [argv, stdin] of [
      [['jobs.csv'], ''],
      [['-', '--state', 'piped.state'], table],
    ] as const) {
      const ran = await run(['batch', ...argv, '--concurrency', '1', '--ndjson'], { stdin });
      expect(ran.exit, ran.stderr).toBe(0);
      expect(double.asked.splice(0).map(({ body: { image, ...rest } }) => rest)).toEqual([
        { prompt: 'warm, soft' },
        { scale_factor: 2 },
      ]);
    }
  });

  test('of a CSV may end as on Windows or not, also in one file', async () => {
    const { double, cwd, run } = await createDesk();
    const row = 'image upscaler,photo.png';
    writeFileSync(join(cwd, 'jobs.csv'), `command,image\r\n${row}\r\n${row}\n${row}\r\n`);
    const ran = await run(['batch', 'jobs.csv', '--ndjson']);
    expect(ran.exit, ran.stderr).toBe(0);
    expect(parseResults(ran).map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(double.tasks.size).toBe(3);
  });

  test('may have the values of a list in columns of their own, or as JSON in one', async () => {
    const { double, cwd, run } = await createDesk();
    const command = 'video start-end2video';
    writeFileSync(join(cwd, 'two.csv'), `command,images.1,images.0\n${command},https://b.test,photo.png\n`);
    writeFileSync(join(cwd, 'json.csv'), `command;images\n${command};"[""photo.png"",""https://b.test""]"\n`);
    for (const file of ['two.csv', 'json.csv']) expect((await run(['batch', file])).exit).toBe(0);
    const asked = double.asked.map(({ body }) => body.images);
    expect(asked[0]).toEqual([expect.stringMatching(/^data:image\/png/), 'https://b.test']);
    expect(asked[1]).toEqual(asked[0]);
  });

  test('loses no value that is given twice, or whose place in a list is not clear', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([
      { ...upscaler, scale_factor: 2, 'scale-factor': 4 },
      { command: 'video start-end2video', 'images.1': 'photo.png' },
      { command: 'video start-end2video', images: ['photo.png'], 'images.0': 'photo.png' },
    ]);
    const ran = await run(['batch', 'jobs.jsonl']);
    expect(ran.exit).toBe(2);
    for (const said of [
      'line 1: scale-factor sets the same value as scale_factor',
      'line 2: images.0 is missing, but a later one is given',
      'line 3: images is given twice',
    ])
      expect(ran.stderr).toContain(said);
    const columns = 'command;images;notes;images';
    writeFileSync(join(cwd, 'jobs.csv'), `${columns}\nvideo start-end2video;photo.png;;photo.png\n`);
    const twice = await run(['batch', 'jobs.csv']);
    expect(twice.exit).toBe(2);
    expect(twice.stderr).toContain('jobs.csv has the column "images" twice; nothing was sent.');
    expect(twice.stderr).toContain('such as "images.0" and "images.1"');
    writeFileSync(join(cwd, 'jobs.csv'), 'command,image,notes\nimage upscaler,photo.png,dark\n');
    expect((await run(['batch', 'jobs.csv'])).stderr).toContain(
      'line 2: the column "notes" is not an option of image upscaler',
    );
    expect(double.asked).toEqual([]);
  });

  test('shares a mistake with other lines, which is one problem', async () => {
    const { double, cwd, run } = await createDesk();
    const lines = Array.from({ length: 5 }, (_, at) => `image upscaler,photo.png,${at}`);
    const check = async (count: number) => {
      writeFileSync(join(cwd, 'jobs.csv'), ['command,image,promt', ...lines.slice(0, count), ''].join('\n'));
      return (await run(['batch', 'jobs.csv'])).stderr;
    };
    const rest = ': the column "promt" is not an option of image upscaler';
    expect(await check(1)).toContain(`jobs.csv, line 2${rest}`);
    expect(await check(3)).toContain(`jobs.csv, lines 2, 3 and 4${rest}`);
    expect(await check(5)).toContain(`jobs.csv, lines 2, 3, 4 and 2 more${rest}`);
    expect(double.asked).toEqual([]);
  });

  test('has all its problems reported with those of the other lines, before anything is sent', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([
      { ...relight, colour: 'red', promt: 'soft' },
      { ...relight, light_transfer_strength: 101 },
      { ...relight, preserve_details: 'perhaps', 'no-wait': true },
      { ...upscaler, id: 'one', image: '-' },
      { ...upscaler, id: 'one' },
      { ...upscaler, output: 'same.png' },
      { ...upscaler, output: './same.png' },
      { ...relight, image: ['photo.png', 'photo.png'] },
      { command: 'image paint' },
      { comand: 'image relight' },
    ]);
    appendFileSync(join(cwd, 'jobs.jsonl'), '{"command": \n');
    const { exit, stderr, stdout } = await run(['batch', 'jobs.jsonl']);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    for (const said of [
      'line 1: the field "colour" is not an option of image relight\n',
      'line 1: the field "promt" is not an option of image relight (did you mean prompt?)',
      'line 2: --light-transfer-strength must be at most 100',
      'line 3: preserve_details must be true or false',
      'line 3: the field "no-wait" is not an option of image relight in a batch',
      'line 4: An image of a batch cannot come from standard input.',
      'line 5: id is already used in line 4',
      'line 7: The result would overwrite the one of line 6',
      'line 8: A line is one job; write each image on its own line.',
      'line 9: command must be one of image relight, ',
      ", not 'image paint'\n",
      'line 10: command is missing; it is one of image relight, ',
      'line 11 is not valid JSON',
    ]) {
      expect(stderr).toContain(said);
    }
    expect(double.asked).toEqual([]);
    expect(existsSync(join(cwd, 'jobs.jsonl.state'))).toBe(false);
  });

  test.each([
    [
      '{"command": "image upscaler", "image": "photo.png", "scale_facto": 2}',
      'line 1: the field "scale_facto" is not an option of image upscaler (did you mean scale_factor?)',
    ],
    ['{"command": "image upscaler", "image": "-"}', 'line 1: An image of a batch cannot come from'],
    ['{"command": ', 'line 1 is not valid JSON: '],
    ['[]', 'line 1 must be one JSON object, such as '],
  ])('has a single problem reported in one sentence: %s', async (line, said) => {
    const { cwd, run } = await createDesk();
    writeFileSync(join(cwd, 'jobs.jsonl'), line);
    const { exit, stderr } = await run(['batch', 'jobs.jsonl']);
    expect(exit).toBe(2);
    expect(stderr).toContain(`error: jobs.jsonl, ${said}`);
    expect(stderr).toMatch(/; nothing was sent\.\n$/);
  });

  test('shows the first of very many problems, and the number of the others', async () => {
    const { run, write } = await createDesk();
    write(Array.from({ length: 1000 }, (_, at) => ({ ...relight, image: `none-${at}.png` })));
    const { exit, stderr } = await run(['batch', 'jobs.jsonl']);
    expect(exit).toBe(2);
    expect(stderr).toContain('1000 problems in jobs.jsonl; nothing was sent.');
    expect(stderr).toContain('hint: 950 more are not shown.');
    expect(stderr.split('\n').length).toBeLessThan(60);
  });
});

describe('results', () => {
  test('are printed one a line, as URLs or paths, and the batch exits 0', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([
      { ...relight, id: 'sun rise' },
      { ...upscaler, output: 'large/{name}-{line}.{ext}' },
    ]);
    const { exit, stdout, stderr } = await run(['batch', 'jobs.jsonl', '--concurrency', '1']);
    expect(exit, stderr).toBe(0);
    const [one, two] = [...double.tasks.keys()];
    const [first, second] = stdout.trimEnd().split('\n');
    expect(first).toBe(`1\tsun rise\tdone\t${one}\t\t${double.url}/results/${one}-0`);
    expect(second).toMatch(new RegExp(`^2\t[0-9a-f]{16}-1\tdone\t${two}\t\t${cwd}/large/photo-2.png$`));
    expect(stderr).toContain('2 jobs: 2 done.');
    const json = JSON.parse(
      (await run(['batch', 'jobs.jsonl', '--state', 'anew', '--force', '--json'])).stdout,
    );
    expect(json).toMatchObject([{ status: 'done' }, { status: 'done' }]);
  });

  test('of a hundred equal lines come from a hundred tasks', async () => {
    const { double, run, write } = await createDesk();
    write(Array.from({ length: 100 }, () => relight));
    const ran = await run(['batch', 'jobs.jsonl', '--ndjson', '--concurrency', '25', '--interval', '1ms']);
    expect(ran.exit, ran.stderr).toBe(0);
    expect(double.tasks.size).toBe(100);
    expect(new Set(parseResults(ran).map(({ task_id }) => task_id)).size).toBe(100);
  });

  test('are replaced by the requests in a dry run, which leaves no files', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([{ ...relight, prompt: 'soft' }, upscaler]);
    const { exit, stdout } = await run(['batch', 'jobs.jsonl', '--dry-run']);
    expect(exit).toBe(0);
    expect(stdout).toContain('"prompt": "soft"');
    expect(stdout).toContain('image-upscaler-precision-v2');
    expect(double.asked).toEqual([]);
    expect(readdirSync(cwd).sort()).toEqual(['jobs.jsonl', 'photo.png']);
    const listed = JSON.parse((await run(['batch', 'jobs.jsonl', '--dry-run', '--json'])).stdout);
    expect(listed).toMatchObject([{ method: 'POST', body: { prompt: 'soft' } }, { method: 'POST' }]);
    await run(['batch', 'jobs.jsonl']);
    expect((await run(['batch', 'jobs.jsonl', '--dry-run'])).stderr).toContain('nothing left to send');
  });
});

describe('the same command again', () => {
  test('sends new lines, ignores removed ones, and repeats no task', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([{ ...relight, id: 'a' }, upscaler]);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    expect(statSync(join(cwd, 'jobs.jsonl.state')).mode & 0o777).toBe(0o600);
    write([upscaler, upscaler]);
    const again = await run(['batch', 'jobs.jsonl', '--ndjson']);
    expect(again.exit, again.stderr).toBe(0);
    // The job of an earlier run first, so that a file of the results has all of them.
    expect(parseResults(again)).toMatchObject([
      { line: 1, status: 'done', outputs: [expect.stringContaining('http')] },
      { line: 2, status: 'done' },
    ]);
    expect(again.stderr).toContain('Ignored 1 job of earlier runs that is no longer in the file.');
    expect(again.stderr).toContain('2 jobs: 2 done.');
    expect(double.tasks.size).toBe(3);
  });

  test('waits for running tasks, and repeats unanswered requests with their keys', async () => {
    const lost = new Set([1]);
    const { double, cwd, run, write } = await createDesk({
      states: ['CREATED'],
      onStart: (_, count) => !lost.has(count),
    });
    write([
      { ...relight, id: 'lost' },
      { ...relight, id: 'slow' },
    ]);
    const first = await run(['batch', 'jobs.jsonl', '--ndjson', '--concurrency', '1', '--timeout', '1s']);
    expect(first.exit).toBe(9);
    expect(parseResults(first)).toMatchObject([
      { id: 'lost', status: 'unanswered' },
      { id: 'slow', status: 'running', error: { code: 'still_running' } },
    ]);
    // What a kill left of a line.
    appendFileSync(join(cwd, 'jobs.jsonl.state'), '{"job": "lost", "end": "do');
    const second = await run(['batch', 'jobs.jsonl', '--ndjson', '--timeout', '1s']);
    expect(second.exit, second.stderr).toBe(8);
    expect(double.tasks.size).toBe(2);
    const [one, , three] = double.asked;
    expect(three?.key).toBe(one?.key);
    expect(parseResults(second).map(({ task_id }) => task_id)).toEqual([...double.tasks.keys()]);
  });

  test('sends failed jobs again only with --retry-failed', async () => {
    let failing = true;
    const { double, run, write } = await createDesk({
      fails: ({ body }) => failing && body.prompt === 'bad',
    });
    write([{ ...relight, prompt: 'bad' }, relight]);
    const first = await run(['batch', 'jobs.jsonl', '--ndjson']);
    expect(first.exit).toBe(9);
    expect(parseResults(first)).toMatchObject([{ status: 'failed', error: { code: 'task_failed' } }, {}]);
    // The same code as without the flag: the other job is done.
    expect((await run(['batch', 'jobs.jsonl', '--retry-failed'])).exit).toBe(9);
    failing = false;
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(9);
    expect(double.tasks.size).toBe(3);
    const retried = await run(['batch', 'jobs.jsonl', '--retry-failed']);
    expect(retried.exit, retried.stderr).toBe(0);
    expect(double.tasks.size).toBe(4);
  });

  test('has the exit code of all jobs, also of those that failed in an earlier run', async () => {
    const { run, write } = await createDesk({ fails: () => true });
    write([relight, relight]);
    for (const more of [[], [], ['--retry-failed']])
      expect((await run(['batch', 'jobs.jsonl', ...more])).exit).toBe(6);
  });

  test('refuses a line that was changed but kept its id, before anything is sent', async () => {
    const { double, run, write } = await createDesk({
      states: ['CREATED'],
      fails: ({ body }) => body.prompt === 'bad',
    });
    const slow = { ...relight, id: 'slow', prompt: 'slow' };
    const bad = { ...relight, id: 'bad', prompt: 'bad' };
    write([slow, bad]);
    expect((await run(['batch', 'jobs.jsonl', '--timeout', '1s'])).exit).toBe(9);
    double.endAll();
    write([{ ...slow, timeout: '9m', output: 'out/' }, bad]);
    const waited = await run(['batch', 'jobs.jsonl', '--ndjson']);
    expect(parseResults(waited)).toMatchObject([{ status: 'done' }, { status: 'failed' }]);
    write([
      { ...slow, prompt: 'fast' },
      { ...bad, prompt: 'good' },
      { ...relight, id: 'new' },
    ]);
    const refused = await run(['batch', 'jobs.jsonl', '--ndjson']);
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    const { message, details, hint } = JSON.parse(refused.stderr).error;
    expect(message).toBe('2 problems in jobs.jsonl; nothing was sent.');
    expect(details).toEqual([
      { path: 'line 1: slow', message: 'has changed since it was done' },
      { path: 'line 2: bad', message: 'has changed since it failed' },
    ]);
    expect(hint).toContain('--rerun-changed');
    expect(double.tasks.size).toBe(2);
    const rerun = await run(['batch', 'jobs.jsonl', '--ndjson', '--rerun-changed']);
    expect(rerun.exit, rerun.stderr).toBe(0);
    expect(double.asked.map(({ body }) => body.prompt).sort()).toEqual([
      'bad',
      'fast',
      'good',
      'slow',
      undefined,
    ]);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    expect(double.tasks.size).toBe(5);
  });

  test('refuses a job whose image was replaced under its name, and not one whose image was only touched', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([{ ...relight, id: 'one' }, upscaler, { ...relight, id: 'kept', image: 'kept.png' }]);
    writeFileSync(join(cwd, 'kept.png'), png);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    const touched = new Date(Date.now() + 60_000);
    for (const name of ['photo.png', 'kept.png']) utimesSync(join(cwd, name), touched, touched);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    const other = Buffer.from(png);
    other[other.length - 1] = (other.at(-1) as number) ^ 1;
    writeFileSync(join(cwd, 'photo.png'), other);
    const refused = await run(['batch', 'jobs.jsonl', '--ndjson']);
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    expect(JSON.parse(refused.stderr).error.details).toEqual([
      { path: 'line 1: one', message: 'uses photo.png, which has changed since it was done' },
      { path: 'line 2', message: 'uses photo.png, which has changed since it was done' },
    ]);
    expect(double.tasks.size).toBe(3);
    expect((await run(['batch', 'jobs.jsonl', '--rerun-changed'])).exit).toBe(0);
    expect(double.tasks.size).toBe(5);
    rmSync(join(cwd, 'photo.png'));
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
  });

  test('takes an image that its result has replaced for the one that was sent', async () => {
    const { double, run, write } = await createDesk();
    write([{ ...relight, id: 'one' }]);
    const inPlace = ['batch', 'jobs.jsonl', '-o', 'photo.png', '--force'];
    for (const _ of [1, 2]) expect((await run(inPlace)).exit).toBe(0);
    expect(double.tasks.size).toBe(1);
  });

  test('overwrites the file of a changed line only with --force, as the hint says', async () => {
    const { cwd, run, write } = await createDesk();
    const saving = ['batch', 'jobs.jsonl', '-o', 'out/{id}.{ext}'];
    write([{ ...relight, id: 'one' }]);
    expect((await run(saving)).exit).toBe(0);
    write([{ ...relight, id: 'one', prompt: 'warm' }]);
    const again = [...saving, '--rerun-changed'];
    const refused = await run(again);
    expect(refused.stderr).toBe(
      `error: jobs.jsonl, line 1: ${join(cwd, 'out/one.png')} already exists; nothing was sent.\nhint: Pass --force to overwrite files.\n`,
    );
    expect((await run([...again, '--force'])).exit).toBe(0);
  });

  test('accepts a changed line of a job that failed with --retry-failed', async () => {
    const { run, write } = await createDesk({ fails: ({ body }) => body.prompt === 'bad' });
    const job = { ...relight, id: 'one' };
    write([{ ...job, prompt: 'bad' }]);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(6);
    write([{ ...job, prompt: 'good' }]);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(2);
    expect((await run(['batch', 'jobs.jsonl', '--retry-failed'])).exit).toBe(0);
  });

  test('downloads the files of done jobs that are not there', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([
      { ...relight, id: 'a' },
      { ...relight, id: 'b' },
    ]);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    const saving = ['batch', 'jobs.jsonl', '-o', 'out/{id}.{ext}', '--ndjson'];
    // The first run saved nothing.
    expect(parseResults(await run(saving))).toMatchObject([
      { status: 'done', saved: [join(cwd, 'out/a.png')] },
      { status: 'done', saved: [join(cwd, 'out/b.png')] },
    ]);
    rmSync(join(cwd, 'out/b.png'));
    expect((await run([...saving, '--dry-run'])).stderr).toContain('nothing left to send');
    const again = await run(saving);
    expect(again.exit, again.stderr).toBe(0);
    expect(again.stderr).toContain('Files of 1 finished job are not there; downloading them.');
    expect(again.stderr).toContain('2 jobs: 2 done.');
    expect(readdirSync(join(cwd, 'out')).sort()).toEqual(['a.png', 'b.png']);
    expect((await run(saving)).stderr).not.toContain('not there');
    expect(double.tasks.size).toBe(2);
  });

  test('reports a done job as failed if its file is missing and the service no longer has it', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([
      { command: 'video text2video', prompt: 'a' },
      { command: 'video text2video', prompt: 'b' },
    ]);
    const saving = ['batch', 'jobs.jsonl', '-o', 'out/{line}.{ext}', '--ndjson'];
    expect((await run(saving)).exit).toBe(0);
    rmSync(join(cwd, 'out/2.mp4'));
    double.tasks.clear();
    const lost = await run(saving);
    expect(lost.exit).toBe(9);
    expect(parseResults(lost)).toMatchObject([
      { status: 'done' },
      { status: 'failed', credits: 20, error: { message: expect.stringContaining('no longer has them') } },
    ]);
    const retried = await run([...saving, '--retry-failed']);
    expect(retried.exit, retried.stderr).toBe(0);
    expect(double.tasks.size).toBe(1);
  });

  test('finds a file in the way of a pattern with {ext} before anything is sent', async () => {
    const { double, cwd, run, write } = await createDesk();
    write([{ ...relight, id: 'a' }]);
    writeFileSync(join(cwd, 'a.webp'), '');
    const { exit, stderr } = await run(['batch', 'jobs.jsonl', '-o', '{id}.{ext}']);
    expect(exit).toBe(2);
    expect(stderr).toContain('a.webp already exists');
    expect(double.asked).toEqual([]);
  });

  test.each([500, 502, 504])('repeats no start at which another service failed with %i', async (status) => {
    const { double, run, write } = await createDesk({
      refuse: (count) => (count === 2 ? { status, error: 'broken' } : undefined),
    });
    write([relight, relight]);
    const first = await run(['batch', 'jobs.jsonl', '--ndjson', '--concurrency', '1']);
    expect(parseResults(first)).toMatchObject([{ status: 'done' }, { status: 'unanswered' }]);
    expect(double.asked).toHaveLength(2);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    expect(double.asked[2]?.key).toBe(double.asked[1]?.key);
  });

  test('sends a job once that the service cannot do', async () => {
    const { double, run, write } = await createDesk({
      refuse: (count) => (count === 2 ? { status: 501, error: 'not_supported' } : undefined),
    });
    write([relight, relight]);
    const { exit, stderr, stdout } = await run(['batch', 'jobs.jsonl', '--concurrency', '1']);
    expect([exit, stdout]).toEqual([9, expect.stringContaining('\tfailed\t')]);
    expect(stderr).toContain('2 jobs: 1 done, 1 failed.');
    expect(double.asked).toHaveLength(2);
  });

  test('is refused while another process is running the batch', async () => {
    let second: Promise<Ran> | undefined;
    const { run, write } = await createDesk({
      onStart: async () => {
        second ??= run(['batch', 'jobs.jsonl']);
        await second;
        return true;
      },
    });
    write([relight]);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    expect(await second).toMatchObject({ exit: 5, stdout: '' });
  });

  test('is refused if the state belongs to another service', async () => {
    const { run, write } = await createDesk();
    write([relight]);
    await run(['batch', 'jobs.jsonl']);
    const other = await generationDoubleForTest();
    const { exit, stderr } = await run(['batch', 'jobs.jsonl'], { env: { REGEN_BASE_URL: other.url } });
    expect(exit).toBe(2);
    expect(stderr).toContain(`this command uses ${other.url}`);
  });

  test('is refused if the state belongs to another account, which states of earlier releases do not name', async () => {
    const { double, cwd, run, write } = await createDesk();
    for (const name of ['work', 'home'])
      await run(['config', 'set', `profiles.${name}.base_url`, double.url]);
    write([relight]);
    const batch = (profile: string) => run(['batch', 'jobs.jsonl', '--profile', profile]);
    expect((await batch('work')).exit).toBe(0);
    const { exit, stderr } = await batch('home');
    expect(exit).toBe(2);
    expect(stderr).toContain(`the profile work (${double.url}), but this command uses the profile home`);
    expect(stderr).toContain('--profile work');
    expect((await batch('work')).exit).toBe(0);
    const state = join(cwd, 'jobs.jsonl.state');
    writeFileSync(state, readFileSync(state, 'utf8').replace(',"profile":"work"', ''));
    expect((await batch('home')).exit).toBe(0);
    expect(double.tasks.size).toBe(1);
  });

  test('continues jobs from standard input with the named state file', async () => {
    const { double, run } = await createDesk();
    const stdin = `${JSON.stringify(relight)}\n`;
    expect((await run(['batch', '-'], { stdin })).exit).toBe(2);
    const piped = () => run(['batch', '-', '--state', 'mine'], { stdin });
    expect([(await piped()).exit, (await piped()).exit]).toEqual([0, 0]);
    expect(double.tasks.size).toBe(1);
  });
});

test('the error of a job names its file as the line does', async () => {
  const details = [{ path: 'image', message: 'is truncated' }];
  const { cwd, run, write } = await createDesk({
    refuse: (count) =>
      count === 1
        ? { status: 400, error: 'invalid_request', message: 'image is truncated.', details }
        : undefined,
    fails: () => true,
  });
  mkdirSync(join(cwd, 'two'));
  writeFileSync(join(cwd, 'two/photo.png'), png);
  write([relight, { ...relight, image: 'two/photo.png' }]);
  const { stdout } = await run(['batch', 'jobs.jsonl', '--concurrency', '1']);
  expect(stdout).toContain('\tphoto.png is truncated.\n');
  expect(stdout).toMatch(/\ttwo\/photo\.png: The \w+ \S+ failed/);
});

describe('credits', () => {
  test('are reserved up to --max-credits, and jobs beyond it are not sent', async () => {
    const { double, run, write } = await createDesk({ prices });
    write([upscaler, relight, relight, upscaler]);
    const capped = ['batch', 'jobs.jsonl', '--ndjson', '--max-credits'];
    const first = await run([...capped, '45', '--concurrency', '1']);
    expect(first.exit).toBe(9);
    expect(parseResults(first)).toMatchObject([
      { status: 'done', credits: 30 },
      { status: 'done', credits: 10 },
      { status: 'unsent', credits: null, task_id: null, error: { code: 'over_budget' } },
      { status: 'unsent', error: { code: 'over_budget' } },
    ]);
    expect(first.stderr).toContain('4 jobs: 2 done, 2 not sent, 40 credits.');
    expect(first.stderr).toContain('Costs 80 credits in total. --max-credits leaves 45');
    expect(first.stdout).toContain('The job costs 30 credits, but --max-credits 45 leaves 5: 40 are spent');
    expect(first.stderr).toContain('Not sent: 2 need a higher --max-credits (lines 3, 4).');
    expect(first.stderr).not.toContain('Run the same command again');
    // Earlier runs have drawn on it.
    expect((await run([...capped, '45'])).exit).toBe(9);
    expect(double.tasks.size).toBe(2);
    expect((await run([...capped, '80'])).exit).toBe(0);
    expect(double.tasks.size).toBe(4);
  });

  test('are shown before the first job, and must be confirmed above confirm_credits on a terminal', async () => {
    const { double, run, write } = await createDesk({ prices });
    await run(['config', 'set', 'confirm_credits', '30']);
    write([relight, upscaler]);
    const batch = ['batch', 'jobs.jsonl'];
    expect((await run([...batch, '--dry-run'])).stderr).toContain('2 jobs: 40 credits in total.');
    const no = await run(batch, { answers: [false] });
    expect(no).toMatchObject({ exit: 2, stdout: '' });
    expect(no.stderr).toContain('Costs 40 credits in total.\nCancelled. Nothing was started.');
    expect(double.asked).toEqual([]);
    // At most 30 can be spent.
    expect((await run([...batch, '--max-credits', '30', '--concurrency', '1'], { answers: [] })).exit).toBe(
      9,
    );
    const rest = await run([...batch, '--yes'], { answers: [] });
    expect(rest.exit, rest.stderr).toBe(0);
    expect(rest.stderr).toContain('The rest costs 30 credits.');
    const ended = await run(batch, { answers: [] });
    expect(ended.exit).toBe(0);
    expect(ended.stderr).not.toContain('costs');
    write([relight, upscaler, upscaler, { ...upscaler, scale_factor: 2 }]);
    expect((await run(batch, { answers: [true] })).exit).toBe(0);
    expect(double.tasks.size).toBe(4);
  });

  test('are not held back for a job that was not sent, and are for one that has not ended', async () => {
    const lost = new Set([2]);
    const perSecond = { '720p': 1, '1080p': 1 };
    const video_per_second = { 'vvq3-pro': perSecond, 'vvq2-turbo': perSecond };
    const { run, write } = await createDesk({
      prices: { ...prices, video_per_second },
      onStart: (_, count) => !lost.has(count),
    });
    write([relight, { command: 'video extend', task_id: 'nope-nope' }, relight, { ...upscaler, id: 'dear' }]);
    const capped = ['batch', 'jobs.jsonl', '--ndjson', '--concurrency', '1', '--max-credits', '45'];
    const first = await run(capped);
    expect(parseResults(first)).toMatchObject([
      { status: 'done' },
      { status: 'unsent', error: { code: 'not_found' } },
      { status: 'unanswered' },
      {
        error: {
          message:
            'photo.png: The job costs 30 credits, but --max-credits 45 leaves 25: 10 are spent, and 10 reserved for jobs that have not ended.',
        },
      },
    ]);
    expect(first.stderr).toContain(
      'Not sent: 1 names a task that is not known (line 2); 1 needs a higher --max-credits (line 4).',
    );
    expect(first.stderr).toContain('Run the same command again to continue with the rest.');
    const second = await run(capped);
    expect(parseResults(second)[3].error.message).toContain('leaves 25: 20 are spent.');
    expect(second.stderr).not.toContain('Run the same command again');
  });

  test('of a result that was replaced still count', async () => {
    const { run, write } = await createDesk({ prices });
    write([{ ...upscaler, id: 'a' }]);
    const capped = ['batch', 'jobs.jsonl', '--ndjson', '--max-credits', '80', '--rerun-changed'];
    expect((await run(capped)).exit).toBe(0);
    write([{ ...upscaler, id: 'a', scale_factor: 2 }]);
    expect((await run(capped)).exit).toBe(0);
    write([{ ...upscaler, id: 'a', scale_factor: 2 }, upscaler]);
    const third = await run(capped);
    expect(third.stdout).toContain('--max-credits 80 leaves 20: 60 are spent');
    expect(third.stderr).toMatch(/2 jobs: 1 done, 1 not sent, (\d+) credits \(60 with replaced results\)\./);
  });

  test('of a failed job are available to others', async () => {
    const { run, write } = await createDesk({ prices, fails: ({ body }) => body.prompt === 'bad' });
    write([{ ...relight, prompt: 'bad' }, relight]);
    const ran = await run(['batch', 'jobs.jsonl', '--ndjson', '--max-credits', '10']);
    expect(parseResults(ran)).toMatchObject([
      { status: 'failed', credits: 0 },
      { status: 'done', credits: 10 },
    ]);
    const { stdout } = await run(['task', 'list', '--jq', 'map(.credits) | sort']);
    expect(JSON.parse(stdout)).toEqual([0, 10]);
  });

  test('of an earlier run count, whether it had a limit or not', async () => {
    const { run, write } = await createDesk({ prices });
    write([relight, { ...relight, id: 'two' }]);
    const batch = ['batch', 'jobs.jsonl', '--ndjson'];
    const first = await run(batch);
    expect(parseResults(first)).toMatchObject([{ credits: 10 }, { credits: 10 }]);
    expect(first.stderr).toContain('2 jobs: 2 done, 20 credits.');
    const { stdout } = await run(['task', 'list', '--jq', 'map(.credits) | add']);
    expect(stdout).toBe('20\n');
    write([relight, { ...relight, id: 'two' }, upscaler]);
    const second = await run([...batch, '--max-credits', '45']);
    expect(second.exit).toBe(9);
    expect(second.stdout).toContain(
      'The job costs 30 credits, but --max-credits 45 leaves 25: 20 are spent.',
    );
  });

  test('cannot be limited with --max-credits on a service without prices', async () => {
    const { double, run, write } = await createDesk();
    write([relight]);
    const { exit, stderr } = await run(['batch', 'jobs.jsonl', '--max-credits', '10']);
    expect(exit).toBe(2);
    expect(stderr).toContain('publishes no prices, so --max-credits cannot be enforced');
    expect(double.asked).toEqual([]);
  });
});

describe('a service that takes no jobs', () => {
  test('ends the batch with exit code 7 if it is unreachable, and 4 if it refuses the credential', async () => {
    const { cwd, run, write } = await createDesk({
      refuse: () => ({ status: 401, error: 'unauthenticated' }),
    });
    write(Array.from({ length: 100 }, () => relight));
    const denied = await run(['batch', 'jobs.jsonl', '--state', 'denied']);
    expect(denied.exit).toBe(4);
    expect(denied.stdout.trimEnd().split('\n').length).toBeLessThan(10);
    expect(denied.stderr).toContain('100 jobs: 100 not sent.');
    const away = await run(['batch', 'jobs.jsonl'], { env: { REGEN_BASE_URL: 'http://127.0.0.1:9' } });
    expect(away).toMatchObject({ exit: 7, stdout: '' });
    expect(existsSync(join(cwd, 'jobs.jsonl.state'))).toBe(false);
  });

  test('ends the batch with exit code 7 if it goes away between the jobs', async () => {
    const { double, cwd, run, write } = await createDesk({ onStart: () => double.close().then(() => false) });
    write(Array.from({ length: 100 }, () => relight));
    const { exit, stderr } = await run(['batch', 'jobs.jsonl']);
    expect(exit, stderr).toBe(7);
    expect(stderr).toContain('Run the same command again to continue with the rest.');
    expect(readFileSync(join(cwd, 'jobs.jsonl.state'), 'utf8')).not.toContain('"end"');
  });

  test('gets the request again after its Retry-After', async () => {
    const { double, run, write } = await createDesk({
      refuse: (count) => (count === 1 ? { status: 429, error: 'rate_limited' } : undefined),
    });
    write([relight]);
    expect((await run(['batch', 'jobs.jsonl'])).exit).toBe(0);
    expect(double.tasks.size).toBe(1);
  });
});

test('a service that asks for a longer pause than a batch may take ends it at once', async () => {
  const { double, run, write } = await createDesk({
    refuse: (count) => (count > 1 ? { status: 429, error: 'rate_limited', retryAfter: 300 } : undefined),
  });
  write(Array.from({ length: 9 }, () => relight));
  const { exit, stderr } = await run(['batch', 'jobs.jsonl', '--concurrency', '1']);
  expect(exit, stderr).toBe(9);
  expect(stderr).toContain('Run the same command again to continue with the rest.');
  // The first one, and three in a row that the service does not take.
  expect(double.asked).toHaveLength(4);
});

test('the first Ctrl-C stops sending, leaves running tasks alone, and shows how to continue', async () => {
  const { double, cwd, home, env, write } = await createDesk({ states: ['IN_PROGRESS'] });
  write(Array.from({ length: 20 }, () => relight));
  const { child, ended, said } = startRegen(['batch', 'jobs.jsonl'], { cwd, home, env });
  // Each of the four is known to the command only when it looks at it.
  const countWatched = () => [...double.tasks.values()].filter(({ looks }) => looks > 0).length;
  await waitFor(() => expect(countWatched()).toBe(4));
  child.kill('SIGINT');
  const { exit, stdout } = await ended;
  expect({ exit, stdout }).toEqual({ exit: 130, stdout: '' });
  expect(double.tasks.size).toBe(4);
  expect(said()).toContain('20 jobs: 4 still running, 16 not sent.');
  expect(said()).toContain('Interrupted. Run the same command again to continue');
});

test('on a terminal, each job prints a sentence with the paths that it saved', async () => {
  const { run, write } = await createDesk();
  write([{ ...relight, id: 'dusk', prompt: 'a' }]);
  const { exit, stdout, stderr } = await run(['batch', 'jobs.jsonl', '-o', 'out/'], {
    terminal: true,
    columns: 80,
  });
  expect(exit, stderr).toBe(0);
  expect(stdout).toMatch(/^1 dusk done: out\/\S+\n$/);
});

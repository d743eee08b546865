import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readWaitFlags } from '../../../src/cli/generation/finish-task.js';
import { homeForTest } from '../../support/cli.js';
import { generationDeskForTest } from '../../support/generation-desk.js';
import { type DoubleOptions, mp4, png } from '../../support/generation-double.js';
import { waitFor } from '../../support/wait-for.js';

const jpg = Buffer.from('ffd8ffe000104a46494600', 'hex');

const prices = {
  video_per_second: { 'vvq3-pro': { '720p': 5 }, 'vvq2-turbo': { '720p': 3 } },
  image: { relight: 2, upscaler: 0 },
  is_rec: 10,
  off_peak: 0.5,
};

/** A double, a folder with two pictures, and one HOME for all commands of the test. */
const createDesk = (options: DoubleOptions = {}) =>
  generationDeskForTest(options, { 'start.png': png, 'end.jpg': jpg });

const boat = ['video', 'text2video', 'a paper boat'];
const getTaskId = (double: { tasks: Map<string, unknown> }) => [...double.tasks.keys()][0] as string;

describe('a video command', () => {
  test('sends the flags given, waits, and prints the URL of the video alone', async () => {
    const { double, run } = await createDesk();
    const flags = ['--duration', '4', '--aspect-ratio', '9:16', '--no-audio', '--seed', '12', '--is-rec'];
    const { exit, stdout, stderr } = await run([...boat, ...flags]);
    expect(exit, stderr).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${double.url}/results/${getTaskId(double)}-0\\.mp4\\S*\n$`));
    expect(double.asked).toMatchObject([{ operation: 'video.text2video', token: 'Bearer secret' }]);
    expect(double.asked[0]?.body).toEqual({
      prompt: 'a paper boat',
      duration: 4,
      aspect_ratio: '9:16',
      audio: false,
      seed: 12,
      is_rec: true,
    });
  });

  test('sends images as data URLs with the type found in their bytes', async () => {
    const { double, run } = await createDesk();
    const raw = jpg.toString('base64');
    const away = ['video', 'start-end2video'];
    await run([...away, 'start.png', 'end.jpg', '--no-wait']);
    await run([...away, `data:image/png;base64,${raw}`, 'https://example.com/a.png', '--no-wait']);
    await run([...boat, '--images', '-', '--no-wait'], { stdin: 'piped' });
    expect(double.asked.map(({ body }) => body.images)).toEqual([
      [`data:image/png;base64,${png.toString('base64')}`, `data:image/jpeg;base64,${raw}`],
      [`data:image/jpeg;base64,${raw}`, 'https://example.com/a.png'],
      [`data:application/octet-stream;base64,${Buffer.from('piped').toString('base64')}`],
    ]);
  });

  test('saves the video under the given name, with a receipt of seed and credits', async () => {
    const { double, cwd, run } = await createDesk();
    const { exit, stdout, stderr } = await run([...boat, '-o', 'boat.mp4', '--receipt']);
    expect(exit, stderr).toBe(0);
    expect(stdout).toBe(`${join(cwd, 'boat.mp4')}\n`);
    expect(readFileSync(join(cwd, 'boat.mp4')).equals(mp4)).toBe(true);
    expect(double.leaked).toEqual([]);
    expect(JSON.parse(readFileSync(join(cwd, 'boat.mp4.receipt.json'), 'utf8'))).toMatchObject({
      task_id: getTaskId(double),
      operation: 'video.text2video',
      request: { prompt: 'a paper boat' },
      seed: 7,
      credits: 20,
      sha256: createHash('sha256').update(mp4).digest('hex'),
    });
    const folder = ['video', 'start-end2video', 'start.png', '-o', 'made/'];
    expect((await run(folder)).stdout).toBe(`${join(cwd, 'made/start.mp4')}\n`);
  });

  test('treats an unknown state as running, and prints why a task failed', async () => {
    const waiting = await createDesk({ states: ['created', 'dreaming'] });
    expect((await waiting.run([...boat, '--timeout', '1s', '--interval', '200ms'])).exit).toBe(8);
    const failing = await createDesk({ states: ['created', 'failed'] });
    const { exit, stdout, stderr } = await failing.run(boat);
    expect({ exit, stdout }).toEqual({ exit: 6, stdout: '' });
    expect(stderr).toMatch(/error: The video \S+ failed: too_dark\./);
  });

  test('exits 8 with the id on stdout and the callback on stderr if the service shows no states', async () => {
    const { double, run } = await createDesk({ extensions: false });
    const { exit, stdout, stderr } = await run(boat);
    expect({ exit, stdout }).toEqual({ exit: 8, stdout: `${getTaskId(double)}\n` });
    expect(stderr).toContain('--callback-url');
  });

  test('can be continued with task wait, show, download and rerun, and video status', async () => {
    const { double, cwd, run } = await createDesk();
    const begun = await run(['video', 'start-end2video', 'start.png', 'end.jpg', '--no-wait']);
    const task = begun.stdout.trim();
    expect((await run(['task', 'list'])).stdout).toContain(`${task}\tvideo.startEnd2video\tqueueing`);
    expect((await run(['task', 'wait', task])).stdout).toContain(`/results/${task}-0.mp4`);
    expect((await run(['task', 'wait', task], { home: homeForTest() })).stdout).toContain('-0.mp4');
    expect((await run(['task', 'download', task, '-o', 'again.mp4'])).stdout).toBe(
      `${join(cwd, 'again.mp4')}\n`,
    );
    const status = await run(['video', 'status', task]);
    expect(status.stdout).toContain('state\tsuccess\n');
    expect(status.stdout).toContain(`creations.1.id\t${task}-0\n`);
    expect(JSON.parse((await run(['video', 'status', task, '--json'])).stdout)).toMatchObject({
      creations: [{ cover_url: expect.any(String) }],
    });
    expect((await run(['task', 'rerun', task, '--no-wait'])).exit).toBe(0);
    expect(double.asked[1]?.body).toEqual(double.asked[0]?.body);
    writeFileSync(join(cwd, 'end.jpg'), 'another');
    expect((await run(['task', 'rerun', task])).exit).toBe(2);
  });
});

describe('a service that asks for a long pause', () => {
  const busy = { status: 429, error: 'rate_limited', retryAfter: 120 };

  test('ends a command that may not wait as long, with the time of the next try', async () => {
    const { double, run } = await createDesk({ refuse: () => busy });
    const { exit, stderr } = await run([...boat, '--timeout', '5s', '-o', 'boat.mp4']);
    expect([exit, stderr]).toEqual([7, expect.stringContaining('hint: Try again in 2 min.\n')]);
    expect(double.asked).toHaveLength(1);
    expect((await run([...boat, '--timeout', 'soon'])).stderr).toContain('--timeout must be a duration');
  });

  test('is waited for by other commands, which report it', async () => {
    const { run } = await createDesk({ refuse: () => busy });
    const signals = new EventEmitter();
    const { exit, stderr } = await run(boat, {
      signals,
      onSaid: (text) => text.includes('is busy') && void setImmediate(() => signals.emit('SIGINT', 'SIGINT')),
    });
    expect(exit).toBe(130);
    expect(stderr).toContain('is busy; trying again in 2 min. Press Ctrl-C to stop.\n');
  });
});

test.each([['-q'], ['--json'], ['-q', '--json']])(
  'Ctrl-C prints how to continue with %s, too',
  async (...flags) => {
    const signals = new EventEmitter();
    const { double, run } = await createDesk({ states: ['created'] });
    const running = run([...boat, ...flags], { signals });
    await waitFor(() => expect(double.looks).not.toEqual([]));
    signals.emit('SIGINT', 'SIGINT');
    const { exit, stdout, stderr } = await running;
    expect([exit, stdout]).toEqual([130, '']);
    expect(stderr).toContain(`Resume with: regen task wait ${getTaskId(double)}`);
    if (flags.includes('--json')) expect(JSON.parse(stderr).error.code).toBe('interrupted');
  },
);

test('an off-peak video is awaited for 48 hours by default', () => {
  const hour = 3_600_000;
  expect(readWaitFlags({}, false).timeoutMs).toBe(hour / 2);
  expect(readWaitFlags({}, true).timeoutMs).toBe(48 * hour);
  expect(readWaitFlags({ timeout: '2h' }, true).timeoutMs).toBe(2 * hour);
});

describe('video extend', () => {
  test('takes id and URL from the task, and repeats an unanswered request with its key', async () => {
    const { double, run, readEntries } = await createDesk({ onStart: (_, count) => count !== 2 });
    const { stdout } = await run([...boat, '--no-wait']);
    const task = stdout.trim();
    const longer = ['video', 'extend', '--from-task', task, '--duration', '3', '--no-wait'];
    expect((await run(longer)).exit).toBe(8);
    await run(['task', 'wait', task]);
    expect((await run(longer)).exit).toBe(7);
    expect((await run(longer)).exit).toBe(0);
    const [, first, second] = double.asked;
    expect(first?.body).toMatchObject({ video_creation_id: `${task}-0`, duration: 3 });
    expect(first?.body.video_url).toContain(`/results/${task}-0.mp4`);
    expect(second).toEqual(first);
    expect(readEntries()).toHaveLength(2);
  });

  test('shows in a dry run what it would fill in, and refuses a task together with an id', async () => {
    const { double, run } = await createDesk();
    const dry = await run(['video', 'extend', '--from-task', 'abc', '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout).body).toEqual({
      video_creation_id: '<creation of task abc>',
      video_url: '<video of task abc>',
    });
    const both = await run(['video', 'extend', '--from-task', 'abc', '--video-creation-id', '1']);
    expect(both).toMatchObject({ exit: 2, stderr: expect.stringContaining('--from-task already sets') });
    const argued = await run(['video', 'extend', 'abc', '--video-creation-id', '1']);
    expect(argued).toMatchObject({ exit: 2, stderr: expect.stringContaining('<task_id> already sets') });
    const neither = await run(['video', 'extend']);
    expect(neither.stderr).toContain(
      '<task_id> is required, or --video-creation-id together with --video-url.',
    );
    const half = await run(['video', 'extend', '--video-creation-id', '1']);
    expect(half.stderr).toContain('--video-url is required, together with --video-creation-id');
    expect(double.asked).toEqual([]);
  });

  test('takes the file that a task saved as its argument', async () => {
    const { double, run } = await createDesk();
    await run([...boat, '-o', 'boat.mp4']);
    const longer = await run(['video', 'extend', 'boat.mp4', '--no-wait']);
    expect(longer.exit, longer.stderr).toBe(0);
    expect(double.asked.at(-1)?.body.video_url).toContain('/results/');
    const twice = await run(['video', 'extend', 'boat.mp4', '--from-task', '@last']);
    expect(twice.stderr).toContain('<task_id> and --from-task cannot be used together');
    expect((await run(['video', 'extend', 'other.mp4'])).exit).toBe(3);
  });
});

describe('the price of a video', () => {
  test('is printed before the task is started, and refused above --max-credits', async () => {
    const { double, run } = await createDesk({ prices });
    const four = [...boat, '--duration', '4', '--no-wait'];
    const { exit, stderr } = await run([...four, '--max-credits', '20']);
    expect(exit).toBe(0);
    expect(stderr.indexOf('Costs 20 credits.')).toBeLessThan(stderr.indexOf('Task '));
    expect(stderr).toContain('Costs 20 credits.');
    const dear = await run([...four, '--max-credits', '19']);
    expect(dear).toMatchObject({ exit: 2, stdout: '' });
    expect(dear.stderr).toContain('This costs 20 credits, more than --max-credits 19.');
    expect((await run([...four, '--max-credits', 'few'])).stderr).toContain('must be a whole number');
    const images = ['image', 'relight', 'start.png', 'end.jpg', '--no-wait'];
    expect((await run([...images, '--max-credits', '3'])).stderr).toContain('4 credits in total');
    expect((await run(images)).stderr).toContain('Costs 4 credits in total.');
    expect((await run(['image', 'upscaler', 'start.png'])).stderr).not.toContain('credits');
    expect(double.asked).toHaveLength(4);
    expect((await run(['video', 'prices'])).stdout).toContain('video_per_second.vvq3-pro.720p\t5\n');
  });

  test('is reported as unknown if the service has no prices, and --max-credits is refused', async () => {
    const { double, run } = await createDesk();
    const refused = await run([...boat, '--max-credits', '1000']);
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    expect(refused.stderr).toContain('--max-credits cannot be enforced');
    expect(double.asked).toEqual([]);
    expect((await run([...boat, '--no-wait'])).stderr).toContain('does not publish the price of this video');
    const odd = await createDesk({ prices: { video_per_second: 'dear' } as never });
    expect((await odd.run([...boat, '--no-wait'])).stderr).toContain('does not publish the price');
  });

  test('must be confirmed above confirm_credits on a terminal, unless --yes is given', async () => {
    const { double, run } = await createDesk({ prices });
    const dear = [...boat, '--duration', '16', '--is-rec', '--no-wait'];
    await run(['config', 'set', 'confirm_credits', '89']);
    const no = await run(dear, { answers: [false] });
    expect(no).toMatchObject({ exit: 2, stdout: '' });
    expect(no.stderr).toContain('Nothing was started.');
    expect(double.asked).toEqual([]);
    expect((await run(dear, { answers: [true] })).exit).toBe(0);
    expect((await run([...dear, '--yes'], { answers: [] })).exit).toBe(0);
    expect((await run(dear)).exit).toBe(0);
    await run(['config', 'set', 'confirm_credits', '90']);
    expect((await run(dear, { answers: [] })).exit).toBe(0);
    expect((await run(['config', 'set', 'confirm_credits', 'much'])).exit).toBe(2);
    expect((await run(['config', 'unset', 'confirm_credits'])).exit).toBe(0);
    expect((await run(['config', 'get', 'confirm_credits'])).stdout).toBe('100\n');
  });
});

test('an error of the service about a field names the flag', async () => {
  const { run } = await createDesk({
    refuse: () => ({
      status: 400,
      error: 'invalid_request',
      message: 'images.0 is not an image; duration is too long.',
      details: [
        { path: 'images.0', message: 'is not an image' },
        { path: 'duration', message: 'is too long' },
      ],
    }),
  });
  const one = await run(['video', 'start-end2video', 'start.png']);
  expect(one.stderr).toContain('error: <images> is not an image; --duration is too long.');
  const json = await run([...boat, '--images', 'start.png', '--json']);
  expect(
    JSON.parse(json.stderr.split('\n').find((line) => line.startsWith('{')) ?? '').error.details,
  ).toEqual([
    { path: '--images', message: 'is not an image' },
    { path: '--duration', message: 'is too long' },
  ]);
});

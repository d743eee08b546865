import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { generationDeskForTest } from '../../support/generation-desk.js';
import { png } from '../../support/generation-double.js';

/** A double, a folder with two photos, and one HOME for all commands of the test. */
const relight = ['image', 'relight', 'photo.png'];

describe('a generation command', () => {
  test('sends raw Base64 and the flags given, waits, and prints one output URL a line', async () => {
    const { double, run } = await generationDeskForTest({ files: 2 });
    const { exit, stdout, stderr } = await run([
      ...relight,
      ...['--prompt', '(warm evening:1.2)', '--style', 'brighter', '--no-preserve-details'],
      ...['--advanced-settings.contrast', '60', '--transfer-light-from-lightmap', 'other.png'],
    ]);
    expect(exit, stderr).toBe(0);
    const [id] = double.tasks.keys();
    expect(stdout).toBe(`${double.url}/results/${id}-0\n${double.url}/results/${id}-1\n`);
    expect(stderr).toContain(`Task ${id}\n`);
    expect(double.asked).toHaveLength(1);
    expect(double.asked[0]).toMatchObject({ operation: 'image.relight', token: 'Bearer secret' });
    expect(double.asked[0]?.body).toEqual({
      image: png.toString('base64'),
      prompt: '(warm evening:1.2)',
      style: 'brighter',
      preserve_details: false,
      advanced_settings: { contrast: 60 },
      transfer_light_from_lightmap: readBase64(Buffer.concat([png, Buffer.from('x')])),
    });
  });

  test('says in a log that its tasks are still queued, once, and not that they run', async () => {
    const { run } = await generationDeskForTest({ states: ['CREATED'] });
    let now = Date.now();
    const clock = { now: () => (now += 1_000), sleep: async () => {} };
    const watch = ['--interval', '100ms', '--timeout', '2m'];
    const { exit, stderr } = await run([...relight, ...watch], { clock });
    expect(exit).toBe(8);
    expect(stderr.match(/Still queued after \d\d s; the service has not begun the task\./g)).toHaveLength(1);
    const many = await run([...relight, 'other.png', ...watch, '--again'], { clock });
    expect(many.stderr).toContain('the service has not begun any of the tasks.');
  });

  test('takes an image from standard input, as data and as a URL', async () => {
    const { double, run } = await generationDeskForTest();
    const data = png.toString('base64');
    for (const image of [`data:image/png;base64,${data}`, `base64:${data}`, 'https://example.com/a.png']) {
      expect((await run(['image', 'upscaler', image])).exit).toBe(0);
    }
    expect((await run(['image', 'upscaler', '-'], { stdin: 'piped' })).exit).toBe(0);
    expect(double.asked.map(({ body }) => body.image)).toEqual([
      data,
      data,
      'https://example.com/a.png',
      readBase64(Buffer.from('piped')),
    ]);
  });

  test('prints the response of the service with --json, and a list for several images', async () => {
    const { double, run } = await generationDeskForTest();
    const one = JSON.parse(
      (await run(['image', 'style-transfer', 'photo.png', 'other.png', '--json'])).stdout,
    );
    expect(one).toMatchObject({ status: 'COMPLETED', generated: [expect.any(String)] });
    const many = await run([...relight, 'other.png', '--json']);
    expect(JSON.parse(many.stdout)).toMatchObject([{ data: { status: 'COMPLETED' } }, { data: {} }]);
    expect(double.asked[0]?.body).toMatchObject({
      image: readBase64(png),
      reference_image: expect.any(String),
    });
  });

  test('applies one style reference to several images', async () => {
    const { double, run } = await generationDeskForTest();
    const argv = ['image', 'style-transfer', 'photo.png', 'photo.png', 'other.png'];
    const unclear = await run(argv);
    expect(unclear).toMatchObject({ exit: 2, stdout: '' });
    expect(unclear.stderr).toContain('--reference-image');
    const { exit, stdout } = await run([...argv, '--reference-image', 'other.png', '--no-wait']);
    expect(exit).toBe(0);
    expect(stdout.trim().split('\n')).toEqual([...double.tasks.keys()]);
    expect(double.tasks.size).toBe(3);
  });

  test('prints the task id alone with --no-wait, and task wait goes on from there', async () => {
    const { double, run } = await generationDeskForTest();
    const begun = await run([...relight, '--no-wait']);
    const [id] = double.tasks.keys();
    expect(begun).toMatchObject({ exit: 0, stdout: `${id}\n` });
    const waited = await run(['task', 'wait', id as string]);
    expect(waited).toMatchObject({ exit: 0, stdout: `${double.url}/results/${id}-0\n` });
    expect(double.asked).toHaveLength(1);
  });

  test('ends 6 when its tasks failed, and 9 when some of them did', async () => {
    let failing = (_count: number) => true;
    let count = 0;
    const { run } = await generationDeskForTest({ fails: () => failing(++count) });
    const one = await run(relight);
    expect(one).toMatchObject({ exit: 6, stdout: '' });
    expect(one.stderr).toMatch(/error: The relight \S+ failed\./);
    expect((await run([...relight, 'other.png'])).exit).toBe(6);
    failing = (nth) => nth === 4;
    expect((await run([...relight, 'other.png'])).exit).toBe(9);
  });

  test('treats an unknown status as running, and exits 8 at its timeout', async () => {
    const { double, run } = await generationDeskForTest({ states: ['CREATED', 'PONDERING'] });
    const { exit, stdout, stderr } = await run([...relight, '--timeout', '1s', '--interval', '200ms']);
    const [id] = double.tasks.keys();
    expect({ exit, stdout }).toEqual({ exit: 8, stdout: '' });
    expect(stderr).toContain(`regen task wait ${id}`);
  });

  test('exits 8 with the id on stdout and the reason on stderr if the service lacks the extensions', async () => {
    const { double, run } = await generationDeskForTest({ extensions: false });
    const { exit, stdout, stderr } = await run(['image', 'style-transfer', 'photo.png', 'other.png']);
    const [id] = double.tasks.keys();
    expect({ exit, stdout }).toEqual({ exit: 8, stdout: `${id}\n` });
    expect(stderr).toContain('cannot report the status of the style transfer');
    expect(stderr).toContain('--webhook-url');
    expect((await run(relight)).exit).toBe(0);
  });

  test.each([
    [
      'CREATED',
      'has not started yet',
      'hint: `regen doctor` shows whether the service can make it. Resume with',
    ],
    ['IN_PROGRESS', 'has not ended yet', 'hint: Resume with'],
  ])('that stops waiting says how to continue: %s', async (state, message, hint) => {
    const { run } = await generationDeskForTest({ states: [state] });
    const { exit, stderr } = await run([...relight, '--timeout', '1s']);
    expect(exit).toBe(8);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });

  test('prints the request with --dry-run and sends nothing', async () => {
    const { double, run, readEntries } = await generationDeskForTest();
    const { exit, stdout } = await run([...relight, '--style', 'clean', '--dry-run', '--json']);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ method: 'POST', body: { style: 'clean' } });
    expect(double.asked).toEqual([]);
    expect(readEntries()).toEqual([]);
  });

  test('shows with --dry-run what the images cost, and refuses what would be refused', async () => {
    const prices = { video_per_second: {}, image: { relight: 10 }, is_rec: 10, off_peak: 0.5 };
    const { double, run } = await generationDeskForTest({ prices });
    const both = [...relight, 'other.png', '--dry-run'];
    const dry = await run([...both, '-o', 'out/', '--max-credits', '20']);
    expect([dry.exit, dry.stderr]).toEqual([0, expect.stringContaining('2 jobs: 20 credits in total.')]);
    const refused = async (...flags: string[]) => {
      const { exit, stderr } = await run([...both, ...flags]);
      expect(exit, stderr).toBe(2);
      return stderr;
    };
    const free = await generationDeskForTest({ prices: { ...prices, image: { relight: 0 } } });
    expect((await free.run(both)).stderr).toContain('2 jobs: 0 credits in total.');
    expect(await refused('--max-credits', '19')).toContain(
      '20 credits in total, more than --max-credits 19.',
    );
    expect(await refused('-o', 'taken')).toContain('would save several results under the same name');
    expect(await refused('--no-wait', '--open')).toContain('--no-wait and --open cannot be used together.');
    expect(double.asked).toEqual([]);
  });
});

describe('invalid input', () => {
  test.each([
    [[...relight, '--light-transfer-strength', '101'], '--light-transfer-strength must be at most 100'],
    [[...relight, '--light-transfer-strength', '1.5'], '--light-transfer-strength must be a whole number'],
    [[...relight, '--style', 'loud'], '--style must be one of standard'],
    [[...relight, '--prompt', '(warm:1.5)'], '--prompt contains the emphasis 1.5'],
    [[...relight, '--advanced-settings.whites', '101'], '--advanced-settings.whites must be at most 100'],
    [[...relight, '--webhook-url', 'nowhere'], '--webhook-url must be'],
    [
      [
        ...relight,
        '--transfer-light-from-lightmap',
        'a.png',
        '--transfer-light-from-reference-image',
        'b.png',
      ],
      '--transfer-light-from-lightmap names a file that does not exist: a.png',
    ],
    [
      [
        ...[...relight, '--transfer-light-from-lightmap', 'other.png'],
        ...['--transfer-light-from-reference-image', 'other.png'],
      ],
      'cannot be combined',
    ],
    [['image', 'relight'], '<image> is required'],
    [['image', 'relight', 'absent.jpg'], '<image> names a file that does not exist: absent.jpg'],
    [
      ['image', 'style-transfer', 'photo.png', 'absent.jpg'],
      '<reference_image> names a file that does not exist: absent.jpg',
    ],
    [['image', 'relight', 'data:image/png,plain'], '<image> must be Base64 data'],
    [['image', 'relight', '-', '-'], 'can be used for one image only'],
    [['image', 'style-transfer', 'photo.png'], '<reference_image> is required'],
    [
      ['image', 'style-transfer', 'photo.png', 'other.png', '--style-strength', '-1'],
      '--style-strength must be at least 0',
    ],
    [['image', 'skin-enhancer', 'photo.png', '--sharpen', '101'], '--sharpen must be at most 100'],
    [['image', 'skin-enhancer', 'http://example.com/a.png'], '<image> is a URL, which must begin with https'],
    [['image', 'upscaler', 'photo.png', '--scale-factor', '17'], '--scale-factor must be at most 16'],
    [[...relight, '--receipt'], '--receipt requires --output'],
    [[...relight, '-o', '{nmae}.png'], 'Unknown placeholder {nmae} in the output path'],
    [[...relight, 'other.png', '-o', 'one.png'], 'several results under the same name'],
    [[...relight, '-o', 'other.png'], 'already exists'],
    [[...relight, '-o', '{name}.{ext}'], 'already exists'],
    [[...relight, '-o', `${'ü'.repeat(126)}.png`], 'too long for the file system'],
    [[...relight, '-o', `${'a'.repeat(245)}.png`, '--receipt'], 'too long for the file system'],
    [[...relight, '--no-wait', '-o', 'out.png'], '--no-wait and --output cannot be used together'],
    [[...relight, '--timeout', 'soon'], '--timeout must be a duration'],
  ])('regen %j', async (argv, said) => {
    const { double, run, readEntries } = await generationDeskForTest();
    const { exit, stdout, stderr } = await run(argv);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(said);
    expect(double.asked).toEqual([]);
    expect(readEntries()).toEqual([]);
  });

  test('is reported completely before anything is sent', async () => {
    const { run } = await generationDeskForTest();
    const { stderr } = await run(['image', 'relight', 'a.jpg', 'b.jpg', '--style', 'loud']);
    expect(stderr).toContain('a.jpg');
    expect(stderr).toContain('b.jpg');
    expect(stderr.match(/--style/g)).toHaveLength(1);
  });

  test('includes folders and empty files in place of images', async () => {
    const { cwd, run } = await generationDeskForTest();
    mkdirSync(join(cwd, 'folder'));
    writeFileSync(join(cwd, 'empty.png'), '');
    expect((await run(['image', 'relight', 'folder'])).stderr).toContain('is a folder');
    expect((await run(['image', 'relight', 'empty.png'])).stderr).toContain('is an empty file');
  });
});

describe('results', () => {
  test('are saved under the name given, without any credential, with a receipt beside them', async () => {
    const { double, cwd, run } = await generationDeskForTest();
    const { exit, stdout, stderr } = await run([
      ...relight,
      '-o',
      'out.png',
      '--receipt',
      '--style',
      'clean',
    ]);
    expect(exit, stderr).toBe(0);
    expect(stdout).toBe(`${join(cwd, 'out.png')}\n`);
    expect(readFileSync(join(cwd, 'out.png')).equals(png)).toBe(true);
    expect(readdirSync(cwd).sort()).toEqual(['other.png', 'out.png', 'out.png.receipt.json', 'photo.png']);
    expect(double.leaked).toEqual([]);
    const sha256 = createHash('sha256').update(png).digest('hex');
    expect(JSON.parse(readFileSync(join(cwd, 'out.png.receipt.json'), 'utf8'))).toMatchObject({
      task_id: [...double.tasks.keys()][0],
      operation: 'image.relight',
      request: { style: 'clean', image: { file: 'photo.png', sha256 } },
      seed: null,
      credits: null,
      sha256,
    });
  });

  test('in a folder are named after the image, or by the given pattern', async () => {
    const { cwd, run } = await generationDeskForTest({ files: 2 });
    const { stdout } = await run([...relight, '-o', 'made/']);
    expect(stdout.trim().split('\n')).toEqual([
      join(cwd, 'made', 'photo.png'),
      join(cwd, 'made', 'photo-2.png'),
    ]);
    const many = await run([...relight, 'other.png', '-o', 'by/{index}/{name}.{ext}']);
    expect(many.stdout.trim().split('\n')).toEqual(
      ['1/photo', '2/photo', '1/other', '2/other'].map((name) => join(cwd, 'by', `${name}.png`)),
    );
  });

  test('of a hostile service stay on one line and in their folder', async () => {
    const { cwd, run } = await generationDeskForTest({ id: () => '../../\u001b[2Jx' });
    const begun = await run([...relight, '--no-wait']);
    expect(begun.stdout).toBe('../../x\n');
    const { exit, stdout } = await run([...relight, '-o', 'made/{name}-{task_id}.{ext}']);
    expect({ exit, files: readdirSync(join(cwd, 'made')) }).toEqual({
      exit: 0,
      files: [expect.stringMatching(/^photo-[^/]*x\.png$/)],
    });
    expect(stdout).toContain(join(cwd, 'made', 'photo-'));
  });

  test('are never saved over a file without --force', async () => {
    const { double, cwd, run } = await generationDeskForTest();
    writeFileSync(join(cwd, 'out.png'), 'mine');
    expect((await run([...relight, '-o', 'out.png'])).exit).toBe(2);
    expect(double.asked).toEqual([]);
    expect((await run([...relight, '-o', 'out.png', '--force'])).exit).toBe(0);
    expect(readFileSync(join(cwd, 'out.png')).equals(png)).toBe(true);
  });
});

function readBase64(bytes: Buffer): string {
  return bytes.toString('base64');
}

test('results of images with the longest names are saved, each under its own name', async () => {
  const { cwd, run } = await generationDeskForTest();
  const images = ['one', 'two'].map((end) => `${'a'.repeat(240)}-${end}.png`);
  for (const name of images) writeFileSync(join(cwd, name), png);
  for (const output of ['out/', 'kept/{name}.{ext}']) {
    const { exit, stderr } = await run(['image', 'relight', ...images, '-o', output, '--receipt']);
    expect(exit, stderr).toBe(0);
    expect(readdirSync(join(cwd, output.split('/')[0] as string))).toHaveLength(4);
  }
});

test.each([
  ['image', 'relight', 'photo.png'],
  ['image', 'style-transfer', 'photo.png', 'other.png'],
  ['image', 'skin-enhancer', 'photo.png'],
  ['image', 'upscaler', 'photo.png'],
  ['video', 'text2video', 'a boat'],
  ['video', 'start-end2video', 'photo.png', 'other.png'],
])(
  'the expression in the guide prints the id of %s %s, waiting or not, and of a failed one',
  async (...argv) => {
    const [, expression = ''] =
      /--jq '(\.id \/\/ [^']+)'/.exec(readFileSync('docs/generation.md', 'utf8')) ?? [];
    const { double, run } = await generationDeskForTest({ fails: () => double.tasks.size === 2 });
    const ids = [];
    for (const flags of [['--no-wait'], [], []]) {
      ids.push((await run([...argv, '--again', ...flags, '--jq', expression])).stdout.trim());
    }
    expect(ids).toEqual([...double.tasks.keys()]);
  },
);

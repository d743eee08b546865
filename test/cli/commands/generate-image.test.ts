import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { homeForTest, type Ran, regen, type Surroundings } from '../../support/cli.js';
import { type DoubleOptions, generationDoubleForTest, png } from '../../support/generation-double.js';
import { folderForTest } from '../../support/service.js';

/** A double, a folder with two photos, and one HOME for all commands of the test. */
async function createDesk(options: DoubleOptions = {}) {
  const double = await generationDoubleForTest(options);
  const home = homeForTest();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.png'), png);
  writeFileSync(join(cwd, 'other.png'), Buffer.concat([png, Buffer.from('x')]));
  const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
  const run = (argv: readonly string[], more: Surroundings = {}): Promise<Ran> =>
    regen(argv, { home, cwd, ...more, env: { ...env, ...more.env } });
  const ledgerFolder = join(home, '.local/state/regen/tasks');
  const entries = () =>
    (existsSync(ledgerFolder) ? readdirSync(ledgerFolder) : []).map((name) =>
      JSON.parse(readFileSync(join(ledgerFolder, name), 'utf8')),
    );
  return { double, home, cwd, run, ledgerFolder, entries };
}

const relight = ['image', 'relight', 'photo.png'];

describe('a generation command', () => {
  test('sends raw Base64 and the flags given, waits, and prints one output URL a line', async () => {
    const { double, run } = await createDesk({ files: 2 });
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

  test('takes an image from standard input, as data and as a URL', async () => {
    const { double, run } = await createDesk();
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

  test('with --json answers with what the service answered; of many images with a list', async () => {
    const { double, run } = await createDesk();
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

  test('styles many images after one reference', async () => {
    const { double, run } = await createDesk();
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
    const { double, run } = await createDesk();
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
    const { run } = await createDesk({ fails: () => failing(++count) });
    const one = await run(relight);
    expect(one).toMatchObject({ exit: 6, stdout: '' });
    expect(one.stderr).toMatch(/error: The relight \S+ failed\./);
    expect((await run([...relight, 'other.png'])).exit).toBe(6);
    failing = (nth) => nth === 4;
    expect((await run([...relight, 'other.png'])).exit).toBe(9);
  });

  test('takes a status it does not know for running, and ends 8 when its time is over', async () => {
    const { double, run } = await createDesk({ states: ['CREATED', 'PONDERING'] });
    const { exit, stdout, stderr } = await run([...relight, '--timeout', '1s', '--interval', '200ms']);
    const [id] = double.tasks.keys();
    expect({ exit, stdout }).toEqual({ exit: 8, stdout: '' });
    expect(stderr).toContain(`regen task wait ${id}`);
  });

  test('against a service without the extensions ends 8, the id on stdout and the reason on stderr', async () => {
    const { double, run } = await createDesk({ extensions: false });
    const { exit, stdout, stderr } = await run(['image', 'style-transfer', 'photo.png', 'other.png']);
    const [id] = double.tasks.keys();
    expect({ exit, stdout }).toEqual({ exit: 8, stdout: `${id}\n` });
    expect(stderr).toContain('cannot report the status of the style transfer');
    expect(stderr).toContain('--webhook-url');
    expect((await run(relight)).exit).toBe(0);
  });

  test('--dry-run prints the request and sends nothing', async () => {
    const { double, run, entries } = await createDesk();
    const { exit, stdout } = await run([...relight, '--style', 'clean', '--dry-run', '--json']);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ method: 'POST', body: { style: 'clean' } });
    expect(double.asked).toEqual([]);
    expect(entries()).toEqual([]);
  });
});

describe('bad input is found before anything is sent', () => {
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
      '--transfer-light-from-lightmap does not exist: a.png',
    ],
    [
      [
        ...[...relight, '--transfer-light-from-lightmap', 'other.png'],
        ...['--transfer-light-from-reference-image', 'other.png'],
      ],
      'cannot be combined',
    ],
    [['image', 'relight'], '<image> is required'],
    [['image', 'relight', 'absent.jpg'], '<image> does not exist: absent.jpg'],
    [['image', 'style-transfer', 'photo.png', 'absent.jpg'], '<reference_image> does not exist: absent.jpg'],
    [['image', 'relight', 'data:image/png,plain'], '<image> must be Base64 data'],
    [['image', 'relight', '-', '-'], 'can be used for one image only'],
    [['image', 'style-transfer', 'photo.png'], '--reference-image is required'],
    [
      ['image', 'style-transfer', 'photo.png', 'other.png', '--style-strength', '-1'],
      '--style-strength must be at least 0',
    ],
    [['image', 'skin-enhancer', 'photo.png', '--sharpen', '101'], '--sharpen must be at most 100'],
    [
      ['image', 'skin-enhancer', 'http://example.com/a.png'],
      '<image> must be Base64 or a URL that begins with https',
    ],
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
    const { double, run, entries } = await createDesk();
    const { exit, stdout, stderr } = await run(argv);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(said);
    expect(double.asked).toEqual([]);
    expect(entries()).toEqual([]);
  });

  test('and all of it is said at once', async () => {
    const { run } = await createDesk();
    const { stderr } = await run(['image', 'relight', 'a.jpg', 'b.jpg', '--style', 'loud']);
    expect(stderr).toContain('a.jpg');
    expect(stderr).toContain('b.jpg');
    expect(stderr.match(/--style/g)).toHaveLength(1);
  });

  test('a folder and an empty file are no images', async () => {
    const { cwd, run } = await createDesk();
    mkdirSync(join(cwd, 'folder'));
    writeFileSync(join(cwd, 'empty.png'), '');
    expect((await run(['image', 'relight', 'folder'])).stderr).toContain('is a folder');
    expect((await run(['image', 'relight', 'empty.png'])).stderr).toContain('is an empty file');
  });
});

describe('results', () => {
  test('are saved under the name given, without any credential, with a receipt beside them', async () => {
    const { double, cwd, run } = await createDesk();
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
      request: { style: 'clean', image: { file: join(cwd, 'photo.png'), sha256 } },
      seed: null,
      credits: null,
      sha256,
    });
  });

  test('in a folder are called after image and task, by a pattern as it says', async () => {
    const { double, cwd, run } = await createDesk({ files: 2 });
    const { stdout } = await run([...relight, '-o', 'made/']);
    const [id] = double.tasks.keys();
    expect(stdout.trim().split('\n')).toEqual([
      join(cwd, 'made', `photo-${id}.png`),
      join(cwd, 'made', `photo-${id}-2.png`),
    ]);
    const many = await run([...relight, 'other.png', '-o', 'by/{index}/{name}.{ext}']);
    expect(many.stdout.trim().split('\n')).toEqual(
      ['1/photo', '2/photo', '1/other', '2/other'].map((name) => join(cwd, 'by', `${name}.png`)),
    );
  });

  test('of a hostile service stay on one line and in their folder', async () => {
    const { cwd, run } = await createDesk({ id: () => '../../\u001b[2Jx' });
    const begun = await run([...relight, '--no-wait']);
    expect(begun.stdout).toBe('../../x\n');
    const { exit, stdout } = await run([...relight, '-o', 'made/']);
    expect({ exit, files: readdirSync(join(cwd, 'made')) }).toEqual({
      exit: 0,
      files: [expect.stringMatching(/^photo-[^/]*x\.png$/)],
    });
    expect(stdout).toContain(join(cwd, 'made', 'photo-'));
  });

  test('are never saved over a file without --force', async () => {
    const { double, cwd, run } = await createDesk();
    writeFileSync(join(cwd, 'out.png'), 'mine');
    expect((await run([...relight, '-o', 'out.png'])).exit).toBe(2);
    expect(double.asked).toEqual([]);
    expect((await run([...relight, '-o', 'out.png', '--force'])).exit).toBe(0);
    expect(readFileSync(join(cwd, 'out.png')).equals(png)).toBe(true);
  });
});

describe('the ledger', () => {
  test('keeps one private file a task, with references in place of images and no credential', async () => {
    const { double, cwd, run, ledgerFolder, entries } = await createDesk();
    await run([...relight, '--style', 'clean']);
    const [name] = readdirSync(ledgerFolder);
    expect(statSync(join(ledgerFolder, name as string)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(ledgerFolder, name as string), 'utf8')).not.toContain('secret');
    expect(entries()).toEqual([
      {
        id: name?.replace('.json', ''),
        idempotency_key: double.asked[0]?.key,
        created_at: expect.any(String),
        service: double.url,
        operation: 'image.relight',
        request: {
          style: 'clean',
          image: {
            file: join(cwd, 'photo.png'),
            bytes: png.length,
            sha256: createHash('sha256').update(png).digest('hex'),
          },
        },
        name: 'photo',
        task_id: [...double.tasks.keys()][0],
        state: 'COMPLETED',
        outputs: [expect.any(String)],
        owner: { host: hostname(), pid: process.pid, started: expect.any(String), seen: expect.any(Number) },
        closed: true,
      },
    ]);
  });

  test('is written before the request is sent', async () => {
    let before: unknown[] = [];
    const { run, entries } = await createDesk({
      onStart: () => {
        before = entries();
        return true;
      },
    });
    await run(relight);
    expect(before).toMatchObject([{ operation: 'image.relight', idempotency_key: expect.any(String) }]);
    expect(before[0]).not.toHaveProperty('task_id');
  });

  test('lets a repeat of what was never answered use its key, so that there is one task', async () => {
    const { double, run, entries } = await createDesk({ onStart: (_, count) => count > 1 });
    const lost = await run(relight);
    expect(lost).toMatchObject({ exit: 7, stdout: '' });
    const again = await run(relight);
    expect(again.exit, again.stderr).toBe(0);
    expect(again.stderr).toContain('got no response');
    expect(double.tasks.size).toBe(1);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
    expect(entries()).toHaveLength(1);
    // It is answered now: the next one is another task.
    await run(relight);
    expect(double.tasks.size).toBe(2);
  });

  test('asks again while the service is still at work on the same request', async () => {
    const busy = { status: 409, error: 'idempotency_in_flight' };
    const { double, run } = await createDesk({ refuse: (count) => (count < 3 ? busy : undefined) });
    expect((await run(relight)).exit).toBe(0);
    expect(double.asked).toHaveLength(3);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
  });

  test('keeps the key of a request that the service is still at work on after the last try', async () => {
    const busy = { status: 409, error: 'idempotency_in_flight', retryAfter: 0 };
    let isBusy = true;
    const { double, run, entries } = await createDesk({ refuse: () => (isBusy ? busy : undefined) });
    const first = await run(relight);
    expect(first.exit, first.stderr).toBe(7);
    isBusy = false;
    expect(entries()).toHaveLength(1);
    expect((await run(relight)).exit).toBe(0);
    expect(double.tasks.size).toBe(1);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
  });

  test('keeps the key of a request at which the service failed', async () => {
    const broken = { status: 500, error: 'internal' };
    const { double, run, entries } = await createDesk({
      refuse: (count) => (count < 2 ? broken : undefined),
    });
    expect((await run(relight)).exit).toBe(7);
    expect(entries()).toHaveLength(1);
    expect((await run(relight)).exit).toBe(0);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(1);
  });

  test('does not resend what is older than a day, and says so', async () => {
    const { double, run, entries, ledgerFolder } = await createDesk({ onStart: (_, count) => count > 1 });
    await run(relight);
    const [entry] = entries();
    const old = { ...entry, created_at: new Date(Date.now() - 25 * 3_600_000).toISOString() };
    writeFileSync(join(ledgerFolder, `${entry.id}.json`), JSON.stringify(old), { mode: 0o600 });
    const again = await run(relight);
    expect(again.exit).toBe(0);
    expect(again.stderr).toContain(`got no response (${entry.id})`);
    expect(new Set(double.asked.map(({ key }) => key)).size).toBe(2);
  });

  test('keeps nothing of what the service refused', async () => {
    const { run, entries } = await createDesk({ extensions: false });
    expect((await run(['image', 'upscaler', 'photo.png'])).exit).toBe(3);
    expect(entries()).toEqual([]);
  });

  test('makes two tasks of the same image given twice', async () => {
    const { double, run } = await createDesk();
    await run(['image', 'relight', 'photo.png', 'photo.png', '--no-wait']);
    expect(double.tasks.size).toBe(2);
  });
});

function readBase64(bytes: Buffer): string {
  return bytes.toString('base64');
}

test('results of images with the longest names are saved, each under its own name', async () => {
  const { cwd, run } = await createDesk();
  const images = ['one', 'two'].map((end) => `${'a'.repeat(240)}-${end}.png`);
  for (const name of images) writeFileSync(join(cwd, name), png);
  for (const output of ['out/', 'kept/{name}.{ext}']) {
    const { exit, stderr } = await run(['image', 'relight', ...images, '-o', output, '--receipt']);
    expect(exit, stderr).toBe(0);
    expect(readdirSync(join(cwd, output.split('/')[0] as string))).toHaveLength(4);
  }
});

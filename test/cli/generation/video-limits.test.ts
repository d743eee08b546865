import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { checkFlagLimits, limitToChoice, type Row } from '../../support/flag-limits.js';
import { png } from '../../support/generation-double.js';
import { folderForTest } from '../../support/service.js';

const text = ['video', 'text2video', 'a boat'];
const imageOnly = ['video', 'text2video', '--images', 'a.png'];
const between = ['video', 'start-end2video', 'a.png', 'b.png'];
const extend = [
  ...['video', 'extend', '--video-creation-id', '1'],
  ...['--video-url', 'https://example.com/a.mp4'],
];

const int32 = {
  accepted: ['-2147483648', '0', '2147483647'],
  refused: ['-2147483649', '2147483648', '1.5', ''],
};
const address = { accepted: ['https://example.com/hook'], refused: ['nowhere', 'ftp://example.com/hook'] };
const listSeconds = (from: number, to: number) => ({
  accepted: [String(from), String(to)],
  refused: [String(from - 1), String(to + 1), `${from}.5`],
});
const listTexts = (most: number) => ({ accepted: ['x'.repeat(most)], refused: ['x'.repeat(most + 1)] });
const sizes = ['360p', '540p', '720p', '1080p', '2K'];
const listSizes = (...accepted: string[]) => ({
  accepted,
  refused: sizes.filter((size) => !accepted.includes(size)),
});

/** What each model makes: in seconds, and at which sizes. */
const models: readonly [model: string, Pick<Row, 'accepted' | 'refused'>, ReturnType<typeof listSizes>][] = [
  ['vvq3-pro', listSeconds(1, 16), listSizes('540p', '720p', '1080p', '2K')],
  ['vvq2-pro-fast', listSeconds(1, 10), listSizes('720p', '1080p')],
  ['vvq2-pro', listSeconds(1, 8), listSizes('540p', '720p', '1080p')],
  ['vvq2-turbo', listSeconds(1, 8), listSizes('540p', '720p', '1080p')],
  ['vvq1', listSeconds(5, 5), listSizes('1080p')],
  ['vvq1-classic', listSeconds(5, 5), listSizes('1080p')],
  ['vv2.0', { accepted: ['4', '8'], refused: ['3', '5', '9'] }, listSizes('360p', '720p', '1080p')],
];

/** service.md 4.2 and what section 8 says of videos, and the decisions about what they leave open. */
const rows: readonly Row[] = [
  { command: text, flag: 'aspect-ratio', ...limitToChoice('16:9 9:16 1:1 3:4 4:3') },
  { command: text, flag: 'audio-type', ...limitToChoice('all speech_only sound_effect_only') },
  { command: text, flag: 'callback-url', ...address },
  { command: text, flag: 'meta-data', accepted: ['{"scene": 4}', '[]'], refused: ['{', 'scene', ''] },
  { command: text, flag: 'model', ...limitToChoice(models.map(([model]) => model).join(' ')) },
  { command: text, flag: 'movement-amplitude', ...limitToChoice('auto small medium large') },
  { command: text, flag: 'payload', ...listTexts(1_048_576) },
  { command: text, flag: 'priority', ...int32 },
  { command: imageOnly, flag: 'prompt', ...listTexts(2000) },
  { command: text, flag: 'seed', ...int32 },
  { command: text, flag: 'style', ...limitToChoice('general anime') },
  { command: text, flag: 'wm-position', ...listSeconds(1, 4) },
  {
    command: text,
    flag: 'wm-url',
    accepted: ['https://example.com/w.png'],
    refused: ['a.png', 'base64:AAAA'],
  },
  { command: [...text, '--model', 'vv2.0', '--duration', '8'], flag: 'resolution', ...listSizes('720p') },
  ...models.flatMap(([model, durations, resolutions], at) => {
    // Both commands take the same body.
    const command = [...(at % 2 === 0 ? text : between), '--model', model];
    return [
      { command, flag: 'duration', ...durations },
      { command, flag: 'resolution', ...resolutions },
    ];
  }),
  { command: between, flag: 'seed', ...int32 },
  { command: between, flag: 'callback-url', ...address },
  { command: extend, flag: 'model', ...limitToChoice('vvq2-pro vvq2-turbo') },
  { command: extend, flag: 'duration', ...listSeconds(1, 7) },
  { command: extend, flag: 'resolution', ...listSizes('540p', '720p', '1080p') },
  { command: extend, flag: 'prompt', ...listTexts(2000) },
  { command: extend, flag: 'payload', ...listTexts(1_048_576) },
  { command: extend, flag: 'callback-url', ...address },
];

function createPictures(): string {
  const cwd = folderForTest();
  for (const name of ['a.png', 'b.png', 'c.png']) writeFileSync(join(cwd, name), png);
  return cwd;
}

describe('a value at its limit is accepted, and beyond it refused with the flag in the message', () => {
  const named = rows.map((row) => {
    const model = row.command[row.command.indexOf('--model') + 1];
    const of = row.command.includes('--model') ? ` of ${model}` : '';
    return [`${row.command[1]} --${row.flag}${of}`, row] as const;
  });
  test.each(named)('%s', (_, row) => checkFlagLimits(row, createPictures()));
});

describe('the required and invalid values of a command', () => {
  test.each([
    [['video', 'text2video'], '<prompt> is required, unless --images is given'],
    [[...text, '--prompt', 'twice'], '<prompt> and --prompt set the same value'],
    [[...text, '--images', 'a.png', '--images', 'b.png'], '--images must have at most 1 item'],
    [[...text, '--images', 'absent.png'], '--images names a file that does not exist: absent.png'],
    [['video', 'start-end2video'], '<images> is required'],
    [[...between, 'c.png'], '<images> must have at most 2 items'],
    [['video', 'start-end2video', '-', '-'], 'can be used for one image only'],
    [[...extend, '--images', 'a.png', '--images', 'b.png'], '--images must have at most 1 item'],
    [['video', 'extend'], '<task_id> is required, or --video-creation-id together with --video-url'],
    [
      [...text, '--model', 'vvq2-pro', '--duration', '12'],
      '--duration must be 1 to 8 with vvq2-pro; 8 is the nearest',
    ],
    [
      [...text, '--model', 'vv2.0', '--duration', '8', '--resolution', '1080p'],
      '--resolution must be 720p with vv2.0 at 8 s',
    ],
  ])('regen %j', async (argv, said) => {
    const { exit, stdout, stderr } = await regen([...argv, '--dry-run'], { cwd: createPictures() });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(said);
  });

  test('are reported together', async () => {
    const argv = ['video', 'start-end2video', 'absent.png', '--duration', '17', '--style', 'loud'];
    const { stderr } = await regen([...argv, '--wm-position', '5', '--dry-run'], { cwd: createPictures() });
    expect(stderr).toContain('4 problems; nothing was sent.');
  });
});

test('switches are sent as given, and are absent otherwise', async () => {
  const body = async (...flags: string[]) =>
    JSON.parse((await regen([...text, ...flags, '--dry-run', '--json'])).stdout).body;
  const names = ['audio', 'bgm', 'enhance', 'is-rec', 'off-peak', 'watermark'];
  const fields = (value: boolean) =>
    Object.fromEntries(names.map((name) => [name.replaceAll('-', '_'), value]));
  expect(await body()).toEqual({ prompt: 'a boat' });
  expect(await body(...names.map((name) => `--${name}`))).toEqual({ prompt: 'a boat', ...fields(true) });
  expect(await body(...names.map((name) => `--no-${name}`))).toEqual({ prompt: 'a boat', ...fields(false) });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { checkFlagLimits, limitToChoice, type Row } from '../../support/flag-limits.js';
import { png } from '../../support/generation-double.js';
import { folderForTest } from '../../support/service.js';

const percent = { accepted: ['0', '100'], refused: ['-1', '101', '1.5', '1e1', 'half', ''] };
const level = { accepted: ['0', '49.5', '100'], refused: ['-0.1', '100.1', 'half'] };
const address = { accepted: ['https://example.com/hook'], refused: ['nowhere', 'ftp://example.com/hook'] };

const relight = ['image', 'relight', 'photo.png'];
const style = ['image', 'style-transfer', 'photo.png', 'photo.png'];
const skin = ['image', 'skin-enhancer', 'photo.png'];
const upscaler = ['image', 'upscaler', 'photo.png'];

/** service.md 4.1 and what section 8 says of images, and the decisions about what they leave open. */
const rows: readonly Row[] = [
  { command: relight, flag: 'light-transfer-strength', ...percent },
  ...['blacks', 'brightness', 'contrast', 'saturation', 'whites'].map((name) => ({
    command: relight,
    flag: `advanced-settings.${name}`,
    ...level,
  })),
  {
    command: relight,
    flag: 'advanced-settings.engine',
    ...limitToChoice('automatic balanced cool real illusio fairy colorful_anime hard_transform softy'),
  },
  {
    command: relight,
    flag: 'advanced-settings.transfer-light-a',
    ...limitToChoice('automatic low medium normal high high_on_faces'),
  },
  {
    command: relight,
    flag: 'advanced-settings.transfer-light-b',
    ...limitToChoice(
      'automatic composition straight smooth_in smooth_out smooth_both reverse_both soft_in soft_out soft_mid strong_mid style_shift strong_shift',
    ),
  },
  {
    command: relight,
    flag: 'style',
    ...limitToChoice('standard darker_but_realistic clean smooth brighter contrasted_n_hdr just_composition'),
  },
  {
    command: relight,
    flag: 'prompt',
    accepted: ['(warm:1)', '(warm:1.4)', 'at (16:9)', '(at 10:30)'],
    refused: ['(warm:0.99)', '(warm:1.41)'],
  },
  { command: relight, flag: 'webhook-url', ...address },
  { command: style, flag: 'structure-strength', ...percent },
  { command: style, flag: 'style-strength', ...percent },
  {
    command: style,
    flag: 'engine',
    ...limitToChoice('balanced definio illusio 3d_cartoon colorful_anime caricature real super_real softy'),
  },
  {
    command: style,
    flag: 'flavor',
    ...limitToChoice('faithful gen_z psychedelia detaily clear donotstyle donotstyle_sharp'),
  },
  { command: style, flag: 'portrait-beautifier', ...limitToChoice('beautify_face beautify_face_max') },
  { command: style, flag: 'portrait-style', ...limitToChoice('standard pop super_pop') },
  { command: style, flag: 'webhook-url', ...address },
  { command: skin, flag: 'sharpen', ...percent },
  { command: skin, flag: 'smart-grain', ...percent },
  { command: skin, flag: 'webhook-url', ...address },
  { command: upscaler, flag: 'sharpen', ...percent },
  { command: upscaler, flag: 'smart-grain', ...percent },
  { command: upscaler, flag: 'ultra-detail', ...percent },
  { command: upscaler, flag: 'flavor', ...limitToChoice('sublime photo photo_denoiser') },
  {
    command: upscaler,
    flag: 'scale-factor',
    accepted: ['2', '16'],
    refused: ['1', '17', '2.5'],
  },
];

describe('a value at its limit is accepted, and beyond it refused with the flag in the message', () => {
  test.each(rows.map((row) => [`${row.command[1]} --${row.flag}`, row] as const))('%s', async (_, row) => {
    const cwd = folderForTest();
    writeFileSync(join(cwd, 'photo.png'), png);
    await checkFlagLimits(row, cwd);
  });
});

test('switches are sent as given, and are absent otherwise', async () => {
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.png'), png);
  const switches = ['change-background', 'interpolate-from-original', 'preserve-details'];
  const body = async (...flags: string[]) =>
    JSON.parse((await regen([...relight, ...flags, '--dry-run', '--json'], { cwd })).stdout).body;
  expect(Object.keys(await body())).toEqual(['image']);
  expect(await body(...switches.map((name) => `--${name}`))).toMatchObject({
    change_background: true,
    interpolate_from_original: true,
    preserve_details: true,
  });
  expect(
    await body(...switches.map((name) => `--no-${name}`), '--advanced-settings.fixed-generation'),
  ).toMatchObject({
    change_background: false,
    interpolate_from_original: false,
    preserve_details: false,
    advanced_settings: { fixed_generation: true },
  });
});

test('a body given as a whole is checked like its flags, with the names of the body', async () => {
  const image = png.toString('base64');
  const run = (body: object) => regen(['image', 'relight', '--body', JSON.stringify(body), '--dry-run']);
  expect((await run({ image })).exit).toBe(0);
  const { exit, stderr } = await run({ image, style: 'loud', colour: 1 });
  expect(exit).toBe(2);
  expect(stderr).toContain('body.style must be one of');
  expect(stderr).toContain('body.colour is not a known field');
  expect((await run([] as object)).exit).toBe(2);
  expect((await run({ image: 'not base64!' })).exit).toBe(2);
});

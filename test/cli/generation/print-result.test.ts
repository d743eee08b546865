import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import type { ServiceParts } from '../../../src/service/serve.js';
import { homeForTest, regen, type Surroundings, startRegen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { generationDoubleForTest, png } from '../../support/generation-double.js';
import { folderForTest, serviceForTest } from '../../support/service.js';
import { SCREEN_SIZES, SCREENS, startRegenInTerminal } from '../../support/terminal.js';
import { waitFor } from '../../support/wait-for.js';

/** Starts no thread for each image, and refuses what is cut off as the preview does. */
const quickEngines = {
  video: createFilmingEngine(),
  image: createCopyingEngine(async ({ images }) => {
    await sharp(images.image)
      .raw()
      .toBuffer()
      .catch((error) => {
        throw new EngineFailure(error.message);
      });
  }),
};

/** A folder with six photos, one of them cut off, and a service that relights them. */
async function createSixPhotos(
  parts: ServiceParts = { engines: quickEngines },
): Promise<Required<Pick<Surroundings, 'cwd' | 'env'>>> {
  const service = await serviceForTest({}, parts);
  const cwd = folderForTest();
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const bytes = number === 4 ? png.subarray(0, png.length - 20) : png;
    writeFileSync(join(cwd, `photo-${number}.png`), bytes);
  }
  return { cwd, env: { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken } };
}

const photos = [1, 2, 3, 4, 5, 6].map((number) => `photo-${number}.png`);

test.each(SCREEN_SIZES)(
  'six images with a broken one end with a summary on a %s of %i columns',
  async (screen, columns) => {
    const { cwd, env } = await createSixPhotos();
    const terminal = startRegenInTerminal(['image', 'relight', ...photos, '-o', 'relit/'], {
      ...{ cwd, columns },
      env: { ...env, ...SCREENS[screen] },
    });
    expect(await terminal.exit, terminal.screen()).toBe(9);
    const text = terminal.screen().replace(/\s+/g, ' ');
    expect(text).toMatch(/5 of 6 saved in relit\/ \(.*\); photo-4\.png failed: \w/);
    expect(text).toContain('error: photo-4.png');
    // Each path once.
    for (const photo of photos.filter((name) => name !== 'photo-4.png')) {
      expect(text.split(`relit/${photo}`)).toHaveLength(2);
    }
    const wide = (await terminal.lines()).filter(({ isTooWide }) => isTooWide);
    expect(screen === 'screen reader' ? [] : wide).toEqual([]);
    if (screen !== 'terminal') return;
    // A longer line would wrap.
    const drawn = terminal.screen().match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Relighting[^⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏)…]*[)…]/g) ?? [];
    expect(drawn.length).toBeGreaterThan(0);
    expect(drawn.filter((line) => line.length >= columns)).toEqual([]);
  },
);

test('names and messages with wide characters are wrapped at the width of the terminal', async () => {
  const { cwd, env } = await createSixPhotos();
  const name = `${'写真'.repeat(7)}.png`;
  const saved = startRegenInTerminal(['image', 'relight', 'photo-1.png', '-o', name], {
    cwd,
    env,
    columns: 40,
  });
  expect(await saved.exit, saved.screen()).toBe(0);
  const missing = startRegenInTerminal(['image', 'relight', `${'写真'.repeat(4)} 写真.png`], {
    cwd,
    env,
    columns: 40,
  });
  expect(await missing.exit).toBe(2);
  for (const terminal of [saved, missing])
    expect((await terminal.lines()).filter(({ isTooWide }) => isTooWide)).toEqual([]);
});

test('in a pipe, stdout has whole paths, and stderr has them with their tasks', async () => {
  const { cwd, env } = await createSixPhotos({});
  const { stdout, stderr, exit } = await startRegen(['image', 'relight', ...photos, '-o', 'relit/'], {
    cwd,
    env,
  }).ended;
  expect(exit).toBe(9);
  const paths = stdout.trim().split('\n');
  expect(paths).toHaveLength(5);
  for (const path of paths) {
    expect(existsSync(path)).toBe(true);
    expect(stderr).toContain(`Saved ${path} (`);
  }
  expect(stderr).toMatch(/^5 of 6 saved in relit\/ .*photo-4\.png failed: /m);
});

test('a result of another type than its extension is saved under the given name with a warning', async () => {
  const double = await generationDoubleForTest({ id: () => 'one' });
  const cwd = folderForTest();
  for (const photo of photos) writeFileSync(join(cwd, photo), png);
  const surroundings = {
    cwd,
    home: homeForTest(),
    env: { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' },
  };
  const relight = ['image', 'relight', 'photo-1.png'];
  writeFileSync(join(cwd, 'jobs.jsonl'), JSON.stringify({ command: 'image relight', image: 'photo-1.png' }));
  for (const [name, argv] of [
    ['a.jpg', [...relight, '-o', 'a.jpg']],
    ['b.JPEG', ['task', 'download', 'one', '-o', 'b.JPEG']],
    ['c.mp4', ['task', 'wait', 'one', '-o', 'c.mp4']],
    ['d.webp', ['batch', 'jobs.jsonl', '-o', 'd.webp']],
  ] as const) {
    const { exit, stdout, stderr } = await regen(argv, surroundings);
    expect(exit, stderr).toBe(0);
    expect(stdout).toContain(name);
    expect(existsSync(join(cwd, name))).toBe(true);
    expect(stderr).toMatch(new RegExp(`warning: .*${name} contains image/png, not (image|video)/`));
    expect(stderr).toContain('{ext}');
  }
  for (const name of ['e.png', 'f.PNG', 'g', 'h.bin', 'i.{ext}']) {
    const { exit, stderr } = await regen([...relight, '-o', name], surroundings);
    expect(exit, stderr).toBe(0);
    expect(stderr).not.toContain('warning');
  }
  const several = await regen(['image', 'relight', ...photos, '-o', '{name}.jpg'], surroundings);
  expect(several.exit, several.stderr).toBe(0);
  expect(several.stderr.match(/warning/g)).toHaveLength(1);
});

test('pictures and links are printed only in terminals that show them', async () => {
  const surroundings = await createSixPhotos();
  const relight = (name: string, env: Record<string, string>) =>
    startRegenInTerminal(['image', 'relight', 'photo-1.png', '-o', name], {
      ...surroundings,
      env: { ...surroundings.env, ...env },
    });
  const plain = relight('plain.png', {});
  expect(await plain.exit).toBe(0);
  for (const start of ['\x1b_G', '\x1b]']) expect(plain.raw()).not.toContain(start);
  const kitty = relight('kitty #1.png', { KITTY_WINDOW_ID: '1' });
  expect(await kitty.exit).toBe(0);
  const { href } = pathToFileURL(join(surroundings.cwd, 'kitty #1.png'));
  expect(kitty.raw()).toContain(`\x1b]8;;${href}\x1b\\kitty #1.png`);
  expect(kitty.raw()).toMatch(/_Gf=100,a=T,c=\d+,m=[01];iVBOR/);
  const iterm = relight('iterm.png', { TERM_PROGRAM: 'iTerm.app' });
  expect(await iterm.exit).toBe(0);
  expect(iterm.raw()).toContain(']1337;File=inline=1;');
  expect(readdirSync(surroundings.cwd)).toContain('iterm.png');
});

test('--open opens the saved file with the program of the environment', async () => {
  const { cwd, env } = await createSixPhotos();
  const opener = join(cwd, 'open.sh');
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${join(cwd, 'opened.txt')}'\n`, { mode: 0o755 });
  const argv = ['image', 'relight', 'photo-1.png', '-o', 'lit.png', '--open'];
  expect((await startRegen(argv, { cwd, env: { ...env, BROWSER: opener } }).ended).exit).toBe(0);
  await waitFor(() => expect(readdirSync(cwd)).toContain('opened.txt'));
  expect((await regen([...argv, '--no-wait'], { cwd, env })).exit).toBe(2);
});

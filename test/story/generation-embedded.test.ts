import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { homeWithService, regen, startRegen } from '../support/cli.js';
import { folderForTest } from '../support/service.js';

/** Something with shapes, as a photograph has. */
async function createPhoto(path: string, width: number, height: number): Promise<void> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < pixels.length; at += 3) {
    const x = (at / 3) % width;
    const y = Math.floor(at / 3 / width);
    pixels[at] = 110 + 40 * Math.sin(x / 20);
    pixels[at + 1] = 110 + 30 * Math.sin(y / 15);
    pixels[at + 2] = 120;
  }
  await sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toFile(path);
}

/** Bright on the left, dark on the right. */
async function createLightmap(path: string): Promise<void> {
  const row = Buffer.from([...new Array(32).fill(240), ...new Array(32).fill(15)]);
  await sharp(Buffer.concat(new Array(64).fill(row)), { raw: { width: 64, height: 64, channels: 1 } })
    .png()
    .toFile(path);
}

async function measureBrightness(path: string, half: 'left' | 'right'): Promise<number> {
  const { width = 0, height = 0 } = await sharp(path).metadata();
  const area = { left: half === 'left' ? 0 : width / 2, top: 0, width: width / 2, height };
  const { channels } = await sharp(await sharp(path).extract(area).png().toBuffer()).stats();
  return channels.slice(0, 3).reduce((sum, { mean }) => sum + mean, 0) / 3;
}

test('without configuration, the light in a relit photo follows the map', async () => {
  const home = homeWithService();
  const cwd = folderForTest();
  await createPhoto(join(cwd, 'photo.jpg'), 320, 240);
  await createLightmap(join(cwd, 'map.png'));
  const argv = ['image', 'relight', 'photo.jpg', '--prompt', '(warm evening:1.2)', '--style', 'brighter'];
  const { exit, stdout, stderr } = await startRegen(
    [...argv, '--transfer-light-from-lightmap', 'map.png', '-o', 'out.png'],
    { cwd, home },
  ).ended;
  expect({ exit, stdout }, stderr).toEqual({ exit: 0, stdout: `${join(cwd, 'out.png')}\n` });
  const before =
    (await measureBrightness(join(cwd, 'photo.jpg'), 'left')) -
    (await measureBrightness(join(cwd, 'photo.jpg'), 'right'));
  const after =
    (await measureBrightness(join(cwd, 'out.png'), 'left')) -
    (await measureBrightness(join(cwd, 'out.png'), 'right'));
  expect(after - before).toBeGreaterThan(20);
});

test('an embedded service that dies during a task is started again, and there is one result', async () => {
  const home = homeWithService();
  const cwd = folderForTest();
  await createPhoto(join(cwd, 'photo.jpg'), 1600, 1200);
  const argv = [
    'image',
    'upscaler',
    'photo.jpg',
    '--scale-factor',
    '2',
    '-o',
    'large.png',
    '--interval',
    '300ms',
  ];
  let killed = false;
  const waiting = startRegen(argv, { cwd, home });
  waiting.child.stderr?.on('data', () => {
    if (!killed && waiting.said().includes('Task ')) kill();
  });
  const kill = () => {
    killed = true;
    process.kill(
      JSON.parse(readFileSync(join(home, '.local/share/regen/service.json'), 'utf8')).pid,
      'SIGKILL',
    );
  };
  const { exit, stdout, stderr } = await waiting.ended;
  expect(killed).toBe(true);
  expect(stderr.match(/Started the embedded service/g)).toHaveLength(2);
  expect({ exit, stdout }, stderr).toEqual({ exit: 0, stdout: `${join(cwd, 'large.png')}\n` });
  expect(await sharp(join(cwd, 'large.png')).metadata()).toMatchObject({ width: 3200, height: 2400 });
  const list = JSON.parse((await regen(['task', 'list', '--json'], { home })).stdout);
  expect(list).toMatchObject([{ state: 'COMPLETED', service: 'local' }]);
  expect(readdirSync(cwd).sort()).toEqual(['large.png', 'photo.jpg']);
});

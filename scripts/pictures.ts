import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { RelightRequest } from '../src/contract/image-requests.js';
import { render } from '../src/preview/image/render.js';
import { toPicture } from '../src/preview/video/frame.js';
import { createFilm } from '../src/preview/video/render.js';
import { readShot } from '../src/preview/video/shot.js';
import { drawPortrait } from './portrait.js';
import { recordTerminal } from './record-terminal.js';
import { drawLamp } from './sample-images.js';

// Writes the pictures of the README and the guides: a strip of relighting, a strip of a video, and recordings of a
// terminal. `npm run pictures` runs the built program.

const folder = mkdtempSync(join(tmpdir(), 'regen-pictures-'));
const GAP = 6;
const [width, height] = [360, 450];

const publishExample = 'regen version publish examples/hello-nodes';
await recordTerminal({
  path: 'docs/pictures/publish.svg',
  commands: [publishExample, 'regen host-nodes list hello-nodes 1.0.0'],
});
await recordTerminal({
  path: 'docs/pictures/listings.svg',
  unseen: [
    publishExample,
    'cp -r examples/hello-nodes ~/next && regen version bump minor ~/next && regen version publish ~/next',
    "regen version deprecate hello-nodes '<1.1.0' --yes",
  ],
  commands: [
    'regen version check examples/hello-nodes',
    'regen node search',
    'regen version list hello-nodes',
  ],
});
await recordTerminal({
  path: 'docs/pictures/images.svg',
  cwd: await writePhotos(),
  commands: ["regen image relight *.jpg --prompt 'warm evening' -o 'relit/{name}.{ext}'", 'regen task list'],
});
await recordTerminal({
  path: 'docs/pictures/prices.svg',
  commands: ['regen video prices'],
  unseen: ['regen node search'],
});
await writeStrip('docs/pictures/relight.jpg', await relightPortrait());
await writeStrip('docs/pictures/video.jpg', await pickFrames('a paper boat on a lake at sunset', 5));
rmSync(folder, { recursive: true });

/** @returns a folder with six photos, one of them cut off */
async function writePhotos(): Promise<string> {
  const photos = join(folder, 'photos');
  mkdirSync(photos);
  const raw = { raw: { width, height, channels: 3 } } as const;
  const photo = await sharp(drawPortrait(width, height), raw).jpeg().toBuffer();
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const bytes = number === 4 ? photo.subarray(0, photo.length / 2) : photo;
    writeFileSync(join(photos, `photo-${number}.jpg`), bytes);
  }
  return photos;
}

/** @returns the original and three results */
async function relightPortrait(): Promise<Buffer[]> {
  const image = join(folder, 'image.png');
  const raw = { raw: { width, height, channels: 3 } } as const;
  await sharp(drawPortrait(width, height), raw).png().toFile(image);
  const pictures = [await sharp(image).toBuffer()];
  const map = join(folder, 'map.png');
  const lamps = [
    [
      [0.05, 0.3],
      [1, 0.78, 0.5],
    ],
    [
      [0.95, 0.3],
      [0.5, 0.72, 1],
    ],
    [
      [0.5, 0.1],
      [1, 0.5, 0.85],
    ],
  ] as const;
  for (const [place, [red, green, blue]] of lamps) {
    await sharp(drawLamp(width, height, place, [red, green, blue]), raw)
      .png()
      .toFile(map);
    const images = { image, transfer_light_from_lightmap: map };
    const settings = { transfer_light_b: 'strong_mid' };
    const request = RelightRequest.parse({ ...images, advanced_settings: settings }) as Record<
      string,
      unknown
    >;
    const job = { id: 'strip', operation: 'image.relight', images, seed: 1, folder } as const;
    const { files } = await render({ ...job, request }, () => {});
    pictures.push(await sharp(files[0]?.path as string).toBuffer());
  }
  return pictures;
}

/** @returns frames of a film, evenly apart */
async function pickFrames(prompt: string, count: number): Promise<Buffer[]> {
  const request = { prompt, model: 'vvq2-pro', duration: 4, resolution: '360p', aspect_ratio: '16:9' };
  const job = { id: 'strip', operation: 'video.text2video', images: {}, seed: 7, folder, request } as const;
  const film = await createFilm(readShot(job), {});
  const pictures: Buffer[] = [];
  let at = 0;
  for await (const frame of film.frames()) {
    if (at++ % Math.floor((film.count - 1) / (count - 1)) !== 0) continue;
    const { data, width, height, channels } = toPicture(frame);
    pictures.push(await sharp(data, { raw: { width, height, channels } }).resize(320).png().toBuffer());
  }
  return pictures;
}

/** Puts pictures of one size side by side. */
async function writeStrip(path: string, pictures: readonly Buffer[]): Promise<void> {
  const { width, height } = await sharp(pictures[0]).metadata();
  const size = { width: pictures.length * (width + GAP) - GAP, height };
  const placed = pictures.map((input, at) => ({ input, left: at * (width + GAP), top: 0 }));
  await sharp({ create: { ...size, channels: 3, background: 'white' } })
    .composite(placed)
    .jpeg({ quality: 82, mozjpeg: true })
    .toFile(path);
}

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { RelightRequest } from '../src/contract/image-requests.js';
import { render } from '../src/preview/image/render.js';
import { toPicture } from '../src/preview/video/frame.js';
import { createFilm } from '../src/preview/video/render.js';
import { readShot } from '../src/preview/video/shot.js';
import { drawLabel } from './draw-label.js';
import { drawLamp } from './draw-lamp.js';
import { recordTerminal } from './record-terminal.js';

// Writes the pictures of the README and the guides: a photo before and after relighting, a video that moves, and recordings
// of a terminal. `npm run pictures` runs the built program. docs/pictures/photos.txt says where the photo comes from.

const folder = mkdtempSync(join(tmpdir(), 'regen-pictures-'));
const GAP = 6;
const PHOTO = 'docs/pictures/coffee.jpg';
const [width, height] = [600, 400];

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
  path: 'docs/pictures/upgrade.svg',
  unseen: [
    'regen node scaffold ~/light-tools --publisher my-team && regen version publish ~/light-tools',
    `cp ${await writeWorkflow()} ~/portrait.json`,
    "sed -i 's/strength/amount/g' ~/light-tools/nodes.py && regen version bump patch ~/light-tools",
  ],
  commands: [
    'regen version publish ~/light-tools',
    'regen version bump auto ~/light-tools',
    'regen version publish ~/light-tools -q > ~/out.txt && regen workflow check ~/portrait.json --upgrade',
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
const relit = await relightPhoto();
await writeStrip('docs/pictures/relight.webp', [
  ['photo.jpg', await sharp(PHOTO).png().toBuffer()],
  ['regen image relight photo.jpg (preview)', relit],
]);
await writeVideo('docs/pictures/video.webp', relit);
rmSync(folder, { recursive: true });

/** @returns a folder with six photos, one of them cut off */
async function writePhotos(): Promise<string> {
  const photos = join(folder, 'photos');
  mkdirSync(photos);
  const photo = readFileSync(PHOTO);
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const bytes = number === 4 ? photo.subarray(0, photo.length / 2) : photo;
    writeFileSync(join(photos, `photo-${number}.jpg`), bytes);
  }
  return photos;
}

/** @returns a workflow of the graph editor with a node of the scaffolded pack */
async function writeWorkflow(): Promise<string> {
  const path = join(folder, 'portrait.json');
  const properties = { cnr_id: 'light-tools', ver: '1.0.0' };
  const nodes = [
    {
      id: 1,
      type: 'LoadImage',
      outputs: [{ name: 'IMAGE', type: 'IMAGE', links: [1] }],
      widgets_values: ['a.png', 'image'],
    },
    {
      ...{ id: 2, type: 'LightToolsBrightness', properties, widgets_values: [1.2] },
      inputs: [{ name: 'image', type: 'IMAGE', link: 1 }],
      outputs: [{ name: 'IMAGE', type: 'IMAGE', links: [2] }],
    },
    { id: 3, type: 'PreviewImage', inputs: [{ name: 'images', type: 'IMAGE', link: 2 }] },
  ];
  const links = [
    [1, 1, 0, 2, 0, 'IMAGE'],
    [2, 2, 0, 3, 0, 'IMAGE'],
  ];
  writeFileSync(path, JSON.stringify({ version: 0.4, nodes, links }));
  return path;
}

/** Relights the photo as an evening: a lamp at the left in a blue room. */
async function relightPhoto(): Promise<Buffer> {
  const map = join(folder, 'map.png');
  writeFileSync(map, await drawLamp({ width, height }, [0.1, 0.15], '#73b3ff'));
  const images = { image: PHOTO, transfer_light_from_lightmap: map };
  const advanced_settings = { transfer_light_b: 'strong_mid', saturation: 35 };
  const request = RelightRequest.parse({ ...images, advanced_settings }) as Record<string, unknown>;
  const job = { id: 'strip', operation: 'image.relight', images, seed: 1, folder } as const;
  const { files } = await render({ ...job, request }, () => {});
  return sharp(files[0]?.path as string)
    .png()
    .toBuffer();
}

/** Writes a video from one picture to another as an animation, five frames a second. */
async function writeVideo(path: string, end: Buffer): Promise<void> {
  const last = join(folder, 'last.png');
  await sharp(end).toFile(last);
  const images = { 'images.0': PHOTO, 'images.1': last };
  const request = {
    model: 'vv2.0',
    duration: 4,
    resolution: '360p',
    prompt: 'the evening comes',
    movement_amplitude: 'small',
  };
  const job = { id: 'strip', operation: 'video.startEnd2video', images, seed: 7, folder, request } as const;
  const film = await createFilm(readShot(job), images);
  const pictures: Buffer[] = [];
  let at = 0;
  for await (const frame of film.frames()) {
    if (at++ % Math.round(film.count / 20) !== 0) continue;
    const { data, width, height, channels } = toPicture(frame);
    pictures.push(await sharp(data, { raw: { width, height, channels } }).resize(400).png().toBuffer());
  }
  const delay = pictures.map(() => 200);
  await sharp(pictures, { join: { animated: true } })
    .webp({ quality: 75, effort: 6, loop: 0, delay })
    .toFile(path);
}

/** Puts pictures of one size side by side, each above its label. */
async function writeStrip(path: string, pictures: readonly (readonly [string, Buffer])[]): Promise<void> {
  const labels = await Promise.all(pictures.map(([label]) => drawLabel(label, width, 1, 2)));
  const { height: below } = await sharp(labels[0]).metadata();
  const size = { width: pictures.length * (width + GAP) - GAP, height: height + below };
  const placed = pictures.flatMap(([, input], at) => [
    { input, left: at * (width + GAP), top: 0 },
    { input: labels[at] as Buffer, left: at * (width + GAP), top: height },
  ]);
  await sharp({ create: { ...size, channels: 3, background: '#161616' } })
    .composite(placed)
    .webp({ quality: 65, effort: 6 })
    .toFile(path);
}

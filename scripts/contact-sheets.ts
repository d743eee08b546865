import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import {
  AdvancedSettings,
  RelightRequest,
  SkinEnhancerRequest,
  StyleTransferRequest,
  UpscalerRequest,
} from '../src/contract/image-requests.js';
import { render } from '../src/preview/image/render.js';
import type { ImageOperation } from '../src/service/operation/engine.js';
import { drawLabel } from './draw-label.js';
import { drawLamp } from './draw-lamp.js';

// Writes docs/<operation>.webp, which shows the effect of each option of an operation on one photo, and
// docs/image-options.md with the same names as text. docs/pictures/photos.txt says where the photos come from.

const PHOTO = 'docs/pictures/astronaut.jpg';
const STYLE = 'docs/pictures/coffee.jpg';
const cell = { width: 176, height: 220 };
/** Two lines below each picture. */
const LABEL_ROWS = 2;
const folder = mkdtempSync(join(tmpdir(), 'regen-sheets-'));
const getPath = (name: string) => join(folder, name);

/** The part of the picture that shows texture best. */
const face = { left: 0.3, top: 0.02, width: 0.44, height: 0.44 };
const whole = { left: 0, top: 0, width: 1, height: 1 };
const text: string[] = [
  '# Options of image jobs',
  '',
  'What options do to one picture in the local engine, which makes previews with an image library. Made by `npm run sheets`.',
  '',
  'A preview changes nothing for `prompt`, `engine` of relight and style transfer, and the `flavor` of style transfer, except',
  '`donotstyle` and `donotstyle_sharp`, which take no style. All options are written into the metadata of the result as JSON, in',
  'the EXIF field `ImageDescription`.',
];

type Cell = { readonly name: string; readonly request: Record<string, unknown> };

const { width, height } = await sharp(PHOTO).metadata();
writeFileSync(getPath('map.png'), await drawLamp({ width, height }, [0.05, 0.3], '#ffc780'));

const map = { transfer_light_from_lightmap: getPath('map.png') };
const style = { reference_image: STYLE };
const { advanced_settings: _, ...relit } = RelightRequest.shape;
const levels = ['blacks', 'whites', 'brightness', 'contrast', 'saturation'] as const;

await writeSheet('relight', 'image.relight', RelightRequest, map, [
  ...listCells('style', relit.style.unwrap().options),
  ...listCells(
    'transfer_light_a',
    AdvancedSettings.shape.transfer_light_a.unwrap().options,
    toAdvancedSettings,
  ),
  ...listCells(
    'transfer_light_b',
    AdvancedSettings.shape.transfer_light_b.unwrap().options,
    toAdvancedSettings,
  ),
  { name: 'change_background false', request: { change_background: false } },
  { name: 'preserve_details false', request: { preserve_details: false } },
  { name: 'light_transfer_strength 40', request: { light_transfer_strength: 40 } },
  ...levels.flatMap((name) => listCells(name, [10, 90], toAdvancedSettings)),
]);
const styled = StyleTransferRequest.shape;
await writeSheet('style-transfer', 'image.styleTransfer', StyleTransferRequest, style, [
  ...listCells('flavor', ['faithful', 'donotstyle']),
  ...listCells('portrait_style', styled.portrait_style.unwrap().options, (values) => ({
    ...values,
    is_portrait: true,
  })),
  ...listCells('portrait_beautifier', styled.portrait_beautifier.unwrap().options, (values) => ({
    ...values,
    is_portrait: true,
  })),
  ...listCells('structure_strength', [0, 100]),
  ...listCells('style_strength', [0, 50]),
]);
await writeSheet(
  'skin-enhancer',
  'image.skinEnhancer',
  SkinEnhancerRequest,
  {},
  [...listCells('sharpen', [0, 50, 100]), ...listCells('smart_grain', [0, 50, 100])],
  face,
);
await writeSheet(
  'upscaler',
  'image.upscaler',
  UpscalerRequest,
  {},
  [
    ...listCells('flavor', UpscalerRequest.shape.flavor.unwrap().options),
    ...listCells('sharpen', [0, 100]),
    ...listCells('smart_grain', [0, 100]),
    ...listCells('ultra_detail', [0, 100]),
  ],
  face,
);
writeFileSync('docs/image-options.md', `${text.join('\n')}\n`);
rmSync(folder, { recursive: true });

function toAdvancedSettings(settings: Record<string, unknown>): Record<string, unknown> {
  return { advanced_settings: settings };
}

function listCells(
  name: string,
  values: readonly (string | number)[],
  as: (values: Record<string, unknown>) => Record<string, unknown> = (given) => given,
): Cell[] {
  return values.map((value) => ({ name: `${name} ${value}`, request: as({ [name]: value }) }));
}

async function writeSheet(
  name: string,
  operation: ImageOperation,
  schema: { parse(value: unknown): unknown },
  images: Record<string, string>,
  cells: readonly Cell[],
  part: typeof whole = whole,
): Promise<void> {
  const given = { image: PHOTO, ...images };
  const pictures = [...Object.values(given).map((path) => cutOut(path, part))];
  for (const { request } of cells) {
    const job = { id: 'sheet', operation, images: given, seed: 1, folder };
    const filled = schema.parse({ ...given, ...request }) as Record<string, unknown>;
    const { files } = await render({ ...job, request: filled }, () => {});
    pictures.push(cutOut(files[0]?.path as string, part));
    await pictures.at(-1);
  }
  const columns = Math.min(8, pictures.length);
  const rows = Math.ceil(pictures.length / columns);
  const names = [...Object.keys(given), ...cells.map((one) => one.name)];
  const labels = await Promise.all(
    names.map((label) => drawLabel(label.replaceAll('_', ' '), cell.width, LABEL_ROWS)),
  );
  const { height: below } = await sharp(labels[0]).metadata();
  const rowHeight = cell.height + below + 4;
  const size = { width: columns * (cell.width + 4) + 4, height: rows * rowHeight + 4 };
  const placed = (await Promise.all(pictures)).flatMap((input, at) => {
    const left = 4 + (at % columns) * (cell.width + 4);
    const top = 4 + Math.floor(at / columns) * rowHeight;
    return [
      { input, left, top },
      { input: labels[at] as Buffer, left, top: top + cell.height },
    ];
  });
  const paper = sharp({ create: { ...size, channels: 3, background: '#16181c' } }).composite(placed);
  const shown = names.map((one) => `\`${one}\``).join(', ');
  text.push('', `## ${name}`, '', `![The results of ${name}, labeled](${name}.webp)`, '', `Shown: ${shown}.`);
  // A lower quality would smooth the grain of a part.
  await paper.webp({ quality: part === whole ? 40 : 75, effort: 6 }).toFile(`docs/${name}.webp`);
}

async function cutOut(path: string, part: typeof whole): Promise<Buffer> {
  const { width: wide, height: high } = await sharp(path).metadata();
  const cut = {
    left: Math.round(wide * part.left),
    top: Math.round(high * part.top),
    width: Math.round(wide * part.width),
    height: Math.round(high * part.height),
  };
  return sharp(path).extract(cut).resize(cell.width, cell.height, { fit: 'cover' }).png().toBuffer();
}

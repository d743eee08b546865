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
import type { ImageOperation } from '../src/service/generation/engine.js';
import { render } from '../src/service/generation/engines/local-image/render.js';
import { lamp, painting, portrait } from './portrait.js';

// Writes docs/<operation>.jpg: what each option of an operation makes of one picture; and docs/image-options.md, which
// says which is which, because no font is at hand to write it into the pictures.

const width = 480;
const height = 600;
const cell = { width: 176, height: 220 };
const folder = mkdtempSync(join(tmpdir(), 'regen-sheets-'));
const file = (name: string) => join(folder, name);

/** The part of the picture where texture is judged. */
const face = { left: 0.31, top: 0.25, width: 0.4, height: 0.4 };
const whole = { left: 0, top: 0, width: 1, height: 1 };
const text: string[] = [
  '# Options of image jobs',
  '',
  'What the local engine, which makes previews, makes of one picture. Made by `npm run sheets`.',
];

type Cell = { readonly name: string; readonly request: Record<string, unknown> };

const raw = { raw: { width, height, channels: 3 } } as const;
await sharp(portrait(width, height), raw).png().toFile(file('image.png'));
await sharp(lamp(width, height, [0.05, 0.3], [1, 0.78, 0.5]), raw)
  .png()
  .toFile(file('map.png'));
await sharp(painting(width, height), raw).png().toFile(file('style.png'));

const map = { transfer_light_from_lightmap: file('map.png') };
const style = { reference_image: file('style.png') };
const { advanced_settings: _, ...relit } = RelightRequest.shape;

await sheet('relight', 'image.relight', RelightRequest, map, [
  ...each('style', relit.style.unwrap().options),
  ...each('engine', AdvancedSettings.shape.engine.unwrap().options, advanced),
  ...each('transfer_light_a', AdvancedSettings.shape.transfer_light_a.unwrap().options, advanced),
  ...each('transfer_light_b', AdvancedSettings.shape.transfer_light_b.unwrap().options, advanced),
  { name: 'change_background false', request: { change_background: false } },
  { name: 'preserve_details false', request: { preserve_details: false } },
  { name: 'light_transfer_strength 40', request: { light_transfer_strength: 40 } },
  { name: 'prompt (warm evening:1.3)', request: { prompt: '(warm evening:1.3)' } },
]);
const styled = StyleTransferRequest.shape;
await sheet('style-transfer', 'image.styleTransfer', StyleTransferRequest, style, [
  ...each('engine', styled.engine.unwrap().options),
  ...each('flavor', styled.flavor.unwrap().options),
  ...each('portrait_style', styled.portrait_style.unwrap().options, (values) => ({
    ...values,
    is_portrait: true,
  })),
  ...each('portrait_beautifier', styled.portrait_beautifier.unwrap().options, (values) => ({
    ...values,
    is_portrait: true,
  })),
  ...each('structure_strength', [0, 100]),
  ...each('style_strength', [0, 50]),
]);
await sheet(
  'skin-enhancer',
  'image.skinEnhancer',
  SkinEnhancerRequest,
  {},
  [...each('sharpen', [0, 50, 100]), ...each('smart_grain', [0, 50, 100])],
  face,
);
await sheet(
  'upscaler',
  'image.upscaler',
  UpscalerRequest,
  {},
  [
    ...each('flavor', UpscalerRequest.shape.flavor.unwrap().options),
    ...each('sharpen', [0, 100]),
    ...each('smart_grain', [0, 100]),
    ...each('ultra_detail', [0, 100]),
  ],
  face,
);
writeFileSync('docs/image-options.md', `${text.join('\n')}\n`);
rmSync(folder, { recursive: true });

function advanced(settings: Record<string, unknown>): Record<string, unknown> {
  return { advanced_settings: settings };
}

function each(
  name: string,
  values: readonly (string | number)[],
  as: (values: Record<string, unknown>) => Record<string, unknown> = (given) => given,
): Cell[] {
  return values.map((value) => ({ name: `${name} ${value}`, request: as({ [name]: value }) }));
}

async function sheet(
  name: string,
  operation: ImageOperation,
  schema: { parse(value: unknown): unknown },
  images: Record<string, string>,
  cells: readonly Cell[],
  part: typeof whole = whole,
): Promise<void> {
  const given = { image: file('image.png'), ...images };
  const pictures = [...Object.values(given).map((path) => small(path, part))];
  for (const { request } of cells) {
    const job = { id: 'sheet', operation, images: given, seed: 1, folder };
    const filled = schema.parse({ ...given, ...request }) as Record<string, unknown>;
    const { files } = await render({ ...job, request: filled }, () => {});
    pictures.push(small(files[0]?.path as string, part));
    await pictures.at(-1);
  }
  const columns = Math.min(8, pictures.length);
  const rows = Math.ceil(pictures.length / columns);
  const size = { width: columns * (cell.width + 4) + 4, height: rows * (cell.height + 4) + 4 };
  const placed = (await Promise.all(pictures)).map((input, at) => ({
    input,
    left: 4 + (at % columns) * (cell.width + 4),
    top: 4 + Math.floor(at / columns) * (cell.height + 4),
  }));
  const paper = sharp({ create: { ...size, channels: 3, background: '#16181c' } }).composite(placed);
  text.push(...legend(name, [...Object.keys(given), ...cells.map((one) => one.name)], columns));
  await paper.jpeg({ quality: 82, mozjpeg: true }).toFile(`docs/${name}.jpg`);
}

async function small(path: string, part: typeof whole): Promise<Buffer> {
  const { width: wide, height: high } = await sharp(path).metadata();
  const cut = {
    left: Math.round(wide * part.left),
    top: Math.round(high * part.top),
    width: Math.round(wide * part.width),
    height: Math.round(high * part.height),
  };
  return sharp(path).extract(cut).resize(cell.width, cell.height, { fit: 'cover' }).png().toBuffer();
}

function legend(name: string, names: readonly string[], columns: number): string[] {
  const rows = Array.from({ length: Math.ceil(names.length / columns) }, (_, row) => {
    const own = names.slice(row * columns, (row + 1) * columns);
    return `${row + 1}. ${own.map((one) => `\`${one}\``).join(', ')}`;
  });
  return ['', `## ${name}`, '', `![${name}](${name}.jpg)`, '', 'Row by row, from the left:', '', ...rows];
}

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { z } from 'zod';
import {
  AdvancedSettings,
  RelightRequest,
  SkinEnhancerRequest,
  StyleTransferRequest,
  UpscalerRequest,
} from '../../src/contract/image-requests.js';
import { ChildInterrupted } from '../../src/disk/limited-child.js';
import { render } from '../../src/preview/image/render.js';
import { createImagePreviewEngine, IMAGE_PROCESS } from '../../src/service/engines/preview.js';
import { EngineFailure, type EngineJob, type ImageOperation } from '../../src/service/operation/engine.js';
import { listChildProcesses } from '../support/child-processes.js';

const folder = mkdtempSync(join(tmpdir(), 'regen-local-image-'));
const locateFile = (name: string) => join(folder, name);
const size = { width: 80, height: 60 };

beforeAll(async () => {
  // A skin-colored disc with fine structure on a bluish background that gets brighter downwards.
  await drawImage('image.png', (x, y) => {
    const fine = 14 * Math.sin(x * 1.9) * Math.cos(y * 2.3) + ((x * 7919 + y * 104729) % 17);
    const inside = Math.hypot(x - 40, (y - 31) * 0.85) < 19;
    return (inside ? [196, 142, 116] : [52, 66 + y, 92 + y * 1.6]).map((value) => value + fine);
  });
  await drawImage('map.png', (x) => Array(3).fill(x < 40 ? 240 : 15));
  await drawImage('style.png', (x, y) => {
    const stroke = 60 * Math.sin((x + y) * 0.9);
    return y < 30 ? [30 + stroke, 60, 120] : [230, 130 + stroke, 40];
  });
  await sharp(locateFile('image.png')).jpeg().toFile(locateFile('image.jpg'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function drawImage(name: string, colour: (x: number, y: number) => number[]): Promise<void> {
  const places = Array.from({ length: size.width * size.height }, (_, at) => at);
  const values = places.flatMap((at) => colour(at % size.width, Math.floor(at / size.width)));
  const data = Uint8ClampedArray.from(values);
  await sharp(data, { raw: { ...size, channels: 3 } })
    .png()
    .toFile(locateFile(name));
}

const schemas = {
  'image.relight': RelightRequest,
  'image.styleTransfer': StyleTransferRequest,
  'image.skinEnhancer': SkinEnhancerRequest,
  'image.upscaler': UpscalerRequest,
};
type Name = keyof typeof schemas;
type Fields = Readonly<Record<string, unknown>>;

const images: Readonly<Record<string, string>> = {
  image: 'image.png',
  reference_image: 'style.png',
  transfer_light_from_lightmap: 'map.png',
  transfer_light_from_reference_image: 'style.png',
};

let jobs = 0;
/** A job as the service creates it: validated, with paths of images. */
function createJob(operation: Name, request: Fields, seed = 7): EngineJob<ImageOperation> {
  const whole: Fields = {
    image: 'image',
    ...(operation === 'image.styleTransfer' ? { reference_image: 'reference_image' } : {}),
    ...request,
  };
  const named = Object.entries(images).filter(([name]) => name in whole);
  const paths = Object.fromEntries(named.map(([name, file]) => [name, locateFile(file)]));
  const own = locateFile(`job-${jobs++}`);
  mkdirSync(own);
  // Names of images are not Base64, so the rules of the request are not checked here.
  const parsed = (schemas[operation] as z.ZodType).parse(whole) as Record<string, unknown>;
  return { id: `job-${jobs}`, operation, request: parsed, images: paths, seed, folder: own };
}

async function renderBytes(operation: Name, request: Fields, seed?: number): Promise<Buffer> {
  const { files } = await render(createJob(operation, request, seed), () => {});
  return readFileSync(files[0]?.path as string);
}

async function renderPixels(operation: Name, request: Fields, seed?: number): Promise<Buffer> {
  const picture = sharp(await renderBytes(operation, request, seed));
  return picture.removeAlpha().raw().toBuffer();
}

/** Mean absolute difference, of 255. */
function measureDifference(one: Buffer, other: Buffer): number {
  expect(one.length).toBe(other.length);
  return one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] as number)), 0) / one.length;
}

/** Every value that is tested for an option of an operation. */
const lightmap = { transfer_light_from_lightmap: 'transfer_light_from_lightmap' };
const reference = { transfer_light_from_reference_image: 'transfer_light_from_reference_image' };
const relit = RelightRequest.shape;
const settings = AdvancedSettings.shape;
const styled = StyleTransferRequest.shape;
const levels = ['blacks', 'whites', 'brightness', 'contrast', 'saturation'] as const;

type Row = readonly [option: string, operation: Name, requests: readonly Fields[]];
const rows: readonly Row[] = [
  ['where the light comes from', 'image.relight', [{}, lightmap, reference]],
  [
    'light_transfer_strength',
    'image.relight',
    listVariants([0, 50, 100], 'light_transfer_strength', lightmap),
  ],
  [
    'interpolate_from_original',
    'image.relight',
    listVariants([false, true], 'interpolate_from_original', { ...lightmap, light_transfer_strength: 50 }),
  ],
  ['change_background', 'image.relight', listVariants([false, true], 'change_background', lightmap)],
  ['preserve_details', 'image.relight', listVariants([false, true], 'preserve_details', lightmap)],
  ['style', 'image.relight', listVariants(relit.style.unwrap().options, 'style', lightmap)],
  ...levels.map((name): Row => [name, 'image.relight', listSettings(name, [0, 25, 50, 75, 100])]),
  [
    'transfer_light_a',
    'image.relight',
    listSettings('transfer_light_a', settings.transfer_light_a.unwrap().options),
  ],
  [
    'transfer_light_b',
    'image.relight',
    listSettings('transfer_light_b', settings.transfer_light_b.unwrap().options),
  ],
  ['fixed_generation', 'image.relight', listSettings('fixed_generation', [false, true])],
  ['fixed_generation', 'image.styleTransfer', listVariants([false, true], 'fixed_generation')],
  ['structure_strength', 'image.styleTransfer', listVariants([0, 50, 100], 'structure_strength')],
  ['style_strength', 'image.styleTransfer', listVariants([0, 50, 100], 'style_strength')],
  ['is_portrait', 'image.styleTransfer', listVariants([false, true], 'is_portrait')],
  [
    'portrait_style',
    'image.styleTransfer',
    listVariants(styled.portrait_style.unwrap().options, 'portrait_style', { is_portrait: true }),
  ],
  [
    'portrait_beautifier',
    'image.styleTransfer',
    listVariants([undefined, ...styled.portrait_beautifier.unwrap().options], 'portrait_beautifier', {
      is_portrait: true,
    }),
  ],
  ['sharpen', 'image.skinEnhancer', listVariants([0, 50, 100], 'sharpen')],
  ['smart_grain', 'image.skinEnhancer', listVariants([0, 50, 100], 'smart_grain')],
  ['flavor', 'image.upscaler', listVariants(UpscalerRequest.shape.flavor.unwrap().options, 'flavor')],
  ['sharpen', 'image.upscaler', listVariants([0, 50, 100], 'sharpen')],
  ['smart_grain', 'image.upscaler', listVariants([0, 50, 100], 'smart_grain')],
  ['ultra_detail', 'image.upscaler', listVariants([0, 50, 100], 'ultra_detail')],
];

/** Options that the image library has nothing for. */
const written: readonly Row[] = [
  ['prompt', 'image.relight', listVariants(['', 'warm light', '(warm light:1.2)', 'Łódź 東京'], 'prompt')],
  ['engine', 'image.relight', listSettings('engine', settings.engine.unwrap().options)],
  ['prompt', 'image.styleTransfer', listVariants(['', 'neon night'], 'prompt')],
  ['engine', 'image.styleTransfer', listVariants(styled.engine.unwrap().options, 'engine')],
  ['flavor', 'image.styleTransfer', listVariants(styled.flavor.unwrap().options, 'flavor')],
];

function listVariants(values: readonly unknown[], name: string, also: Fields = {}): Fields[] {
  return values.map((value) => ({ ...also, [name]: value }));
}

function listSettings(name: string, values: readonly unknown[]): Fields[] {
  return values.map((value) => ({ ...lightmap, advanced_settings: { [name]: value } }));
}

/** A mean difference of 0.3 in 255 is far above rounding and barely visible. */
const measurable = 0.3;

test.each(rows)('%s of %s changes the image with each value', async (_, operation, requests) => {
  const pictures: Buffer[] = [];
  for (const request of requests) pictures.push(await renderPixels(operation, request));
  const alike = requests.flatMap((one, at) =>
    requests
      .slice(0, at)
      .map((other, before) => ({
        one,
        other,
        far: measureDifference(pictures[at] as Buffer, pictures[before] as Buffer),
      }))
      .filter(({ far }) => !(far > measurable)),
  );
  expect(alike).toEqual([]);
});

/** The description in the metadata of a result, which is JSON in ASCII. */
async function readDescription(picture: Buffer): Promise<Fields> {
  const exif = (await sharp(picture).metadata()).exif?.toString('latin1') ?? '';
  return JSON.parse(/\{"operation".*?\}(?=\0)/.exec(exif)?.[0] ?? '{}');
}

test.each(written)('%s of %s is written into the metadata', async (option, operation, requests) => {
  for (const request of requests) {
    const description = await readDescription(await renderBytes(operation, request));
    expect(description.operation).toBe(operation);
    const own = (fields: Fields) =>
      (fields.advanced_settings as Fields | undefined)?.[option] ?? fields[option];
    expect(own(description)).toBe(own(request));
  }
});

test('the metadata has every option, and neither images nor callbacks', async () => {
  const request = { ...lightmap, prompt: 'x'.repeat(5000), webhook_url: 'https://example.org/hook' };
  const description = await readDescription(await renderBytes('image.relight', request));
  expect(String(description.prompt)).toHaveLength(2000);
  expect(description).toMatchObject({ style: 'standard', change_background: true, preserve_details: true });
  expect(Object.keys(description)).not.toContain('webhook_url');
  expect(JSON.stringify(description)).not.toContain('transfer_light_from_lightmap');
});

test('a flavor without styles leaves the colours unchanged', async () => {
  const original = await sharp(locateFile('image.png')).raw().toBuffer();
  for (const flavor of ['donotstyle', 'donotstyle_sharp'])
    expect(measureDifference(await renderPixels('image.styleTransfer', { flavor }), original)).toBeLessThan(
      3,
    );
  expect(measureDifference(await renderPixels('image.styleTransfer', {}), original)).toBeGreaterThan(20);
});

test('the table has every option of every operation', () => {
  const given = ['image', 'reference_image', 'webhook_url', 'advanced_settings'];
  const tried = new Set([...rows, ...written].map(([option, operation]) => `${operation} ${option}`));
  const apart = [
    ...['image.relight transfer_light_from_lightmap', 'image.upscaler scale_factor'],
    'image.relight transfer_light_from_reference_image',
  ];
  const options = Object.entries(schemas).flatMap(([operation, schema]) =>
    [
      ...Object.keys(schema.shape),
      ...(operation === 'image.relight' ? Object.keys(AdvancedSettings.shape) : []),
    ]
      .filter((option) => !given.includes(option))
      .map((option) => `${operation} ${option}`),
  );
  expect(options.filter((option) => !tried.has(option) && !apart.includes(option))).toEqual([]);
});

describe('relight', () => {
  const half = async (picture: Buffer, left: number) => {
    const area = { left, top: 0, width: size.width / 2, height: size.height };
    return (
      (
        await sharp(await sharp(picture).extract(area).toBuffer())
          .greyscale()
          .stats()
      ).channels[0]?.mean ?? 0
    );
  };

  test('brightens the side where the map is bright and darkens the other', async () => {
    const before = readFileSync(locateFile('image.png'));
    const after = await renderBytes('image.relight', lightmap);
    const gain = async (left: number) => (await half(after, left)) / (await half(before, left));
    expect(await gain(0)).toBeGreaterThan(1.1);
    expect(await gain(size.width / 2)).toBeLessThan(0.9);
  });

  test('adopts the color of a reference image', async () => {
    await drawImage('red.png', () => [220, 60, 40]);
    const redness = async (file: string) => {
      const whole = createJob('image.relight', reference);
      const other = { ...whole.images, transfer_light_from_reference_image: locateFile(file) };
      const { files } = await render({ ...whole, images: other }, () => {});
      const { channels } = await sharp(files[0]?.path).stats();
      return (channels[0]?.mean ?? 0) / (channels[2]?.mean ?? 1);
    };
    expect(await redness('red.png')).toBeGreaterThan(1.15 * (await redness('map.png')));
  });

  test('returns the original when interpolated by 0', async () => {
    const picture = await renderPixels('image.relight', {
      ...lightmap,
      interpolate_from_original: true,
      light_transfer_strength: 0,
    });
    expect(picture.equals(await sharp(locateFile('image.png')).raw().toBuffer())).toBe(true);
  });
});

test('moves the mean color towards the style reference', async () => {
  const means = async (picture: Buffer) => (await sharp(picture).stats()).channels.map(({ mean }) => mean);
  const far = (one: number[], other: number[]) =>
    Math.hypot(...one.map((value, at) => value - (other[at] as number)));
  const aim = await means(readFileSync(locateFile('style.png')));
  const before = await means(readFileSync(locateFile('image.png')));
  const after = await means(await renderBytes('image.styleTransfer', {}));
  expect(far(after, aim)).toBeLessThan(0.6 * far(before, aim));
});

test('the skin enhancer evens out small differences', async () => {
  const area = (left: number, top: number) => ({ left, top, width: 15, height: 15 });
  const unrest = async (picture: Buffer, left: number, top: number) => {
    const cut = await sharp(picture).extract(area(left, top)).toBuffer();
    return (await sharp(cut).greyscale().stats()).channels[0]?.stdev ?? 0;
  };
  const before = readFileSync(locateFile('image.png'));
  const after = await renderBytes('image.skinEnhancer', { smart_grain: 0 });
  const left = async (x: number, y: number) => (await unrest(after, x, y)) / (await unrest(before, x, y));
  for (const [x, y] of [
    [32, 25],
    [1, 1],
  ] as const)
    expect(await left(x, y)).toBeLessThan(0.8);
});

test.each([2, 3, 16])('the upscaler makes an image %i times larger', async (scale_factor) => {
  const { width, height } = await sharp(await renderBytes('image.upscaler', { scale_factor })).metadata();
  expect([width, height]).toEqual([size.width * scale_factor, size.height * scale_factor]);
});

test.each(Object.keys(schemas) as Name[])('%s returns equal bytes for the same job', async (operation) => {
  const once = await renderBytes(operation, {}, 3);
  expect(once.equals(await renderBytes(operation, {}, 3))).toBe(true);
  expect(once.equals(await renderBytes(operation, {}, 4))).toBe(false);
});

test('a fixed generation returns equal bytes for every seed', async () => {
  const relightFixed = { advanced_settings: { fixed_generation: true } };
  for (const [operation, request] of [
    ['image.relight', relightFixed],
    ['image.styleTransfer', { fixed_generation: true }],
  ] as const) {
    const one = await renderBytes(operation, request, 3);
    expect(one.equals(await renderBytes(operation, request, 4))).toBe(true);
  }
});

test('keeps the size, opacity and orientation of an image', async () => {
  const turned = locateFile('turned.png');
  await sharp(locateFile('image.png')).ensureAlpha(0.5).withMetadata({ orientation: 6 }).toFile(turned);
  const { files } = await render({ ...createJob('image.relight', {}), images: { image: turned } }, () => {});
  const { width, height, hasAlpha } = await sharp(files[0]?.path).metadata();
  expect([width, height, hasAlpha]).toEqual([size.height, size.width, true]);
});

test.each([1, 2])('handles an image with sides of %i pixel(s)', async (side) => {
  const create = { width: side, height: side, channels: 3, background: '#a86' } as const;
  await sharp({ create }).png().toFile(locateFile('tiny.png'));
  for (const operation of Object.keys(schemas) as Name[]) {
    const whole = createJob(operation, {});
    const given = Object.fromEntries(Object.keys(whole.images).map((name) => [name, locateFile('tiny.png')]));
    const { files } = await render({ ...whole, images: given }, () => {});
    const { channels } = await sharp(files[0]?.path).stats();
    expect(channels[0]?.mean).toBeGreaterThan(20);
  }
});

function engineForTest(options = IMAGE_PROCESS) {
  const engine = createImagePreviewEngine(options);
  onTestFinished(() => engine.close());
  return engine;
}

describe('the process of an image preview', () => {
  const never = new AbortController().signal;

  test('makes a PNG that names its engine, and reports progress', async () => {
    const parts: number[] = [];
    const { files } = await engineForTest().run(createJob('image.relight', lightmap), never, (part) =>
      parts.push(part),
    );
    expect(files.map(({ contentType }) => contentType)).toEqual(['image/png']);
    const { format, exif } = await sharp(files[0]?.path).metadata();
    expect(format).toBe('png');
    expect(exif?.toString('latin1')).toContain('engine: local-preview');
    expect(parts.at(-1)).toBe(1);
    expect(parts).toEqual([...parts].sort((one, other) => one - other));
  });

  test('fails the task of a corrupt image with a sentence, and runs the next one', async () => {
    writeFileSync(locateFile('broken.jpg'), readFileSync(locateFile('image.jpg')).subarray(0, 900));
    const broken = { ...createJob('image.relight', {}), images: { image: locateFile('broken.jpg') } };
    const engine = engineForTest();
    const failure = await engine.run(broken, never, () => {}).catch((error: unknown) => error);
    expect(failure).toEqual(new EngineFailure('The image cannot be decoded.'));
    expect((await engine.run(createJob('image.skinEnhancer', {}), never, () => {})).files).toHaveLength(1);
  });

  test.runIf(process.platform === 'linux')(
    'is kept for the next image, and ends when there is none',
    async () => {
      const run = (engine: ReturnType<typeof engineForTest>) =>
        engine.run(createJob('image.skinEnhancer', {}), never, () => {});
      const engine = engineForTest();
      await run(engine);
      const first = listChildProcesses('image-worker');
      expect(first).toHaveLength(1);
      await run(engine);
      expect(listChildProcesses('image-worker')).toEqual(first);
      await engine.close();
      expect(listChildProcesses('image-worker')).toEqual([]);
    },
  );

  test.each([
    ['The image takes too long to read.', { taskCpuMs: 1 }],
    ['The image takes too much memory to read.', { residentBytes: 1e6 }],
  ])('fails a task that exceeds its limits: %s', async (message, limits) => {
    const engine = engineForTest({ ...IMAGE_PROCESS, ...limits });
    const task = createJob('image.upscaler', { scale_factor: 8 });
    const failure = await engine.run(task, never, () => {}).catch((error: unknown) => error);
    expect(failure).toEqual(new EngineFailure(message));
  });

  test.runIf(process.platform === 'linux')('that is killed from outside fails no task', async () => {
    const engine = engineForTest();
    const kill = () => listChildProcesses('image-worker').forEach((pid) => void process.kill(pid, 'SIGKILL'));
    const task = createJob('image.upscaler', { scale_factor: 8 });
    const failure = await engine.run(task, never, kill).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ChildInterrupted);
  });

  test('reports its own defect as an error, not as a failed task', async () => {
    const missing = { ...createJob('image.relight', {}), images: {} };
    const failure = await engineForTest()
      .run(missing, never, () => {})
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(EngineFailure);
  });

  test('stops when it is aborted', async () => {
    const ending = new AbortController();
    const run = engineForTest().run(createJob('image.upscaler', { scale_factor: 16 }), ending.signal, () =>
      ending.abort(new Error('The service ends.')),
    );
    await expect(run).rejects.toThrow('The service ends.');
  });
});

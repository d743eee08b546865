import { request } from 'node:http';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contract/schema/limits.js';
import type { ImageOperation } from '../../../src/service/operation/engine.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createPngHeader, createSmallestBody, pixel, startPaths } from '../../support/generation.js';
import { limitToChoice, limitToFlag, type Row, testRows } from '../../support/limit-rows.js';
import { registryForFile } from '../../support/registry.js';
import { ask, serviceForTest } from '../../support/service.js';

const registry = registryForFile(
  { quotas: { tasksInFlight: 10_000 } },
  { engines: { image: createCopyingEngine() } },
);

const startOperation = (operation: ImageOperation, fields: object) =>
  registry().as('ann', 'POST', startPaths[operation], { ...createSmallestBody(operation), ...fields });

const limitToPercent = (field: string): Row => ({
  field,
  takes: [0, 100],
  refuses: [-1, 101, 0.5, '50', null],
});
const limitToLevel = (field: string): Row => ({
  field: `advanced_settings.${field}`,
  takes: [0, 100, 0.5],
  refuses: [-0.1, 100.1, '50', true],
});
const limitToImages = (field: string): Row => ({
  field,
  takes: [pixel, `data:image/png;base64,${pixel}`],
  refuses: ['', 'photo.png', 'AAAA', 'ftp://example.com/a.png', 'data:text/html;base64,PGI+', 7],
});
const webhook: Row = {
  field: 'webhook_url',
  takes: ['https://example.com/hook', 'http://127.0.0.1:9/hook', 'https://example.com/a@b?c=d@e'],
  refuses: [
    '',
    'hook',
    'ftp://example.com/hook',
    'https://user:secret@example.com/hook',
    'http://user@127.0.0.1:9/',
  ],
};

const table: Readonly<Record<ImageOperation, readonly Row[]>> = {
  'image.relight': [
    limitToImages('image'),
    ...['whites', 'blacks', 'brightness', 'contrast', 'saturation'].map(limitToLevel),
    limitToChoice(
      'advanced_settings.engine',
      'automatic balanced cool real illusio fairy colorful_anime hard_transform softy',
    ),
    limitToChoice('advanced_settings.transfer_light_a', 'automatic low medium normal high high_on_faces'),
    limitToChoice(
      'advanced_settings.transfer_light_b',
      'automatic composition straight smooth_in smooth_out smooth_both reverse_both soft_in soft_out soft_mid strong_mid style_shift strong_shift',
    ),
    limitToFlag('advanced_settings.fixed_generation'),
    limitToFlag('change_background'),
    limitToFlag('interpolate_from_original'),
    limitToPercent('light_transfer_strength'),
    limitToFlag('preserve_details'),
    {
      field: 'prompt',
      takes: ['', 'plain', '(warm light:1)', '(warm light:1.4)', '(16:9)', '(at 10:30)'],
      refuses: ['(warm light:0.9)', '(warm light:1.41)', '(warm:2)', 5],
    },
    limitToChoice(
      'style',
      'standard darker_but_realistic clean smooth brighter contrasted_n_hdr just_composition',
    ),
    limitToImages('transfer_light_from_lightmap'),
    limitToImages('transfer_light_from_reference_image'),
    webhook,
  ],
  'image.styleTransfer': [
    limitToImages('image'),
    limitToImages('reference_image'),
    limitToChoice(
      'engine',
      'balanced definio illusio 3d_cartoon colorful_anime caricature real super_real softy',
    ),
    limitToFlag('fixed_generation'),
    limitToChoice('flavor', 'faithful gen_z psychedelia detaily clear donotstyle donotstyle_sharp'),
    limitToFlag('is_portrait'),
    limitToChoice('portrait_beautifier', 'beautify_face beautify_face_max'),
    limitToChoice('portrait_style', 'standard pop super_pop'),
    { field: 'prompt', takes: ['', 'anything (at all:9)'], refuses: [5] },
    limitToPercent('structure_strength'),
    limitToPercent('style_strength'),
    webhook,
  ],
  'image.skinEnhancer': [
    limitToImages('image'),
    limitToPercent('sharpen'),
    limitToPercent('smart_grain'),
    webhook,
  ],
  'image.upscaler': [
    limitToImages('image'),
    limitToPercent('sharpen'),
    limitToPercent('smart_grain'),
    limitToPercent('ultra_detail'),
    limitToChoice('flavor', 'sublime photo photo_denoiser'),
    { field: 'scale_factor', takes: [2, 16], refuses: [1, 17, 2.5, '2'] },
    webhook,
  ],
};

describe('every field of an image request', () => testRows(table, startOperation));

describe('an image request', () => {
  it('is refused with both a lightmap and a reference image, before anything is started', async () => {
    const { status, body } = await startOperation('image.relight', {
      transfer_light_from_lightmap: pixel,
      transfer_light_from_reference_image: pixel,
    });
    expect([status, body.details[0].message]).toEqual([400, expect.stringContaining('cannot be combined')]);
  });

  it.each(Object.keys(table) as ImageOperation[])(
    'of %s is refused with an unknown field',
    async (operation) => {
      const { body } = await startOperation(operation, { stile: 'clean', advanced_setings: {} });
      expect(body.details.map(({ path }: { path: string }) => path)).toEqual(['stile', 'advanced_setings']);
    },
  );

  it('reports every invalid image, and creates no task', async () => {
    const { context } = registry().service;
    const count = () => context.database.selectFrom('tasks').select('id').execute();
    const before = (await count()).length;
    const { status, body } = await startOperation('image.styleTransfer', {
      image: 'AAAA',
      reference_image: 'BBBB',
    });
    expect([status, body.details.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ['image', 'reference_image'],
    ]);
    expect(await count()).toHaveLength(before);
  });

  it('requires https for URLs of the skin enhancer, except on loopback for a service on loopback', async () => {
    const refused = await startOperation('image.skinEnhancer', { image: 'http://example.com/a.png' });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'image']);
  });
});

describe('the size of an image request', () => {
  it('may exceed the size of other requests', async () => {
    const whole = Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.alloc(DEFAULT_LIMITS.jsonBody)]);
    const large = whole.toString('base64');
    expect((await startOperation('image.relight', { image: large })).status).toBe(200);
    const other = await registry().as('ann', 'POST', '/publishers', { id: 'large', name: large });
    expect([other.status, other.body.error]).toEqual([413, 'too_large']);
  });

  it('may have 150 MB, with images of 50 MB and 100 megapixels, unless configured otherwise', () => {
    const { configuration } = registry().service.context;
    expect(configuration.limits).toMatchObject({
      generationBody: 150 * 1024 ** 2,
      imageBytes: 50 * 1024 ** 2,
      imagePixels: 100_000_000,
    });
  });

  it('of one image is 400 beyond 100 megapixels, naming the field', async () => {
    const image = createPngHeader(10_001, 10_000).toString('base64');
    const { status, body } = await startOperation('image.upscaler', { image });
    const details = [{ path: 'image', message: expect.stringContaining('megapixels') }];
    expect([status, body.details]).toEqual([400, details]);
  });

  it('of an upscaler’s result is 400 beyond 100 megapixels, naming the factor that fits', async () => {
    const create = { width: 2500, height: 2500, channels: 3, background: '#567' } as const;
    const image = (await sharp({ create }).png().toBuffer()).toString('base64');
    const { status, body } = await startOperation('image.upscaler', { image, scale_factor: 5 });
    const sizes = '2500 × 2500 pixels would become 12500 × 12500';
    const message = `is too large: ${sizes}, more than 100 megapixels, which allow at most 4`;
    expect([status, body.details]).toEqual([400, [{ path: 'scale_factor', message }]]);
    expect((await startOperation('image.upscaler', { image, scale_factor: 4 })).status).toBe(200);
  });

  it('is limited by the configuration', async () => {
    const { url, ownerToken: token } = await serviceForTest(
      { limits: { generationBody: 2_000, imageBytes: 60, imagePixels: 1 } },
      { engines: { image: createCopyingEngine() } },
    );
    const send = (image: string) =>
      ask(url + startPaths['image.upscaler'], { method: 'POST', token, json: { image } });
    const long = await send('A'.repeat(2_000));
    expect([long.status, long.body.error]).toEqual([413, 'too_large']);
    const heavy = await send('A'.repeat(200));
    const details = [{ path: 'image', message: expect.any(String) }];
    expect([heavy.status, heavy.body.details]).toEqual([400, details]);
  });

  it('is limited for all concurrent requests of a user together, until they are answered', async () => {
    const most = 100_000;
    const { url, ownerToken: token } = await serviceForTest(
      { limits: { generationBody: most, jsonBody: most, anonymousBody: most } },
      { engines: { image: createCopyingEngine() } },
    );
    const address = url + startPaths['image.upscaler'];
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': `${most}`,
    };
    const held = [1, 2, 3, 4].map(() => {
      const sending = request(address, { method: 'POST', headers });
      sending.on('error', () => {});
      sending.write('{');
      return sending;
    });
    // Padded, because small bodies are always received.
    const body = JSON.stringify(createSmallestBody('image.upscaler')).padEnd(most);
    const send = () => fetch(address, { method: 'POST', headers, body });
    await expect.poll(async () => (await send()).status).toBe(503);
    const refused = await send();
    expect(await refused.json()).toMatchObject({ error: 'unavailable' });
    expect(refused.headers.get('retry-after')).toBe('1');
    for (const sending of held) sending.destroy();
    await expect.poll(async () => (await send()).status).toBe(200);
  });
});

import { describe, expect, it } from 'vitest';
import {
  AdvancedSettings,
  RelightRequest,
  SkinEnhancerRequest,
  StyleTransferRequest,
  UpscalerRequest,
} from '../../src/contract/image-requests.js';
import { unwrapImageTask } from '../../src/contract/image-task.js';
import { checkValue } from '../../src/contract/schema/check.js';
import { listProblems } from './schema/list-problems.js';

const image = 'iVBORw0KGgo=';

const checkRelight = (fields: object) => listProblems(RelightRequest, { image, ...fields });
const checkStyleTransfer = (fields: object) =>
  listProblems(StyleTransferRequest, { image, reference_image: image, ...fields });
const checkSkinEnhancer = (fields: object, service?: string) =>
  listProblems(SkinEnhancerRequest, { image, ...fields }, service === undefined ? {} : { service });
const checkUpscaler = (fields: object) => listProblems(UpscalerRequest, { image, ...fields });

describe('an image', () => {
  it.each([
    'iVBORw0KGgo=',
    'iVBORw0K\nGgo=\n',
    'data:image/png;base64,iVBORw0KGgo=',
    'DATA:image/svg+xml;charset=utf-8;base64,PHN2Zz4=',
    'data:;base64,iVBORw0KGgo=',
    'https://example.com/a.png',
    'http://example.com/a.png?b=c#d',
    'HTTPS://example.com/a.png',
  ])('passes as %j', (value) => {
    expect(checkRelight({ image: value })).toEqual([]);
  });

  it.each([
    ['', 'image must not be empty'],
    ['   ', 'image must not be empty'],
    ['photo.png', 'image must be Base64, a data URL, or a URL that begins with http or https'],
    ['./photo', 'image must be Base64, a data URL, or a URL that begins with http or https'],
    ['ftp://example.com/a.png', 'image must be Base64, a data URL, or a URL that begins with http or https'],
    ['file:///etc/passwd', 'image must be Base64, a data URL, or a URL that begins with http or https'],
    ['https://', 'image must be a valid URL'],
    ['http:// example', 'image must be a valid URL'],
    ['data:image/png,abc', 'image must be a data URL of an image, in Base64: data:image/png;base64,…'],
    [
      'data:text/html;base64,PGI+',
      'image must be a data URL of an image, in Base64: data:image/png;base64,…',
    ],
    ['data:image/png;base64,', 'image must not be empty'],
    ['data:image/png;base64,a.b', 'image must contain valid Base64'],
  ])('is refused as %j', (value, received) => {
    expect(checkRelight({ image: value })).toContain(received);
  });

  it('is required by every operation', () => {
    expect(listProblems(RelightRequest, {})).toEqual(['image is required']);
    expect(listProblems(StyleTransferRequest, {})).toEqual([
      'image is required',
      'reference_image is required',
    ]);
    expect(listProblems(SkinEnhancerRequest, {})).toEqual(['image is required']);
    expect(listProblems(UpscalerRequest, {})).toEqual(['image is required']);
  });

  it('with a very long URL is refused before the URL is parsed, which may take seconds', () => {
    const host = Array.from({ length: 100_000 }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000)),
    );
    const url = `http://${host.join('')}`;
    const before = process.cpuUsage().user;
    expect(checkRelight({ image: url })).toEqual(['image must have at most 4096 characters']);
    expect(checkRelight({ webhook_url: url })).toEqual(['webhook_url must have at most 4096 characters']);
    const asked = checkValue(SkinEnhancerRequest, { image: url }, { service: 'https://regen.example' });
    expect(asked.ok ? [] : asked.problems).toHaveLength(1);
    expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(1);
  });

  it('of many megabytes is checked like a small one', () => {
    const large = 'A'.repeat(30 * 1024 ** 2);
    expect(checkRelight({ image: large })).toEqual([]);
    expect(checkRelight({ image: `${large}!` })).toHaveLength(1);
    expect(checkRelight({ image: ' '.repeat(large.length) })).toEqual(['image must not be empty']);
    expect(checkRelight({ image: `data:${large}` })).toHaveLength(1);
  });
});

describe('relight', () => {
  it('accepts a lightmap or a reference image, but not both', () => {
    expect(checkRelight({ transfer_light_from_lightmap: image })).toEqual([]);
    expect(checkRelight({ transfer_light_from_reference_image: image })).toEqual([]);
    expect(
      checkRelight({ transfer_light_from_lightmap: image, transfer_light_from_reference_image: image }),
    ).toEqual(['transfer_light_from_reference_image cannot be combined with transfer_light_from_lightmap']);
  });

  it.each(['transfer_light_from_lightmap', 'transfer_light_from_reference_image'])(
    'requires an image in %s',
    (field) => {
      expect(checkRelight({ [field]: 'light.png' })).toHaveLength(1);
    },
  );

  it.each([
    [0, []],
    [100, []],
    [-1, ['light_transfer_strength must be at least 0']],
    [101, ['light_transfer_strength must be at most 100']],
    [0.5, ['light_transfer_strength must be a whole number']],
  ])('transfers light with the strength %j', (light_transfer_strength, received) => {
    expect(checkRelight({ light_transfer_strength })).toEqual(received);
  });

  it.each([
    '(warm light:1)',
    '(warm light:1.0) (soft:1.4)',
    '(warm light:1.40)',
    'a (b (c:1.2) d:1.3) e',
    'in the format (16:9)',
    '(at 10:30) and (at 10 :30)',
    'a (note: 7)',
    'warm light:7 without parentheses',
    'warm light:7)',
    '(warm light:7',
    '(warm light:7 and more)',
    '(warm light:seven)',
    ':) (: :7',
    '',
  ])('accepts the prompt %j', (prompt) => {
    expect(checkRelight({ prompt })).toEqual([]);
  });

  it.each([
    ['(warm light:0.99)', '0.99', 1],
    ['(warm light:1.41)', '1.41', 1.4],
    ['(warm light:7)', '7', 1.4],
    ['(warm light:.5)', '.5', 1],
    ['(warm light:-1)', '-1', 1],
    ['(warm light:2.)', '2.', 1.4],
    ['(fine:1.2) and (too much:1.5)', '1.5', 1.4],
    ['a (b (c:1.2) d:1.5) e', '1.5', 1.4],
    ['(a (b) c:3)', '3', 1.4],
    ['(日光:2)', '2', 1.4],
  ])('refuses the emphasis in %j', (prompt, weight, nearest) => {
    expect(checkRelight({ prompt })).toEqual([
      `prompt contains the emphasis ${weight}; it must be 1 to 1.4; ${nearest} is the nearest`,
    ]);
  });

  it('reads very long prompts quickly', () => {
    for (const part of ['(', ')', ':1', '(a:1', '1', '(a:11111.1', ':']) {
      const prompt = part.repeat(Math.floor(100_000 / part.length));
      expect(checkRelight({ prompt })).toEqual([]);
      const tooLong = 'prompt must have at most 100000 characters';
      expect(checkRelight({ prompt: part.repeat(400_000) })).toEqual([tooLong]);
    }
  });

  it.each(['blacks', 'brightness', 'contrast', 'saturation', 'whites'])('sets %s from 0 to 100', (name) => {
    const set = (value: unknown) => checkRelight({ advanced_settings: { [name]: value } });
    expect([set(0), set(49.5), set(100)]).toEqual([[], [], []]);
    expect(set(-0.1)).toEqual([`advanced_settings.${name} must be at least 0`]);
    expect(set(100.1)).toEqual([`advanced_settings.${name} must be at most 100`]);
    expect(set('50')).toEqual([`advanced_settings.${name} must be a number`]);
    expect(AdvancedSettings.parse({})).toMatchObject({ [name]: 50 });
  });

  it('refuses unknown settings', () => {
    expect(checkRelight({ advanced_settings: { contrst: 60 } })).toEqual([
      'advanced_settings.contrst is not a known field',
    ]);
    expect(checkRelight({ advanced_settings: { engine: 'definio' } })[0]).toMatch(
      /^advanced_settings\.engine must be one of automatic, balanced, /,
    );
    expect(checkRelight({ advanced_settings: { transfer_light_a: 'highest' } })).toHaveLength(1);
    expect(checkRelight({ advanced_settings: { transfer_light_b: 'soft' } })).toHaveLength(1);
    expect(checkRelight({ advanced_settings: { fixed_generation: 'yes' } })).toHaveLength(1);
  });

  it('fills in defaults', () => {
    expect(checkValue(RelightRequest, { image })).toEqual({
      ok: true,
      value: {
        image,
        change_background: true,
        interpolate_from_original: false,
        light_transfer_strength: 100,
        preserve_details: true,
        style: 'standard',
      },
    });
  });
});

describe('style transfer', () => {
  it.each(['structure_strength', 'style_strength'])('takes a %s from 0 to 100', (name) => {
    expect([checkStyleTransfer({ [name]: 0 }), checkStyleTransfer({ [name]: 100 })]).toEqual([[], []]);
    expect(checkStyleTransfer({ [name]: -1 })).toEqual([`${name} must be at least 0`]);
    expect(checkStyleTransfer({ [name]: 101 })).toEqual([`${name} must be at most 100`]);
  });

  it('accepts portrait options without is_portrait', () => {
    expect(checkStyleTransfer({ portrait_style: 'pop', portrait_beautifier: 'beautify_face' })).toEqual([]);
    expect(checkStyleTransfer({ portrait_beautifier: 'beautify' })).toHaveLength(1);
  });

  it('does not check emphasis', () => {
    expect(checkStyleTransfer({ prompt: '(warm light:7)' })).toEqual([]);
  });

  it('fills in defaults', () => {
    expect(checkValue(StyleTransferRequest, { image, reference_image: image })).toMatchObject({
      value: {
        ...{ style_strength: 100, structure_strength: 50, is_portrait: false },
        ...{ portrait_style: 'standard', flavor: 'faithful', engine: 'balanced' },
      },
    });
  });
});

describe('the skin enhancer', () => {
  it.each(['sharpen', 'smart_grain'])('takes %s from 0 to 100', (name) => {
    expect([checkSkinEnhancer({ [name]: 0 }), checkSkinEnhancer({ [name]: 100 })]).toEqual([[], []]);
    expect(checkSkinEnhancer({ [name]: -1 })).toEqual([`${name} must be at least 0`]);
    expect(checkSkinEnhancer({ [name]: 101 })).toEqual([`${name} must be at most 100`]);
  });

  it('fills in defaults', () => {
    expect(checkValue(SkinEnhancerRequest, { image })).toEqual({
      ok: true,
      value: { image, sharpen: 0, smart_grain: 2 },
    });
  });

  const refused = ['image is a URL, which must begin with https'];

  it.each([
    ['https://example.com/a.png', 'https://service.example', []],
    ['http://example.com/a.png', 'https://service.example', refused],
    ['HTTP://example.com/a.png', 'https://service.example', refused],
    ['http://service.example/a.png', 'https://service.example', refused],
    ['http://service.example:8080/a.png', 'http://service.example:8080/base', []],
    ['http://service.example/a.png', 'http://service.example:8080', refused],
    ['http://127.0.0.1:1/a.png', 'http://127.0.0.1:7717', []],
    ['http://localhost/a.png', 'http://[::1]:7717', []],
    ['http://127.0.0.1/a.png', 'https://service.example', refused],
    ['http://127.0.0.1.example.com/a.png', 'http://127.0.0.1:7717', refused],
    ['http://192.168.1.2/a.png', 'http://127.0.0.1:7717', refused],
  ])('checks %s for the service %s', (url, service, received) => {
    expect(checkSkinEnhancer({ image: url }, service)).toEqual(received);
  });

  it('leaves http URLs to the service if its address is unknown', () => {
    expect(checkSkinEnhancer({ image: 'http://example.com/a.png' })).toEqual([]);
  });
});

describe('the upscaler', () => {
  it.each([
    ['sharpen', 0, 100],
    ['smart_grain', 0, 100],
    ['ultra_detail', 0, 100],
    ['scale_factor', 2, 16],
  ])('takes %s from %i to %i', (name, least, most) => {
    expect([checkUpscaler({ [name]: least }), checkUpscaler({ [name]: most })]).toEqual([[], []]);
    expect(checkUpscaler({ [name]: least - 1 })).toEqual([`${name} must be at least ${least}`]);
    expect(checkUpscaler({ [name]: most + 1 })).toEqual([`${name} must be at most ${most}`]);
  });

  it('fills in defaults', () => {
    expect(checkValue(UpscalerRequest, { image })).toEqual({
      ok: true,
      value: { image, sharpen: 7, smart_grain: 7, ultra_detail: 30, scale_factor: 2 },
    });
  });
});

describe('every image operation', () => {
  it.each([
    ['relight', checkRelight],
    ['style transfer', checkStyleTransfer],
    ['skin enhancer', checkSkinEnhancer],
    ['upscaler', checkUpscaler],
  ])('refuses unknown fields and addresses that cannot be called: %s', (_, received) => {
    expect(received({ webhook_url: 'https://example.com/hook?a=1' })).toEqual([]);
    expect(received({ webhook_url: 'http://127.0.0.1:9000/' })).toEqual([]);
    const webhook_url = `https://example.com/${'x'.repeat(5000)}`;
    expect(received({ webhook_url })).toEqual(['webhook_url must have at most 4096 characters']);
    for (const webhook_url of ['', 'example.com', 'ftp://example.com', 'javascript:alert(1)']) {
      expect(received({ webhook_url })).toEqual(['webhook_url must be a URL that begins with http or https']);
    }
    expect(received({ webhok_url: 'https://example.com' })).toEqual(['webhok_url is not a known field']);
    expect(
      received({ style: 'none' }).length +
        received({ engine: 'none' }).length +
        received({ flavor: 'none' }).length,
    ).toBe(3);
  });
});

describe('a task', () => {
  it('is read from either form of response', () => {
    const task = { generated: [], status: 'CREATED', task_id: 'a' };
    expect(unwrapImageTask(task)).toBe(task);
    expect(unwrapImageTask({ data: task })).toBe(task);
  });
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { checkValue } from '../../src/contract/schema/check.js';
import { toJsonSchema } from '../../src/contract/schema/json-schema.js';
import { findMode } from '../../src/contract/schema/model-rules.js';
import { resolutions, videoModelNames, videoModels } from '../../src/contract/video-models.js';
import {
  ExtendRequest,
  StartEnd2VideoRequest,
  Text2VideoRequest,
} from '../../src/contract/video-requests.js';
import { listProblems } from './schema/list-problems.js';

const image = 'iVBORw0KGgo=';

const texts = (fields: object) => listProblems(Text2VideoRequest, { prompt: 'A boat', ...fields });
const frames = (fields: object) => listProblems(StartEnd2VideoRequest, { images: [image], ...fields });
const extended = { video_creation_id: '1', video_url: 'https://example.com/a.mp4' };
const extensions = (fields: object) => listProblems(ExtendRequest, { ...extended, ...fields });

describe('durations by model', () => {
  it.each([
    ['vvq3-pro', 1, 16],
    ['vvq2-pro-fast', 1, 10],
    ['vvq2-pro', 1, 8],
    ['vvq2-turbo', 1, 8],
    ['vvq1', 5, 5],
    ['vvq1-classic', 5, 5],
  ])('%s makes %i to %i seconds', (model, least, most) => {
    const range = least === most ? least : `${least} to ${most}`;
    const nearest = (bound: number) => (least === most ? '' : `; ${bound} is the nearest`);
    for (const told of [texts, frames]) {
      expect([told({ model, duration: least }), told({ model, duration: most }), told({ model })]).toEqual([
        [],
        [],
        [],
      ]);
      expect(told({ model, duration: least - 1 })).toEqual([
        `duration must be ${range} with ${model}${nearest(least)}`,
      ]);
      expect(told({ model, duration: most + 1 })).toEqual([
        `duration must be ${range} with ${model}${nearest(most)}`,
      ]);
    }
  });

  it('are 4 or 8 seconds with vv2.0', () => {
    expect([texts({ model: 'vv2.0', duration: 4 }), texts({ model: 'vv2.0', duration: 8 })]).toEqual([
      [],
      [],
    ]);
    expect(texts({ model: 'vv2.0', duration: 5 })).toEqual([
      'duration must be 4 or 8 with vv2.0; 4 is the nearest',
    ]);
    expect(texts({ model: 'vv2.0', duration: 7 })).toEqual([
      'duration must be 4 or 8 with vv2.0; 8 is the nearest',
    ]);
  });

  it('are not checked if the model is invalid', () => {
    expect(texts({ model: null, duration: 16, resolution: '360p' })).toHaveLength(1);
  });

  it('are those of vvq3-pro by default', () => {
    expect(texts({ duration: 16, resolution: '2K' })).toEqual([]);
    expect(texts({ duration: 17 })).toEqual(['duration must be 1 to 16 with vvq3-pro; 16 is the nearest']);
  });

  it('are refused unless they are whole seconds', () => {
    expect(texts({ duration: 4.5 })).toEqual(['duration must be a whole number']);
    expect(texts({ duration: '5' })).toEqual(['duration must be a whole number']);
  });
});

describe('resolutions by model', () => {
  it.each([
    ['vvq3-pro', ['540p', '720p', '1080p', '2K']],
    ['vvq2-pro', ['540p', '720p', '1080p']],
    ['vvq2-turbo', ['540p', '720p', '1080p']],
    ['vvq2-pro-fast', ['720p', '1080p']],
    ['vvq1', ['1080p']],
    ['vvq1-classic', ['1080p']],
  ])('%s makes %j', (model, made) => {
    const passing = resolutions.filter((resolution) => texts({ model, resolution }).length === 0);
    expect(passing).toEqual(made);
  });

  it.each([
    ['vvq2-pro', '2K', 'must be 540p, 720p or 1080p with vvq2-pro; 1080p is the nearest'],
    ['vvq2-pro', '360p', 'must be 540p, 720p or 1080p with vvq2-pro; 540p is the nearest'],
    ['vvq2-pro', '480p', 'must be 540p, 720p or 1080p with vvq2-pro'],
    ['vvq1', '720p', 'must be 1080p with vvq1'],
  ])('%s does not make %s, and names the nearest it makes', (model, resolution, told) => {
    expect(texts({ model, resolution })).toEqual([`resolution ${told}`]);
  });

  it('depend on the duration with vv2.0', () => {
    const made = (duration?: number) =>
      resolutions.filter((resolution) => texts({ model: 'vv2.0', duration, resolution }).length === 0);
    expect(made(4)).toEqual(['360p', '720p', '1080p']);
    expect(made()).toEqual(['360p', '720p', '1080p']);
    expect(made(8)).toEqual(['720p']);
    expect(texts({ model: 'vv2.0', duration: 8, resolution: '1080p' })).toEqual([
      'resolution must be 720p with vv2.0 at 8 s',
    ]);
    // If the duration is wrong, only resolutions that no duration has are reported.
    expect(texts({ model: 'vv2.0', duration: 6, resolution: '1080p' })).toHaveLength(1);
    expect(texts({ model: 'vv2.0', duration: 6, resolution: '540p' })).toHaveLength(2);
  });

  it('are reported together with the duration and the model', () => {
    expect(texts({ model: 'vvq2-pro', duration: 9, resolution: '2K' })).toHaveLength(2);
    expect(texts({ model: 'vvq9', duration: 9, resolution: '2K' })).toEqual([
      `model must be one of ${videoModelNames.join(', ')}`,
    ]);
  });
});

describe('the defaults of a model', () => {
  it.each([
    ['vvq3-pro', 5, '720p'],
    ['vvq2-pro-fast', 5, '720p'],
    ['vvq2-pro', 5, '720p'],
    ['vvq2-turbo', 5, '720p'],
    ['vvq1', 5, '1080p'],
    ['vvq1-classic', 5, '1080p'],
    ['vv2.0', 4, '360p'],
  ] as const)('%s makes %i seconds of %s', (name, duration, resolution) => {
    expect(videoModels[name].defaultDuration).toBe(duration);
    expect(findMode(videoModels[name])?.defaultResolution).toBe(resolution);
    expect(texts({ model: name, duration, resolution })).toEqual([]);
  });

  it('vv2.0 makes 720p at 8 seconds', () => {
    expect(findMode(videoModels['vv2.0'], 8)?.defaultResolution).toBe('720p');
  });
});

it('has the same conditions in the document as in the rules', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile(toJsonSchema(Text2VideoRequest, 'input'));
  let passed = 0;
  let refused = 0;
  for (const model of [undefined, ...videoModelNames]) {
    for (const duration of [undefined, ...Array.from({ length: 18 }, (_, second) => second)]) {
      for (const resolution of [undefined, ...resolutions]) {
        const { ok } = checkValue(Text2VideoRequest, { prompt: 'A boat', model, duration, resolution });
        // As it is sent: without absent fields.
        const sent = JSON.parse(JSON.stringify({ prompt: 'A boat', model, duration, resolution }));
        expect(validate(sent), JSON.stringify(sent)).toBe(ok);
        if (ok) passed += 1;
        else refused += 1;
      }
    }
  }
  expect(Math.min(passed, refused)).toBeGreaterThan(100);
  expect([validate({}), validate({ images: [image] })]).toEqual([false, true]);
});

describe('images', () => {
  it('are at most one for a video from text, which requires an image or a prompt', () => {
    expect(listProblems(Text2VideoRequest, { images: [image] })).toEqual([]);
    expect(listProblems(Text2VideoRequest, {})).toEqual(['prompt is required, unless images is given']);
    expect(texts({ images: [] })).toEqual([]);
    expect(texts({ images: [image, image] })).toEqual(['images must have at most 1 item']);
  });

  it('are one or two for a video between frames', () => {
    expect([frames({}), frames({ images: [image, image] })]).toEqual([[], []]);
    expect(listProblems(StartEnd2VideoRequest, { prompt: 'A boat' })).toEqual(['images is required']);
    expect(frames({ images: [] })).toEqual(['images must not be empty']);
    expect(frames({ images: [image, image, image] })).toEqual(['images must have at most 2 items']);
  });

  it('are at most one for an extension', () => {
    expect([extensions({}), extensions({ images: [image] })]).toEqual([[], []]);
    expect(extensions({ images: [image, image] })).toEqual(['images must have at most 1 item']);
  });

  it('are reported by their position if they are invalid', () => {
    expect(frames({ images: [image, 'end.png'] })).toEqual([
      'images.1 must be Base64, a data URL, or a URL that begins with http or https',
    ]);
    expect(frames({ images: [7] })).toEqual(['images.0 must be a string']);
    expect(extensions({ images: ['end.png'] })).toHaveLength(1);
  });
});

describe('an extension', () => {
  it('requires the creation id and the URL of the video', () => {
    expect(listProblems(ExtendRequest, {})).toEqual([
      'video_creation_id is required, together with video_url',
      'video_url is required, together with video_creation_id',
    ]);
    expect(listProblems(ExtendRequest, { video_creation_id: '1' })).toEqual([
      'video_url is required, together with video_creation_id',
    ]);
    expect(extensions({ video_url: 'a.mp4' })).toEqual([
      'video_url must be a URL that begins with http or https',
    ]);
  });

  it('adds 1 to 7 seconds, by default 5', () => {
    expect([extensions({ duration: 1 }), extensions({ duration: 7 })]).toEqual([[], []]);
    expect(extensions({ duration: 0 })).toEqual(['duration must be at least 1']);
    expect(extensions({ duration: 8 })).toEqual(['duration must be at most 7']);
    expect(checkValue(ExtendRequest, extended)).toEqual({
      ok: true,
      value: { ...extended, model: 'vvq2-turbo', duration: 5, resolution: '720p' },
    });
  });

  it('has two models and three resolutions', () => {
    for (const model of ['vvq2-pro', 'vvq2-turbo']) expect(extensions({ model })).toEqual([]);
    for (const resolution of ['540p', '720p', '1080p']) expect(extensions({ resolution })).toEqual([]);
    expect(extensions({ model: 'vvq3-pro' })).toEqual(['model must be one of vvq2-pro, vvq2-turbo']);
    expect(extensions({ resolution: '2K' })).toEqual(['resolution must be one of 540p, 720p, 1080p']);
  });
});

describe('every video operation', () => {
  const all = [
    ['text2video', texts],
    ['start-end2video', frames],
    ['extend', extensions],
  ] as const;

  it.each(all)('takes a prompt of 2000 characters and a payload of 1048576: %s', (_, told) => {
    expect(told({ prompt: 'a'.repeat(2000), payload: 'b'.repeat(1_048_576) })).toEqual([]);
    expect(told({ prompt: 'a'.repeat(2001) })).toEqual(['prompt must have at most 2000 characters']);
    expect(told({ payload: 'b'.repeat(1_048_577) })).toEqual([
      'payload must have at most 1048576 characters',
    ]);
    // An emoji is one character, although its length in JavaScript is two.
    expect(told({ prompt: '🚤'.repeat(2000) })).toEqual([]);
    expect(told({ prompt: '🚤'.repeat(2001) })).toEqual(['prompt must have at most 2000 characters']);
    expect(told({ prompt: 'a'.repeat(10_000_000) })).toHaveLength(1);
  });

  it.each(all)('refuses unknown fields and addresses that cannot be called: %s', (_, told) => {
    expect(told({ callback_url: 'https://example.com' })).toEqual([]);
    expect(told({ callback_url: 'example.com' })).toHaveLength(1);
    expect(told({ webhook_url: 'https://example.com' })).toEqual(['webhook_url is not a known field']);
  });
});

describe.each([
  ['text2video', texts],
  ['start-end2video', frames],
])('%s', (_, told) => {
  it.each(['seed', 'priority'])('takes a %s of 32 bits', (name) => {
    expect([told({ [name]: -(2 ** 31) }), told({ [name]: 2 ** 31 - 1 }), told({ [name]: 0 })]).toEqual([
      [],
      [],
      [],
    ]);
    expect(told({ [name]: -(2 ** 31) - 1 })).toEqual([`${name} must be at least -2147483648`]);
    expect(told({ [name]: 2 ** 31 })).toEqual([`${name} must be at most 2147483647`]);
    expect(told({ [name]: 0.5 })).toEqual([`${name} must be a whole number`]);
  });

  it('accepts four corners for the watermark', () => {
    expect([1, 2, 3, 4].map((wm_position) => told({ wm_position }))).toEqual([[], [], [], []]);
    expect(told({ wm_position: 0 })).toEqual(['wm_position must be at least 1']);
    expect(told({ wm_position: 5 })).toEqual(['wm_position must be at most 4']);
    expect(told({ wm_url: 'mark.png' })).toHaveLength(1);
  });

  it('accepts only JSON as metadata', () => {
    expect(told({ meta_data: '{"scene":4}' })).toEqual([]);
    const long = told({ meta_data: '['.repeat(3_000_000) });
    expect(long).toEqual(['meta_data must have at most 1048576 characters']);
    expect(told({ meta_data: 'scene 4' })).toEqual(['meta_data must be JSON, such as {"scene": 4}']);
  });

  it.each([
    ['aspect_ratio', ['16:9', '9:16', '1:1', '3:4', '4:3'], '2:1'],
    ['audio_type', ['all', 'speech_only', 'sound_effect_only'], 'none'],
    ['movement_amplitude', ['auto', 'small', 'medium', 'large'], 'huge'],
    ['style', ['general', 'anime'], 'noir'],
  ])('takes as %s one of %j', (name, values, other) => {
    expect(values.flatMap((value) => told({ [name]: value }))).toEqual([]);
    expect(told({ [name]: other })).toEqual([`${name} must be one of ${values.join(', ')}`]);
  });

  it.each(['audio', 'bgm', 'enhance', 'is_rec', 'off_peak', 'watermark'])(
    'takes %s as true or false',
    (name) => {
      expect([told({ [name]: true }), told({ [name]: false })]).toEqual([[], []]);
      expect(told({ [name]: 1 })).toEqual([`${name} must be true or false`]);
    },
  );
});

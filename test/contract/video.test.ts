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

const checkTextToVideo = (fields: object) => listProblems(Text2VideoRequest, { prompt: 'A boat', ...fields });
const checkFrames = (fields: object) => listProblems(StartEnd2VideoRequest, { images: [image], ...fields });
const extended = { video_creation_id: '1', video_url: 'https://example.com/a.mp4' };
const checkExtend = (fields: object) => listProblems(ExtendRequest, { ...extended, ...fields });

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
    for (const received of [checkTextToVideo, checkFrames]) {
      expect([
        received({ model, duration: least }),
        received({ model, duration: most }),
        received({ model }),
      ]).toEqual([[], [], []]);
      expect(received({ model, duration: least - 1 })).toEqual([
        `duration must be ${range} with ${model}${nearest(least)}`,
      ]);
      expect(received({ model, duration: most + 1 })).toEqual([
        `duration must be ${range} with ${model}${nearest(most)}`,
      ]);
    }
  });

  it('are 4 or 8 seconds with vv2.0', () => {
    expect([
      checkTextToVideo({ model: 'vv2.0', duration: 4 }),
      checkTextToVideo({ model: 'vv2.0', duration: 8 }),
    ]).toEqual([[], []]);
    expect(checkTextToVideo({ model: 'vv2.0', duration: 5 })).toEqual([
      'duration must be 4 or 8 with vv2.0; 4 is the nearest',
    ]);
    expect(checkTextToVideo({ model: 'vv2.0', duration: 7 })).toEqual([
      'duration must be 4 or 8 with vv2.0; 8 is the nearest',
    ]);
  });

  it('are not checked if the model is invalid', () => {
    expect(checkTextToVideo({ model: null, duration: 16, resolution: '360p' })).toHaveLength(1);
  });

  it('follow vvq3-pro by default', () => {
    expect(checkTextToVideo({ duration: 16, resolution: '2K' })).toEqual([]);
    expect(checkTextToVideo({ duration: 17 })).toEqual([
      'duration must be 1 to 16 with vvq3-pro; 16 is the nearest',
    ]);
  });

  it('are refused unless they are whole seconds', () => {
    expect(checkTextToVideo({ duration: 4.5 })).toEqual(['duration must be a whole number']);
    expect(checkTextToVideo({ duration: '5' })).toEqual(['duration must be a whole number']);
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
    const passing = resolutions.filter((resolution) => checkTextToVideo({ model, resolution }).length === 0);
    expect(passing).toEqual(made);
  });

  it.each([
    ['vvq2-pro', '2K', 'must be 540p, 720p or 1080p with vvq2-pro; 1080p is the nearest'],
    ['vvq2-pro', '360p', 'must be 540p, 720p or 1080p with vvq2-pro; 540p is the nearest'],
    ['vvq2-pro', '480p', 'must be 540p, 720p or 1080p with vvq2-pro'],
    ['vvq1', '720p', 'must be 1080p with vvq1'],
  ])('%s does not make %s, and names the nearest it makes', (model, resolution, received) => {
    expect(checkTextToVideo({ model, resolution })).toEqual([`resolution ${received}`]);
  });

  it('depend on the duration with vv2.0', () => {
    const made = (duration?: number) =>
      resolutions.filter(
        (resolution) => checkTextToVideo({ model: 'vv2.0', duration, resolution }).length === 0,
      );
    expect(made(4)).toEqual(['360p', '720p', '1080p']);
    expect(made()).toEqual(['360p', '720p', '1080p']);
    expect(made(8)).toEqual(['720p']);
    expect(checkTextToVideo({ model: 'vv2.0', duration: 8, resolution: '1080p' })).toEqual([
      'resolution must be 720p with vv2.0 at 8 s',
    ]);
    // If the duration is wrong, only resolutions that no duration has are reported.
    expect(checkTextToVideo({ model: 'vv2.0', duration: 6, resolution: '1080p' })).toHaveLength(1);
    expect(checkTextToVideo({ model: 'vv2.0', duration: 6, resolution: '540p' })).toHaveLength(2);
  });

  it('are reported together with the duration and the model', () => {
    expect(checkTextToVideo({ model: 'vvq2-pro', duration: 9, resolution: '2K' })).toHaveLength(2);
    expect(checkTextToVideo({ model: 'vvq9', duration: 9, resolution: '2K' })).toEqual([
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
    expect(checkTextToVideo({ model: name, duration, resolution })).toEqual([]);
  });

  it('vv2.0 makes 720p at 8 seconds', () => {
    expect(findMode(videoModels['vv2.0'], 8)?.defaultResolution).toBe('720p');
  });
});

it('the document of the contract has the same conditions as the rules', () => {
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
    expect(checkTextToVideo({ images: [] })).toEqual([]);
    expect(checkTextToVideo({ images: [image, image] })).toEqual(['images must have at most 1 item']);
  });

  it('are one or two for a video between frames', () => {
    expect([checkFrames({}), checkFrames({ images: [image, image] })]).toEqual([[], []]);
    expect(listProblems(StartEnd2VideoRequest, { prompt: 'A boat' })).toEqual(['images is required']);
    expect(checkFrames({ images: [] })).toEqual(['images must not be empty']);
    expect(checkFrames({ images: [image, image, image] })).toEqual(['images must have at most 2 items']);
  });

  it('are at most one for an extension', () => {
    expect([checkExtend({}), checkExtend({ images: [image] })]).toEqual([[], []]);
    expect(checkExtend({ images: [image, image] })).toEqual(['images must have at most 1 item']);
  });

  it('are reported by their position if they are invalid', () => {
    expect(checkFrames({ images: [image, 'end.png'] })).toEqual([
      'images.1 must be Base64, a data URL, or a URL that begins with http or https',
    ]);
    expect(checkFrames({ images: [7] })).toEqual(['images.0 must be a string']);
    expect(checkExtend({ images: ['end.png'] })).toHaveLength(1);
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
    expect(checkExtend({ video_url: 'a.mp4' })).toEqual([
      'video_url must be a URL that begins with http or https',
    ]);
  });

  it('adds 1 to 7 seconds, by default 5', () => {
    expect([checkExtend({ duration: 1 }), checkExtend({ duration: 7 })]).toEqual([[], []]);
    expect(checkExtend({ duration: 0 })).toEqual(['duration must be at least 1']);
    expect(checkExtend({ duration: 8 })).toEqual(['duration must be at most 7']);
    expect(checkValue(ExtendRequest, extended)).toEqual({
      ok: true,
      value: { ...extended, model: 'vvq2-turbo', duration: 5, resolution: '720p' },
    });
  });

  it('has two models and three resolutions', () => {
    for (const model of ['vvq2-pro', 'vvq2-turbo']) expect(checkExtend({ model })).toEqual([]);
    for (const resolution of ['540p', '720p', '1080p']) expect(checkExtend({ resolution })).toEqual([]);
    expect(checkExtend({ model: 'vvq3-pro' })).toEqual(['model must be one of vvq2-pro, vvq2-turbo']);
    expect(checkExtend({ resolution: '2K' })).toEqual(['resolution must be one of 540p, 720p, 1080p']);
  });
});

describe('every video operation', () => {
  const all = [
    ['text2video', checkTextToVideo],
    ['start-end2video', checkFrames],
    ['extend', checkExtend],
  ] as const;

  it.each(all)('takes a prompt of 2000 characters and a payload of 1048576: %s', (_, received) => {
    expect(received({ prompt: 'a'.repeat(2000), payload: 'b'.repeat(1_048_576) })).toEqual([]);
    expect(received({ prompt: 'a'.repeat(2001) })).toEqual(['prompt must have at most 2000 characters']);
    expect(received({ payload: 'b'.repeat(1_048_577) })).toEqual([
      'payload must have at most 1048576 characters',
    ]);
    // An emoji is one character, although its length in JavaScript is two.
    expect(received({ prompt: '🚤'.repeat(2000) })).toEqual([]);
    expect(received({ prompt: '🚤'.repeat(2001) })).toEqual(['prompt must have at most 2000 characters']);
    expect(received({ prompt: 'a'.repeat(10_000_000) })).toHaveLength(1);
  });

  it.each(all)('refuses unknown fields and addresses that cannot be called: %s', (_, received) => {
    expect(received({ callback_url: 'https://example.com' })).toEqual([]);
    expect(received({ callback_url: 'example.com' })).toHaveLength(1);
    expect(received({ webhook_url: 'https://example.com' })).toEqual(['webhook_url is not a known field']);
  });
});

describe.each([
  ['text2video', checkTextToVideo],
  ['start-end2video', checkFrames],
])('%s', (_, received) => {
  it.each(['seed', 'priority'])('takes a %s of 32 bits', (name) => {
    expect([
      received({ [name]: -(2 ** 31) }),
      received({ [name]: 2 ** 31 - 1 }),
      received({ [name]: 0 }),
    ]).toEqual([[], [], []]);
    expect(received({ [name]: -(2 ** 31) - 1 })).toEqual([`${name} must be at least -2147483648`]);
    expect(received({ [name]: 2 ** 31 })).toEqual([`${name} must be at most 2147483647`]);
    expect(received({ [name]: 0.5 })).toEqual([`${name} must be a whole number`]);
  });

  it('accepts four corners for the watermark', () => {
    expect([1, 2, 3, 4].map((wm_position) => received({ wm_position }))).toEqual([[], [], [], []]);
    expect(received({ wm_position: 0 })).toEqual(['wm_position must be at least 1']);
    expect(received({ wm_position: 5 })).toEqual(['wm_position must be at most 4']);
    expect(received({ wm_url: 'mark.png' })).toHaveLength(1);
  });

  it('accepts only JSON as metadata', () => {
    expect(received({ meta_data: '{"scene":4}' })).toEqual([]);
    const long = received({ meta_data: '['.repeat(3_000_000) });
    expect(long).toEqual(['meta_data must have at most 1048576 characters']);
    expect(received({ meta_data: 'scene 4' })).toEqual(['meta_data must be JSON, such as {"scene": 4}']);
  });

  it.each([
    ['aspect_ratio', ['16:9', '9:16', '1:1', '3:4', '4:3'], '2:1'],
    ['audio_type', ['all', 'speech_only', 'sound_effect_only'], 'none'],
    ['movement_amplitude', ['auto', 'small', 'medium', 'large'], 'huge'],
    ['style', ['general', 'anime'], 'noir'],
  ])('takes as %s one of %j', (name, values, other) => {
    expect(values.flatMap((value) => received({ [name]: value }))).toEqual([]);
    expect(received({ [name]: other })).toEqual([`${name} must be one of ${values.join(', ')}`]);
  });

  it.each(['audio', 'bgm', 'enhance', 'is_rec', 'off_peak', 'watermark'])(
    'takes %s as true or false',
    (name) => {
      expect([received({ [name]: true }), received({ [name]: false })]).toEqual([[], []]);
      expect(received({ [name]: 1 })).toEqual([`${name} must be true or false`]);
    },
  );
});

import { beforeAll, describe, expect, it } from 'vitest';
import { findMode } from '../../../src/contract/schema/model-rules.js';
import { resolutions, videoModels } from '../../../src/contract/video-models.js';
import type { VideoOperation } from '../../../src/service/operation/engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { pixel } from '../../support/generation.js';
import { limitToChoice, limitToFlag, type Row, testRows } from '../../support/limit-rows.js';
import { registryForFile } from '../../support/registry.js';
import { smallestVideos, startVideo, videoPaths, waitForVideo } from '../../support/videos.js';

// Only one task is finished, so that the started ones take no time.
const never = createFilmingEngine(
  ({ request }, signal) =>
    new Promise((done, fail) => {
      if (request.prompt === 'at once') done();
      signal.addEventListener('abort', () => fail(new Error('The service ends.')));
    }),
);
const registry = registryForFile(
  { graceMs: 0, quotas: { tasksInFlight: 10_000 } },
  { engines: { video: never } },
);

/** An existing creation, so that extensions need not fetch anything. */
let creation = '';

beforeAll(async () => {
  const ann = { url: registry().url, token: registry().tokens.ann };
  const { task_id } = await startVideo(ann, { prompt: 'at once' });
  creation = (await waitForVideo(ann, task_id)).creations[0].id;
});

function startOperation(operation: VideoOperation, fields: object) {
  const own = operation === 'video.extend' ? { video_creation_id: creation } : {};
  const json = { ...smallestVideos[operation], ...own, ...fields };
  return registry().as('ann', 'POST', videoPaths[operation], json);
}

const limitToInt32 = (field: string): Row => ({
  field,
  takes: [-(2 ** 31), 0, 2 ** 31 - 1],
  refuses: [2 ** 31, -(2 ** 31) - 1, 0.5, '1'],
});
const callback: Row = {
  field: 'callback_url',
  takes: ['https://example.com/hook'],
  refuses: ['', 'hook', 'ftp://example.com/hook'],
};
const payload: Row = {
  field: 'payload',
  takes: ['', 'x'.repeat(1_048_576)],
  refuses: ['x'.repeat(1_048_577), 5],
};
const prompt: Row = {
  field: 'prompt',
  takes: ['x'.repeat(2000), '🚢'.repeat(2000)],
  refuses: ['x'.repeat(2001), '🚢'.repeat(2001), 5],
};
const oneImage: Row = {
  field: 'images',
  takes: [[pixel], [`data:image/png;base64,${pixel}`]],
  refuses: [[pixel, pixel], {}, 7],
};
const badImage: Row = {
  field: 'images',
  named: 'images.0',
  takes: [],
  refuses: [['AAAA'], [''], ['photo.png'], [7]],
};
const both: readonly Row[] = [
  { field: 'aspect_ratio', takes: ['16:9', '9:16', '1:1', '3:4', '4:3'], refuses: ['', '21:9', '16/9', 1] },
  limitToFlag('audio'),
  limitToChoice('audio_type', 'all speech_only sound_effect_only'),
  limitToFlag('bgm'),
  callback,
  { field: 'duration', takes: [1, 16], refuses: [0, 17, 1.5, '5'] },
  limitToFlag('enhance'),
  badImage,
  limitToFlag('is_rec'),
  { field: 'meta_data', takes: ['{}', '[1]', '"text"'], refuses: ['', 'text', '{', 7] },
  { field: 'model', takes: Object.keys(videoModels), refuses: ['', 'vvq9', 'VVQ1', 1] },
  limitToChoice('movement_amplitude', 'auto small medium large'),
  limitToFlag('off_peak'),
  payload,
  limitToInt32('priority'),
  prompt,
  { field: 'resolution', takes: ['540p', '720p', '1080p', '2K'], refuses: ['360p', '', '720', 720] },
  limitToInt32('seed'),
  limitToChoice('style', 'general anime'),
  { field: 'voice_id', takes: ['', 'ann'], refuses: [7] },
  limitToFlag('watermark'),
  { field: 'wm_position', takes: [1, 4], refuses: [0, 5, 1.5, '3'] },
  { field: 'wm_url', takes: [], refuses: ['', 'mark.png', 'http://127.0.0.1:9/mark.png'] },
];

const table: Readonly<Record<VideoOperation, readonly Row[]>> = {
  'video.text2video': [...both, oneImage],
  'video.startEnd2video': [
    ...both,
    { field: 'images', takes: [[pixel], [pixel, pixel]], refuses: [[], [pixel, pixel, pixel], {}] },
    { field: 'images', named: 'images.1', takes: [], refuses: [[pixel, 'AAAA']] },
  ],
  'video.extend': [
    callback,
    { field: 'duration', takes: [1, 7], refuses: [0, 8, 1.5, '5'] },
    oneImage,
    badImage,
    { field: 'model', takes: ['vvq2-pro', 'vvq2-turbo'], refuses: ['vvq3-pro', 'vvq1', ''] },
    payload,
    prompt,
    { field: 'resolution', takes: ['540p', '720p', '1080p'], refuses: ['360p', '2K', ''] },
    { field: 'video_creation_id', takes: [], refuses: ['', 7, null] },
    {
      field: 'video_url',
      takes: ['https://example.com/a.mp4'],
      refuses: ['', 'a.mp4', 'ftp://example.com/a.mp4', 7],
    },
  ],
};

describe('every field of a video request', () => testRows(table, startOperation));

describe('a video request', () => {
  it.each(Object.keys(table) as VideoOperation[])(
    'of %s is refused with an unknown field',
    async (operation) => {
      const { status, body } = await startOperation(operation, { promt: 'A boat' });
      expect([status, body.details]).toEqual([400, [{ path: 'promt', message: 'is not a known field' }]]);
    },
  );

  it('needs both a creation id and a URL for an extension', async () => {
    const send = (json: object) => registry().as('ann', 'POST', videoPaths['video.extend'], json);
    for (const [field, value] of Object.entries(smallestVideos['video.extend'])) {
      const { body } = await send({ [field]: value });
      const other = field === 'video_url' ? 'video_creation_id' : 'video_url';
      expect(body.details).toEqual([{ path: other, message: `is required, together with ${field}` }]);
    }
  });

  it('is accepted only with durations and resolutions of its model', async () => {
    const outcomes = { taken: 0, refused: 0 };
    for (const [model, { modes }] of Object.entries(videoModels)) {
      const asked = Array.from({ length: 18 }, (_, duration) =>
        resolutions.map((resolution) => ({ model, duration, resolution })),
      ).flat();
      await Promise.all(
        asked.map(async (fields) => {
          const mode = findMode({ modes, defaultDuration: 0 }, fields.duration);
          const fits = mode?.resolutions.includes(fields.resolution) ?? false;
          const { status, body } = await startOperation('video.text2video', fields);
          expect(status, JSON.stringify(fields)).toBe(fits ? 200 : 400);
          if (fits) expect(body).toMatchObject(fields);
          else
            expect(body.details.map(({ path }: { path: string }) => path)).toContain(
              mode ? 'resolution' : 'duration',
            );
          outcomes[fits ? 'taken' : 'refused'] += 1;
        }),
      );
    }
    expect(outcomes).toEqual({ taken: 138, refused: 492 });
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contract } from '../../../src/contract/index.js';
import { listOperations } from '../../../src/contract/operation.js';
import { videoModels } from '../../../src/contract/video-models.js';
import { PackageMissing } from '../../../src/preview/packages.js';
import { EngineFailure, type EngineJob, type VideoOperation } from '../../../src/service/operation/engine.js';
import { createFilmingEngine, film } from '../../support/filming-engine.js';
import { pixel } from '../../support/generation.js';
import { startRegistry } from '../../support/registry.js';
import { type Answered, ask, serviceForTest } from '../../support/service.js';
import {
  formatCreationsPath,
  smallestVideos,
  startVideo,
  videoPaths,
  waitForVideo,
} from '../../support/videos.js';
import { waitFor } from '../../support/wait-for.js';

type Job = EngineJob<VideoOperation>;

/** A server on loopback that answers each path with the given file. */
async function serveFiles(given: Record<string, Buffer>, type = 'application/octet-stream'): Promise<string> {
  const server = createServer((request, response) => {
    const file = given[request.url ?? ''];
    response.writeHead(file ? 200 : 404, { 'content-type': type }).end(file);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service whose engine records its jobs. */
async function startFilmingService(input: object = {}, before: (job: Job) => void = () => {}) {
  const jobs: Job[] = [];
  const video = createFilmingEngine((job) => {
    jobs.push(job);
    before(job);
  });
  const service = await serviceForTest(input, { engines: { video } });
  return { service, jobs, asking: { url: service.url, token: service.ownerToken } };
}

const postVideo = (asking: { url: string; token: string }, operation: VideoOperation, json: object) =>
  ask(asking.url + videoPaths[operation], { method: 'POST', token: asking.token, json });

/** An MP4 whose index comes first and whose content has `there` of the `announced` bytes. */
function mp4Cut(announced: number, there: number, isLong = false): Buffer {
  const box = (type: string, length: number, head = Buffer.alloc(0)) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(head.length > 0 ? 1 : length);
    return Buffer.concat([size, Buffer.from(type, 'latin1'), head]);
  };
  const long = Buffer.alloc(isLong ? 8 : 0);
  if (isLong) long.writeBigUInt64BE(BigInt(announced));
  const content = box('mdat', announced, long);
  const brand = Buffer.from('isom\0\0\0\0', 'latin1');
  return Buffer.concat([
    box('ftyp', 16),
    brand,
    box('moov', 8),
    content,
    Buffer.alloc(there - content.length),
  ]);
}

describe('a video task', () => {
  it('is answered as created, with its fields and their defaults', async () => {
    const { asking } = await startFilmingService();
    const before = Date.now();
    const body = await startVideo(asking, { payload: 'p', style: 'anime', enhance: true, meta_data: '{}' });
    const { task_id, created_at, seed, ...rest } = body;
    expect(rest).toEqual({
      state: 'created',
      credits: 30,
      model: 'vvq3-pro',
      duration: 5,
      resolution: '720p',
      aspect_ratio: '16:9',
      prompt: 'A boat',
      payload: 'p',
      style: 'anime',
      watermark: false,
    });
    expect(task_id).toEqual(expect.any(String));
    expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before);
    expect(seed).toBe(seed | 0);
  });

  it('of vv2.0 has defaults that fit its duration', async () => {
    const { asking } = await startFilmingService();
    const [short, long] = [{ model: 'vv2.0' }, { model: 'vv2.0', duration: 8 }];
    expect(await startVideo(asking, short)).toMatchObject({ duration: 4, resolution: '360p' });
    expect(await startVideo(asking, long)).toMatchObject({ duration: 8, resolution: '720p' });
  });

  it('ends as success, with a creation whose files can be read', async () => {
    const { asking, service } = await startFilmingService();
    const { task_id, credits } = await startVideo(asking, { payload: '{"mine":1}' });
    const done = await waitForVideo(asking, task_id);
    expect(done).toEqual({
      id: task_id,
      state: 'success',
      err_code: '',
      credits,
      payload: '{"mine":1}',
      creations: [
        {
          id: `${task_id}-0`,
          url: expect.stringContaining('/0.mp4?'),
          cover_url: expect.stringContaining('/1.png?'),
          watermarked_url: '',
        },
      ],
    });
    const [{ url, cover_url }] = done.creations;
    const whole = await fetch(url);
    expect([whole.headers.get('content-type'), Buffer.from(await whole.arrayBuffer())]).toEqual([
      'video/mp4',
      film,
    ]);
    const part = await fetch(url, { headers: { range: 'bytes=4-7' } });
    expect([part.status, await part.text()]).toEqual([206, 'ftyp']);
    expect((await fetch(cover_url)).headers.get('content-type')).toBe('image/png');
    const events = await service.context.database
      .selectFrom('events')
      .select('status')
      .where('subject_id', '=', task_id)
      .orderBy('id')
      .execute();
    expect(events.map(({ status }) => status)).toEqual(['created', 'queueing', 'processing', 'success']);
  });

  it('with a watermark has the URL of the marked video', async () => {
    const { asking } = await startFilmingService();
    const { task_id } = await startVideo(asking, { watermark: true });
    const { url, watermarked_url } = (await waitForVideo(asking, task_id)).creations[0];
    expect(watermarked_url).toBe(url);
  });

  it('passes the validated request with defaults to its engine, with the same seed at every attempt', async () => {
    const { asking, jobs } = await startFilmingService({}, () => {
      if (jobs.length === 1) throw new Error('the disk is slow');
    });
    const images = [pixel, `data:image/png;base64,${pixel}`];
    const place = await serveFiles({ '/mark.png': Buffer.from(pixel, 'base64') });
    const fields = { images, wm_url: `${place}/mark.png`, seed: -7, callback_url: 'http://127.0.0.1:9/' };
    const { task_id, seed } = await startVideo({ ...asking, operation: 'video.startEnd2video' }, fields);
    await waitForVideo(asking, task_id);
    expect([seed, ...jobs.map((job) => job.seed)]).toEqual([-7, -7, -7]);
    expect(jobs[1]?.request).toEqual({
      ...{ model: 'vvq3-pro', duration: 5, resolution: '720p', aspect_ratio: '16:9', seed: -7 },
      ...{ images: ['images.0', 'images.1'], wm_url: `${place}/mark.png`, watermark: false, wm_position: 3 },
    });
    expect(Object.keys(jobs[1]?.images ?? {})).toEqual(['images.0', 'images.1', 'wm_url']);
  });

  it('returns images that are URLs, but not Base64', async () => {
    const { asking } = await startFilmingService();
    const place = await serveFiles({ '/a.png': Buffer.from(pixel, 'base64') });
    const frames = { ...asking, operation: 'video.startEnd2video' } as const;
    const images = [`${place}/a.png`, `${place}/a.png`];
    expect((await startVideo(frames, { images })).images).toEqual(images);
    expect(await startVideo(frames, { images: [`${place}/a.png`, pixel] })).not.toHaveProperty('images');
  });

  it('keeps the memory of its engine across attempts', async () => {
    const read: (string | undefined)[] = [];
    const video = createFilmingEngine(async (_, __, memory) => {
      read.push(await memory.read());
      await memory.write(`attempt ${read.length}`, false);
      if (read.length < 3) throw new Error('cut');
    });
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { video } });
    await waitForVideo({ url, token }, (await startVideo({ url, token })).task_id);
    expect(read).toEqual([undefined, 'attempt 1', 'attempt 2']);
  });

  it('fails with a code and is refunded if its engine cannot make it', async () => {
    const { asking, service } = await startFilmingService({}, () => {
      throw new EngineFailure('The prompt is empty of meaning.', { code: 'prompt_refused' });
    });
    const { task_id, credits } = await startVideo(asking);
    expect(credits).toBe(30);
    expect(await waitForVideo(asking, task_id, 'failed')).toEqual({
      ...{ id: task_id, state: 'failed', err_code: 'prompt_refused', credits: 0, payload: '', creations: [] },
      reason: 'The prompt is empty of meaning.',
    });
    const { body } = await ask(`${service.url}/users/tasks/${task_id}`, { token: asking.token });
    expect(body).toMatchObject({
      operation: 'video.text2video',
      reason: 'The prompt is empty of meaning.',
      credits: 0,
    });
  });

  it('is visible to its creator and admins, and is not an image task', async () => {
    const { as, service, url, tokens } = await startRegistry(
      {},
      { engines: { video: createFilmingEngine() } },
    );
    try {
      const { task_id } = await startVideo({ url, token: tokens.ann });
      const seen = await Promise.all(
        (['ann', 'admin', 'bob', 'pat'] as const).map(
          async (who) => (await as(who, 'GET', formatCreationsPath(task_id))).status,
        ),
      );
      expect(seen).toEqual([200, 200, 404, 404]);
      const relight = contract.image.relightStatus.path.replace('{task_id}', task_id);
      expect((await as('ann', 'GET', relight)).status).toBe(404);
    } finally {
      await service.stop();
    }
  });
});

describe('an extension', () => {
  /** A service with a creation. */
  async function created() {
    const here = await startFilmingService();
    const { task_id } = await startVideo(here.asking);
    const [creation] = (await waitForVideo(here.asking, task_id)).creations;
    return { ...here, creation };
  }

  const nowhere = 'http://127.0.0.1:9/a.mp4';

  it('of one’s own creation reads it from storage, even if its URL has expired', async () => {
    const { asking, creation, jobs } = await created();
    const given = { video_creation_id: creation.id, video_url: nowhere };
    const { seed, task_id, created_at, ...answer } = await startVideo(
      { ...asking, operation: 'video.extend' },
      given,
    );
    expect(answer).toEqual({
      ...given,
      ...{ state: 'created', credits: 20, model: 'vvq2-turbo', duration: 5, resolution: '720p' },
    });
    await waitForVideo(asking, task_id);
    expect(jobs[1]?.request).toMatchObject({ video_url: nowhere, duration: 5 });
    expect(Object.keys(jobs[1]?.images ?? {})).toEqual(['video']);
  });

  it('of an unknown id fetches the video, including results of this service', async () => {
    const { asking, creation } = await created();
    const extend = { ...asking, operation: 'video.extend' } as const;
    for (const video_creation_id of ['vendor-77', `${creation.id}9`, 'x-0']) {
      const { task_id } = await startVideo(extend, { video_creation_id, video_url: creation.url });
      await waitForVideo(asking, task_id);
    }
  });

  it('of another user’s creation is answered like one of an unknown id', async () => {
    const { service, as, url, tokens } = await startRegistry(
      {},
      { engines: { video: createFilmingEngine() } },
    );
    try {
      const { task_id } = await startVideo({ url, token: tokens.ann });
      await waitForVideo({ url, token: tokens.ann }, task_id);
      const ask = (video_creation_id: string) =>
        as('bob', 'POST', videoPaths['video.extend'], { video_creation_id, video_url: nowhere });
      const [theirs, unknown] = [await ask(`${task_id}-0`), await ask('unknown-0')];
      expect([theirs.status, theirs.body]).toEqual([400, unknown.body]);
    } finally {
      await service.stop();
    }
  });

  it.each([
    ['is no video', Buffer.from(pixel, 'base64'), 'must be a video: MP4, MOV, WebM or MKV'],
    [
      'is a picture in a video’s container',
      Buffer.from('\0\0\0\x18ftypavif\0\0\0\0', 'latin1'),
      'must be a video: MP4, MOV, WebM or MKV',
    ],
    ['is empty', Buffer.alloc(0), 'must not be empty'],
    [
      'is too large',
      Buffer.concat([film, Buffer.alloc(2000)]),
      'could not be fetched: it is larger than 0 MB',
    ],
    ['is cut in its content', mp4Cut(900, 700), 'is truncated'],
    ['is cut in content of 64 bits', mp4Cut(900, 700, true), 'is truncated'],
    [
      'is cut behind content of 64 bits that claims to have no length',
      Buffer.from(`\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x01free${'\0'.repeat(8)}\0\0\x03\x84mdat`, 'latin1'),
      'is truncated',
    ],
    [
      'is a WebM cut in its segment',
      Buffer.concat([Buffer.from('1a45dfa382000018538067420000', 'hex'), Buffer.alloc(100)]),
      'is truncated',
    ],
    ['is not there', undefined, 'could not be fetched: the server answered 404'],
  ])('is refused if the video %s', async (_, file, message) => {
    const { asking, service } = await startFilmingService({ limits: { videoBytes: 1000 } });
    const place = await serveFiles(file ? { '/a': file } : {});
    const given = { video_creation_id: 'x', video_url: `${place}/a` };
    const { status, body } = await postVideo(asking, 'video.extend', given);
    expect([status, body.details]).toEqual([400, [{ path: 'video_url', message }]]);
    expect(await service.context.database.selectFrom('tasks').select('id').execute()).toEqual([]);
  });

  it.each([
    ['an MP4', mp4Cut(700, 700)],
    ['an MP4 whose content has 64 bits', mp4Cut(700, 700, true)],
    ['an MP4 with padding behind', Buffer.concat([mp4Cut(700, 700), Buffer.alloc(5)])],
    ['WebM that was streamed', Buffer.from('1a45dfa38200001853806701ffffffffffffff00', 'hex')],
    ['WebM', Buffer.from('\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1f', 'latin1')],
    ['an old MOV', Buffer.from('\0\0\0\x08wide\0\0\0\0mdat', 'latin1')],
  ])('takes %s', async (_, file) => {
    const { asking } = await startFilmingService();
    const place = await serveFiles({ '/a': file }, 'video/x');
    await startVideo({ ...asking, operation: 'video.extend' }, { video_url: `${place}/a` });
  });

  it('reports problems of its video and its image together', async () => {
    const { asking } = await startFilmingService();
    const { body } = await postVideo(asking, 'video.extend', {
      ...smallestVideos['video.extend'],
      images: ['AAAA'],
    });
    expect(body.details.map(({ path }: { path: string }) => path)).toEqual(['video_url', 'images.0']);
  });
});

describe('what a video costs', () => {
  const prices = { video_per_second: { 'vvq3-pro': { '720p': 3 } }, image: { relight: 2 } };

  it('is fixed when it is created, and is in the answer', async () => {
    const { asking, service } = await startFilmingService({ prices });
    const cost = async (fields: object) => (await startVideo(asking, fields)).credits;
    expect(await cost({ duration: 3 })).toBe(9);
    expect(await cost({ duration: 3, off_peak: true })).toBe(5);
    expect(await cost({ duration: 3, is_rec: true })).toBe(19);
    expect(await cost({ duration: 3, resolution: '1080p' })).toBe(30);
    const charges = await service.context.database.selectFrom('credits').select('amount').execute();
    expect(charges.map(({ amount }) => amount).sort()).toEqual([19, 30, 5, 9]);
  });

  it('follows the price table, which has every model at every resolution that it makes', async () => {
    const { asking } = await startFilmingService({ prices });
    const { body } = await ask(asking.url + contract.video.prices.path, { token: asking.token });
    expect(body).toMatchObject({ is_rec: 10, off_peak: 0.5, image: { relight: 2, upscaler: 0 } });
    expect(body.video_per_second['vvq3-pro']).toEqual({ '540p': 4, '720p': 3, '1080p': 10, '2K': 16 });
    const made = Object.entries(videoModels).map(([name, { modes }]) => [
      name,
      [...new Set(modes.flatMap(({ resolutions }) => resolutions as readonly string[]))].sort(),
    ]);
    const priced = Object.entries<object>(body.video_per_second).map(([name, of]) => [
      name,
      Object.keys(of).sort(),
    ]);
    expect(priced).toEqual(made);
  });
});

describe('an off-peak task', () => {
  it('runs after tasks that are not off-peak', async () => {
    const begun: unknown[] = [];
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const video = {
      ...createFilmingEngine(async ({ request }) => {
        begun.push(request.prompt);
        await gate;
      }),
      atOnce: 1,
    };
    const { url, ownerToken: token } = await serviceForTest({}, { engines: { video } });
    const start = (prompt: string, off_peak = false) => startVideo({ url, token }, { prompt, off_peak });
    await start('first');
    await start('cheap', true);
    const { task_id } = await start('second');
    const states = async () => (await ask(url + formatCreationsPath(task_id), { token })).body.state;
    expect(await states()).toBe('queueing');
    go();
    await waitFor(() => expect(begun).toEqual(['first', 'second', 'cheap']));
  });

  it('that has not ended after 48 hours fails and is refunded, even if it is running', async () => {
    const clock = { ahead: 0 };
    const video = createFilmingEngine(
      (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut')))),
    );
    const parts = { engines: { video }, now: () => Date.now() + clock.ahead };
    const service = await serviceForTest({ graceMs: 0 }, parts);
    const token = () => service.signFor({ sub: 'ann' });
    const start = async () => startVideo({ url: service.url, token: await token() }, { off_peak: true });
    const [one, other, waiting] = [await start(), await start(), await start()];
    clock.ahead = 48 * 3_600_000 - 60_000;
    expect(
      (await waitForVideo({ url: service.url, token: await token() }, one.task_id, 'processing')).credits,
    ).toBe(15);
    clock.ahead = 48 * 3_600_000;
    for (const { task_id } of [one, other, waiting]) {
      const failed = await waitForVideo({ url: service.url, token: await token() }, task_id, 'failed');
      expect([failed.err_code, failed.credits]).toEqual(['off_peak_expired', 0]);
    }
  });
});

describe('the callback of a video task', () => {
  it('is called when it starts and when it ends, with its creations', async () => {
    const received: Answered[] = [];
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        received.push({ event: request.headers['webhook-event'], ...JSON.parse(text) });
        response.end();
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const callback_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { asking } = await startFilmingService();
    const { task_id } = await startVideo(asking, { callback_url, payload: 'mine' });
    await waitFor(() => expect(received).toHaveLength(2));
    const body = { event: 'video.task.updated', id: task_id, err_code: '', credits: 30, payload: 'mine' };
    const creation = expect.objectContaining({ id: `${task_id}-0`, url: expect.stringContaining('/0.mp4?') });
    expect(received).toEqual([
      { ...body, state: 'processing', creations: [] },
      { ...body, state: 'success', creations: [creation] },
    ]);
  });
});

it('a service that cannot make videos says why, before it accepts a task', async () => {
  const requireReady = async () => {
    throw new PackageMissing('The codecs are not installed.');
  };
  const video = { ...createFilmingEngine(), requireReady };
  const { url, ownerToken: token } = await serviceForTest({}, { engines: { video } });
  const { status, body } = await postVideo({ url, token }, 'video.extend', smallestVideos['video.extend']);
  const message = 'The codecs are not installed.';
  expect([status, body]).toEqual([501, { error: 'not_supported', message }]);
});

it('a service’s document lists every operation on videos', async () => {
  const { url } = await serviceForTest();
  const { body } = await ask(`${url}/openapi.json`);
  for (const [name, { path, method }] of listOperations({ video: contract.video })) {
    expect(body.paths[path][method.toLowerCase()].operationId).toBe(name);
  }
});

import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/client/client.js';
import { InvalidRequestError } from '../../src/client/errors.js';
import { createFakeClock, sendJson, serveForTest } from './server.js';

async function clientForTest(answer: object) {
  const service = await serveForTest((_, response) => sendJson(response, 200, answer));
  const client = createClient({ baseUrl: service.url, ...createFakeClock() });
  onTestFinished(() => client.close());
  return { client, ...service };
}

const video_url = 'https://example.com/a.mp4';
const task = { credits: 4, state: 'created', task_id: 'v1' } as const;

describe('generation', () => {
  it('is started and read back, with responses of either form', async () => {
    const { client, seen } = await clientForTest({
      data: { generated: [], status: 'CREATED', task_id: 'i1' },
    });
    const { data } = await client.image.relight({ body: { image: 'iVBORw0KGgo=', style: 'clean' } });
    expect(await client.image.relightStatus({ task_id: data.task_id })).toEqual({ data });
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /proxy/imagevendor/v1/ai/image-relight',
      'GET /proxy/imagevendor/v1/ai/image-relight/i1',
    ]);
    expectTypeOf(data.generated).toEqualTypeOf<string[]>();
  });

  it.each([true, false])(
    'is read in either form of the statuses that are extensions (wrapped: %s)',
    async (wrapped) => {
      const image = { generated: [], status: 'CREATED', task_id: 'i1' };
      const { client } = await clientForTest(wrapped ? { data: image } : image);
      expect(await client.image.styleTransferStatus({ task_id: 'i1' })).toEqual(image);
      expect(await client.image.skinEnhancerStatus({ task_id: 'i1' })).toEqual({ data: image });
    },
  );

  it('sends no defaults', async () => {
    const { client, seen } = await clientForTest(task);
    await client.video.text2video({ body: { prompt: 'A boat' } });
    await client.video.extend({ body: { video_creation_id: '7', video_url } });
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
      { prompt: 'A boat' },
      { video_creation_id: '7', video_url },
    ]);
  });

  it('is refused before anything is sent if it breaks rules, with all problems', async () => {
    const { client, seen } = await clientForTest(task);
    const body = {
      prompt: 'A boat',
      model: 'vvq2-pro',
      duration: 9,
      resolution: '2K',
      meta_data: '{',
    } as const;
    const error = await client.video.text2video({ body }).catch((wrong) => wrong);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error.problems.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([
      ...['body.duration', 'body.resolution', 'body.meta_data'],
    ]);
    expect(seen).toEqual([]);
  });

  it('accepts images over http only from the service itself if https is required', async () => {
    const { client, seen, url } = await clientForTest({
      data: { generated: [], status: 'CREATED', task_id: 'i1' },
    });
    await client.image.skinEnhancer({ body: { image: `${url}/files/a.png` } });
    const far = client.image.skinEnhancer({ body: { image: 'http://example.com/a.png' } });
    await expect(far).rejects.toThrow(InvalidRequestError);
    expect(seen).toHaveLength(1);
  });
});

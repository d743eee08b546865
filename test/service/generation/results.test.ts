import { beforeAll, describe, expect, it } from 'vitest';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { pixel, readTask, startTask, waitForTask } from '../../support/generation.js';
import { registryForFile } from '../../support/registry.js';
import { ask } from '../../support/service.js';

const clock = { ahead: 0 };
const registry = registryForFile(
  {},
  {
    engines: { image: createCopyingEngine() },
    now: () => Date.now() + clock.ahead,
  },
);
const png = Buffer.from(pixel, 'base64');
const week = 7 * 24 * 3_600_000;
let id = '';
let url = '';

beforeAll(async () => {
  const asking = { url: registry().url, token: registry().tokens.ann };
  id = await startTask(asking);
  [url] = (await waitForTask(asking, id)).generated;
});

describe('the URL of a result', () => {
  it('returns the file without a credential', async () => {
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(png);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.length),
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-disposition': `inline; filename="${id}-0.png"`,
    });
  });

  it('supports ranges, HEAD and ETags', async () => {
    const part = await fetch(url, { headers: { range: 'bytes=2-5' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 2-5/${png.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(png.subarray(2, 6));
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(png.length)]);
    const known = await fetch(url, { headers: { 'if-none-match': head.headers.get('etag') as string } });
    expect(known.status).toBe(304);
    const outside = await ask(url, { headers: { range: 'bytes=999999-' } });
    expect([outside.status, outside.body.error]).toEqual([416, 'range_not_satisfiable']);
  });

  it.each([
    ['another file', (text: string) => text.replace('/0.png', '/1.png')],
    ['another task', (text: string) => text.replace(/results\/[^/]+/, 'results/other')],
    ['a later end', (text: string) => text.replace(/expires=(\d)/, 'expires=9$1')],
    [
      'another signature',
      (text: string) => text.replace(/signature=(.)/, (_, first) => `signature=${first === '_' ? '-' : '_'}`),
    ],
    ['no signature', (text: string) => text.replace(/&signature=.*/, '')],
    ['two signatures', (text: string) => `${text}&signature=x`],
    ['no query', (text: string) => text.replace(/\?.*/, '')],
  ])('is refused with %s', async (_, change) => {
    const { status, body } = await ask(change(url));
    expect([status, body.error]).toEqual([403, 'invalid_signature']);
  });

  it('is valid for 7 days, after which the status has a new one', async () => {
    const { service } = registry();
    try {
      clock.ahead = week - 60_000;
      expect((await fetch(url)).status).toBe(200);
      clock.ahead = week + 1_000;
      expect((await ask(url)).body.error).toBe('invalid_signature');
      // The users' tokens have expired by now.
      const token = await service.signFor({ sub: 'ann' });
      const [fresh] = (await readTask({ url: service.url, token }, id)).generated;
      expect((await fetch(fresh)).status).toBe(200);
    } finally {
      clock.ahead = 0;
    }
  });

  it('can be used as the image of another task', async () => {
    const asking = { url: registry().url, token: registry().tokens.bob };
    const task = await waitForTask(asking, await startTask(asking, { image: url }));
    expect(Buffer.from(await (await fetch(task.generated[0])).arrayBuffer())).toEqual(png);
  });

  it('is signed for each answer and not stored', async () => {
    const { service } = registry();
    for (const table of ['tasks', 'events', 'idempotency'] as const) {
      const rows = await service.context.database.selectFrom(table).selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain('signature=');
    }
  });
});
